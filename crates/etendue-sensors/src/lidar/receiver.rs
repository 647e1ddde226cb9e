//! What a lidar makes of the light that comes back.

mod phase;

pub(in crate::lidar) use phase::reading;
pub use phase::{InvalidPhaseReceiver, PhaseDetection, PhaseMethod, PhaseReceiver};

use etendue_physics::atmosphere::Overlap;
use etendue_physics::phase::Window;
use etendue_physics::pulse::{
    AnalogueDetector, Detector, Discriminator, EchoFinder, FastReceiver, Fmcw, IntensityResponse,
    PhotonCounter, Pulse, ReturnMode, Timing, reference_power,
};
use etendue_physics::{SPEED_OF_LIGHT, Scalar};

/// What becomes of the light.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Receiver<S = f64> {
    /// Pulsed time of flight.
    Pulsed(PulsedReceiver),
    /// Phase of amplitude-modulated continuous waves.
    Phase(PhaseReceiver<S>),
    /// Triangulation on a line of pixels beside the laser.
    Triangulation(Triangulation),
    /// Frequency-modulated continuous wave: range and radial velocity.
    Fmcw(Fmcw),
}

impl<S: Copy> Receiver<S> {
    /// The same receiver with every differentiable number replaced by `f` of it.
    pub fn map<U>(&self, f: impl FnMut(S) -> U) -> Receiver<U> {
        match self {
            Self::Pulsed(pulsed) => Receiver::Pulsed(*pulsed),
            Self::Phase(phase) => Receiver::Phase(phase.map(f)),
            Self::Triangulation(triangulation) => Receiver::Triangulation(*triangulation),
            Self::Fmcw(fmcw) => Receiver::Fmcw(*fmcw),
        }
    }
}

/// How echoes are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pipeline {
    /// In closed form ([`FastReceiver`]); in waveforms where the air by itself makes echoes.
    Fast,
    /// In a sampled waveform.
    Waveform,
}

/// A receiver's sensitivity in the terms of a data sheet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sensitivity {
    /// Diffuse reflectance of the target.
    pub reflectance: f64,
    /// Range at which it is found, m.
    pub range: f64,
    /// Probability of finding it there, in (0, 1).
    pub probability: f64,
    /// Detection threshold over the standard deviation of the noise: sets the false alarms.
    pub threshold_over_noise: f64,
}

/// A pulsed receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PulsedReceiver {
    /// The pulse as the receiver sees it.
    pub pulse: Pulse,
    /// What is timed.
    pub discriminator: Discriminator,
    /// Which echoes are reported.
    pub returns: ReturnMode,
    /// Power that an echo must reach, 1/(m² sr).
    pub threshold: f64,
    /// Power whose range reads right, 1/(m² sr).
    pub reference: f64,
    /// Noise and saturation.
    pub detector: Detector,
    /// Time between samples, s.
    pub interval: f64,
    /// Bits of the converter, if its steps matter.
    pub bits: Option<u8>,
    /// Timing jitter that does not depend on the power, as a standard deviation of range, m.
    pub jitter: f64,
    /// How echoes are found.
    pub pipeline: Pipeline,
    /// What lets ambient light in, with the peak of the emitted power; none shuts it out.
    pub window: Option<Window>,
    /// Whether echoes that noise alone makes are drawn.
    pub false_alarms: bool,
    /// Range from which on all light of the air lands on the detector, m: that of nearer air is out
    /// of focus ([`Overlap::full_from`]).
    pub full_overlap: f64,
}

/// Triangulation: the image of the spot moves by $x = bf/d$ on the sensor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Triangulation {
    /// Distance between laser and lens, m.
    pub baseline: f64,
    /// Standard deviation of the spot's direction as seen by the lens, rad: the range spreads by
    /// $\sigma_d = d^2\sigma/b$.
    pub angle_noise: f64,
    /// Step of that direction, rad; 0 for none.
    pub angle_step: f64,
    /// Power that the spot must have, 1/(m² sr).
    pub threshold: f64,
}

/// What ranges a device reports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RangeLimits {
    /// Nearest, m.
    pub near: f64,
    /// Farthest, m.
    pub far: f64,
    /// Step of the reported range, m; 0 for none.
    pub step: f64,
}

/// What intensity a device reports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Intensity {
    /// From power to counts.
    pub response: IntensityResponse,
    /// Highest count, with whole counts below it; none leaves the number as it is.
    pub top: Option<f64>,
}

impl RangeLimits {
    /// The range rounded to the device's step, m.
    #[expect(clippy::inline_always, reason = "for the caller's instructions")]
    #[inline(always)]
    pub fn stepped(&self, range: f64) -> f64 {
        if self.step > 0.0 {
            // One over the step is worked out once for many lanes.
            (range * (1.0 / self.step)).round() * self.step
        } else {
            range
        }
    }
}

impl Triangulation {
    /// The range read of a spot at `distance` (m), with a standard normal draw of noise:
    /// $b / \varphi$ with $\varphi = b/d + \sigma z$ rounded to a step.
    pub fn read(&self, distance: f64, draw: f64) -> f64 {
        let mut angle = self.baseline / distance + self.angle_noise * draw;
        if self.angle_step > 0.0 {
            angle = (angle / self.angle_step).round() * self.angle_step;
        }
        self.baseline / angle.max(1e-12)
    }
}

impl Sensitivity {
    /// Threshold and noise (standard deviation), 1/(m² sr): with the standard normal quantile
    /// $z_p$ of the probability, $L = \rho/\pi R^2 = (k + z_p)\\,\sigma$ and $T = k\sigma$.
    pub fn threshold_and_noise(&self) -> [f64; 2] {
        let power = reference_power(self.reflectance, self.range);
        let noise = power / (self.threshold_over_noise + normal_quantile(self.probability));
        [self.threshold_over_noise * noise, noise]
    }

