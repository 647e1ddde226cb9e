//! Shots: origin, direction and time of each firing of a laser.

use super::channel::Channel;
use super::column_times::ColumnTimes;
use super::description::Lidar;
use super::pattern::Stance;
use super::pattern::{ColumnStart, Columns, ScanPattern, Spinning};
use super::shots::Shots;
use etendue_physics::beam::BeamFrame;
use nalgebra::{Point3, Vector3};
use std::f64::consts::{PI, TAU};

/// Direction of a beam in the sensor's frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aim {
    /// Azimuth of the rotor (or of the pattern's frame), with which the beam's origin rotates, rad.
    pub rotor: f64,
    /// Azimuth of the beam, rad.
    pub azimuth: f64,
    /// Elevation of the beam, rad.
    pub elevation: f64,
}

/// One firing of one laser: time, origin and direction of its beam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shot {
    /// Index of the column in the sweep.
    pub column: u32,
    /// Index of the channel in the lidar.
    pub channel: u16,
    /// Firing time since the start of the run, s.
    pub time: f64,
    /// Azimuth of the beam in the sensor's frame, rad, in (-pi, pi].
    pub azimuth: f64,
    /// Elevation of the beam, rad.
    pub elevation: f64,
    /// Origin of the beam, in the sensor's frame, m.
    pub origin: Point3<f64>,
    pub(super) direction: Vector3<f64>,
}

impl Shot {
    /// Initial value of a shot before it is aimed.
    pub(crate) const UNAIMED: Self = Self {
        column: 0,
        channel: 0,
        time: 0.0,
        azimuth: 0.0,
        elevation: 0.0,
        origin: Point3::new(0.0, 0.0, 0.0),
        direction: Vector3::new(1.0, 0.0, 0.0),
    };

    /// The same shot with an angle (rad) added to its azimuth.
    pub(crate) fn turned(&self, angle: f64) -> Self {
        self.rotated(angle, 0.0)
    }

    /// The same shot with angles (rad) added to its azimuth and its elevation.
    #[must_use]
    pub fn rotated(&self, azimuth: f64, elevation: f64) -> Self {
        let azimuth = self.azimuth + azimuth;
        let elevation = self.elevation + elevation;
        Self {
            azimuth,
            elevation,
            direction: BeamFrame::new(azimuth, elevation).axis,
            ..*self
        }
    }

    /// Unit direction of the beam in the sensor's frame.
    pub fn direction(&self) -> Vector3<f64> {
        self.direction
    }

    /// The point at `distance` (m) along the beam, in the sensor's frame.
    #[inline]
    pub fn point(&self, distance: f64) -> Point3<f64> {
        self.origin + self.direction * distance
    }
}

impl Lidar {
    /// Duration of one sweep, s.
    pub fn sweep_duration(&self) -> f64 {
        self.pattern.sweep_duration()
    }

    /// Greatest number of columns of a sweep.
    pub fn columns(&self) -> u32 {
        match self.pattern.columns() {
            Columns::PerSweep { columns, fired } => fired.unwrap_or(columns),
            Columns::Steps { columns, .. } => columns,
            Columns::Period { seconds } => whole((self.sweep_duration() / seconds).ceil()),
        }
    }

    /// The shots of the sweep with the index `sweep`, column by column, each in the order of the channels.
    pub fn shots(&self, sweep: u32) -> Vec<Shot> {
        let mut shots = Shots::default();
        shots.take_up(&self.firing(sweep, None));
        shots.into_list()
    }

    /// The firing schedule of a sweep; it starts at `start` (s) if given, otherwise at its index times its
    /// duration.
    pub(crate) fn firing(&self, sweep: u32, start: Option<f64>) -> Firing<'_> {
        Firing {
            lidar: self,
            columns: ColumnTimes::of(self, sweep, start),
            lasers: self.lasers(),
        }
    }

    /// The channels with the sines and cosines of their angles.
    fn lasers(&self) -> Vec<Laser<'_>> {
        let begun = self.channels.first().map_or(0.0, |channel| channel.time);
        let swing = |channel: &Channel| match &self.pattern {
            ScanPattern::Spinning(spinning) => spinning.swing(channel.time - begun),
            _ => 0.0,
        };
        let laser = |(number, channel)| Laser::new(number, channel, swing(channel));
        (0..).zip(&self.channels).map(laser).collect()
    }
}

/// Firing schedule of a sweep: column times and lasers, from which any part of the shots can be aimed.
pub(crate) struct Firing<'a> {
    pub lidar: &'a Lidar,
    pub(super) columns: ColumnTimes,
    pub lasers: Vec<Laser<'a>>,
}

/// A channel with the sines and cosines of its angles.
pub(crate) struct Laser<'a> {
    /// Index of the channel.
    number: u16,
    pub channel: &'a Channel,
    pub azimuth: SinCos,
    pub elevation: SinCos,
    /// Rotation of the rotor between the firings of the first channel and of this one.
    pub swing: SinCos,
}

/// A column of a spinning lidar without nod.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Column {
    /// Start time, s.
    pub start: f64,
    /// Orientation of the rotor when the first channel fires.
    pub turned: SinCos,
}

/// Sine and cosine of an angle.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct SinCos {
    pub sin: f64,
    pub cos: f64,
}

