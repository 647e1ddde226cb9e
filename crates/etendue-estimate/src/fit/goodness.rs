//! Goodness of fit: residuals against the noise of the sensor.
//!
//! A covariance holds only if the model explains the scans. Three tests on the range residuals, in
//! units of their standard deviations, check this:
//! - their mean square, limited to nine each so that single outliers do not decide, against the chi-square
//!   distribution;
//! - the shares of outliers and of measured beams without a prediction;
//! - the number of runs of equal signs along the scan, which is small where a surface is displaced (Wald
//!   and Wolfowitz 1940, doi:10.1214/aoms/1177731909).
//!
//! Errors that all beams of a scan or a channel share are estimated from the residuals and subtracted before the
//! tests, and the standard deviations are those of the remaining errors. Neighbours whose remaining errors have
//! the correlation $\rho$ differ in sign with the probability $\arccos(\rho)/\pi$ (Sheppard 1899), in place of
//! 1/2; simulated moving averages with correlations up to 0.7 have 0.8 to 1.1 times the variance of independent
//! changes of that probability.

use super::problem::FitProblem;
use crate::manifold::Variable;
use crate::model::QUANTITIES;
use etendue_sensors::lidar::Shot;
use std::collections::BTreeMap;
use std::f64::consts::PI;

/// Result of the tests of a fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Goodness {
    /// Sum of the squared residuals, in squared standard deviations.
    pub chi_square: f64,
    /// Number of residuals minus the number of determined unknowns.
    pub degrees_of_freedom: f64,
    /// Mean of the squared residuals, limited to 9 each, over its expectation.
    pub limited_mean_square: f64,
    /// Share of residuals above four standard deviations.
    pub outliers: f64,
    /// Share of residuals above three standard deviations.
    pub beyond_three: f64,
    /// Share of the measured beams that are predicted.
    pub used: f64,
    /// Number of runs of equal signs, in standard deviations from its expectation; `None` for fewer than
    /// 20 residuals of a sign.
    pub runs: Option<f64>,
    /// Conclusion.
    pub verdict: Verdict,
}

/// Conclusion of the tests of a fit, with the reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The residuals agree with the noise of the sensor.
    Good,
    /// The residuals exceed the noise of the sensor: the standard deviations are too small, or the
    /// estimate is a false minimum.
    Doubtful(Vec<String>),
    /// The model does not explain the scans.
    WrongModel(Vec<String>),
}

impl Verdict {
    /// Adds a reason for doubt; a wrong model stays one.
    fn doubt(&mut self, reason: &str) {
        match self {
            Self::Good => *self = Self::Doubtful(vec![reason.to_owned()]),
            Self::Doubtful(reasons) | Self::WrongModel(reasons) => reasons.push(reason.to_owned()),
        }
    }
}

/// Square at which residuals are limited.
const LIMIT: f64 = 9.0;

/// Expectation and variance of a squared standard normal variable limited to [`LIMIT`].
const LIMITED_MOMENTS: [f64; 2] = [0.995_01, 1.901_5];

/// Deviation of a test from its expectation, in standard deviations, that is not accidental: probability
/// 3e-5 on one side.
const SIGNIFICANT: f64 = 4.0;

/// Excess of the mean square that a description of a sensor may have.
const TOLERATED_EXCESS: f64 = 0.2;

/// Ratio of chi-square to the limited one above which both are reported.
const DISTINCT: f64 = 1.2;

/// Mean square below which the signs of residuals are irrelevant.
const NEGLIGIBLE: f64 = 0.3;

/// Share of outliers, or of beams without a prediction, above which a fit is doubtful.
const MANY: f64 = 0.05;

/// Share of residuals above three standard deviations, or of beams without a prediction, above which the
/// model is wrong.
const MOST: f64 = 0.5;

/// Smallest share of the variance of a range that is not shared by its scan or channel.
const LEAST_SHARE: f64 = 1e-4;

/// Smallest number of residuals of each sign for the run test.
const MIN_SIGNS: usize = 20;

