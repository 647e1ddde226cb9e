//! Rays of a batch of shots of a pulsed lidar, in tiles.
#![expect(
    clippy::inline_always,
    reason = "loops over sixteen lanes become vector instructions"
)]

use super::poses::Poses;
use super::rotor::RotorBeams;
use super::simulator::FastSimulator;
use crate::lidar::firing::Column;
use crate::lidar::shot::Shot;
use etendue_scene::{Ray, RayTile};
use etendue_simd::Vectorized;
use nalgebra::Isometry3;

impl FastSimulator<'_, '_> {
    /// Computes the rays of whole columns of a rotor for a static sensor.
    pub fn aim_rotor(
        &self,
        rotor: &RotorBeams,
        columns: &[Column],
        pose: &Isometry3<f64>,
        tiles: &mut Vec<RayTile>,
    ) {
        tiles.resize(rotor.tiles(columns.len()), RayTile::EMPTY);
        self.isa.run(RotorAxes {
            rotor,
            columns,
            pose,
            tiles,
        });
    }

    /// Computes the rays of all shots of a batch in cast order. `rays` is a buffer for beams of several rays.
    pub fn aim_tiles(
        &self,
        shots: &[Shot],
        poses: &Poses,
        order: &[usize],
        rays: &mut Vec<Ray>,
        tiles: &mut Vec<RayTile>,
    ) {
        // Beams of one ray: aim tiles in lanes.
        if self.plain.beam_rays.count() == 1 {
            self.isa.run(Axes {
                shots,
                poses,
                order,
                tiles,
            });
            return;
        }
        // Beams of several rays: list the rays, then fill tiles.
        rays.clear();
        let mut own = Vec::new();
        for &shot in order {
            let pose = poses.of(shot);
            own.clear();
            self.plain.beam_rays.aim(&shots[shot], &mut own);
            rays.extend(own.iter().map(|(origin, direction)| Ray {
                time: shots[shot].time,
                ..Ray::new(pose * origin, pose.rotation * direction)
            }));
        }
        tiles.resize(rays.len().div_ceil(16), RayTile::EMPTY);
        for (rays, tile) in rays.chunks(16).zip(tiles) {
            tile.used = rays.len();
            for (lane, ray) in rays.iter().enumerate() {
                tile.put(lane, ray);
            }
        }
    }
}

/// Writes the rays of a rotor's single-ray beams for a static sensor.
struct RotorAxes<'s> {
    rotor: &'s RotorBeams,
    columns: &'s [Column],
    pose: &'s Isometry3<f64>,
    tiles: &'s mut [RayTile],
}

impl Vectorized for RotorAxes<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.rotor.aim(self.columns, self.pose, self.tiles);
    }
}

/// Writes the rays of single-ray beams.
struct Axes<'s> {
    shots: &'s [Shot],
    poses: &'s Poses,
    order: &'s [usize],
    tiles: &'s mut Vec<RayTile>,
}

impl Vectorized for Axes<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let count = self.order.len().div_ceil(16);
        self.tiles.resize(count, RayTile::EMPTY);
        let still = self.poses.only();
        for (order, tile) in self.order.chunks(16).zip(&mut *self.tiles) {
            tile.used = order.len();
            for (lane, &shot) in order.iter().enumerate() {
                let own = &self.shots[shot];
                let (origin, direction) = if still.is_some() {
                    (own.origin, own.direction())
                } else {
                    let pose = self.poses.of(shot);
                    (pose * own.origin, pose.rotation * own.direction())
                };
                for axis in 0..3 {
                    tile.origin[axis][lane] = origin[axis];
                    tile.direction[axis][lane] = direction[axis];
                }
                tile.time[lane] = own.time;
            }
        }
        // Transform after all tiles are stored: loading a vector of lanes that were just stored one by one
        // would stall.
        if let Some(pose) = still {
            for tile in self.tiles {
                tile.transform(pose);
            }
        }
    }
}
