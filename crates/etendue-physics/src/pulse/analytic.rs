//! Echoes in closed form, without a sampled waveform.

use super::closed_form::{ClosedForm, TimedFeature};
use super::merge::{MergedLanes, MergedReturns, merge_changed};
use super::{Detector, Discriminator, Echo, Pulse, PulseReturn};
use crate::{NormalPairs, SPEED_OF_LIGHT, Scalar, Stream};
use std::f64::consts::PI;

/// Pulsed receiver in closed form: computes echoes from returns without a sampled waveform.
///
/// Returns closer than the pulse's length merge into one echo. With the powers $L_j$ and half optical paths
/// $R_j$ of the returns and the standard deviation $\sigma_p$ of the pulse in range, the moments of the
/// echo give its width $\sigma = \sqrt{\sigma_p^2 + \operatorname{var} R}$, its peak
/// $\sum_j L_j\\,\sigma_p/\sigma$ and the instant that the discriminator times. Errors relative to the
/// waveform of a Gaussian pulse, verified by tests:
/// - one surface in all sub-rays, at incidences up to 75 degrees: range within 1 % of $\sigma_p$, power
///   within 1 %;
/// - two surfaces in one beam, up to $\sigma_p$ apart, with powers from 1:9 to 9:1: range within 10 % of
///   $\sigma_p$, power within 2 %;
/// - two surfaces between $\sigma_p$ and twice the pulse's length apart: the echo of the waveform is skewed,
///   or separates at another distance; range errors are up to $\sigma_p$.
///
/// A pulse of another shape is approximated by the Gaussian of the same full width at half maximum.
///
/// `S` is the scalar of the pulse width, the threshold and the reference, which may carry derivatives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnalyticReceiver<S = f64> {
    /// The pulse.
    pub pulse: Pulse<S>,
    /// Instant of an echo that is timed.
    pub discriminator: Discriminator,
    /// Power that an echo must reach.
    pub threshold: S,
    /// Peak power of the echo whose range has no bias.
    pub reference: S,
    /// Noise and saturation of the detector.
    pub detector: Detector,
    /// Time between the samples of the modelled device, s: sets the noise of peak and centroid.
    pub interval: f64,
    /// Timing jitter that does not depend on the power, as a standard deviation of range, m.
    pub jitter: f64,
}

/// An [`AnalyticReceiver`] with precomputed constants that all echoes share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnalyticFinder<S = f64> {
    pub(super) receiver: AnalyticReceiver<S>,
    pub(super) form: ClosedForm<S>,
    noise: RangeNoise,
}

/// Model that converts power noise to range noise.
#[derive(Clone, Copy, Debug, PartialEq)]
enum RangeNoise {
    /// The whole pulse is timed: `spread * noise / peak * sqrt(sd)`.
    Pulse { spread: f64 },
    /// A level of the leading edge: `slope * noise / peak * sd`.
    Edge { slope: f64 },
    /// The slope of the edge at the threshold.
    Threshold,
}

/// Echo of a single return without noise, timed at an instant that does not depend on its power.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SingleEchoForm {
    /// Measured range minus that of the surface, m.
    bias: f64,
    /// Peak power per power of the return.
    peak: f64,
    /// Greatest peak power.
    saturation: f64,
    /// Power that an echo must reach.
    threshold: f64,
}

impl SingleEchoForm {
    /// Range (m) and peak power of the echo of a return, and whether it is over the threshold: those of
    /// [`AnalyticFinder::single`].
    #[expect(clippy::inline_always, reason = "one lane of a loop over many")]
    #[inline(always)]
    pub fn echo<S: Scalar>(&self, range: S, power: S) -> ([S; 2], bool) {
        let peak = (power * self.peak).min(S::from(self.saturation));
        let found = (peak.value() >= self.threshold) & (power.value() > 0.0);
        ([range + self.bias, peak], found)
    }
}

