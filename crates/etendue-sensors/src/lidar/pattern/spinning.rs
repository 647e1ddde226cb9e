//! A rotor that turns all beams about the z axis.

use super::{Aim, Channel, Columns};
use std::f64::consts::TAU;

/// A rotor that turns all beams about the z axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spinning {
    /// Turns a second, Hz.
    pub rate: f64,
    /// Whether it turns clockwise seen from above.
    pub clockwise: bool,
    /// Azimuth of the rotor when the run starts, rad.
    pub start: f64,
    /// When columns are fired.
    pub columns: Columns,
    /// Up and down motion of the beams on the rotor, if there is any.
    pub nod: Option<Nod>,
}

/// An up and down motion of the beams on a rotor (a mirror or prism that turns faster).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nod {
    /// Largest elevation added, rad.
    pub amplitude: f64,
    /// Periods a second, Hz.
    pub rate: f64,
}

/// Orientation of a rotor at a moment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stance {
    /// Its azimuth, rad.
    pub rotor: f64,
    /// Elevation added to its beams, rad.
    nod: f64,
}

impl Spinning {
    /// Orientation of the rotor at `time`.
    pub(crate) fn stance(&self, time: f64) -> Stance {
        Stance {
            rotor: self.rotor(time),
            nod: self.nod.map_or(0.0, |nod| {
                nod.amplitude * (TAU * (nod.rate * time).fract()).sin()
            }),
        }
    }

    /// Azimuth of the rotor at `time`, rad.
    #[expect(clippy::inline_always, reason = "one lane of a loop over many")]
    #[inline(always)]
    pub(crate) fn rotor(&self, time: f64) -> f64 {
        let turned = TAU * (self.rate * time).fract();
        self.start + if self.clockwise { -turned } else { turned }
    }

    /// What the rotor turns in some time (s), rad.
    pub(crate) fn swing(&self, seconds: f64) -> f64 {
        let turned = TAU * self.rate * seconds;
        if self.clockwise { -turned } else { turned }
    }

    /// The channel's direction on the rotor at `time`.
    pub fn aim(&self, time: f64, channel: &Channel) -> Aim {
        self.stance(time).aim(channel)
    }
}

impl Stance {
    /// The channel's direction.
    #[inline]
    pub(crate) fn aim(&self, channel: &Channel) -> Aim {
        Aim {
            rotor: self.rotor,
            azimuth: self.rotor + channel.azimuth,
            elevation: channel.elevation + self.nod,
        }
    }
}
