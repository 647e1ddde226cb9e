//! Shots of lasers on a rotor about the z axis, computed from columns and lasers, sixteen at a time.
#![expect(
    clippy::inline_always,
    reason = "loops over sixteen lanes become vector instructions"
)]

use super::column_times::ColumnTimes;
use super::direction::{SinCos, wrapped, wrapped_once};
use super::firing::{Column, Firing, Laser};
use super::pattern::{Spinning, whole};
use super::shot::Shot;
use etendue_simd::Vectorized;
use nalgebra::{Point3, Vector3};
use std::f64::consts::TAU;
use std::ops::Range;

/// Sixteen lasers, one per lane.
#[derive(Clone, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct LaserLanes {
    /// Azimuth on the rotor, rad.
    azimuth: [f64; 16],
    /// Elevation, rad.
    elevation: [f64; 16],
    /// Sine and cosine of the azimuth on the rotor.
    around: SinCosLanes,
    /// Sine and cosine of the elevation.
    pub up: SinCosLanes,
    /// Rotation of the rotor between the firings of the first channel and of this one.
    swing: SinCosLanes,
    /// Distance of the beam's origin from the axis of rotation, m.
    radius: [f64; 16],
    /// Height of the beam's origin, m.
    pub height: [f64; 16],
    /// Firing time after the start of the column, s.
    pub time: [f64; 16],
    /// Number of lanes that hold a laser.
    pub used: usize,
}

/// Sines and cosines of sixteen angles.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct SinCosLanes {
    pub sin: [f64; 16],
    cos: [f64; 16],
}

/// Projection of a beam onto the plane of rotation (x, y).
pub(crate) struct Level {
    /// Origin, m.
    pub origin: [f64; 2],
    /// Projection of the unit direction.
    pub direction: [f64; 2],
}

impl SinCosLanes {
    pub const NONE: Self = Self {
        sin: [0.0; 16],
        cos: [1.0; 16],
    };

    #[inline(always)]
    pub fn put(&mut self, lane: usize, one: SinCos) {
        self.sin[lane] = one.sin;
        self.cos[lane] = one.cos;
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
    /// Up to sixteen lasers; the other lanes stay unused.
    pub fn of<'a>(all: impl Iterator<Item = &'a Laser<'a>>) -> Self {
        // Start with unused lanes.
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
        // Write one laser to each lane.
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

    /// The beam of a lane when its laser fires; `begun` is the orientation of the rotor when the first laser
    /// of the column fires.
    #[inline(always)]
    pub fn level(&self, lane: usize, begun: SinCos) -> Level {
        self.level_at(lane, begun.plus(self.swing.of(lane)))
    }

    /// The point at `distance` (m) along a beam, in the sensor's frame.
    #[inline(always)]
    fn point(&self, lane: usize, begun: SinCos, distance: f64) -> [f64; 3] {
        let level = self.level(lane, begun);
        let [[x, y], [dx, dy]] = [level.origin, level.direction];
        [
            x + dx * distance,
            y + dy * distance,
            self.height[lane] + self.up.sin[lane] * distance,
        ]
    }

    /// The beam of a lane at the orientation `turned` of the rotor.
    #[inline(always)]
    pub fn level_at(&self, lane: usize, turned: SinCos) -> Level {
        let azimuth = turned.plus(self.around.of(lane));
        let radius = self.radius[lane];
        let level = self.up.cos[lane];
        Level {
            origin: [radius * turned.cos, radius * turned.sin],
            direction: [level * azimuth.cos, level * azimuth.sin],
        }
    }
}

/// The shots of a sweep of a spinning lidar without nod: computed from columns and lasers when they are
/// used.
#[derive(Clone, PartialEq)]
pub(crate) struct RotorShots {
    spinning: Spinning,
    lanes: Vec<LaserLanes>,
    /// Number of lasers.
    channels: usize,
    /// Distinct firing times of the lasers after the start of their column, ascending, s.
    times: Vec<f64>,
    columns: ColumnTimes,
    /// Rotation of the rotor from the first column of a run of [`RUN`] columns to each of them.
    swings: [SinCos; RUN],
}

/// Number of columns in a run: one sine and cosine are evaluated per run, and rotated for its columns.
const RUN: usize = 32;

impl RotorShots {
    /// The shots of a sweep on a rotor.
    pub fn new(firing: &Firing, spinning: &Spinning) -> Self {
        let times = firing.lasers.iter().map(|laser| laser.channel.time);
        let mut times: Vec<f64> = times.collect();
        times.sort_by(f64::total_cmp);
        times.dedup();
        Self {
            times,
            spinning: *spinning,
            lanes: { firing.lasers.chunks(16) }
                .map(|lasers| LaserLanes::of(lasers.iter()))
                .collect(),
            channels: firing.lasers.len(),
            swings: std::array::from_fn(|column| {
                SinCos::of(spinning.swing(column as f64 * firing.columns.period()))
            }),
            columns: firing.columns.clone(),
        }
    }