    /// An analogue detector of that sensitivity that saturates at so many times its threshold.
    pub fn analogue(&self, saturation_over_threshold: f64) -> (f64, Detector) {
        let [threshold, thermal_noise] = self.threshold_and_noise();
        let detector = Detector::Analogue(AnalogueDetector {
            thermal_noise,
            shot_noise: 0.0,
            background: 0.0,
            saturation: threshold * saturation_over_threshold,
        });
        (threshold, detector)
    }

    /// A photon counter of that sensitivity with a mean of `background` counts in a bin.
    pub fn photon_counting(&self, background: f64, capacity: f64) -> (f64, Detector) {
        let [threshold, noise] = self.threshold_and_noise();
        // At the threshold the noise is that of the background alone: sqrt(b) / photons.
        let detector = Detector::PhotonCounting(PhotonCounter {
            photons: background.sqrt() / noise,
            background,
            capacity,
        });
        (threshold, detector)
    }
}

impl PulsedReceiver {
    /// What it sees of the near air: none whose echo would stand before the nearest range that is
    /// reported, for there its gate is shut.
    pub fn overlap(&self, limits: &RangeLimits) -> Overlap {
        Overlap {
            none_until: limits.near + 0.25 * SPEED_OF_LIGHT * self.pulse.fwhm,
            full_from: self.full_overlap,
        }
    }

    /// The closed form of this receiver.
    pub fn fast(&self) -> FastReceiver {
        FastReceiver {
            pulse: self.pulse,
            discriminator: self.discriminator,
            threshold: self.threshold,
            reference: self.reference,
            detector: self.detector,
            interval: self.interval,
            jitter: self.jitter,
        }
    }

    /// The same receiver with that much more constant background, 1/(m² sr).
    #[must_use]
    pub fn in_light(mut self, power: f64) -> Self {
        self.detector = self.detector.in_light(power);
        self
    }

    /// How far the power falls between two peaks that are two echoes: three standard deviations of
    /// the noise.
    pub fn hysteresis(&self) -> f64 {
        (3.0 * self.detector.noise(0.0)).max(1e-9 * self.threshold)
    }

    /// The echo finder of this receiver: two peaks are two echoes where the power between them
    /// falls by three standard deviations of the noise.
    pub fn finder(&self) -> EchoFinder {
        self.finder_timed_by(&self.fast().timing())
    }

    /// The same with another pulse, threshold and reference, in a scalar that may carry derivatives.
    pub fn finder_timed_by<S: Scalar>(&self, timing: &Timing<S>) -> EchoFinder<S> {
        EchoFinder::calibrated(
            &self.pulse_of(timing),
            self.discriminator,
            timing.threshold,
            self.hysteresis(),
            timing.reference,
        )
    }

    /// The pulse with another width.
    pub fn pulse_of<S: Scalar>(&self, timing: &Timing<S>) -> Pulse<S> {
        Pulse {
            shape: self.pulse.shape,
            fwhm: timing.fwhm,
        }
    }
}

/// Quantile of the standard normal distribution, by bisection of its distribution function.
fn normal_quantile(probability: f64) -> f64 {
    let (mut low, mut high) = (-8.0, 8.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if normal_probability(middle) < probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// Distribution function of the standard normal distribution (Abramowitz, Stegun 1964,
/// 26.2.17: within 7.5e-8).
fn normal_probability(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let series = t
        * (0.319_381_530
            + t * (-0.356_563_782
                + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
    let density = (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt();
    if z > 0.0 {
        1.0 - density * series
    } else {
        density * series
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantile_inverts_the_distribution() {
        for (probability, z) in [
            (0.5, 0.0),
            (0.9, 1.281_552),
            (0.975, 1.959_964),
            (0.01, -2.326_348),
        ] {
            assert!((normal_quantile(probability) - z).abs() < 1e-5);
        }
    }

    /// 20,000 echoes of the data sheet's target: found with its probability, within 4.5 standard
    /// errors (0.0095), by both detectors, in the closed form.
    #[test]
    fn the_data_sheets_target_is_found_with_its_probability() {
        use etendue_physics::pulse::PulseReturn;
        use etendue_physics::{Purpose, Stream};
        let sensitivity = Sensitivity {
            reflectance: 0.1,
            range: 40.0,
            probability: 0.9,
            threshold_over_noise: 5.0,
        };
        let (threshold, detector) = sensitivity.analogue(1e4);
        let receiver = PulsedReceiver {
            pulse: Pulse::gaussian(5e-9),
            discriminator: Discriminator::ConstantFraction { fraction: 0.5 },
            returns: ReturnMode::Strongest,
            threshold,
            reference: 10.0 * threshold,
            detector,
            interval: 1e-9,
            bits: None,
            jitter: 0.0,
            pipeline: Pipeline::Fast,
            window: None,
            false_alarms: false,
            full_overlap: 0.0,
        };
        let fast = receiver.fast();
        let found = (0..20_000).filter(|beam| {
            let mut stream = Stream::new(1, 0, 0, *beam, Purpose::ReceiverNoise);
            let mut target = [PulseReturn {
                range: 40.0,
                power: reference_power(0.1, 40.0),
            }];
            !fast.echoes(&mut target, Some(&mut stream)).is_empty()
        });
        let rate = found.count() as f64 / 2e4;
        assert!((rate - 0.9).abs() < 0.0095, "{rate}");
    }
}
