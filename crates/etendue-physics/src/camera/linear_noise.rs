//! Noise with a variance that is linear in the intensity.

use crate::Stream;

/// Gaussian noise of variance $\sigma^2 = \sigma_1^2 I + \sigma_2^2$ on an intensity $I$ in [0, 1]
/// (Elmquist et al. 2021, Chrono::Sensor; the terms are shot noise and read-out noise).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinearNoise {
    /// $\sigma_1$: standard deviation at full intensity without the floor.
    pub shot: f64,
    /// $\sigma_2$: standard deviation in the dark.
    pub floor: f64,
}

impl LinearNoise {
    /// Variance at an intensity.
    ///
    /// ```
    /// use etendue_physics::camera::LinearNoise;
    /// let noise = LinearNoise { shot: 0.1, floor: 0.02 };
    /// assert!((noise.variance(0.5) - (0.01 * 0.5 + 0.0004)).abs() < 1e-15);
    /// ```
    pub fn variance(&self, intensity: f64) -> f64 {
        self.shot * self.shot * intensity.max(0.0) + self.floor * self.floor
    }

    /// Noisy reading of an intensity; not clipped.
    pub fn read(&self, intensity: f64, stream: &mut Stream) -> f64 {
        intensity + self.variance(intensity).sqrt() * stream.normal()
    }
}
