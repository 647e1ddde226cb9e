//! Echoes without a waveform, in closed form.

use super::shape::GAUSSIAN_FWHM_OVER_SD;
use super::{Detector, Discriminator, Echo, Pulse, Return};
use crate::{SPEED_OF_LIGHT, Scalar, Stream};
use std::f64::consts::PI;

/// A receiver in closed form: the fast path.
///
/// Returns closer than the pulse's length merge into one echo, whose moments give its width
/// $\sigma = \sqrt{\sigma_p^2 + \operatorname{var} R}$, its peak $\sum L\\,\sigma_p/\sigma$ and
/// the instant that the discriminator times. Against the waveform of a Gaussian pulse
/// (the tests hold it to this):
/// - one surface seen by all sub-rays, at any incidence up to 75 degrees: range within 1 % of
///   $\sigma_p$, power within 1 %;
/// - two surfaces in one beam, apart by up to $\sigma_p$, powers 1:9 to 9:1: range within 10 % of
///   $\sigma_p$, power within 2 %;
/// - apart between $\sigma_p$ and twice the pulse's length the echo is skewed, or falls apart
///   elsewhere than here: then range errors are up to $\sigma_p$.
///
/// A pulse that is not Gaussian counts as the Gaussian of its full width at half maximum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FastReceiver {
    /// The pulse.
    pub pulse: Pulse,
    /// What is timed.
    pub discriminator: Discriminator,
    /// Power that an echo must reach.
    pub threshold: f64,
    /// Peak power of the echo whose range reads right.
    pub reference: f64,
    /// Its noise and saturation.
    pub detector: Detector,
    /// Time between the samples it has in truth, s: sets the noise of peak and centroid.
    pub interval: f64,
    /// Timing jitter that does not depend on the power, as a standard deviation of range, m.
    pub jitter: f64,
}

/// A [`FastReceiver`] with everything worked out that all echoes share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FastFinder {
    receiver: FastReceiver,
    /// Distance within which returns merge, m.
    length: f64,
    /// Standard deviation of the pulse, m.
    pulse_sd: f64,
    timed: Timed,
}

/// What is timed, with its constants.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Timed {
    /// The whole pulse: its range noise is `spread * noise / peak * sqrt(sd)`.
    Pulse { spread: f64 },
    /// A level of the leading edge `level` standard deviations before the peak: its range noise is
    /// `slope * noise / peak * sd`.
    Edge { level: f64, slope: f64 },
    /// The threshold, for which the reference reads right `zero` (m) before its peak.
    Threshold { zero: f64 },
}

/// What times an echo, in a scalar that may carry derivatives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing<S = f64> {
    /// Full width of the pulse at half its peak, s.
    pub fwhm: S,
    /// Power that an echo must reach.
    pub threshold: S,
    /// Peak power of the echo whose range reads right.
    pub reference: S,
}

/// Returns that have merged.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Merged<S = f64> {
    power: S,
    range: S,
    variance: S,
}

/// An echo before its noise.
struct MeanEcho<S = f64> {
    /// Mean of the range of its returns, m.
    range: S,
    /// Standard deviation of the echo as a range, m.
    sd: S,
    /// The same of the pulse alone.
    pulse_sd: S,
    /// Power at its peak.
    peak: S,
}

/// Merges returns (sorted by range here) whose distance to the one before is less than `length`
/// (m), and calls `echo` with total power, mean range (m) and range variance (m²) of each group,
/// nearest first. Which returns merge is chosen on values.
pub fn merge_returns<S: Scalar>(
    returns: &mut [Return<S>],
    length: f64,
    mut echo: impl FnMut(S, S, S),
) {
    if let [only] = returns {
        return echo(only.power, only.range, S::zero());
    }
    returns.sort_unstable_by(|a, b| a.range.value().total_cmp(&b.range.value()));
    let mut from = 0;
    for i in 0..returns.len() {
        let ends = returns
            .get(i + 1)
            .is_none_or(|next| (next.range - returns[i].range).value() >= length);
        if ends {
            let group = moments(&returns[from..=i]);
            echo(group.power, group.range, group.variance);
            from = i + 1;
        }
    }
}

