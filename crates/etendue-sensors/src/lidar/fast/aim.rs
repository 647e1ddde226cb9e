//! Where the beams of a batch of shots go.
#![expect(
    clippy::inline_always,
    reason = "loops over sixteen lanes become vector instructions"
)]

use super::rotor::Turning;
use crate::lidar::sweep::{Poses, Simulator};
use crate::lidar::{Column, Shot};
use etendue_scene::{Ray, RayTile};
use etendue_simd::Vectorized;
use nalgebra::Isometry3;

impl<P: Fn(f64) -> Isometry3<f64>> Simulator<'_, P> {
    /// Appends the rays of one shot.
    pub fn aim(&self, shot: &Shot, pose: &Isometry3<f64>, rays: &mut Vec<Ray>) {
        let mut own = Vec::with_capacity(self.beam_rays.count());
        self.beam_rays.aim(shot, &mut own);
        rays.extend(own.iter().map(|(origin, direction)| Ray {
            time: shot.time,
            ..Ray::new(pose * origin, pose.rotation * direction)
        }));
    }

    /// The rays of whole columns of a rotor, from a sensor that stands still.
    pub fn aim_turned(
        &self,
        (turning, columns): (&Turning, &[Column]),
        pose: &Isometry3<f64>,
        tiles: &mut Vec<RayTile>,
    ) {
        tiles.resize(turning.tiles(columns.len()), RayTile::EMPTY);
        self.world.scene().isa().run(Turned {
            turning,
            columns,
            pose,
            tiles,
        });
    }

    /// The rays of all shots of a batch, in that order, in tiles; by way of `rays` where beams have
    /// several.
    pub fn aim_tiles(
        &self,
        shots: &[Shot],
        (poses, order): (&Poses, &[usize]),
        rays: &mut Vec<Ray>,
        tiles: &mut Vec<RayTile>,
    ) {
        if self.beam_rays.count() == 1 {
            self.world.scene().isa().run(Axes {
                shots,
                poses,
                order,
                tiles,
            });
            return;
        }
        rays.clear();
        for &shot in order {
            self.aim(&shots[shot], poses.of(shot), rays);
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

/// The axes of a rotor's beams, from a sensor that stands still.
struct Turned<'s> {
    turning: &'s Turning,
    columns: &'s [Column],
    pose: &'s Isometry3<f64>,
    tiles: &'s mut [RayTile],
}

impl Vectorized for Turned<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.turning.aim(self.columns, self.pose, self.tiles);
    }
}

/// The beams' axes.
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
        // After all were put: numbers just stored one by one cannot yet be loaded together.
        if let Some(pose) = still {
            for tile in self.tiles {
                tile.transform(pose);
            }
        }
    }
}
