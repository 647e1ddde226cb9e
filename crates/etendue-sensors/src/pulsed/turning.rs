//! The beams of a rotor, sixteen at a time in the order they are cast.
#![expect(
    clippy::inline_always,
    reason = "loops over sixteen lanes become vector instructions"
)]

use crate::scanner::{ScanPattern, Scanner, Shot, SinCos, Spinning};
use etendue_scene::RayTile;

/// The beams of some columns, each of which is fired at once on a rotor that only turns.
#[derive(Clone)]
pub(super) struct Turning {
    spinning: Spinning,
    channels: usize,
    tiles: Vec<Lasers>,
}

/// Sixteen beams on the rotor.
#[derive(Clone)]
#[repr(C, align(64))]
struct Lasers {
    azimuth: SinCosLanes,
    elevation: SinCosLanes,
    radius: [f64; 16],
    height: [f64; 16],
    /// Which column each four are of.
    column: [usize; 4],
    used: usize,
}

/// Sines and cosines of sixteen angles.
#[derive(Clone, Copy)]
struct SinCosLanes {
    sin: [f64; 16],
    cos: [f64; 16],
}

/// A column: when it is fired, and how the rotor stands then.
#[derive(Clone, Copy)]
pub(super) struct Column {
    time: f64,
    turned: SinCos,
}

impl Turning {
    /// Of the shots of whole columns, in that order, each four of which are of one column.
    pub fn new(scanner: &Scanner, order: &[usize]) -> Option<Self> {
        let ScanPattern::Spinning(spinning) = scanner.pattern else {
            return None;
        };
        let (first, others) = scanner.channels.split_first()?;
        let at_once = others.iter().all(|channel| channel.time == first.time);
        let column = |shot: &usize| shot / scanner.channels.len();
        let in_one = |four: &[usize]| four.iter().all(|shot| column(shot) == column(&four[0]));
        let by_fours = order.chunks(4).all(in_one);
        let tile = |shots: &[usize]| Lasers::new(scanner, shots);
        (at_once && by_fours && spinning.nod.is_none()).then(|| Self {
            spinning,
            channels: scanner.channels.len(),
            tiles: order.chunks(16).map(tile).collect(),
        })
    }

    /// The columns that some shots are of.
    pub fn columns(&self, shots: &[Shot], columns: &mut Vec<Column>) {
        columns.clear();
        columns.extend(shots.iter().step_by(self.channels).map(|shot| Column {
            time: shot.time,
            turned: SinCos::of(self.spinning.stance(shot.time).rotor),
        }));
    }

    /// Puts the beams of tile number `number` in the sensor's frame.
    #[inline(always)]
    pub fn put(&self, number: usize, columns: &[Column], tile: &mut RayTile) {
        let lasers = &self.tiles[number];
        let (azimuth, elevation) = (&lasers.azimuth, &lasers.elevation);
        for four in 0..4 {
            // One column's numbers stay in registers for its four lanes.
            let Column { time, turned } = columns[lasers.column[four]];
            for i in 4 * four..4 * four + 4 {
                let azimuth = turned.plus(SinCos {
                    sin: azimuth.sin[i],
                    cos: azimuth.cos[i],
                });
                tile.time[i] = time;
                tile.origin[0][i] = lasers.radius[i] * turned.cos;
                tile.origin[1][i] = lasers.radius[i] * turned.sin;
                tile.direction[0][i] = elevation.cos[i] * azimuth.cos;
                tile.direction[1][i] = elevation.cos[i] * azimuth.sin;
            }
        }
        tile.origin[2] = lasers.height;
        tile.direction[2] = elevation.sin;
        tile.used = lasers.used;
    }
}

impl Lasers {
    const NONE: Self = Self {
        azimuth: SinCosLanes::NONE,
        elevation: SinCosLanes::NONE,
        radius: [0.0; 16],
        height: [0.0; 16],
        column: [0; 4],
        used: 0,
    };

    fn new(scanner: &Scanner, shots: &[usize]) -> Self {
        let mut lasers = Self::NONE;
        lasers.used = shots.len();
        let channels = scanner.channels.len();
        for (lane, shot) in shots.iter().enumerate() {
            let channel = &scanner.channels[shot % channels];
            lasers.azimuth.put(lane, SinCos::of(channel.azimuth));
            lasers.elevation.put(lane, SinCos::of(channel.elevation));
            lasers.radius[lane] = channel.radius;
            lasers.height[lane] = channel.height;
            lasers.column[lane / 4] = shot / channels;
        }
        lasers
    }
}

impl SinCosLanes {
    const NONE: Self = Self {
        sin: [0.0; 16],
        cos: [1.0; 16],
    };

    fn put(&mut self, lane: usize, one: SinCos) {
        (self.sin[lane], self.cos[lane]) = (one.sin, one.cos);
    }
}
