//! Rays of single-ray beams on a rotor, computed sixteen at a time in cast order.
#![expect(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over sixteen lanes become vector instructions"
)]

use crate::lidar::firing::{Column, Firing, Laser};
use crate::lidar::rotor_shots::{LaserLanes, Level, SinCosLanes};
use etendue_scene::RayTile;
use nalgebra::Isometry3;

/// The beams of a group of columns on a rotor without nod, in cast order. The beams of other groups are
/// rotated copies.
#[derive(Clone)]
pub(in crate::lidar) struct RotorBeams {
    /// Whether all channels of a column fire at once, and each group of four beams is of one column.
    at_once: bool,
    /// Number of columns of the group.
    columns: usize,
    /// Beams of the group.
    tiles: Vec<Lasers>,
}

/// Sixteen beams of a group of columns.
#[derive(Clone)]
struct Lasers {
    lanes: LaserLanes,
    /// Index of each beam's column in the group.
    column: [usize; 16],
}

impl RotorBeams {
    /// The beams of a group of whole columns in the given order of its shots; `None` for other patterns than
    /// a rotor without nod.
    pub fn new(firing: &Firing, order: &[usize]) -> Option<Self> {
        firing.rotor()?;
        let channels = &firing.lidar.channels;
        let (first, others) = channels.split_first()?;
        let together = others.iter().all(|channel| channel.time == first.time);
        let column = |shot: &usize| shot / channels.len();
        let in_one = |four: &[usize]| four.iter().all(|shot| column(shot) == column(&four[0]));
        let tile = |shots: &[usize]| Lasers::new(&firing.lasers, shots);
        Some(Self {
            at_once: together && order.chunks(4).all(in_one),
            columns: order.len() / channels.len(),
            tiles: order.chunks(16).map(tile).collect(),
        })
    }

    /// Number of tiles of a number of columns, which is a multiple of the group's.
    pub fn tiles(&self, columns: usize) -> usize {
        columns / self.columns * self.tiles.len()
    }

    /// Writes the rays of columns to tiles, in the world, for a static sensor at a pose.
    #[inline(always)]
    pub fn aim(&self, columns: &[Column], pose: &Isometry3<f64>, tiles: &mut [RayTile]) {
        let times = columns.len() / self.columns;
        for (lasers, tiles) in self.tiles.iter().zip(tiles.chunks_mut(times)) {
            for (columns, tile) in columns.chunks(self.columns).zip(tiles) {
                self.put(lasers, columns, tile);
                tile.transform(pose);
            }
        }
    }

    /// Writes the rays of one tile in the sensor's frame.
    #[inline(always)]
    fn put(&self, lasers: &Lasers, columns: &[Column], tile: &mut RayTile) {
        if self.at_once {
            lasers.put_columns(columns, tile);
        } else {
            lasers.put(columns, tile);
        }
        tile.origin[2] = lasers.lanes.height;
        tile.direction[2] = lasers.lanes.up.sin;
        tile.used = lasers.lanes.used;
    }
}

impl Lasers {
    /// The beams of up to sixteen shots of a group of columns.
    fn new(all: &[Laser], shots: &[usize]) -> Self {
        let mut column = [0; 16];
        for (own, shot) in column.iter_mut().zip(shots) {
            *own = shot / all.len();
        }
        let lasers = shots.iter().map(|shot| &all[shot % all.len()]);
        Self {
            lanes: LaserLanes::of(lasers),
            column,
        }
    }

    /// Writes the beams if each group of four is of one column whose channels fire at once.
    #[inline(always)]
    fn put_columns(&self, columns: &[Column], tile: &mut RayTile) {
        for four in 0..4 {
            // Start time and orientation of the column stay in registers for four lanes.
            let Column { start, turned } = columns[self.column[4 * four]];
            for i in 4 * four..4 * four + 4 {
                self.put_one(i, start, &self.lanes.level_at(i, turned), tile);
            }
        }
    }

    /// Writes the beams of any columns.
    #[inline(always)]
    fn put(&self, columns: &[Column], tile: &mut RayTile) {
        let mut start = [0.0; 16];
        let mut turned = SinCosLanes::NONE;
        for i in 0..16 {
            let column = columns[self.column[i]];
            start[i] = column.start;
            turned.put(i, column.turned);
        }
        for i in 0..16 {
            let level = self.lanes.level(i, turned.of(i));
            self.put_one(i, start[i], &level, tile);
        }
    }

    /// Writes lane `i`, a beam of a column that starts at `start` (s).
    #[inline(always)]
    fn put_one(&self, i: usize, start: f64, level: &Level, tile: &mut RayTile) {
        tile.time[i] = start + self.lanes.time[i];
        for axis in 0..2 {
            tile.origin[axis][i] = level.origin[axis];
            tile.direction[axis][i] = level.direction[axis];
        }
    }
}
