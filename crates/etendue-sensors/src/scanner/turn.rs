//! Lasers on a rotor that only turns, sixteen at a time.
#![expect(
    clippy::inline_always,
    reason = "loops over sixteen lanes become vector instructions"
)]

use super::shot::{Column, Firing, Laser, Shot, SinCos, once_round, whole, wrapped};
use super::{ScanPattern, Spinning};
use etendue_scene::{Loops, Scene};
use nalgebra::{Point3, Vector3};
use std::f64::consts::TAU;

/// Sixteen lasers, by lane.
#[derive(Clone)]
#[repr(C, align(64))]
pub(crate) struct LaserLanes {
    /// Azimuths on the rotor and elevations, rad.
    azimuth: [f64; 16],
    elevation: [f64; 16],
    /// Of the azimuths and of the elevations.
    around: SinCosLanes,
    pub up: SinCosLanes,
    /// What the rotor turns from the first channel's firing to this one's.
    swing: SinCosLanes,
    radius: [f64; 16],
    pub height: [f64; 16],
    /// When they fire after their column begins, s.
    pub time: [f64; 16],
    pub used: usize,
}

/// Sines and cosines of sixteen angles.
#[derive(Clone, Copy)]
pub(crate) struct SinCosLanes {
    pub sin: [f64; 16],
    cos: [f64; 16],
}

/// A beam on the rotor: where it starts and goes in the plane that the rotor turns in.
pub(crate) struct Level {
    pub origin: [f64; 2],
    pub direction: [f64; 2],
}

impl SinCosLanes {
    pub const NONE: Self = Self {
        sin: [0.0; 16],
        cos: [1.0; 16],
    };

    #[inline(always)]
    pub fn put(&mut self, lane: usize, one: SinCos) {
        (self.sin[lane], self.cos[lane]) = (one.sin, one.cos);
    }

    #[inline(always)]
    pub fn of(&self, lane: usize) -> SinCos {
        SinCos {
            sin: self.sin[lane],
            cos: self.cos[lane],
        }
    }
}

impl LaserLanes {
    /// Up to sixteen lasers.
    pub fn of<'a>(all: impl Iterator<Item = &'a Laser<'a>>) -> Self {
        let mut lanes = Self {
            azimuth: [0.0; 16],
            elevation: [0.0; 16],
            around: SinCosLanes::NONE,
            up: SinCosLanes::NONE,
            swing: SinCosLanes::NONE,
            radius: [0.0; 16],
            height: [0.0; 16],
            time: [0.0; 16],
            used: 0,
        };
        for (lane, laser) in all.enumerate() {
            let channel = laser.channel;
            lanes.azimuth[lane] = channel.azimuth;
            lanes.elevation[lane] = channel.elevation;
            lanes.around.put(lane, laser.azimuth);
            lanes.up.put(lane, laser.elevation);
            lanes.swing.put(lane, laser.swing);
            lanes.radius[lane] = channel.radius;
            lanes.height[lane] = channel.height;
            lanes.time[lane] = channel.time;
            lanes.used = lane + 1;
        }
        lanes
    }

    /// A beam as the rotor stands when its laser fires, `begun` when the column's first does.
    #[inline(always)]
    pub fn level(&self, lane: usize, begun: SinCos) -> Level {
        self.level_at(lane, begun.plus(self.swing.of(lane)))
    }

    /// A beam as the rotor stands.
    #[inline(always)]
    pub fn level_at(&self, lane: usize, turned: SinCos) -> Level {
        let azimuth = turned.plus(self.around.of(lane));
        let (radius, level) = (self.radius[lane], self.up.cos[lane]);
        Level {
            origin: [radius * turned.cos, radius * turned.sin],
            direction: [level * azimuth.cos, level * azimuth.sin],
        }
    }
}

/// Columns of lasers on a rotor that only turns.
pub(crate) struct Turn<'a> {
    spinning: &'a Spinning,
    lanes: Vec<LaserLanes>,
}

impl<'a> Turn<'a> {
    /// None where lasers also move otherwise.
    pub fn new(pattern: &'a ScanPattern, lasers: &[Laser]) -> Option<Self> {
        match pattern {
            ScanPattern::Spinning(spinning) if spinning.nod.is_none() => Some(Self {
                spinning,
                lanes: { lasers.chunks(16) }
                    .map(|lasers| LaserLanes::of(lasers.iter()))
                    .collect(),
            }),
            _ => None,
        }
    }

