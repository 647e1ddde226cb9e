//! Oscillating mirror.

use super::columns::Columns;
use crate::lidar::channel::Channel;
use crate::lidar::direction::Aim;
use std::f64::consts::{FRAC_PI_2, TAU};

/// Motion of an oscillating mirror over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Oscillation {
    /// Resonant mirror: a sine.
    Sine,
    /// Driven mirror: a triangle wave of constant speed.
    Triangle,
}

/// A mirror that oscillates the beams in azimuth; one sweep is one period.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Oscillating {
    /// Frequency of the oscillation, Hz.
    pub rate: f64,
    /// Amplitude of the beams' azimuth, rad.
    pub amplitude: f64,
    /// Motion over time.
    pub motion: Oscillation,
    /// Schedule of the columns.
    pub columns: Columns,
}

impl Oscillating {
    /// Direction of a channel's beam at `time` (s); at time 0 the azimuth is at its minimum.
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
