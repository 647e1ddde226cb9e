//! Detectors: noise, saturation, photon counts.

use super::{Waveform, poisson};
use crate::{Scalar, Stream};

/// Detector model: converts received power to samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Detector {
    /// A photodiode and an amplifier.
    Analogue(AnalogueDetector),
    /// Single-photon detector with a histogram over many pulses.
    PhotonCounting(PhotonCounter),
}

/// A photodiode with an AC-coupled amplifier: constant background adds noise, not an offset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnalogueDetector {
    /// Standard deviation of the noise without light, in units of power (the noise-equivalent
    /// power over the receiver's bandwidth).
    pub thermal_noise: f64,
    /// Variance of the shot noise per received power, in units of power.
    pub shot_noise: f64,
    /// Constant background (sunlight), power.
    pub background: f64,
    /// Power at which the output saturates.
    pub saturation: f64,
    /// Recovery after saturation; `None` for an output that follows the light at once.
    pub recovery: Option<OverloadRecovery>,
}

/// Recovery of an amplifier after light above its saturation.
///
/// A part of the charge above saturation leaves the amplifier later, as in a capacitor with a resistor, and lengthens the pulse:
/// the output is $\min(P + T, P_s)$ with the tail
/// $$T(t) = \frac{q}{\tau} \int_{-\infty}^t \max(P(t') - P_s, 0)\, e^{-(t - t')/\tau}\, dt'$$
/// of the power $P$, the saturation power $P_s$, the share $q$ and the time constant $\tau$. Echoes in the tail merge with the
/// one that caused it, or are displaced. A first-order model; data sheets state neither number.
///
/// ```
/// use etendue_physics::pulse::OverloadRecovery;
/// let recovery = OverloadRecovery { time: 20e-9, share: 0.5 };
/// // One sample of 9 above the saturation of 1: the tail contains half of the charge of 8
/// let mut powers = vec![0.0; 400];
/// powers[0] = 9.0;
/// let tail = recovery.tail(&powers, 1e-9, 1.0);
/// assert!((tail.iter().sum::<f64>() - 4.0).abs() < 1e-6 && tail[0] == 0.0);
/// assert!((tail[21] / tail[1] - (-1.0_f64).exp()).abs() < 1e-12);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OverloadRecovery {
    /// Time constant, s; above zero.
    pub time: f64,
    /// Part of the charge above saturation that leaves later, from 0 to 1.
    pub share: f64,
}

impl OverloadRecovery {
    /// Time after which the tail is negligible, s: a fraction of $e^{-8}$ is left.
    pub fn duration(&self) -> f64 {
        8.0 * self.time
    }

    /// The tail at each sample of received power, which are `interval` (s) apart. It contains the share of the charge above
    /// `saturation` exactly.
    pub fn tail<S: Scalar>(&self, powers: &[S], interval: f64, saturation: f64) -> Vec<S> {
        let decay = (-interval / self.time).exp();
        let gain = self.share * (1.0 - decay);
        let mut left = S::zero();
        let next = |power: &S| {
            let now = left;
            let above = *power - S::from(saturation);
            left *= decay;
            if above.value() > 0.0 {
                left += above * gain;
            }
            now
        };
        powers.iter().map(next).collect()
    }
}

/// A single-photon counter with a histogram (single-photon avalanche diodes, many pulses).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhotonCounter {
    /// Mean number of photons detected in one bin at unit power, over all pulses.
    pub photons: f64,
    /// Mean number of background and dark counts in one bin, over all pulses.
    pub background: f64,
    /// Largest count of a bin.
    pub capacity: f64,
}

impl Detector {
    /// Replaces the mean received power by one noisy reading of the detector, in units of power.
    pub fn read(&self, waveform: &mut Waveform, stream: &mut Stream) {
        match self {
            Self::Analogue(analogue) => analogue.read(waveform, stream),
            Self::PhotonCounting(counter) => {
                for sample in &mut waveform.samples {
                    *sample = counter.power(counter.count(*sample, stream));
                }
            }
        }
    }

    /// Replaces the received power by the reading without noise: with the tail of saturated samples, and clipped.
    pub fn read_mean(&self, waveform: &mut Waveform) {
        if let Some(recovery) = self.recovery() {
            let tail = recovery.tail(&waveform.samples, waveform.interval, self.saturation());
            for (sample, tail) in waveform.samples.iter_mut().zip(tail) {
                *sample += tail;
            }
        }
        waveform.saturate(self.saturation());
    }

    /// Recovery after saturation, if it takes time.
    pub fn recovery(&self) -> Option<&OverloadRecovery> {
        match self {
            Self::Analogue(analogue) => analogue.recovery.as_ref(),
            Self::PhotonCounting(_) => None,
        }
    }

    /// Standard deviation of one sample at a mean power, in units of power.
    pub fn noise(&self, power: f64) -> f64 {
        match self {
            Self::Analogue(analogue) => analogue.noise(power),
            Self::PhotonCounting(counter) => {
                (power.max(0.0) * counter.photons + counter.background).sqrt() / counter.photons
            }
        }
    }

    /// Largest power that the detector can read.
    pub fn saturation(&self) -> f64 {
        match self {
            Self::Analogue(analogue) => analogue.saturation,
            Self::PhotonCounting(counter) => counter.power(counter.capacity),
        }
    }