impl Goodness {
    /// Goodness of a problem with residuals in standard deviations at a state with `rank` determined
    /// unknowns.
    pub fn new(problem: &FitProblem, state: &[Variable], rank: usize) -> Self {
        // Residuals along the scan, channel by channel.
        let by_beam = problem.range_residuals_by_beam(state);
        let by_beam = without_common_errors(problem, by_beam);
        let order = in_scan_order(problem, &by_beam);
        let ordered: Vec<f64> = order.iter().map(|(_, residual)| *residual).collect();
        let count = ordered.len();
        let share = |is: &dyn Fn(f64) -> bool| {
            let chosen = ordered.iter().filter(|r| is(**r)).count();
            chosen as f64 / count.max(1) as f64
        };
        // Mean square, outliers and use
        let chi_square = ordered.iter().map(|r| r * r).sum();
        let freedom = count as f64 - rank as f64;
        let predicted = problem.range_residuals(state).len();
        let limited: f64 = ordered.iter().map(|r| (r * r).min(LIMIT)).sum();
        let mean_square = limited / (LIMITED_MOMENTS[0] * freedom.max(1.0));
        let mut goodness = Self {
            chi_square,
            degrees_of_freedom: freedom,
            limited_mean_square: mean_square,
            outliers: share(&|r| r.abs() > 4.0),
            beyond_three: share(&|r| r.abs() > 3.0),
            used: predicted as f64 / problem.measured().max(1) as f64,
            runs: run_test(&ordered, chance_of_change(problem, &order)),
            verdict: Verdict::Good,
        };
        goodness.verdict = goodness.conclude(rank);
        if problem.model.follows_paths() {
            goodness.verdict.doubt(
                "few random light paths bias ranges, and the standard deviations do not contain it: compare a fit \
                 with four times as many",
            );
        }
        goodness
    }

    /// Verdict of the tests, for a fit with `rank` determined directions.
    fn conclude(&self, rank: usize) -> Verdict {
        let percent = |share: f64| format!("{:.0} %", 100.0 * share);
        // Reasons for a wrong model
        let mut wrong = Vec::new();
        if self.beyond_three > MOST {
            wrong.push(format!(
                "{} of the residuals exceed three standard deviations of the sensor's noise",
                percent(self.beyond_three)
            ));
        }
        if self.used < 1.0 - MOST {
            wrong.push(format!(
                "only {} of the measured beams are predicted",
                percent(self.used)
            ));
        }
        if !wrong.is_empty() {
            return Verdict::WrongModel(wrong);
        }
        // Reasons for doubt
        let mut reasons = Vec::new();
        if rank == 0 {
            reasons.push("the scans determine none of the unknowns".to_owned());
        }
        if self.outliers > MANY {
            reasons.push(format!(
                "{} of the residuals exceed four standard deviations of the sensor's noise",
                percent(self.outliers)
            ));
        }
        let spread = (LIMITED_MOMENTS[1] / self.degrees_of_freedom.max(1.0)).sqrt();
        let excess = self.limited_mean_square - 1.0;
        if excess > TOLERATED_EXCESS.max(SIGNIFICANT * spread) {
            reasons.push(self.excess());
        }
        if self.used < 1.0 - MANY {
            reasons.push(format!(
                "{} of the measured beams are not predicted",
                percent(1.0 - self.used)
            ));
        }
        let correlated = self.runs.is_some_and(|runs| runs < -SIGNIFICANT);
        if correlated && self.limited_mean_square > NEGLIGIBLE {
            reasons.push(
                "the residuals of neighbouring beams have the same sign: a surface is displaced"
                    .to_owned(),
            );
        }
        if reasons.is_empty() {
            Verdict::Good
        } else {
            Verdict::Doubtful(reasons)
        }
    }

    /// Chi-square over its expectation, and the same with limited squares if outliers make a difference.
    fn excess(&self) -> String {
        let ratio = self.chi_square / self.degrees_of_freedom.max(1.0);
        let limited = self.limited_mean_square;
        let times = |value: f64| match value {
            large if large >= 100.0 => format!("{large:.0}"),
            small => format!("{small:.1}"),
        };
        let beside = if ratio > DISTINCT * limited {
            format!(
                " ({} times with squares limited to {LIMIT}, so that outliers do not decide)",
                times(limited)
            )
        } else {
            String::new()
        };
        format!(
            "chi-square is {} times its expectation{beside}",
            times(ratio)
        )
    }
}

impl Verdict {
    /// Name: good, doubtful or wrong model.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Doubtful(_) => "doubtful",
            Self::WrongModel(_) => "wrong model",
        }
    }

    /// Reasons; none for a good fit.
    pub fn reasons(&self) -> &[String] {
        match self {
            Self::Good => &[],
            Self::Doubtful(reasons) | Self::WrongModel(reasons) => reasons,
        }
    }
}