fn moments<S: Scalar>(returns: &[Return<S>]) -> Merged<S> {
    if let [one] = returns {
        return Merged {
            power: one.power,
            range: one.range,
            variance: S::zero(),
        };
    }
    // From the nearest on: no cancellation at long ranges.
    let nearest = returns[0].range;
    let (mut power, mut first, mut second) = (S::zero(), S::zero(), S::zero());
    for one in returns {
        let beyond = one.range - nearest;
        power += one.power;
        first += one.power * beyond;
        second += one.power * beyond * beyond;
    }
    if power.value() <= 0.0 {
        return Merged {
            power: S::zero(),
            range: nearest,
            variance: S::zero(),
        };
    }
    let mean = first / power;
    Merged {
        power,
        range: nearest + mean,
        variance: (second / power - mean * mean).max(S::zero()),
    }
}

impl<S: Scalar> Timing<S> {
    /// An echo of merged returns.
    fn mean(&self, merged: &Merged<S>) -> MeanEcho<S> {
        let pulse_sd = self.fwhm * (0.5 * SPEED_OF_LIGHT) / GAUSSIAN_FWHM_OVER_SD;
        let sd = (pulse_sd * pulse_sd + merged.variance).sqrt();
        MeanEcho {
            range: merged.range,
            sd,
            pulse_sd,
            peak: merged.power * pulse_sd / sd,
        }
    }

    /// What the discriminator reads for an echo of that peak, less its mean range, m.
    fn bias(&self, discriminator: Discriminator, peak: S, echo: &MeanEcho<S>) -> S {
        let level = |ratio: S| (ratio.max(S::one()).ln() * 2.0).sqrt();
        let MeanEcho { sd, pulse_sd, .. } = *echo;
        match discriminator {
            Discriminator::Peak | Discriminator::Centroid => S::zero(),
            Discriminator::LeadingEdge => pulse_sd - sd,
            Discriminator::ConstantFraction { fraction } => {
                (pulse_sd - sd) * level(S::from(1.0 / fraction))
            }
            Discriminator::Threshold => {
                pulse_sd * level(self.reference / self.threshold)
                    - sd * level(peak / self.threshold)
            }
        }
    }
}

impl FastReceiver {
    /// What times this receiver's echoes.
    pub fn timing(&self) -> Timing {
        Timing {
            fwhm: self.pulse.fwhm,
            threshold: self.threshold,
            reference: self.reference,
        }
    }

    /// The receiver made ready for many echoes.
    pub fn finder(&self) -> FastFinder {
        let pulse_sd = 0.5 * SPEED_OF_LIGHT * self.pulse.fwhm / GAUSSIAN_FWHM_OVER_SD;
        let edge = |level, fraction| Timed::Edge {
            level,
            slope: edge_slope(fraction),
        };
        FastFinder {
            receiver: *self,
            length: 0.5 * SPEED_OF_LIGHT * self.pulse.fwhm,
            pulse_sd,
            timed: match self.discriminator {
                Discriminator::Peak | Discriminator::Centroid => {
                    let interval = 0.5 * SPEED_OF_LIGHT * self.interval;
                    Timed::Pulse {
                        spread: (2.0 * interval / PI.sqrt()).sqrt(),
                    }
                }
                Discriminator::LeadingEdge => edge(1.0, (-0.5_f64).exp()),
                Discriminator::ConstantFraction { fraction } => {
                    edge(level(1.0 / fraction), fraction)
                }
                Discriminator::Threshold => Timed::Threshold {
                    zero: pulse_sd * level(self.reference / self.threshold),
                },
            },
        }
    }

    /// The echoes of `returns` (which it sorts), nearest first, without noise where no stream
    /// is given.
    pub fn echoes(&self, returns: &mut [Return], noise: Option<&mut Stream>) -> Vec<Echo> {
        let mut echoes = Vec::new();
        self.finder().find(returns, noise, &mut echoes);
        echoes
    }