/// Echoes of sixteen shots, at most one of each.
#[derive(Clone, Debug, PartialEq)]
pub struct EchoLanes {
    /// Their ranges, m.
    pub range: [f64; 16],
    /// Their peak powers.
    pub power: [f64; 16],
    /// Their full widths at half maximum, s.
    pub width: [f64; 16],
    /// Whether each shot has an echo; the other fields of shots without one are unspecified.
    pub found: [bool; 16],
}

impl<S: Scalar> AnalyticReceiver<S> {
    /// Precomputes the constants that all echoes share.
    pub fn finder(&self) -> AnalyticFinder<S> {
        let interval = 0.5 * SPEED_OF_LIGHT * self.interval;
        let edge = |fraction| RangeNoise::Edge {
            slope: edge_slope(fraction),
        };
        AnalyticFinder {
            receiver: *self,
            form: ClosedForm::new(
                &self.pulse,
                self.discriminator,
                self.threshold,
                self.reference,
            ),
            noise: match self.discriminator {
                Discriminator::Peak | Discriminator::Centroid => RangeNoise::Pulse {
                    spread: (2.0 * interval / PI.sqrt()).sqrt(),
                },
                Discriminator::LeadingEdge => edge((-0.5_f64).exp()),
                Discriminator::ConstantFraction { fraction } => edge(fraction),
                Discriminator::Threshold => RangeNoise::Threshold,
            },
        }
    }

    /// Echoes of `returns` (reordered in place), nearest first; without noise if there is no stream.
    pub fn echoes(
        &self,
        returns: &mut [PulseReturn<S>],
        noise: Option<&mut Stream>,
    ) -> Vec<Echo<S>> {
        let mut echoes = Vec::new();
        self.finder().find(returns, noise, &mut echoes);
        echoes
    }
}

/// Standard deviation over the slope of a Gaussian's edge, at a fraction of its peak.
fn edge_slope(fraction: f64) -> f64 {
    let fraction = fraction.clamp(1e-6, 0.98);
    1.0 / (fraction * (-2.0 * fraction.ln()).sqrt())
}

impl AnalyticFinder {
    /// The echo of a single return in a simpler form; `None` where the crossing of the threshold is timed, whose instant
    /// depends on the power.
    pub fn single_form(&self) -> Option<SingleEchoForm> {
        let unit = MergedReturns {
            power: 1.0,
            range: 0.0,
            variance: 0.0,
        };
        let sd = self.form.sd(&unit);
        let peak = self.form.peak(&unit, sd);
        let is_constant = !matches!(self.form.timed(), TimedFeature::Threshold { .. });
        is_constant.then(|| SingleEchoForm {
            bias: self.form.echo(&unit, sd, peak).range,
            peak,
            saturation: self.receiver.detector.saturation(),
            threshold: self.receiver.threshold,
        })
    }
}

impl<S: Scalar> AnalyticFinder<S> {
    /// The same finder with additional constant background `power`.
    #[must_use]
    pub fn in_light(mut self, power: f64) -> Self {
        self.receiver.detector = self.receiver.detector.in_light(power);
        self
    }

    /// Distance below which returns merge, m.
    pub fn length(&self) -> f64 {
        self.form.length
    }

    /// Appends the echoes of `returns` (reordered in place), nearest first; without noise if there is
    /// no stream. Every echo takes two draws: one for its power, and one for its range, whose
    /// spread combines noise and jitter.
    ///
    /// Merging of returns, threshold decisions and noise are constant under differentiation.
    /// Returns of zero power are changes by edges ([`group_returns`](super::group_returns)).
    pub fn find(
        &self,
        returns: &mut [PulseReturn<S>],
        mut noise: Option<&mut Stream>,
        echoes: &mut Vec<Echo<S>>,
    ) {
        merge_changed(returns, self.form.length, |power, range, variance| {
            let merged = MergedReturns {
                power,
                range,
                variance,
            };
            let [power_draw, range_draw] = match &mut noise {
                Some(stream) => stream.normal_pair(),
                None => [0.0; 2],
            };
            echoes.extend(self.echo(&merged, power_draw, range_draw));
        });
    }

