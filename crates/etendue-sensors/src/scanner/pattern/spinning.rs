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

impl Spinning {
    /// The channel's direction on the rotor as it stands at `time`.
    pub fn aim(&self, time: f64, channel: &Channel) -> Aim {
        let turned = TAU * (self.rate * time).fract();
        let rotor = self.start + if self.clockwise { -turned } else { turned };
        let nod = self.nod.map_or(0.0, |nod| {
            nod.amplitude * (TAU * (nod.rate * time).fract()).sin()
        });
        Aim {
            rotor,
            azimuth: rotor + channel.azimuth,
            elevation: channel.elevation + nod,
        }
    }
}