    /// As [`FastReceiver::echoes`] without noise, in a scalar that may carry derivatives, with
    /// `timing` instead of its own pulse, threshold and reference: calls `echo` with each, nearest
    /// first. Which returns merge, and which echoes are over the threshold, is chosen on values.
    pub fn mean_echoes<S: Scalar>(
        &self,
        timing: &Timing<S>,
        returns: &mut [Return<S>],
        mut echo: impl FnMut(Echo<S>),
    ) {
        let length = 0.5 * SPEED_OF_LIGHT * timing.fwhm.value();
        merge_returns(returns, length, |power, range, variance| {
            let mean = timing.mean(&Merged {
                power,
                range,
                variance,
            });
            let peak = mean.peak.min(S::from(self.detector.saturation()));
            if peak.value() < timing.threshold.value() || peak.value() <= 0.0 {
                return;
            }
            echo(Echo {
                range: mean.range + timing.bias(self.discriminator, peak, &mean),
                power: peak,
                width: mean.sd * (2.0 * GAUSSIAN_FWHM_OVER_SD / SPEED_OF_LIGHT),
            });
        });
    }
}

/// How many standard deviations before its peak a Gaussian has the `1 / ratio` part of it.
fn level(ratio: f64) -> f64 {
    (2.0 * ratio.max(1.0).ln()).sqrt()
}

/// Standard deviation over the slope of a Gaussian's edge where it has that fraction of its peak.
fn edge_slope(fraction: f64) -> f64 {
    let fraction = fraction.clamp(1e-6, 0.98);
    1.0 / (fraction * (-2.0 * fraction.ln()).sqrt())
}

impl FastFinder {
    /// The same with that much more constant background, power.
    #[must_use]
    pub fn in_light(mut self, power: f64) -> Self {
        self.receiver.detector = self.receiver.detector.in_light(power);
        self
    }

    /// Appends the echoes of `returns` (which it sorts), nearest first, without noise where no
    /// stream is given. Every echo takes two draws: of its power, and of its range, whose spread
    /// is that of the noise and the jitter together.
    pub fn find(
        &self,
        returns: &mut [Return],
        mut noise: Option<&mut Stream>,
        echoes: &mut Vec<Echo>,
    ) {
        merge_returns(returns, self.length, |power, range, variance| {
            let merged = Merged {
                power,
                range,
                variance,
            };
            echoes.extend(self.echo(&merged, noise.as_deref_mut()));
        });
    }

    /// The echo of one group of merged returns, if it is over the threshold.
    fn echo(&self, merged: &Merged, noise: Option<&mut Stream>) -> Option<Echo> {
        let receiver = &self.receiver;
        let sd = (self.pulse_sd * self.pulse_sd + merged.variance).sqrt();
        let mean_peak = merged.power * self.pulse_sd / sd;
        let [power_draw, range_draw] = noise.map_or([0.0; 2], Stream::normal_pair);
        let sigma = receiver.detector.noise(mean_peak);
        let peak = (mean_peak + sigma * power_draw).min(receiver.detector.saturation());
        if peak < receiver.threshold || mean_peak <= 0.0 {
            return None;
        }
        let noise = self.range_noise(mean_peak, sigma, sd);
        let spread = (noise * noise + receiver.jitter * receiver.jitter).sqrt();
        Some(Echo {
            range: merged.range + self.bias(peak, sd) + range_draw * spread,
            power: peak,
            width: 2.0 * sd * GAUSSIAN_FWHM_OVER_SD / SPEED_OF_LIGHT,
        })
    }

    /// What the discriminator reads for an echo of that peak and width, less its mean range, m.
    fn bias(&self, peak: f64, sd: f64) -> f64 {
        match self.timed {
            Timed::Pulse { .. } => 0.0,
            Timed::Edge { level, .. } => level * (self.pulse_sd - sd),
            Timed::Threshold { zero } => zero - sd * level(peak / self.receiver.threshold),
        }
    }

