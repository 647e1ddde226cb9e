//! The closed form of echoes, as plain numbers for other processors.

use super::analytic::AnalyticFinder;
use super::closed_form::TimedFeature;
use super::detector::Detector;

/// The closed form of the echo of merged returns, in the constants of one receiver.
///
/// Returns closer than `length` to the next one merge. Merged returns of the total power $L$, the mean range $R$ and the
/// variance of the range $V$, with the standard deviation $\sigma_p$ of the pulse in range, the width $\sigma =
/// \sqrt{\sigma_p^2 + V}$, the mean peak $M = L\,\sigma_p/\sigma$ and two standard normal draws $z_1, z_2$, have an echo of the
/// power
/// $$P = \min\left(M + z_1\sigma_n, P_\text{max}\right),\qquad \sigma_n^2 = v_0 + v_1\max(M, 0)$$
/// at the range
/// $$R + b(P) + z_2\sqrt{\left(f\\,\sigma_n/M\right)^2 + j^2}$$
/// with the jitter $j$; it is found if $P$ reaches the threshold and $M$ is positive. With the noise $f_1$ of a single
/// return, $f = f_1\sqrt{\sigma/\sigma_p}$ and $b = 0$ where the whole pulse is timed, and $f = f_1\\,\sigma/\sigma_p$ and
/// $b = l(\sigma_p - \sigma)$ where a point of its edge is, $l$ standard deviations before the peak. Where a crossing of the
/// threshold $T$ is timed, $b = \sigma_p\sqrt{2\ln(P_0/T)} - \sigma\sqrt{2\ln\max(P/T, 1)}$ with the reference power $P_0$, and
/// $f = \sigma/(q\sqrt{-2\ln q})$ with $q = T/M$ in $[10^{-6}, 0.98]$.
///
/// ```
/// # use etendue_physics::pulse::*;
/// # let receiver = AnalyticReceiver {
/// #     pulse: Pulse::gaussian(5e-9),
/// #     discriminator: Discriminator::Peak,
/// #     threshold: 1e-6,
/// #     reference: 1e-4,
/// #     detector: Detector::Analogue(AnalogueDetector {
/// #         thermal_noise: 1e-7,
/// #         shot_noise: 0.0,
/// #         background: 0.0,
/// #         saturation: f64::INFINITY,
/// #         recovery: None,
/// #     }),
/// #     interval: 1e-9,
/// #     jitter: 0.01,
/// # };
/// let form = receiver.finder().echo_form();
/// assert_eq!((form.threshold, form.jitter, form.variance[1]), (1e-6, 0.01, 0.0));
/// assert!((form.variance[0] - 1e-14).abs() < 1e-28);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EchoForm {
    /// Power that an echo must reach, 1/(m² sr).
    pub threshold: f64,
    /// The largest power of an echo, 1/(m² sr).
    pub saturation: f64,
    /// Change of the largest power per power of ambient light, which a photon counter counts too.
    pub saturation_per_ambient: f64,
    /// Variance of the power without light, and per power: $v_0$ and $v_1$. Ambient light of the power $B$ adds $v_1 B$ to $v_0$.
    pub variance: [f64; 2],
    /// Standard deviation of the timing jitter, m.
    pub jitter: f64,
    /// Standard deviation of the pulse in range, $\sigma_p$, m.
    pub pulse_sd: f64,
    /// What is timed.
    pub timing: EchoTiming,
    /// Full width at half maximum of the echo of a single return, s; that of merged returns is $\sigma/\sigma_p$ times as
    /// large.
    pub width: f64,
    /// Distance within which returns merge, m.
    pub length: f64,
}

/// What a receiver times in an echo.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EchoTiming {
    /// The whole pulse.
    Pulse {
        /// Range noise of a single return per relative noise of its power, $f_1$, m.
        noise: f64,
    },
    /// A point of the leading edge.
    Edge {
        /// The same.
        noise: f64,
        /// Number of standard deviations before the peak, $l$.
        level: f64,
    },
    /// The crossing of the threshold.
    Threshold {
        /// Time before its peak at which the reference echo crosses the threshold, as range:
        /// $\sigma_p\sqrt{2\ln(P_0/T)}$, m.
        zero: f64,
    },
}

