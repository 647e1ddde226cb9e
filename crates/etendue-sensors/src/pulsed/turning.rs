//! The beams of a rotor, sixteen at a time in the order they are cast.
#![expect(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over sixteen lanes become vector instructions"
)]

use crate::scanner::{Column, Firing, Laser, ScanPattern, SinCos, Spinning};
use etendue_scene::RayTile;

/// The beams of some columns on a rotor that only turns.
#[derive(Clone)]
pub(super) struct Turning<'a> {
    firing: &'a Firing<'a>,
    spinning: Spinning,
    /// Whether all channels of a column fire at once, and each four beams are of one column.
    at_once: bool,
    tiles: Vec<Lasers>,
}

/// Sixteen beams on the rotor.
#[derive(Clone)]
#[repr(C, align(64))]
struct Lasers {
    azimuth: SinCosLanes,
    elevation: SinCosLanes,
    /// What the rotor turns from the first channel's firing to this one's.
    swing: SinCosLanes,
    radius: [f64; 16],
    height: [f64; 16],
    /// When they fire after their column begins, s.
    time: [f64; 16],
    column: [usize; 16],
    used: usize,
}

/// Sines and cosines of sixteen angles.
#[derive(Clone, Copy)]
struct SinCosLanes {
    sin: [f64; 16],
    cos: [f64; 16],
}

impl<'a> Turning<'a> {
    /// Of the shots of whole columns, in that order.
    pub fn new(firing: &'a Firing<'a>, order: &[usize]) -> Option<Self> {
        let ScanPattern::Spinning(spinning) = firing.scanner.pattern else {
            return None;
        };
        let channels = &firing.scanner.channels;
        let (first, others) = channels.split_first()?;
        let together = others.iter().all(|channel| channel.time == first.time);
        let column = |shot: &usize| shot / channels.len();
        let in_one = |four: &[usize]| four.iter().all(|shot| column(shot) == column(&four[0]));
        let tile = |shots: &[usize]| Lasers::new(&firing.lasers, shots);
        spinning.nod.is_none().then(|| Self {
            firing,
            spinning,
            at_once: together && order.chunks(4).all(in_one),
            tiles: order.chunks(16).map(tile).collect(),
        })
    }

    /// The columns of some shots, the first of which has that number.
    pub fn columns(&self, first: usize, shots: usize, columns: &mut Vec<Column>) {
        self.firing.columns(&self.spinning, first, shots, columns);
    }

    /// Puts the beams of tile number `number` in the sensor's frame.
    #[inline(always)]
    pub fn put(&self, number: usize, columns: &[Column], tile: &mut RayTile) {
        let lasers = &self.tiles[number];
        if self.at_once {
            lasers.put_columns(columns, tile);
        } else {
            lasers.put(columns, tile);
        }
        tile.origin[2] = lasers.height;
        tile.direction[2] = lasers.elevation.sin;
        tile.used = lasers.used;
    }
}

impl Lasers {
    const NONE: Self = Self {
        azimuth: SinCosLanes::NONE,
        elevation: SinCosLanes::NONE,
        radius: [0.0; 16],
        height: [0.0; 16],
        swing: SinCosLanes::NONE,
        time: [0.0; 16],
        column: [0; 16],
        used: 0,
    };

    fn new(all: &[Laser], shots: &[usize]) -> Self {
        let mut lasers = Self::NONE;
        lasers.used = shots.len();
        for (lane, shot) in shots.iter().enumerate() {
            let laser = &all[shot % all.len()];
            lasers.azimuth.put(lane, laser.azimuth);
            lasers.elevation.put(lane, laser.elevation);
            lasers.swing.put(lane, laser.swing);
            lasers.radius[lane] = laser.channel.radius;
            lasers.height[lane] = laser.channel.height;
            lasers.time[lane] = laser.channel.time;
            lasers.column[lane] = shot / all.len();
        }
        lasers
    }

    /// Puts beams of columns that are fired at once, each four of one column.
    #[inline(always)]
    fn put_columns(&self, columns: &[Column], tile: &mut RayTile) {
        for four in 0..4 {
            // One column's numbers stay in registers for its four lanes.
            let Column { start, turned } = columns[self.column[4 * four]];
            for i in 4 * four..4 * four + 4 {
                self.put_one(i, start, turned, tile);
            }
        }
    }

    /// Puts beams of any columns.
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
            let turned = turned.of(i).plus(self.swing.of(i));
            self.put_one(i, start[i], turned, tile);
        }
    }

    /// Puts a beam of a column that began at `start`, as the rotor stands when it is fired.
    #[inline(always)]
    fn put_one(&self, i: usize, start: f64, turned: SinCos, tile: &mut RayTile) {
        let (azimuth, level) = (turned.plus(self.azimuth.of(i)), self.elevation.cos[i]);
        tile.time[i] = start + self.time[i];
        tile.origin[0][i] = self.radius[i] * turned.cos;
        tile.origin[1][i] = self.radius[i] * turned.sin;
        tile.direction[0][i] = level * azimuth.cos;
        tile.direction[1][i] = level * azimuth.sin;
    }
}

impl SinCosLanes {
    const NONE: Self = Self {
        sin: [0.0; 16],
        cos: [1.0; 16],
    };

    #[inline(always)]
    fn put(&mut self, lane: usize, one: SinCos) {
        (self.sin[lane], self.cos[lane]) = (one.sin, one.cos);
    }

    #[inline(always)]
    fn of(&self, lane: usize) -> SinCos {
        SinCos {
            sin: self.sin[lane],
            cos: self.cos[lane],
        }
    }
}
