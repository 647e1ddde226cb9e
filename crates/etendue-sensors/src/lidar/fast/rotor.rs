//! The beams of a rotor, sixteen at a time in the order in which they are cast.
#![expect(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over sixteen lanes become vector instructions"
)]

use crate::lidar::shot::{Column, Firing, Laser};
use crate::lidar::turn::{LaserLanes, Level, SinCosLanes};
use etendue_scene::RayTile;
use nalgebra::Isometry3;

/// The beams of some columns on a rotor without other motion; the beams of other columns are rotated
/// copies.
#[derive(Clone)]
pub(in crate::lidar) struct RotorBeams {
    /// Whether all channels of a column fire at once, and each four beams are of one column.
    at_once: bool,
    /// Number of columns.
    columns: usize,
    tiles: Vec<Lasers>,
}

/// Sixteen beams on the rotor.
#[derive(Clone)]
struct Lasers {
    lanes: LaserLanes,
    column: [usize; 16],
}

impl RotorBeams {
    /// The beams of the shots of whole columns, in that order.
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

    /// Number of tiles of a number of columns, which is a multiple of these.
    pub fn tiles(&self, columns: usize) -> usize {
        columns / self.columns * self.tiles.len()
    }

    /// Writes the beams of columns of a sensor at a pose into tiles.
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

    /// Writes beams in the sensor's frame.
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

    /// Writes beams of columns that are fired at once, each four of one column.
    #[inline(always)]
    fn put_columns(&self, columns: &[Column], tile: &mut RayTile) {
        for four in 0..4 {
            // The numbers of one column stay in registers for its four lanes.
            let Column { start, turned } = columns[self.column[4 * four]];
            for i in 4 * four..4 * four + 4 {
                self.put_one(i, start, &self.lanes.level_at(i, turned), tile);
            }
        }
    }

    /// Writes beams of any columns.
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

    /// Writes a beam of a column that began at `start`.
    #[inline(always)]
    fn put_one(&self, i: usize, start: f64, level: &Level, tile: &mut RayTile) {
        tile.time[i] = start + self.lanes.time[i];
        for axis in 0..2 {
            tile.origin[axis][i] = level.origin[axis];
            tile.direction[axis][i] = level.direction[axis];
        }
    }
}