impl AnalyticFinder {
    /// The constants of the echoes.
    pub fn echo_form(&self) -> EchoForm {
        let receiver = &self.receiver;
        let pulse_sd = self.form.pulse_sd();
        let variance = match receiver.detector {
            Detector::Analogue(detector) => {
                let dark = detector.thermal_noise * detector.thermal_noise;
                [
                    dark + detector.shot_noise * detector.background,
                    detector.shot_noise,
                ]
            }
            Detector::PhotonCounting(counter) => [
                counter.background / (counter.photons * counter.photons),
                1.0 / counter.photons,
            ],
        };
        EchoForm {
            threshold: receiver.threshold,
            saturation: receiver.detector.saturation(),
            saturation_per_ambient: match receiver.detector {
                Detector::Analogue(_) => 0.0,
                Detector::PhotonCounting(_) => -1.0,
            },
            variance,
            jitter: receiver.jitter,
            pulse_sd,
            timing: {
                // The noise of unit power over unit power.
                let noise = || self.range_noise(1.0, 1.0, pulse_sd);
                match self.form.timed() {
                    TimedFeature::Threshold { zero } => EchoTiming::Threshold { zero },
                    TimedFeature::Edge { level } => EchoTiming::Edge {
                        noise: noise(),
                        level,
                    },
                    TimedFeature::Pulse => EchoTiming::Pulse { noise: noise() },
                }
            },
            width: self.form.single_width(),
            length: self.form.length,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pulse::{
        AnalogueDetector, AnalyticReceiver, Discriminator, PhotonCounter, Pulse, PulseReturn,
    };
    use crate::{Purpose, Stream};

    /// The formula of [`EchoForm`]: range, power, width, and whether the echo is found.
    fn echo(form: &EchoForm, merged: [f64; 3], draws: [f64; 2]) -> (f64, f64, f64, bool) {
        let [range, power, variance] = merged;
        let sd = (form.pulse_sd * form.pulse_sd + variance).sqrt();
        let ratio = sd / form.pulse_sd;
        let mean = power / ratio;
        let sigma = (form.variance[0] + form.variance[1] * mean.max(0.0)).sqrt();
        let peak = (mean + sigma * draws[0]).min(form.saturation);
        let [bias, noise] = match form.timing {
            EchoTiming::Pulse { noise } => [0.0, noise * ratio.sqrt()],
            EchoTiming::Edge { noise, level } => [level * (form.pulse_sd - sd), noise * ratio],
            EchoTiming::Threshold { zero } => {
                let level = (2.0 * (peak / form.threshold).max(1.0).ln()).sqrt();
                let q = (form.threshold / mean).clamp(1e-6, 0.98);
                [zero - sd * level, sd / (q * (-2.0 * q.ln()).sqrt())]
            }
        };
        let spread = (noise * sigma / mean).hypot(form.jitter);
        let found = peak >= form.threshold && mean > 0.0;
        let range = range + bias + draws[1] * spread;
        (range, peak, form.width * ratio, found)
    }

    /// An analogue detector and a photon counter.
    fn detectors() -> [Detector; 2] {
        let analogue = Detector::Analogue(AnalogueDetector {
            thermal_noise: 2e-7,
            shot_noise: 1e-9,
            background: 3e-6,
            saturation: 5e-5,
            recovery: None,
        });
        let counter = Detector::PhotonCounting(PhotonCounter {
            photons: 3e6,
            background: 4.0,
            capacity: 400.0,
        });
        [analogue, counter]
    }

    #[test]
    fn ambient_light_adds_to_the_variance_and_reduces_the_saturation() {
        for detector in detectors() {
            let receiver = |detector| AnalyticReceiver {
                pulse: Pulse::gaussian(5e-9),
                discriminator: Discriminator::Peak,
                threshold: 2e-6,
                reference: 1e-4,
                detector,
                interval: 1e-9,
                jitter: 0.004,
            };
            let ambient = 7e-6;
            let dark = receiver(detector).finder().echo_form();
            let lit = receiver(detector.in_light(ambient)).finder().echo_form();
            let variance = dark.variance[0] + dark.variance[1] * ambient;
            assert!((lit.variance[0] / variance - 1.0).abs() < 1e-12);
            let saturation = dark.saturation + dark.saturation_per_ambient * ambient;
            assert!((lit.saturation / saturation - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn the_form_gives_the_echoes_of_the_finder() {
        for discriminator in [
            Discriminator::Peak,
            Discriminator::Centroid,
            Discriminator::LeadingEdge,
            Discriminator::ConstantFraction { fraction: 0.3 },
            Discriminator::Threshold,
        ] {
            for detector in detectors() {
                let receiver = AnalyticReceiver {
                    pulse: Pulse::gaussian(5e-9),
                    discriminator,
                    threshold: 2e-6,
                    reference: 1e-4,
                    detector,
                    interval: 1e-9,
                    jitter: 0.004,
                };
                let finder = receiver.finder();
                let form = finder.echo_form();
                for step in 0..16 {
                    let power = 1e-6 * 1.5_f64.powi(step);
                    let address =
                        |purpose| Stream::new(3, 1, 2, u32::from(purpose), Purpose::ReceiverNoise);
                    // A single return, and two that merge: their mean, sum and variance.
                    let one = PulseReturn { range: 20.0, power };
                    let other = PulseReturn {
                        range: 20.4,
                        power: 3.0 * power,
                    };
                    for (mut returns, merged) in [
                        (vec![one], [20.0, power, 0.0]),
                        (vec![one, other], [20.3, 4.0 * power, 0.03]),
                    ] {
                        let mut noise = address(7_u8);
                        let draws = address(7).normal_pair();
                        let mut echoes = vec![];
                        finder.find(&mut returns, Some(&mut noise), &mut echoes);
                        let (range, peak, width, found) = echo(&form, merged, draws);
                        assert_eq!(found, !echoes.is_empty(), "{discriminator:?} {power}");
                        for echo in echoes {
                            assert!((range - echo.range).abs() < 1e-10, "{discriminator:?}");
                            assert!((peak / echo.power - 1.0).abs() < 1e-10);
                            assert!((width / echo.width - 1.0).abs() < 1e-10);
                        }
                    }
                }
            }
        }
    }
}