/// Residuals with the index of their beam, ordered by scan, channel and column.
fn in_scan_order(problem: &FitProblem, by_beam: &[Option<f64>]) -> Vec<(usize, f64)> {
    let shots = problem.model.shots().zip(by_beam).enumerate();
    let residual = |(beam, ((scan, shot), residual)): (usize, ((usize, &Shot), &Option<f64>))| {
        Some(((scan, shot.channel, shot.column), (beam, (*residual)?)))
    };
    let mut keyed: Vec<_> = shots.filter_map(residual).collect();
    keyed.sort_by_key(|(place, _)| *place);
    keyed.into_iter().map(|(_, residual)| residual).collect()
}

/// Residuals without the errors that all beams of a scan, and all of a channel, share, in standard deviations of
/// the remaining errors.
///
/// The error of a group is the mean of its residuals in metres, weighted by the inverse variances $1/v_i$, times
/// $\sigma^2/(\sigma^2 + 1/\sum_i v_i^{-1})$ for errors of the standard deviation $\sigma$: its expectation given
/// the residuals. Residuals of surfaces that the model lacks are left out of the mean: those more than three standard
/// deviations $\sqrt{v_i}$ from the median of the group.
fn without_common_errors(problem: &FitProblem, mut by_beam: Vec<Option<f64>>) -> Vec<Option<f64>> {
    let Some(correlation) = problem.correlation.as_deref() else {
        return by_beam;
    };
    // Convert the residuals to metres, with the variances of the remaining errors.
    let common = correlation.common();
    let own = |beam: usize| {
        let unit = problem.unit(beam * QUANTITIES);
        (unit * unit - common).max(LEAST_SHARE * unit * unit)
    };
    for (beam, residual) in by_beam.iter_mut().enumerate() {
        *residual = residual.map(|one| one * problem.unit(beam * QUANTITIES));
    }
    // Subtract the errors of the scans, then those of the channels.
    let shots: Vec<_> = problem.model.shots().collect();
    let groups: [&dyn Fn(usize) -> usize; 2] = [&|beam| shots[beam].0, &|beam| {
        usize::from(shots[beam].1.channel)
    }];
    for (group, variance) in groups.into_iter().zip(correlation.of_scan_and_channel()) {
        let mut members: BTreeMap<usize, Vec<[f64; 2]>> = BTreeMap::new();
        for (beam, residual) in by_beam.iter().enumerate() {
            if let Some(residual) = residual {
                let group = members.entry(group(beam)).or_default();
                group.push([*residual, own(beam)]);
            }
        }
        let error = |(group, mut members): (usize, Vec<[f64; 2]>)| {
            let (mean, weight) = mean_of_inliers(&mut members);
            (group, mean * variance / (variance + 1.0 / weight))
        };
        let errors: BTreeMap<usize, f64> = members.into_iter().map(error).collect();
        for (beam, residual) in by_beam.iter_mut().enumerate() {
            if let Some(residual) = residual {
                *residual -= errors[&group(beam)];
            }
        }
    }
    // Divide by the remaining standard deviations.
    let scaled =
        |(beam, residual): (usize, Option<f64>)| residual.map(|one| one / own(beam).sqrt());
    by_beam.into_iter().enumerate().map(scaled).collect()
}

/// Mean of values with their variances, weighted by the inverse variances, and the sum of the weights. Values more than
/// three standard deviations from the median are left out. There is at least one value.
fn mean_of_inliers(values: &mut [[f64; 2]]) -> (f64, f64) {
    let middle = values.len() / 2;
    let (_, median, _) = values.select_nth_unstable_by(middle, |a, b| a[0].total_cmp(&b[0]));
    let median = median[0];
    // The median itself is always among them.
    let is_inlier = |[value, variance]: &&[f64; 2]| (value - median).powi(2) <= 9.0 * variance;
    let inliers = values.iter().filter(is_inlier);
    let [weighted, weight] = inliers.fold([0.0; 2], |sum, [value, variance]| {
        [sum[0] + value / variance, sum[1] + 1.0 / variance]
    });
    (weighted / weight, weight)
}

