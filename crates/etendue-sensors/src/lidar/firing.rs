//! Firing schedule of a sweep: the times of its columns and the directions of its shots.

use super::channel::Channel;
use super::column_times::ColumnTimes;
use super::description::Lidar;
use super::direction::{SinCos, wrapped};
use super::pattern::{ColumnStart, RotorOrientation, ScanPattern, Spinning, whole};
use super::shot::Shot;
use nalgebra::{Point3, Vector3};

impl Lidar {
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
            ScanPattern::Spinning(spinning) => rotor.orientation(spinning, time).aim(channel),
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
    orientation: RotorOrientation,
}

impl Default for Rotor {
    fn default() -> Self {
        Self {
            azimuth: 0.0,
            turned: SinCos { sin: 0.0, cos: 1.0 },
            time: f64::NAN,
            orientation: RotorOrientation::default(),
        }
    }
}

impl Rotor {
    fn orientation(&mut self, spinning: &Spinning, time: f64) -> RotorOrientation {
        if time != self.time {
            self.time = time;
            self.orientation = spinning.orientation(time);
        }
        self.orientation
    }

    fn turned(&mut self, azimuth: f64) -> SinCos {
        if azimuth != self.azimuth {
            self.azimuth = azimuth;
            self.turned = SinCos::of(azimuth);
        }
        self.turned
    }
}