    /// Number of shots.
    pub fn len(&self) -> usize {
        self.columns.count() * self.channels
    }

    /// Number of lasers.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Indices of column and channel of a shot.
    #[inline]
    pub fn place(&self, number: usize) -> [usize; 2] {
        [number / self.channels, number % self.channels]
    }

    /// The shot with an index in the sweep.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "scanners have fewer channels, and sweeps fewer columns"
    )]
    pub fn at(&self, number: usize) -> Shot {
        let [column, channel] = self.place(number);
        let Column { start, turned } = self.column(column);
        let lanes = &self.lanes[channel / 16];
        let lane = channel % 16;
        let time = start + lanes.time[lane];
        let level = lanes.level(lane, turned);
        let ([x, y], [dx, dy]) = (level.origin, level.direction);
        Shot {
            column: column as u32,
            channel: channel as u16,
            time,
            azimuth: wrapped(self.spinning.rotor(time) + lanes.azimuth[lane]),
            elevation: lanes.elevation[lane],
            origin: Point3::new(x, y, lanes.height[lane]),
            direction: Vector3::new(dx, dy, lanes.up.sin[lane]),
        }
    }

    /// Start time and orientation of a column.
    fn column(&self, number: usize) -> Column {
        self.column_of(self.run(number), number)
    }

    /// Orientation of the rotor at the first column of the run that contains a column.
    fn run(&self, column: usize) -> SinCos {
        let start = self.columns.start(column / RUN * RUN);
        SinCos::of(self.spinning.rotor(start + self.lanes[0].time[0]))
    }

    /// A column, from the orientation `run` of the first column of its run.
    fn column_of(&self, run: SinCos, number: usize) -> Column {
        Column {
            start: self.columns.start(number),
            turned: run.plus(self.swings[number % RUN]),
        }
    }

    /// Indices of the columns of a range of shots that is whole columns.
    fn numbers(&self, own: &Range<usize>) -> Range<usize> {
        own.start / self.channels..own.end / self.channels
    }

    /// Replaces `columns` by those of a range of shots that is whole columns.
    pub fn columns(&self, own: &Range<usize>, columns: &mut Vec<Column>) {
        columns.clear();
        let mut numbers = self.numbers(own);
        while !numbers.is_empty() {
            let run = self.run(numbers.start);
            let next = numbers.end.min((numbers.start / RUN + 1) * RUN);
            columns.extend((numbers.start..next).map(|number| self.column_of(run, number)));
            numbers.start = next;
        }
    }

    /// Aims whole columns of shots, the first of which has the index `first`.
    ///
    /// The orientation of the rotor at each shot is that of the first column of a run, rotated by addition
    /// theorems instead of a sine per shot. Results equal [`Firing::aim`] up to rounding errors.
    pub fn aiming<'s>(&'s self, first: usize, shots: &'s mut [Shot]) -> Aiming<'s> {
        Aiming {
            turned: self,
            own: first..first + shots.len(),
            shots,
        }
    }

    /// [`Shot::point`] of up to sixteen consecutive shots at their distances (m), by axis; `first` is the
    /// index of the first shot in `columns`. Lanes beyond the last shot are zero.
    #[inline(always)]
    pub fn points(&self, columns: &[Column], first: usize, distance: &[f64; 16]) -> [[f64; 16]; 3] {
        // Sixteen lasers of one column.
        let mut points = [[0.0; 16]; 3];
        let column = first / self.channels;
        let channel = first % self.channels;
        let lanes = &self.lanes[channel / 16];
        if channel.is_multiple_of(16) && lanes.used == 16 {
            let turned = columns[column].turned;
            for i in 0..16 {
                let [x, y, z] = lanes.point(i, turned, distance[i]);
                (points[0][i], points[1][i], points[2][i]) = (x, y, z);
            }
            return points;
        }
        // Any other shots, one by one.
        let count = columns.len() * self.channels;
        for (i, number) in (first..count.min(first + 16)).enumerate() {
            let column = number / self.channels;
            let channel = number % self.channels;
            let turned = columns[column].turned;
            let [x, y, z] = self.lanes[channel / 16].point(channel % 16, turned, distance[i]);
            (points[0][i], points[1][i], points[2][i]) = (x, y, z);
        }
        points
    }

    /// Calls a function with the times of all shots (s) of a range that is whole columns.
    #[inline]
    pub fn for_each_time(&self, own: &Range<usize>, mut with: impl FnMut(f64)) {
        for column in self.numbers(own) {
            let start = self.columns.start(column);
            self.times.iter().for_each(|time| with(start + time));
        }
    }

    /// Whether a condition holds at the times of all shots of a range that is whole columns.
    #[inline]
    pub fn at_all_times(&self, own: &Range<usize>, holds: impl Fn(f64) -> bool) -> bool {
        for column in self.numbers(own) {
            let start = self.columns.start(column);
            for time in &self.times {
                if !holds(start + time) {
                    return false;
                }
            }
        }
        true
    }
}

