//! Rays of a batch of shots of a pulsed lidar, in tiles.
#![expect(
    clippy::inline_always,
    reason = "loops over sixteen lanes become vector instructions"
)]

use super::poses::Poses;
use super::rotor::RotorBeams;
use super::simulator::FastSimulator;
use crate::lidar::beam::BeamRays;
use crate::lidar::firing::Column;
use crate::lidar::shot::Shot;
use crate::transport::PoseTile;
use etendue_physics::beam::{BeamRay, SubRay};
use etendue_scene::RayTile;
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

    /// Computes the rays of all shots of a batch: for each sixteen shots in cast order, a tile per ray of the beam.
    pub fn aim_tiles(
        &self,
        shots: &[Shot],
        poses: &Poses,
        order: &[usize],
        tiles: &mut Vec<RayTile>,
    ) {
        if self.plain.beam_rays.count() == 1 {
            self.isa.run(Axes {
                shots,
                poses,
                order,
                tiles,
            });
        } else {
            self.isa.run(Beams {
                rays: &self.plain.beam_rays,
                shots,
                poses,
                order,
                tiles,
            });
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

/// Writes the rays of beams of several rays.
struct Beams<'s> {
    rays: &'s BeamRays<f64>,
    shots: &'s [Shot],
    poses: &'s Poses,
    order: &'s [usize],
    tiles: &'s mut Vec<RayTile>,
}

impl Vectorized for Beams<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let per_shot = self.rays.count();
        let count = self.order.len().div_ceil(16) * per_shot;
        self.tiles.resize(count, RayTile::EMPTY);
        let still = self.poses.only();
        let mut frames = FrameTile::new();
        let mut poses = PoseTile::<f64>::identity();
        for (order, tiles) in self.order.chunks(16).zip(self.tiles.chunks_mut(per_shot)) {
            // Collect the frames of sixteen beams, and the poses of a moving sensor.
            for (lane, &shot) in order.iter().enumerate() {
                frames.put(lane, &self.shots[shot]);
                if still.is_none() {
                    poses.put(lane, self.poses.of(shot));
                }
            }
            frames.set_sides();
            // Aim each ray of all beams.
            match self.rays {
                BeamRays::Elliptic(rays) => {
                    for (ray, tile) in rays.iter().zip(&mut *tiles) {
                        frames.aim_skew(ray, tile);
                    }
                }
                BeamRays::Cone {
                    half_tangent,
                    sub_rays,
                } => {
                    for (ray, tile) in sub_rays.iter().zip(&mut *tiles) {
                        frames.aim_in_cone(*half_tangent, ray, tile);
                    }
                }
            }
            // Transform them into the world.
            for tile in tiles {
                tile.time = frames.time;
                tile.used = order.len();
                match still {
                    Some(pose) => tile.transform(pose),
                    None => transform_each(tile, &poses),
                }
            }
        }
    }
}

/// Origins and axes of sixteen beams in the frame of the sensor, by axis and lane.
struct FrameTile {
    /// Origins, m.
    origin: [[f64; 16]; 3],
    /// The vectors of [`BeamFrame`](etendue_physics::beam::BeamFrame).
    axis: [[f64; 16]; 3],
    left: [[f64; 16]; 3],
    up: [[f64; 16]; 3],
    /// Times of the shots, s.
    time: [f64; 16],
}

impl FrameTile {
    /// Beams along x.
    fn new() -> Self {
        let along = |axis: usize| std::array::from_fn(|own| [f64::from(own == axis); 16]);
        Self {
            origin: [[0.0; 16]; 3],
            axis: along(0),
            left: along(1),
            up: along(2),
            time: [0.0; 16],
        }
    }

    /// Writes the beam of a shot to a lane.
    #[inline(always)]
    fn put(&mut self, lane: usize, shot: &Shot) {
        let direction = shot.direction();
        for axis in 0..3 {
            self.origin[axis][lane] = shot.origin[axis];
            self.axis[axis][lane] = direction[axis];
        }
        self.time[lane] = shot.time;
    }

    /// Sets the vectors to the left and upwards: those of [`BeamFrame::along`](etendue_physics::beam::BeamFrame::along).
    #[inline(always)]
    fn set_sides(&mut self) {
        let [x, y, z] = &self.axis;
        for i in 0..16 {
            let level = (x[i] * x[i] + y[i] * y[i]).sqrt();
            let is_inclined = level > 0.0;
            let left = [-y[i] / level, x[i] / level];
            let left = [
                if is_inclined { left[0] } else { 0.0 },
                if is_inclined { left[1] } else { 1.0 },
            ];
            self.left[0][i] = left[0];
            self.left[1][i] = left[1];
            self.up[0][i] = y[i] * 0.0 - z[i] * left[1];
            self.up[1][i] = z[i] * left[0] - x[i] * 0.0;
            self.up[2][i] = x[i] * left[1] - y[i] * left[0];
        }
    }

    /// Writes a ray of each beam: those of [`BeamRays::aim`] of an elliptic beam.
    #[inline(always)]
    fn aim_skew(&self, ray: &BeamRay<f64>, tile: &mut RayTile) {
        let [[across, over], [left, up]] = [ray.offset, ray.slope];
        for axis in 0..3 {
            for i in 0..16 {
                let offset = self.left[axis][i] * across + self.up[axis][i] * over;
                let slope = left * self.left[axis][i] + up * self.up[axis][i];
                tile.origin[axis][i] = self.origin[axis][i] + offset;
                tile.direction[axis][i] = slope + self.axis[axis][i];
            }
        }
        normalise(&mut tile.direction);
    }

    /// Writes a ray of each beam: those of [`BeamRays::aim`] of a cone.
    #[inline(always)]
    fn aim_in_cone(&self, half_tangent: f64, ray: &SubRay, tile: &mut RayTile) {
        tile.origin = self.origin;
        for axis in 0..3 {
            for i in 0..16 {
                let offset = self.left[axis][i] * ray.left + self.up[axis][i] * ray.up;
                tile.direction[axis][i] = half_tangent * offset + self.axis[axis][i];
            }
        }
        normalise(&mut tile.direction);
    }
}

/// Divides sixteen vectors by their lengths.
#[inline(always)]
fn normalise(vectors: &mut [[f64; 16]; 3]) {
    let [x, y, z] = vectors;
    for i in 0..16 {
        let length = (x[i] * x[i] + y[i] * y[i] + z[i] * z[i]).sqrt();
        (x[i], y[i], z[i]) = (x[i] / length, y[i] / length, z[i] / length);
    }
}

/// Transforms the ray of each lane by its own pose.
#[inline(always)]
fn transform_each(tile: &mut RayTile, poses: &PoseTile<f64>) {
    tile.direction = poses.rotate(&tile.direction);
    tile.origin = poses.rotate(&tile.origin);
    for (own, shift) in tile.origin.iter_mut().zip(&poses.origin()) {
        for i in 0..16 {
            own[i] += shift[i];
        }
    }
}
