//! Wheel encoders.

use crate::{Purpose, Stream};
use std::f64::consts::TAU;

/// Parameters of an incremental encoder on a rolling wheel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WheelEncoder {
    /// Nominal radius, m.
    pub radius: f64,
    /// Counts per turn.
    pub counts_per_turn: u32,
    /// Standard deviation of the true radius from one wheel to the next, relative.
    pub radius_spread: f64,
    /// Slip $k$: random-walk coefficient of the distance error, √m.
    pub slip: f64,
}

/// Simulation state of a wheel encoder between samples.
///
/// With $r$ the true radius of the wheel, a distance $s$ on the ground turns it by $s/r$; slip adds a
/// random walk of variance $k^2|s|$ to the distance.
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
    /// The state of sensor number `sensor` at switch-on.
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

    /// Counts since switch-on, after another `distance` metres forwards.
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
    pub fn read(&mut self, distance: f64) -> i64 {
        let mut stream = Stream::new(self.seed, self.sensor, self.samples, 0, Purpose::Wheel);
        self.samples += 1;
        let slipped = self.encoder.slip * distance.abs().sqrt() * stream.normal();
        self.turned += (distance + slipped) / self.radius;
        let counts = self.turned / TAU * f64::from(self.encoder.counts_per_turn);
        floor(counts + 1e-9)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "saturating")]
fn floor(number: f64) -> i64 {
    number.floor() as i64
}