    /// The echo of a single return without noise, and whether it is over the threshold: that of
    /// [`AnalyticFinder::find`], without branches.
    #[expect(clippy::inline_always, reason = "one lane of a loop over many")]
    #[inline(always)]
    pub fn single(&self, only: &PulseReturn<S>) -> (Echo<S>, bool) {
        let merged = MergedReturns {
            power: only.power,
            range: only.range,
            variance: S::zero(),
        };
        let receiver = &self.receiver;
        let sd = self.form.sd(&merged);
        let peak = self.form.peak(&merged, sd);
        let peak = peak.min(S::from(receiver.detector.saturation()));
        let is_over = peak.value() >= receiver.threshold.value();
        let found = is_over & (only.power.value() > 0.0);
        (self.form.echo(&merged, sd, peak), found)
    }

    /// The echo of one group of merged returns, if it is over the threshold.
    #[expect(
        clippy::inline_always,
        reason = "returned by memory, an echo takes longer than made"
    )]
    #[inline(always)]
    fn echo(&self, merged: &MergedReturns<S>, power_draw: f64, range_draw: f64) -> Option<Echo<S>> {
        let (echo, found) = self.possible_echo(merged, power_draw, range_draw);
        found.then_some(echo)
    }

    /// The echo of one group of merged returns, and whether it is over the threshold.
    #[expect(
        clippy::inline_always,
        reason = "returned by memory, an echo takes longer than made"
    )]
    #[inline(always)]
    fn possible_echo(
        &self,
        merged: &MergedReturns<S>,
        power_draw: f64,
        range_draw: f64,
    ) -> (Echo<S>, bool) {
        let receiver = &self.receiver;
        let sd = self.form.sd(merged);
        let mean_peak = self.form.peak(merged, sd);
        let sigma = receiver.detector.noise(mean_peak.value());
        let peak = (mean_peak + sigma * power_draw).min(S::from(receiver.detector.saturation()));
        let spread = self.range_draw_sd(mean_peak.value(), sigma, sd.value());
        let mut echo = self.form.echo(merged, sd, peak);
        echo.range += range_draw * spread;
        let found = peak.value() >= receiver.threshold.value() && mean_peak.value() > 0.0;
        (echo, found)
    }

    /// Standard deviation of the drawn range error, m: noise and jitter.
    #[inline]
    fn range_draw_sd(&self, peak: f64, noise: f64, sd: f64) -> f64 {
        let range = self.range_noise(peak, noise, sd);
        (range * range + self.receiver.jitter * self.receiver.jitter).sqrt()
    }

    /// Standard deviation of the measured range of one surface whose echo has the peak power `peak`, m.
    ///
    /// It combines noise, jitter and, where the crossing of the threshold is timed, the change of the
    /// bias with the noise of the power, $\sigma\,\sigma_n/(P\sqrt{2\ln(P/T)})$ with the threshold $T$.
    ///
    /// ```
    /// use etendue_physics::pulse::*;
    /// let receiver = AnalyticReceiver {
    ///     pulse: Pulse::gaussian(5e-9),
    ///     discriminator: Discriminator::Peak,
    ///     threshold: 1e-6,
    ///     reference: 1e-4,
    ///     detector: Detector::Analogue(AnalogueDetector {
    ///         thermal_noise: 1e-7,
    ///         shot_noise: 0.0,
    ///         background: 0.0,
    ///         saturation: f64::INFINITY,
    ///         recovery: None,
    ///     }),
    ///     interval: 1e-9,
    ///     jitter: 0.01,
    /// };
    /// let finder = receiver.finder();
    /// assert!((finder.range_sd(1e-2) - 0.01).abs() < 1e-6);
    /// let faint = finder.range_sd(2e-6);
    /// assert!((faint - 0.0153).abs() < 1e-4, "{faint}");
    /// ```
    pub fn range_sd(&self, peak: f64) -> f64 {
        let sigma = self.receiver.detector.noise(peak);
        let pulse_sd = self.form.pulse_sd();
        let drawn = self.range_draw_sd(peak, sigma, pulse_sd);
        let biased = match self.noise {
            RangeNoise::Threshold => {
                let excess = (peak / self.receiver.threshold.value()).ln();
                pulse_sd * sigma / (peak * (2.0 * excess.max(1e-2)).sqrt())
            }
            RangeNoise::Pulse { .. } | RangeNoise::Edge { .. } => 0.0,
        };
        drawn.hypot(biased)
    }

    /// Standard deviation of the range, m, from that of the power, $\sigma_n$.
    ///
    /// If an edge is timed, it is $\sigma_n$ over the slope of the edge. If the whole pulse is timed, it is
    /// $\sigma_n\sqrt{2\Delta\sigma/\sqrt\pi}/P$ with the echo's peak $P$ and standard deviation $\sigma$ (m)
    /// and the sampling interval $\Delta$ (m): the Cramér-Rao bound for a Gaussian pulse in white noise.
    #[inline]
    pub(super) fn range_noise(&self, peak: f64, noise: f64, sd: f64) -> f64 {
        let relative = noise / peak;
        match self.noise {
            RangeNoise::Pulse { spread } => relative * spread * sd.sqrt(),
            RangeNoise::Edge { slope } => relative * slope * sd,
            RangeNoise::Threshold => {
                relative * edge_slope(self.receiver.threshold.value() / peak) * sd
            }
        }
    }
}