/// Mean probability that the residuals of neighbours in scan order differ in sign.
fn chance_of_change(problem: &FitProblem, order: &[(usize, f64)]) -> f64 {
    let Some(correlation) = problem.correlation.as_deref() else {
        return 0.5;
    };
    let shots: Vec<_> = problem.model.shots().collect();
    let common = correlation.common();
    let chance = |pair: &[(usize, f64)]| {
        let beams = [pair[0].0, pair[1].0];
        let [a, b] = beams.map(|beam| shots[beam].1);
        if a.channel != b.channel || b.column != a.column + 1 {
            return 0.5;
        }
        let [va, vb] = beams.map(|beam| problem.unit(beam * QUANTITIES).powi(2) - common);
        let rho = correlation.of_neighbours(beams) / (va * vb).sqrt();
        rho.clamp(-1.0, 1.0).acos() / PI
    };
    let pairs = order.len().saturating_sub(1).max(1);
    order.windows(2).map(chance).sum::<f64>() / pairs as f64
}

/// Number of runs of equal signs, in standard deviations from its expectation, for signs of neighbours that differ
/// with a probability of `chance`, 1/2 if they are independent.
fn run_test(residuals: &[f64], chance: f64) -> Option<f64> {
    let signs: Vec<bool> = residuals
        .iter()
        .filter(|r| **r != 0.0)
        .map(|r| *r > 0.0)
        .collect();
    let positive = signs.iter().filter(|sign| **sign).count();
    let negative = signs.len() - positive;
    if positive.min(negative) < MIN_SIGNS {
        return None;
    }
    let runs = 1 + signs.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let count = signs.len() as f64;
    let independent = 1.0 + 2.0 * positive as f64 * negative as f64 / count;
    let variance = (independent - 1.0) * (independent - 2.0) / (count - 1.0);
    // Changes of sign with another probability than 1/2.
    let mean = 1.0 + (independent - 1.0) * 2.0 * chance;
    let variance = variance * 4.0 * chance * (1.0 - chance);
    Some((runs as f64 - mean) / variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use etendue_physics::{Purpose, Stream};

    /// Probability of a wrong result: 2e-5.
    #[test]
    fn runs_of_independent_signs_are_as_expected_and_those_of_a_wave_are_few() {
        let mut stream = Stream::new(1, 0, 0, 0, Purpose::Search);
        let noise: Vec<f64> = (0..600).map(|_| stream.normal()).collect();
        // Measured: 0.6.
        assert!(run_test(&noise, 0.5).is_some_and(|z| z.abs() < 4.0));
        let wave = |(i, r): (usize, &f64)| r + (0.05 * i as f64).sin();
        let waved: Vec<f64> = noise.iter().enumerate().map(wave).collect();
        assert!(run_test(&waved, 0.5).is_some_and(|z| z < -4.0));
        assert_eq!(run_test(&noise[..20], 0.5), None);
    }

    /// A tenth of the values is of a surface 2 m behind. Probability of a wrong result: 6e-5.
    #[test]
    fn outliers_do_not_move_the_mean_of_a_group() {
        let mut stream = Stream::new(2, 0, 0, 0, Purpose::Search);
        let sd = 0.007;
        let mut values: Vec<[f64; 2]> = (0..1000)
            .map(|i| {
                let behind = if i % 10 == 0 { 2.0 } else { 0.0 };
                [0.004 + behind + sd * stream.normal(), sd * sd]
            })
            .collect();
        let (mean, weight) = mean_of_inliers(&mut values);
        // Measured: 0.2 standard errors.
        assert!((mean - 0.004).abs() < 4.0 * weight.sqrt().recip(), "{mean}");
        // Three standard deviations contain 99.7 % of the 900 others.
        assert!((880.0..=900.5).contains(&(weight * sd * sd)), "{weight}");
        assert_eq!(mean_of_inliers(&mut [[0.3, 0.25]]), (0.3, 4.0));
    }

    #[test]
    fn the_moments_of_limited_squares_are_those_of_the_normal_distribution() {
        // Midpoint rule over ten standard deviations on each side.
        let mut sums = [0.0; 3];
        for i in 0..20_000 {
            let z = 1e-3 * (f64::from(i) + 0.5) - 10.0;
            let density = (-0.5 * z * z).exp();
            let limited = (z * z).min(LIMIT);
            sums[0] += density;
            sums[1] += density * limited;
            sums[2] += density * limited * limited;
        }
        let mean = sums[1] / sums[0];
        let variance = sums[2] / sums[0] - mean * mean;
        assert!((mean - LIMITED_MOMENTS[0]).abs() < 1e-4, "{mean}");
        assert!((variance - LIMITED_MOMENTS[1]).abs() < 1e-3, "{variance}");
    }
}
