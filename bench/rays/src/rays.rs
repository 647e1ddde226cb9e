//! The rays of a spinning lidar: 128 channels, 2048 columns, also in groups of 4 x 4 neighbours.

use etendue_raycast::{Ray, RayTile};
use nalgebra::{Point3, Vector3};

pub const CHANNELS: usize = 128;
pub const COLUMNS: usize = 2048;

/// The rays of one rotation of 0.1 s, column by column, from a sensor that moves along x at `speed`, m/s.
pub fn spin(sensor: Point3<f64>, speed: f64) -> Vec<Ray> {
    let mut rays = Vec::with_capacity(CHANNELS * COLUMNS);
    for column in 0..COLUMNS {
        let turn = column as f64 / COLUMNS as f64;
        let azimuth = std::f64::consts::TAU * turn + 0.0003;
        let origin = sensor + Vector3::x() * (speed * 0.1 * turn);
        let origin = origin.map(|x| f64::from(x as f32));
        for channel in 0..CHANNELS {
            let elevation = (-25.0 + 40.0 * channel as f64 / (CHANNELS - 1) as f64).to_radians();
            let direction = Vector3::new(
                azimuth.cos() * elevation.cos(),
                azimuth.sin() * elevation.cos(),
                elevation.sin(),
            );
            rays.push(Ray {
                time: 0.1 * turn,
                ..Ray::new(origin, direction)
            });
        }
    }
    rays
}

/// Sixteen rays in single precision, by axis, for the other engines.
pub struct RayPacket {
    pub origin: [[f32; 16]; 3],
    pub direction: [[f32; 16]; 3],
    pub near: [f32; 16],
    pub far: [f32; 16],
}

/// Indices of the rays of group `number`.
fn group(number: usize) -> [usize; 16] {
    let channel = number % (CHANNELS / 4) * 4;
    let column = number / (CHANNELS / 4) * 4;
    std::array::from_fn(|i| (column + i / 4) * CHANNELS + channel + i % 4)
}

/// The rays in single precision.
pub fn packets(rays: &[Ray]) -> Vec<RayPacket> {
    (0..rays.len() / 16)
        .map(|number| {
            let of = group(number).map(|i| rays[i]);
            RayPacket {
                origin: [0, 1, 2].map(|a| of.map(|r| r.origin[a] as f32)),
                direction: [0, 1, 2].map(|a| of.map(|r| r.direction[a] as f32)),
                near: [0.0; 16],
                far: [1e6; 16],
            }
        })
        .collect()
}

/// The rays in full precision.
pub fn tiles(rays: &[Ray]) -> Vec<RayTile> {
    (0..rays.len() / 16)
        .map(|number| RayTile::of(&group(number).map(|ray| rays[ray])))
        .collect()
}
