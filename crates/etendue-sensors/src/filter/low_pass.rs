//! First-order low-pass filter.

use super::user::{FilterContext, FilterRun};
use crate::capture::Data;
use std::f64::consts::TAU;

/// Recursive low-pass filter, $y \mathrel{+}= (1-e^{-2\pi f_c\\,dt})(x-y)$ on each component, with
/// the first value as its initial state.
pub(super) struct LowPass {
    /// Cutoff frequency, Hz.
    cutoff: f64,
    last: Option<Data>,
}

impl LowPass {
    pub fn new(cutoff: f64) -> Self {
        Self { cutoff, last: None }
    }
}

impl FilterRun for LowPass {
    fn apply(&mut self, data: Data, context: &FilterContext) -> Data {
        let gain = 1.0 - (-TAU * self.cutoff * context.period).exp();
        let smoothed = match (&self.last, data) {
            (Some(Data::Imu(last)), Data::Imu(mut new)) => {
                new.angular_velocity = last.angular_velocity.lerp(&new.angular_velocity, gain);
                new.specific_force = last.specific_force.lerp(&new.specific_force, gain);
                Data::Imu(new)
            }
            (Some(Data::MagneticField(last)), Data::MagneticField(new)) => {
                Data::MagneticField(last.lerp(&new, gain))
            }
            (Some(Data::Pressure(last)), Data::Pressure(new)) => {
                Data::Pressure(last + (new - last) * gain)
            }
            (Some(Data::Height(last)), Data::Height(new)) => {
                Data::Height(last + (new - last) * gain)
            }
            (_, other) => other,
        };
        self.last = Some(smoothed.clone());
        smoothed
    }
}
