//! Gain and noise of the receiver.

use super::SAMPLES;

/// Automatic gain control: the gain that amplifies the received wave to the range of the converter.
///
/// Gains are in half ranges of the converter per unit of received power.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AutomaticGain {
    /// Target amplitude, in half ranges of the converter.
    pub target: f64,
    /// Received power at which the converter saturates at the lowest gain.
    pub strongest: f64,
    /// Lowest received power at which the target amplitude is reached, at the highest gain.
    pub weakest: f64,
}

impl AutomaticGain {
    /// The gain for a received power.
    ///
    /// ```
    /// use etendue_physics::phase::AutomaticGain;
    /// let gain = AutomaticGain { target: 0.5, strongest: 100.0, weakest: 0.01 };
    /// assert_eq!(gain.at(1.0) * 1.0, 0.5);
    /// assert_eq!(gain.at(200.0), 0.01); // twice the converter's range
    /// assert_eq!(gain.at(0.0), 50.0);
    /// ```
    pub fn at(&self, power: f64) -> f64 {
        (self.target / power.max(self.weakest)).max(1.0 / self.strongest)
    }
}

/// Noise of each sample.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PhaseReceiverNoise {
    /// Standard deviation before the gain, in units of received power.
    pub amplifier: f64,
    /// Variance per unit of received power (photon noise), in units of received power.
    pub shot: f64,
    /// Ambient light on the detector, in units of received power: it adds photon noise.
    pub background: f64,
    /// Standard deviation after the gain, in half ranges of the converter.
    pub converter: f64,
}

impl PhaseReceiverNoise {
    /// Variance of a sample at a gain, referred to received power, where `power` is the optical
    /// power at that instant.
    pub fn variance(&self, power: f64, gain: f64) -> f64 {
        let converter = self.converter / gain;
        self.amplifier * self.amplifier
            + self.shot * (power + self.background).max(0.0)
            + converter * converter
    }
}

/// Standard deviation of a phase from [`SAMPLES`] samples with standard deviation `sample_noise`
/// each: $\sqrt{2/N}\\,\sigma_n/A$, rad.
pub fn phase_noise(sample_noise: f64, amplitude: f64) -> f64 {
    (2.0 / SAMPLES as f64).sqrt() * sample_noise / amplitude
}