impl SinCos {
    pub fn of(angle: f64) -> Self {
        let (sin, cos) = angle.sin_cos();
        Self { sin, cos }
    }

    /// Sine and cosine of the sum of both angles, by the addition theorems.
    #[expect(clippy::inline_always, reason = "one lane of a loop over many")]
    #[inline(always)]
    pub fn plus(self, other: Self) -> Self {
        Self {
            sin: self.sin * other.cos + self.cos * other.sin,
            cos: self.cos * other.cos - self.sin * other.sin,
        }
    }
}

impl<'a> Laser<'a> {
    fn new(number: u16, channel: &'a Channel, swing: f64) -> Self {
        Self {
            number,
            channel,
            azimuth: SinCos::of(channel.azimuth),
            elevation: SinCos::of(channel.elevation),
            swing: SinCos::of(swing),
        }
    }
}

impl Firing<'_> {
    /// Number of shots of the sweep.
    pub fn count(&self) -> usize {
        self.columns.count() * self.lasers.len()
    }

    /// The rotor, if the lidar is a spinning one without nod.
    pub fn rotor(&self) -> Option<&Spinning> {
        match &self.lidar.pattern {
            ScanPattern::Spinning(spinning) if spinning.nod.is_none() => Some(spinning),
            _ => None,
        }
    }

    /// Aims whole columns of shots one by one; `first` is the index of the first shot in the sweep.
    pub(super) fn aim(&self, first: usize, shots: &mut [Shot]) {
        let channels = self.lasers.len();
        let columns = (first / channels..).zip(shots.chunks_mut(channels));
        let mut rotor = Rotor::default();
        for (column, shots) in columns {
            let begun = ColumnStart {
                number: whole(column as f64),
                time: self.columns.start(column),
            };
            for (laser, shot) in self.lasers.iter().zip(shots) {
                shot.column = begun.number;
                shot.channel = laser.number;
                self.aim_one(laser, &begun, &mut rotor, shot);
            }
        }
    }

    /// Aims a shot of a column.
    #[inline]
    fn aim_one(&self, laser: &Laser, column: &ColumnStart, rotor: &mut Rotor, shot: &mut Shot) {
        // Evaluate the scan pattern.
        let channel = laser.channel;
        let time = column.time + channel.time;
        let aim = match &self.lidar.pattern {
            ScanPattern::Spinning(spinning) => rotor.stance(spinning, time).aim(channel),
            other => other.aim(time, column, channel),
        };
        // Reuse the precomputed sines of the channel where the pattern only rotates it.
        let turned = rotor.turned(aim.rotor);
        let azimuth = if aim.azimuth == aim.rotor + channel.azimuth {
            turned.plus(laser.azimuth)
        } else {
            SinCos::of(aim.azimuth)
        };
        let elevation = if aim.elevation == channel.elevation {
            laser.elevation
        } else {
            SinCos::of(aim.elevation)
        };
        // Write time, origin and direction.
        let [x, y] = [turned.cos, turned.sin].map(|part| channel.radius * part);
        shot.time = time;
        shot.azimuth = wrapped(aim.azimuth);
        shot.elevation = aim.elevation;
        shot.origin = Point3::new(x, y, channel.height);
        shot.direction = Vector3::new(
            elevation.cos * azimuth.cos,
            elevation.cos * azimuth.sin,
            elevation.sin,
        );
    }
}

/// Orientation of the rotor at the last shot, reused for shots of the same time.
struct Rotor {
    azimuth: f64,
    turned: SinCos,
    time: f64,
    stance: Stance,
}

impl Default for Rotor {
    fn default() -> Self {
        Self {
            azimuth: 0.0,
            turned: SinCos { sin: 0.0, cos: 1.0 },
            time: f64::NAN,
            stance: Stance::default(),
        }
    }
}

impl Rotor {
    fn stance(&mut self, spinning: &Spinning, time: f64) -> Stance {
        if time != self.time {
            (self.time, self.stance) = (time, spinning.stance(time));
        }
        self.stance
    }

    fn turned(&mut self, azimuth: f64) -> SinCos {
        if azimuth != self.azimuth {
            (self.azimuth, self.turned) = (azimuth, SinCos::of(azimuth));
        }
        self.turned
    }
}

/// A whole, non-negative number as an integer.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a whole number, not negative, and saturating"
)]
pub(super) fn whole(number: f64) -> u32 {
    number as u32
}

/// An azimuth (rad) wrapped to (-pi, pi].
pub(super) fn wrapped(azimuth: f64) -> f64 {
    // Avoid the remainder within one turn: it takes longer than the rest of a shot.
    if azimuth.abs() < TAU {
        return once_round(azimuth);
    }
    let wrapped = azimuth.rem_euclid(TAU);
    if wrapped > PI { wrapped - TAU } else { wrapped }
}

/// [`wrapped`] for azimuths in (-2 pi, 2 pi).
#[expect(clippy::inline_always, reason = "one lane of a loop over many")]
#[inline(always)]
pub(super) fn once_round(azimuth: f64) -> f64 {
    let ahead = azimuth + if azimuth < 0.0 { TAU } else { 0.0 };
    let round = if ahead > PI { ahead - TAU } else { ahead };
    let within = azimuth > -PI && azimuth <= PI;
    if within { azimuth } else { round }
}