impl AnalyticFinder {
    /// Echoes of sixteen shots of a single return each, with given standard normal draws. They equal those of
    /// [`AnalyticFinder::find`] if the draws are the first of its stream. The loops compile to the caller's
    /// vector instructions.
    ///
    /// ```
    /// use etendue_physics::pulse::*;
    /// let receiver = AnalyticReceiver {
    ///     pulse: Pulse::gaussian(5e-9),
    ///     discriminator: Discriminator::Peak,
    ///     threshold: 1e-6,
    ///     reference: 1e-4,
    ///     detector: Detector::Analogue(AnalogueDetector {
    ///         thermal_noise: 1e-7,
    ///         shot_noise: 0.0,
    ///         background: 0.0,
    ///         saturation: f64::INFINITY,
    ///         recovery: None,
    ///     }),
    ///     interval: 1e-9,
    ///     jitter: 0.01,
    /// };
    /// let finder = receiver.finder();
    /// let mut powers = [0.0; 16];
    /// powers[3] = 1e-4;
    /// let echoes = finder.singles(&[7.0; 16], &powers, &[[0.0; 16]; 2]);
    /// let one = receiver.echoes(&mut [PulseReturn { range: 7.0, power: 1e-4 }], None)[0];
    /// assert!(echoes.found[3] && !echoes.found[4]);
    /// assert_eq!([echoes.range[3], echoes.power[3]], [one.range, one.power]);
    /// ```
    #[expect(clippy::inline_always, reason = "for the caller's instructions")]
    #[inline(always)]
    pub fn singles(
        &self,
        ranges: &[f64; 16],
        powers: &[f64; 16],
        draws: &NormalPairs,
    ) -> EchoLanes {
        self.merged(&MergedLanes::of_singles(ranges, powers), draws)
    }

    /// Echoes of sixteen shots whose returns [merge](super::merge_returns), with given standard normal draws. They equal those of
    /// [`AnalyticFinder::find`] if the draws are the first of its stream. The loops compile to the caller's vector
    /// instructions.
    ///
    /// ```
    /// use etendue_physics::pulse::*;
    /// # let detector = Detector::Analogue(AnalogueDetector {
    /// #     thermal_noise: 1e-7,
    /// #     shot_noise: 0.0,
    /// #     background: 0.0,
    /// #     saturation: f64::INFINITY,
    /// #     recovery: None,
    /// # });
    /// let receiver = AnalyticReceiver {
    ///     pulse: Pulse::gaussian(5e-9),
    ///     discriminator: Discriminator::Peak,
    ///     threshold: 1e-6,
    ///     reference: 1e-4,
    ///     detector,
    ///     interval: 1e-9,
    ///     jitter: 0.01,
    /// };
    /// let two = [(7.0, 1e-4), (7.2, 3e-4)].map(|(range, power)| PulseReturn { range, power });
    /// let lanes = two.map(|one| [[one.range; 16], [one.power; 16]]);
    /// let merged = MergedLanes::new(lanes.iter().map(|[range, power]| [range, power]));
    /// let finder = receiver.finder();
    /// assert!(merged.depth[5] < finder.length());
    /// let echoes = finder.merged(&merged, &[[0.0; 16]; 2]);
    /// assert_eq!(echoes.range[5], receiver.echoes(&mut two.clone(), None)[0].range);
    /// ```
    #[expect(clippy::inline_always, reason = "for the caller's instructions")]
    #[inline(always)]
    pub fn merged(&self, merged: &MergedLanes, draws: &NormalPairs) -> EchoLanes {
        match self.receiver.detector {
            Detector::Analogue(detector) => {
                self.merged_by(Detector::Analogue(detector), merged, draws)
            }
            Detector::PhotonCounting(detector) => {
                self.merged_by(Detector::PhotonCounting(detector), merged, draws)
            }
        }
    }