/// Aims whole columns of [`RotorShots`], the shots `own` of the sweep.
pub(crate) struct Aiming<'s> {
    turned: &'s RotorShots,
    own: Range<usize>,
    shots: &'s mut [Shot],
}

impl Vectorized for Aiming<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let turned = self.turned;
        let mut shots = self.shots;
        for number in turned.numbers(&self.own) {
            let column = turned.column(number);
            let number = whole(number as f64);
            let channels = (0..=u16::MAX).step_by(16);
            for (lanes, channel) in turned.lanes.iter().zip(channels) {
                let own;
                (own, shots) = shots.split_at_mut(lanes.used);
                aim(&turned.spinning, lanes, &column, number, channel, own);
            }
        }
    }
}

/// Aims the shots of one column by up to sixteen lasers. The column has the index `number`, the first laser
/// the channel `first`.
#[inline(always)]
fn aim(
    spinning: &Spinning,
    lanes: &LaserLanes,
    column: &Column,
    number: u32,
    first: u16,
    shots: &mut [Shot],
) {
    // Compute all lanes.
    let mut time = [0.0; 16];
    let mut azimuth = [0.0; 16];
    let mut origin = [[0.0; 16]; 2];
    let mut direction = [[0.0; 16]; 2];
    let mut far_round = false;
    for i in 0..16 {
        time[i] = column.start + lanes.time[i];
        let angle = spinning.rotor(time[i]) + lanes.azimuth[i];
        far_round |= angle.abs() >= TAU;
        azimuth[i] = wrapped_once(angle);
        let level = lanes.level(i, column.turned);
        for axis in 0..2 {
            origin[axis][i] = level.origin[axis];
            direction[axis][i] = level.direction[axis];
        }
    }
    // Wrap azimuths of more than a turn.
    if far_round {
        for i in 0..16 {
            azimuth[i] = wrapped(spinning.rotor(time[i]) + lanes.azimuth[i]);
        }
    }
    // Write the shots.
    for ((i, shot), channel) in shots.iter_mut().enumerate().zip(first..) {
        shot.column = number;
        shot.channel = channel;
        shot.time = time[i];
        shot.azimuth = azimuth[i];
        shot.elevation = lanes.elevation[i];
        shot.origin = Point3::new(origin[0][i], origin[1][i], lanes.height[i]);
        shot.direction = Vector3::new(direction[0][i], direction[1][i], lanes.up.sin[i]);
    }
}