    /// The same detector with additional constant background `power`.
    #[must_use]
    pub fn in_light(mut self, power: f64) -> Self {
        match &mut self {
            Self::Analogue(analogue) => analogue.background += power,
            Self::PhotonCounting(counter) => counter.background += counter.photons * power,
        }
        self
    }

    /// Constant background, power.
    pub fn background(&self) -> f64 {
        match self {
            Self::Analogue(analogue) => analogue.background,
            Self::PhotonCounting(counter) => counter.background / counter.photons,
        }
    }
}

impl AnalogueDetector {
    /// $\sqrt{\sigma_0^2 + k\\,(P + B)}$: thermal and shot noise.
    pub fn noise(&self, power: f64) -> f64 {
        let shot = self.shot_noise * (power.max(0.0) + self.background);
        (self.thermal_noise * self.thermal_noise + shot).sqrt()
    }

    fn read(&self, waveform: &mut Waveform, stream: &mut Stream) {
        let tail = self
            .recovery
            .as_ref()
            .map(|recovery| recovery.tail(&waveform.samples, waveform.interval, self.saturation));
        for (number, pair) in waveform.samples.chunks_mut(2).enumerate() {
            for (sample, draw) in pair.iter_mut().zip(stream.normal_pair()) {
                *sample += self.noise(*sample) * draw;
            }
            if let Some(tail) = &tail {
                for (sample, tail) in pair.iter_mut().zip(&tail[2 * number..]) {
                    *sample += tail;
                }
            }
        }
        waveform.saturate(self.saturation);
    }
}

impl PhotonCounter {
    /// Count of one bin at a mean power.
    pub fn count(&self, power: f64, stream: &mut Stream) -> f64 {
        poisson(self.photons * power + self.background, stream).min(self.capacity)
    }

    /// Power of a count, less the mean background.
    pub fn power(&self, count: f64) -> f64 {
        (count - self.background) / self.photons
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Purpose;

    fn stream(beam: u32) -> Stream {
        Stream::new(1, 0, 0, beam, Purpose::ShotNoise)
    }

    fn moments(draws: &[f64]) -> (f64, f64) {
        let n = draws.len() as f64;
        let mean = draws.iter().sum::<f64>() / n;
        (
            mean,
            draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n,
        )
    }

    fn read(detector: Detector, power: f64) -> Vec<f64> {
        let mut waveform = Waveform {
            start: 0.0,
            interval: 1e-9,
            samples: vec![power; 20_000],
        };
        detector.read(&mut waveform, &mut stream(3));
        waveform.samples
    }

    /// 20,000 samples: the sd within 2.5 % (its standard error is 0.5 %).
    #[test]
    fn samples_have_the_stated_mean_and_variance() {
        let analogue = Detector::Analogue(AnalogueDetector {
            thermal_noise: 0.01,
            shot_noise: 1e-3,
            background: 0.2,
            saturation: 10.0,
            recovery: None,
        });
        let counter = Detector::PhotonCounting(PhotonCounter {
            photons: 200.0,
            background: 4.0,
            capacity: 65535.0,
        });
        for detector in [analogue, counter] {
            for power in [0.0, 0.1, 1.0] {
                let (mean, variance) = moments(&read(detector, power));
                let noise = detector.noise(power);
                assert!(
                    (variance.sqrt() / noise - 1.0).abs() < 0.025,
                    "{detector:?} {power}"
                );
                assert!((mean - power).abs() < 4.5 * noise / 2e4_f64.sqrt());
            }
        }
    }

    /// Light above saturation for a while: the integral of the tail in closed form.
    #[test]
    fn the_tail_of_an_overload_is_that_of_a_capacitor() {
        let recovery = OverloadRecovery {
            time: 30e-9,
            share: 0.4,
        };
        let interval = 0.1e-9;
        let length = 200_u32;
        let [height, top] = [7.0, 2.0];
        let light = |k: u32| if k < length { height } else { 0.5 };
        let powers: Vec<f64> = (0..5000).map(light).collect();
        let tail = recovery.tail(&powers, interval, top);
        let during = f64::from(length) * interval;
        for (number, tail) in tail.iter().enumerate() {
            let time = number as f64 * interval;
            let charged = 1.0 - (-time.min(during) / recovery.time).exp();
            let left = (-(time - during).max(0.0) / recovery.time).exp();
            let expected = recovery.share * (height - top) * charged * left;
            assert!(
                (tail - expected).abs() < 1e-9,
                "{number}: {tail} {expected}"
            );
        }
        // Nothing above saturation, nothing later
        assert!(
            recovery
                .tail(&[2.0; 9], interval, top)
                .iter()
                .all(|tail| *tail == 0.0)
        );
    }

    #[test]
    fn no_sample_exceeds_saturation() {
        let detector = Detector::Analogue(AnalogueDetector {
            thermal_noise: 0.05,
            shot_noise: 0.0,
            background: 0.0,
            saturation: 1.0,
            recovery: None,
        });
        let samples = read(detector, 1.2);
        assert!(samples.iter().all(|s| *s <= 1.0));
        assert!(samples.iter().filter(|s| **s == 1.0).count() > 19_000);
    }
}
