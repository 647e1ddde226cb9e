//! Encoders on wheels.

use crate::{Purpose, Stream};
use std::f64::consts::TAU;

/// An encoder on a rolling wheel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WheelEncoder {
    /// Radius that the robot believes in, m.
    pub radius: f64,
    /// Counts a turn.
    pub counts_per_turn: u32,
    /// Standard deviation of the true radius from one wheel to the next, relative.
    pub radius_spread: f64,
    /// Slip: the way that wanders off grows by this a root metre, √m.
    pub slip: f64,
}

/// An encoder on its way.
///
/// With $r$ the wheel's true radius, a way $s$ on the ground turns it by $s/r$; slip adds a random
/// walk of variance $k^2|s|$.
#[derive(Clone, Debug, PartialEq)]
pub struct WheelEncoderRun {
    encoder: WheelEncoder,
    radius: f64,
    turned: f64,
    seed: u64,
    sensor: u32,
    samples: u32,
}

impl WheelEncoderRun {
    /// Switches sensor number `sensor` on.
    pub fn new(encoder: &WheelEncoder, seed: u64, sensor: u32) -> Self {
        let mut stream = Stream::new(seed, sensor, u32::MAX, 0, Purpose::Wheel);
        Self {
            radius: encoder.radius * (1.0 + encoder.radius_spread * stream.normal()),
            encoder: *encoder,
            turned: 0.0,
            seed,
            sensor,
            samples: 0,
        }
    }

    /// Counts since switch-on, after `way` more metres forwards.
    ///
    /// ```
    /// use etendue_physics::odometry::{WheelEncoder, WheelEncoderRun};
    /// let encoder = WheelEncoder {
    ///     radius: 0.1,
    ///     counts_per_turn: 1000,
    ///     radius_spread: 0.0,
    ///     slip: 0.0,
    /// };
    /// let mut run = WheelEncoderRun::new(&encoder, 1, 0);
    /// // One turn is 0.628 m.
    /// assert_eq!(run.read(0.3), 477);
    /// assert_eq!(run.read(-0.3), 0);
    /// ```
    pub fn read(&mut self, way: f64) -> i64 {
        let mut stream = Stream::new(self.seed, self.sensor, self.samples, 0, Purpose::Wheel);
        self.samples += 1;
        let slipped = self.encoder.slip * way.abs().sqrt() * stream.normal();
        self.turned += (way + slipped) / self.radius;
        let counts = self.turned / TAU * f64::from(self.encoder.counts_per_turn);
        floor(counts + 1e-9)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "saturating")]
fn floor(number: f64) -> i64 {
    number.floor() as i64
}