    /// [`AnalyticFinder::merged`] with the detector, the timed feature and the noise model selected outside of
    /// the loop, which is free of branches.
    #[expect(clippy::inline_always, reason = "for the caller's instructions")]
    #[inline(always)]
    fn merged_by(
        &self,
        detector: Detector,
        merged: &MergedLanes,
        draws: &NormalPairs,
    ) -> EchoLanes {
        let mut specialised = *self;
        specialised.receiver.detector = detector;
        match (self.form.timed(), self.noise) {
            (TimedFeature::Pulse, RangeNoise::Pulse { spread }) => {
                specialised.form = self.form.timing(TimedFeature::Pulse);
                specialised.noise = RangeNoise::Pulse { spread };
                specialised.each(merged, draws)
            }
            (TimedFeature::Edge { level }, RangeNoise::Edge { slope }) => {
                specialised.form = self.form.timing(TimedFeature::Edge { level });
                specialised.noise = RangeNoise::Edge { slope };
                specialised.each(merged, draws)
            }
            _ => specialised.each(merged, draws),
        }
    }

    /// The echo of every lane.
    #[expect(clippy::inline_always, reason = "for the caller's instructions")]
    #[inline(always)]
    fn each(&self, lanes: &MergedLanes, draws: &NormalPairs) -> EchoLanes {
        let [power_draws, range_draws] = draws;
        let mut echoes = EchoLanes {
            range: [0.0; 16],
            power: [0.0; 16],
            width: [0.0; 16],
            found: [false; 16],
        };
        // Find the echo of each lane, found or not: without branches.
        for i in 0..16 {
            let merged = MergedReturns {
                power: lanes.power[i],
                range: lanes.range[i],
                variance: lanes.variance[i],
            };
            let (echo, found) = self.possible_echo(&merged, power_draws[i], range_draws[i]);
            echoes.range[i] = echo.range;
            echoes.power[i] = echo.power;
            echoes.width[i] = echo.width;
            echoes.found[i] = found;
        }
        echoes
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::pulse::{AnalogueDetector, EchoFinder, InclinedPlane, SamplingWindow, Waveform};
    use crate::{Dual, DualParts};

    type D = Dual<1>;

    const FWHM: f64 = 4e-9;
    const DISCRIMINATORS: [Discriminator; 4] = [
        Discriminator::Threshold,
        Discriminator::ConstantFraction { fraction: 0.5 },
        Discriminator::Peak,
        Discriminator::Centroid,
    ];

    fn receiver(discriminator: Discriminator, thermal_noise: f64) -> AnalyticReceiver {
        AnalyticReceiver {
            pulse: Pulse::gaussian(FWHM),
            discriminator,
            threshold: 1e-4,
            reference: 1e-2,
            detector: Detector::Analogue(AnalogueDetector {
                thermal_noise,
                shot_noise: 0.0,
                background: 0.0,
                saturation: f64::INFINITY,
                recovery: None,
            }),
            interval: 1e-9,
            jitter: 0.0,
        }
    }

    /// Echoes in closed form and those of a finely sampled waveform.
    fn both(discriminator: Discriminator, returns: &[PulseReturn]) -> [Vec<Echo>; 2] {
        let fast = receiver(discriminator, 0.0);
        let pulse = fast.pulse;
        let finder =
            EchoFinder::calibrated(&pulse, discriminator, fast.threshold, 2e-5, fast.reference);
        let far = returns.iter().fold(0.0, |far: f64, r| far.max(r.range));
        let window = SamplingWindow::around(&pulse, 0.05e-9, 1.0, far);
        let waveform = Waveform::received(&pulse, returns, window);
        [
            fast.echoes(&mut returns.to_vec(), None),
            finder.find(&waveform),
        ]
    }

    fn worst(discriminator: Discriminator, returns: &[PulseReturn]) -> [f64; 2] {
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
                        |(range, power)| PulseReturn {
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
    fn distant_surfaces_give_two_echoes_in_both_models() {
        for discriminator in DISCRIMINATORS {
            let returns =
                [(30.0, 0.004), (31.8, 0.006)].map(|(range, power)| PulseReturn { range, power });
            let [fast, full] = both(discriminator, &returns);
            assert_eq!((fast.len(), full.len()), (2, 2));
            assert!(worst(discriminator, &returns)[0] < 0.01);
        }
    }

    /// Dual numbers give the same echoes as plain numbers.
    #[test]
    fn echoes_of_dual_numbers_equal_those_of_plain_numbers() {
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
                let returns = group
                    .iter()
                    .map(|&(range, power)| PulseReturn { range, power });
                let mut returns: Vec<PulseReturn> = returns.collect();
                let prepared = fast.echoes(&mut returns, None);
                let mut lifted: Vec<PulseReturn<D>> = { returns.iter() }
                    .map(|one| PulseReturn {
                        range: D::variable(one.range, 0),
                        power: one.power.into(),
                    })
                    .collect();
                let in_dual_numbers = AnalyticReceiver::<D> {
                    pulse: Pulse {
                        shape: fast.pulse.shape,
                        fwhm: fast.pulse.fwhm.into(),
                    },
                    discriminator: fast.discriminator,
                    threshold: fast.threshold.into(),
                    reference: fast.reference.into(),
                    detector: fast.detector,
                    interval: fast.interval,
                    jitter: fast.jitter,
                };
                let mean = in_dual_numbers.echoes(&mut lifted, None);
                assert_eq!(prepared.len(), mean.len(), "{discriminator:?} {group:?}");
                assert!(!mean.is_empty());
                for (a, b) in prepared.iter().zip(&mean) {
                    let close = |a: f64, b: D| (a - b.re).abs() <= 1e-13 * b.re.abs();
                    let all = close(a.range, b.range) && close(a.power, b.power);
                    assert!(
                        all && close(a.width, b.width),
                        "{discriminator:?}: {a:?} {b:?}"
                    );
                    // All returns move together, and the echo with them.
                    assert!((b.range.gradient()[0] - 1.0).abs() < 1e-12);
                }
            }
        }
    }

    /// Standard deviation of 20,000 ranges with a timed edge: that of the waveform is 0.7 to 1.05 times that of
    /// the closed form.
    #[test]
    fn the_standard_deviation_of_the_range_is_that_of_noisy_waveforms() {
        use crate::Purpose;
        let discriminator = Discriminator::ConstantFraction { fraction: 0.5 };
        let fast = receiver(discriminator, 2e-5);
        let one = PulseReturn {
            range: 25.0,
            power: 2e-3,
        };
        let finder = EchoFinder::calibrated(&fast.pulse, discriminator, 1e-4, 2e-4, 1e-2);
        let window = SamplingWindow::around(&fast.pulse, 1e-9, 25.0, 25.0);
        let clean = Waveform::received(&fast.pulse, &[one], window);
        let mut quick = Vec::new();
        let mut full = Vec::new();
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
        let quick = sd(&quick);
        let full = sd(&full);
        // Interpolation between two noisy samples averages them: the waveform has less noise.
        assert!((0.7..1.05).contains(&(full / quick)), "{quick} {full}");
    }
}
