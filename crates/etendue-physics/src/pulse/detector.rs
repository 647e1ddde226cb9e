//! Detectors: noise, saturation, photon counts.

use super::{Waveform, poisson};
use crate::Stream;

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
            Self::Analogue(analogue) => analogue.read(&mut waveform.samples, stream),
            Self::PhotonCounting(counter) => {
                for sample in &mut waveform.samples {
                    *sample = counter.power(counter.count(*sample, stream));
                }
            }
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

    fn read(&self, samples: &mut [f64], stream: &mut Stream) {
        for pair in samples.chunks_mut(2) {
            for (sample, draw) in pair.iter_mut().zip(stream.normal_pair()) {
                *sample = (*sample + self.noise(*sample) * draw).min(self.saturation);
            }
        }
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

    #[test]
    fn no_sample_exceeds_saturation() {
        let detector = Detector::Analogue(AnalogueDetector {
            thermal_noise: 0.05,
            shot_noise: 0.0,
            background: 0.0,
            saturation: 1.0,
        });
        let samples = read(detector, 1.2);
        assert!(samples.iter().all(|s| *s <= 1.0));
        assert!(samples.iter().filter(|s| **s == 1.0).count() > 19_000);
    }
}
