//! A mirror that swings the beams to and fro.

use super::{Aim, Channel, Columns};
use std::f64::consts::{FRAC_PI_2, TAU};

/// How a swinging mirror moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Oscillation {
    /// Resonant: a sine.
    Sine,
    /// Driven: straight to and fro.
    Triangle,
}

/// A mirror that swings the beams to and fro in azimuth: one sweep a period.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Oscillating {
    /// Periods a second, Hz.
    pub rate: f64,
    /// Largest azimuth to either side, rad.
    pub amplitude: f64,
    /// How it moves.
    pub motion: Oscillation,
    /// When columns are fired.
    pub columns: Columns,
}

impl Oscillating {
    /// The channel's direction at `time`; the mirror is at one end when the run starts.
    pub fn aim(&self, time: f64, channel: &Channel) -> Aim {
        let phase = (self.rate * time).fract();
        let swing = match self.motion {
            Oscillation::Sine => (TAU * phase - FRAC_PI_2).sin(),
            Oscillation::Triangle => 1.0 - 4.0 * (phase - 0.5).abs(),
        };
        let rotor = self.amplitude * swing;
        Aim {
            rotor,
            azimuth: rotor + channel.azimuth,
            elevation: channel.elevation,
        }
    }
}
