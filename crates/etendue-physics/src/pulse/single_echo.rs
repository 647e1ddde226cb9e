//! The closed form of a shot with a single return, as plain numbers for other processors.

use super::analytic::AnalyticFinder;
use super::closed_form::TimedFeature;
use super::detector::Detector;

/// The closed form of the echo of a single return, in the constants of one receiver.
///
/// A return of the power $L$ at the range $R$, with two standard normal draws $z_1, z_2$, has an echo of the power
/// $$P = \min\left(L + z_1\sigma, P_\text{max}\right),\qquad \sigma^2 = v_0 + v_1\max(L, 0)$$
/// at the range
/// $$R + b(P) + z_2\sqrt{\left(f\\,\sigma/L\right)^2 + j^2}$$
/// with the jitter $j$; it is found if $P$ reaches the threshold. Where a crossing of the threshold $T$ is timed,
/// $b = \sigma_p\left(\sqrt{2\ln(P_0/T)} - \sqrt{2\ln\max(P/T, 1)}\right)$ with the reference power $P_0$, and
/// $f = \sigma_p/(q\sqrt{-2\ln q})$ with $q = T/L$ in $[10^{-6}, 0.98]$; otherwise $b = 0$ and $f$ is constant.
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
/// #     }),
/// #     interval: 1e-9,
/// #     jitter: 0.01,
/// # };
/// let form = receiver.finder().single_echo();
/// assert_eq!((form.threshold, form.jitter, form.variance[1]), (1e-6, 0.01, 0.0));
/// assert!((form.variance[0] - 1e-14).abs() < 1e-28);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SingleEchoForm {
    /// Power that an echo must reach, 1/(m² sr).
    pub threshold: f64,
    /// The largest power of an echo, 1/(m² sr).
    pub saturation: f64,
    /// Variance of the power without light, and per power: $v_0$ and $v_1$.
    pub variance: [f64; 2],
    /// Standard deviation of the timing jitter, m.
    pub jitter: f64,
    /// Standard deviation of the pulse in range, $\sigma_p$, m.
    pub pulse_sd: f64,
    /// What is timed.
    pub timing: SingleEchoTiming,
    /// Full width at half maximum of the echo, s.
    pub width: f64,
}

/// What a receiver times in a single echo.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SingleEchoTiming {
    /// The pulse or a fraction of its edge.
    Pulse {
        /// Range noise per relative noise of the power, $f$, m.
        noise: f64,
    },
    /// The crossing of the threshold.
    Threshold {
        /// Time before its peak at which the reference echo crosses the threshold, as range:
        /// $\sigma_p\sqrt{2\ln(P_0/T)}$, m.
        zero: f64,
    },
}

impl AnalyticFinder {
    /// The constants of the echoes of single returns.
    pub fn single_echo(&self) -> SingleEchoForm {
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
        SingleEchoForm {
            threshold: receiver.threshold,
            saturation: receiver.detector.saturation(),
            variance,
            jitter: receiver.jitter,
            pulse_sd,
            timing: match self.form.timed() {
                TimedFeature::Threshold { zero } => SingleEchoTiming::Threshold { zero },
                // The noise of unit power over unit power.
                _ => SingleEchoTiming::Pulse {
                    noise: self.range_noise(1.0, 1.0, pulse_sd),
                },
            },
            width: self.form.single_width(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pulse::{AnalogueDetector, AnalyticReceiver, Discriminator, PhotonCounter, Pulse};

    /// The formula of [`SingleEchoForm`]: range, power and whether the echo is found.
    fn echo(form: &SingleEchoForm, range: f64, power: f64, draws: [f64; 2]) -> (f64, f64, bool) {
        let sigma = (form.variance[0] + form.variance[1] * power.max(0.0)).sqrt();
        let peak = (power + sigma * draws[0]).min(form.saturation);
        let [bias, noise] = match form.timing {
            SingleEchoTiming::Pulse { noise } => [0.0, noise],
            SingleEchoTiming::Threshold { zero } => {
                let level = (2.0 * (peak / form.threshold).max(1.0).ln()).sqrt();
                let q = (form.threshold / power).clamp(1e-6, 0.98);
                let noise = form.pulse_sd / (q * (-2.0 * q.ln()).sqrt());
                [zero - form.pulse_sd * level, noise]
            }
        };
        let spread = (noise * sigma / power).hypot(form.jitter);
        let found = peak >= form.threshold && power > 0.0;
        (range + bias + draws[1] * spread, peak, found)
    }

    #[test]
    fn the_form_gives_the_echoes_of_the_finder() {
        let analogue = Detector::Analogue(AnalogueDetector {
            thermal_noise: 2e-7,
            shot_noise: 1e-9,
            background: 3e-6,
            saturation: 5e-5,
        });
        let counter = Detector::PhotonCounting(PhotonCounter {
            photons: 3e6,
            background: 4.0,
            capacity: 400.0,
        });
        for discriminator in [
            Discriminator::Peak,
            Discriminator::Centroid,
            Discriminator::LeadingEdge,
            Discriminator::ConstantFraction { fraction: 0.3 },
            Discriminator::Threshold,
        ] {
            for detector in [analogue, counter] {
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
                let form = finder.single_echo();
                let power = |i: usize| 1e-6 * 1.5_f64.powi(i32::try_from(i).expect("small"));
                let powers: [f64; 16] = std::array::from_fn(power);
                let draws = [0.7, -1.3].map(|draw| [draw; 16]);
                let echoes = finder.singles(&[20.0; 16], &powers, &draws);
                for (i, power) in powers.into_iter().enumerate() {
                    let (range, peak, found) = echo(&form, 20.0, power, [0.7, -1.3]);
                    assert_eq!(found, echoes.found[i], "{discriminator:?} {power}");
                    assert!((range - echoes.range[i]).abs() < 1e-12, "{discriminator:?}");
                    assert!((peak / echoes.power[i] - 1.0).abs() < 1e-12);
                    assert!((form.width / echoes.width[i] - 1.0).abs() < 1e-12);
                }
            }
        }
    }
}
