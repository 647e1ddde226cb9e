//! Rotor about the z axis.

use super::columns::Columns;
use crate::lidar::channel::Channel;
use crate::lidar::direction::Aim;
use std::f64::consts::TAU;

/// A rotor that rotates all beams about the z axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spinning {
    /// Rotations per second, Hz.
    pub rate: f64,
    /// Whether it rotates clockwise, seen from above.
    pub clockwise: bool,
    /// Azimuth of the rotor at the start of the run, rad.
    pub start: f64,
    /// Schedule of the columns.
    pub columns: Columns,
    /// Oscillation of the beams' elevation, if there is any.
    pub nod: Option<Nod>,
}

/// A sinusoidal oscillation of the beams' elevation on a rotor, from a mirror or prism that rotates faster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nod {
    /// Amplitude of the elevation, rad.
    pub amplitude: f64,
    /// Frequency, Hz.
    pub rate: f64,
}

/// Orientation of a rotor at one time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RotorOrientation {
    /// Azimuth of the rotor, rad.
    pub rotor: f64,
    /// Elevation added to the beams by the nod, rad.
    nod: f64,
}

impl Spinning {
    /// Orientation of the rotor at `time` (s).
    pub(crate) fn orientation(&self, time: f64) -> RotorOrientation {
        RotorOrientation {
            rotor: self.rotor(time),
            nod: self.nod.map_or(0.0, |nod| {
                nod.amplitude * (TAU * (nod.rate * time).fract()).sin()
            }),
        }
    }

    /// Azimuth of the rotor at `time` (s), rad.
    #[expect(clippy::inline_always, reason = "one lane of a loop over many")]
    #[inline(always)]
    pub(crate) fn rotor(&self, time: f64) -> f64 {
        let turned = TAU * (self.rate * time).fract();
        self.start + if self.clockwise { -turned } else { turned }
    }

    /// Rotation of the rotor in a duration (s), rad.
    pub(crate) fn swing(&self, seconds: f64) -> f64 {
        let turned = TAU * self.rate * seconds;
        if self.clockwise { -turned } else { turned }
    }

    /// Direction of a channel's beam at `time` (s).
    pub fn aim(&self, time: f64, channel: &Channel) -> Aim {
        self.orientation(time).aim(channel)
    }
}

impl RotorOrientation {
    /// Direction of a channel's beam.
    #[inline]
    pub(crate) fn aim(&self, channel: &Channel) -> Aim {
        Aim {
            rotor: self.rotor,
            azimuth: self.rotor + channel.azimuth,
            elevation: channel.elevation + self.nod,
        }
    }
}