    /// Standard deviation of the range, m: noise over slope where an edge is timed,
    /// $\sigma_n\sqrt{2\Delta\sigma_t/\sqrt\pi}/P$ where the whole pulse is (the bound for a
    /// Gaussian pulse in white noise of $\sigma_n$ a sample of $\Delta$).
    fn range_noise(&self, peak: f64, noise: f64, sd: f64) -> f64 {
        let relative = noise / peak;
        match self.timed {
            Timed::Pulse { spread } => relative * spread * sd.sqrt(),
            Timed::Edge { slope, .. } => relative * slope * sd,
            Timed::Threshold { .. } => relative * edge_slope(self.receiver.threshold / peak) * sd,
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::pulse::{AnalogueDetector, EchoFinder, InclinedPlane, Waveform, Window};

    const FWHM: f64 = 4e-9;
    const DISCRIMINATORS: [Discriminator; 4] = [
        Discriminator::Threshold,
        Discriminator::ConstantFraction { fraction: 0.5 },
        Discriminator::Peak,
        Discriminator::Centroid,
    ];

    fn receiver(discriminator: Discriminator, thermal_noise: f64) -> FastReceiver {
        FastReceiver {
            pulse: Pulse::gaussian(FWHM),
            discriminator,
            threshold: 1e-4,
            reference: 1e-2,
            detector: Detector::Analogue(AnalogueDetector {
                thermal_noise,
                shot_noise: 0.0,
                background: 0.0,
                saturation: f64::INFINITY,
            }),
            interval: 1e-9,
            jitter: 0.0,
        }
    }

    /// Fast echoes and those of a finely sampled waveform.
    fn both(discriminator: Discriminator, returns: &[Return]) -> [Vec<Echo>; 2] {
        let fast = receiver(discriminator, 0.0);
        let pulse = fast.pulse;
        let finder =
            EchoFinder::calibrated(&pulse, discriminator, fast.threshold, 2e-5, fast.reference);
        let far = returns.iter().fold(0.0, |far: f64, r| far.max(r.range));
        let window = Window::around(&pulse, 0.05e-9, 1.0, far);
        let waveform = Waveform::received(&pulse, returns, window);
        [
            fast.echoes(&mut returns.to_vec(), None),
            finder.find(&waveform),
        ]
    }

    fn worst(discriminator: Discriminator, returns: &[Return]) -> [f64; 2] {
        let [fast, full] = both(discriminator, returns);
        assert_eq!(fast.len(), full.len(), "{discriminator:?} {returns:?}");
        assert!(!fast.is_empty());
        let pulse_sd = Pulse::gaussian(FWHM).range_sd();
        let mut worst = [0.0_f64; 2];
        for (fast, full) in fast.iter().zip(&full) {
            worst[0] = worst[0].max((fast.range - full.range).abs() / pulse_sd);
            worst[1] = worst[1].max((fast.power / full.power - 1.0).abs());
        }
        worst
    }

    /// Measured: range 0.0028 of the pulse's sd, power 0.0013.
    #[test]
    fn one_surface_agrees_with_the_waveform_at_every_incidence() {
        for discriminator in DISCRIMINATORS {
            for degrees in [0.0, 30.0, 60.0, 75.0_f64] {
                let plane = InclinedPlane {
                    distance: 12.0,
                    incidence: degrees.to_radians(),
                    angular_sd: 1.5e-3,
                };
                let [range, power] = worst(discriminator, &plane.returns(1.0));
                assert!(
                    range < 0.01 && power < 0.01,
                    "{discriminator:?} {degrees}: {range} {power}"
                );
            }
        }
    }

    #[test]
    fn two_close_surfaces_agree_with_the_waveform_within_the_stated_error() {
        let pulse_sd = Pulse::gaussian(FWHM).range_sd();
        for discriminator in DISCRIMINATORS {
            for gap in [0.1, 0.3, 0.6, 1.0] {
                for share in [0.1, 0.3, 0.5, 0.9] {
                    let returns = [(30.0, share), (30.0 + gap * pulse_sd, 1.0 - share)].map(
                        |(range, power)| Return {
                            range,
                            power: 0.01 * power,
                        },
                    );
                    let [range, power] = worst(discriminator, &returns);
                    assert!(
                        range < 0.1 && power < 0.02,
                        "{discriminator:?} {gap} {share}: {range} {power}"
                    );
                }
            }
        }
    }

    #[test]
    fn surfaces_far_apart_are_two_echoes_on_both_paths() {
        for discriminator in DISCRIMINATORS {
            let returns =
                [(30.0, 0.004), (31.8, 0.006)].map(|(range, power)| Return { range, power });
            let [fast, full] = both(discriminator, &returns);
            assert_eq!((fast.len(), full.len()), (2, 2));
            assert!(worst(discriminator, &returns)[0] < 0.01);
        }
    }

    /// The prepared form and the one that carries derivatives are written apart: they must agree.
    #[test]
    fn echoes_without_noise_are_the_mean_echoes() {
        let groups = [
            vec![(20.0, 0.004)],
            vec![(20.0, 0.004), (20.1, 0.002), (20.4, 0.001)],
            vec![(5.0, 0.3), (5.2, 0.1), (40.0, 0.002), (90.0, 1e-5)],
        ];
        for discriminator in DISCRIMINATORS
            .into_iter()
            .chain([Discriminator::LeadingEdge])
        {
            let fast = receiver(discriminator, 0.0);
            for group in &groups {
                let returns = group.iter().map(|&(range, power)| Return { range, power });
                let mut returns: Vec<Return> = returns.collect();
                let prepared = fast.echoes(&mut returns.clone(), None);
                let mut mean = Vec::new();
                fast.mean_echoes(&fast.timing(), &mut returns, |echo: Echo| mean.push(echo));
                assert_eq!(prepared.len(), mean.len(), "{discriminator:?} {group:?}");
                assert!(!mean.is_empty());
                for (a, b) in prepared.iter().zip(&mean) {
                    let close = |a: f64, b: f64| (a - b).abs() <= 1e-13 * b.abs();
                    let all = close(a.range, b.range) && close(a.power, b.power);
                    assert!(
                        all && close(a.width, b.width),
                        "{discriminator:?}: {a:?} {b:?}"
                    );
                }
            }
        }
    }

    /// 20,000 echoes: the spread within 5 % of the waveform's where an edge is timed.
    #[test]
    fn the_spread_of_the_range_is_that_of_noisy_waveforms() {
        use crate::Purpose;
        let discriminator = Discriminator::ConstantFraction { fraction: 0.5 };
        let fast = receiver(discriminator, 2e-5);
        let one = Return {
            range: 25.0,
            power: 2e-3,
        };
        let finder = EchoFinder::calibrated(&fast.pulse, discriminator, 1e-4, 2e-4, 1e-2);
        let window = Window::around(&fast.pulse, 1e-9, 25.0, 25.0);
        let clean = Waveform::received(&fast.pulse, &[one], window);
        let (mut quick, mut full) = (Vec::new(), Vec::new());
        for beam in 0..20_000 {
            let mut stream = Stream::new(5, 0, 0, beam, Purpose::ReceiverNoise);
            quick.push(fast.echoes(&mut [one], Some(&mut stream))[0].range);
            let mut noisy = clean.clone();
            fast.detector.read(&mut noisy, &mut stream);
            let echoes = finder.find(&noisy);
            full.push(
                echoes
                    .iter()
                    .max_by(|a, b| a.power.total_cmp(&b.power))
                    .unwrap()
                    .range,
            );
        }
        let sd = |x: &[f64]| {
            let mean = x.iter().sum::<f64>() / x.len() as f64;
            (x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / x.len() as f64).sqrt()
        };
        let (quick, full) = (sd(&quick), sd(&full));
        // Interpolating between two noisy samples averages them: the waveform spreads less.
        assert!((0.7..1.05).contains(&(full / quick)), "{quick} {full}");
    }
}