    /// A column, begun at `start`, whose first channel fires so much later (s).
    pub fn column(&self, start: f64, first: f64) -> Column {
        let turned = SinCos::of(self.spinning.stance(start + first).rotor);
        Column { start, turned }
    }
}

impl Firing<'_> {
    /// [`Firing::aim`] with a scene's vector instructions; leaves the columns in `columns` where
    /// the rotor only turns.
    pub fn aim_in(
        &self,
        scene: &Scene,
        first: usize,
        shots: &mut [Shot],
        columns: &mut Vec<Column>,
    ) {
        columns.clear();
        let Some(turn) = &self.turn else {
            return self.aim(first, shots);
        };
        let first = first / self.lasers.len();
        self.begin(turn, first, shots.len(), columns);
        scene.vectorised(Aiming {
            turn,
            first,
            columns,
            shots,
        });
    }

    /// Aims whole columns of shots, the first of which has the number `first`, on a rotor that only
    /// turns: as one by one but for last digits, sooner. One sine serves a column, turned by what
    /// the rotor turns until each laser fires.
    pub(super) fn turn(&self, turn: &Turn, first: usize, shots: &mut [Shot]) {
        let first = first / self.lasers.len();
        let mut columns = Vec::new();
        self.begin(turn, first, shots.len(), &mut columns);
        let columns = &columns;
        let aiming = Aiming {
            turn,
            first,
            columns,
            shots,
        };
        aiming.run();
    }

    /// Lists the columns of so many shots from column number `first` on.
    fn begin(&self, turn: &Turn, first: usize, shots: usize, columns: &mut Vec<Column>) {
        let begun = self.lasers[0].channel.time;
        let last = first + shots / self.lasers.len();
        columns.extend((first..last).map(|column| turn.column(self.start(column), begun)));
    }
}

/// Shots of columns on a rotor that only turns.
struct Aiming<'s, 'a> {
    turn: &'s Turn<'a>,
    /// Number of the first column.
    first: usize,
    columns: &'s [Column],
    shots: &'s mut [Shot],
}

impl Loops for Aiming<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let mut shots = self.shots;
        for (number, column) in (self.first..).zip(self.columns) {
            let number = whole(number as f64);
            let channels = (0..=u16::MAX).step_by(16);
            for (lanes, channel) in self.turn.lanes.iter().zip(channels) {
                let own;
                (own, shots) = shots.split_at_mut(lanes.used);
                aim(self.turn.spinning, lanes, column, (number, channel), own);
            }
        }
    }
}

/// Aims the shots of a column by sixteen lasers at most.
#[inline(always)]
fn aim(
    spinning: &Spinning,
    lanes: &LaserLanes,
    column: &Column,
    (number, first): (u32, u16),
    shots: &mut [Shot],
) {
    let mut time = [0.0; 16];
    let mut azimuth = [0.0; 16];
    let mut origin = [[0.0; 16]; 2];
    let mut direction = [[0.0; 16]; 2];
    let mut far_round = false;
    for i in 0..16 {
        time[i] = column.start + lanes.time[i];
        let angle = spinning.rotor(time[i]) + lanes.azimuth[i];
        far_round |= angle.abs() >= TAU;
        azimuth[i] = once_round(angle);
        let level = lanes.level(i, column.turned);
        for axis in 0..2 {
            origin[axis][i] = level.origin[axis];
            direction[axis][i] = level.direction[axis];
        }
    }
    if far_round {
        for i in 0..16 {
            azimuth[i] = wrapped(spinning.rotor(time[i]) + lanes.azimuth[i]);
        }
    }
    for ((i, shot), channel) in shots.iter_mut().enumerate().zip(first..) {
        (shot.column, shot.channel) = (number, channel);
        shot.time = time[i];
        (shot.azimuth, shot.elevation) = (azimuth[i], lanes.elevation[i]);
        shot.origin = Point3::new(origin[0][i], origin[1][i], lanes.height[i]);
        shot.direction = Vector3::new(direction[0][i], direction[1][i], lanes.up.sin[i]);
    }
}
