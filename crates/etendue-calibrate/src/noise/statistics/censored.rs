//! Normal distributions from quantised samples.

use etendue_physics::normal;

/// Equal observations: an error that is within half a quantisation step of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CensoredSample {
    /// The error, m.
    pub error: f64,
    /// Half the quantisation step, m; 0 without quantisation.
    pub half: f64,
    /// Number of observations.
    pub count: f64,
    /// Index of the direction.
    pub cell: u32,
}

/// Mean and standard deviation of a normal distribution before rounding.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NormalEstimate {
    /// Mean, m.
    pub mean: f64,
    /// Standard deviation, m.
    pub sd: f64,
}

/// Standard deviations below this fraction of half a step are indistinguishable from zero.
const LEAST: f64 = 0.1;

/// Maximum-likelihood mean and standard deviation of a normal distribution from interval-censored samples:
/// each draw is within half a step of the reported value. Solved by scoring with the outer product of
/// gradients (Berndt et al. 1974, "Estimation and inference in nonlinear structural models"). Without
/// quantisation, mean and standard deviation of the values.
///
/// The sample standard deviation of rounded values is biased: zero if all values round to the same step,
/// half a step if the mean is between two steps.
pub fn censored_normal(samples: &[CensoredSample]) -> NormalEstimate {
    // Correct the sample moments if the steps are small
    let plain = moments(samples);
    let half = samples.iter().map(|s| s.half).fold(0.0, f64::max);
    let least = LEAST * half;
    if half == 0.0 || plain.sd > 6.0 * half || samples.is_empty() {
        let variance = plain.sd * plain.sd - half * half / 3.0;
        return NormalEstimate {
            sd: variance.max(least * least).sqrt(),
            ..plain
        };
    }
    // Maximise the likelihood with step halving
    let mut here = NormalEstimate {
        sd: plain.sd.max(2.0 * least),
        ..plain
    };
    let mut best = log_likelihood(samples, here);
    for _ in 0..40 {
        let Some(step) = scoring_step(samples, here) else {
            break;
        };
        let mut step_fraction = 1.0;
        let mut moved = false;
        for _ in 0..8 {
            let next = NormalEstimate {
                mean: here.mean + step_fraction * step[0],
                sd: (here.sd * (step_fraction * step[1]).clamp(-1.0, 1.0).exp()).max(least),
            };
            let found = log_likelihood(samples, next);
            if found > best + 1e-9 {
                (here, best, moved) = (next, found, true);
                break;
            }
            step_fraction *= 0.5;
        }
        if !moved {
            break;
        }
    }
    here
}

/// Fixed-pattern fraction of the variance of a distribution with the standard deviation `total`
/// before rounding (m): $1 - \sigma_w^2/\sigma^2$ with the standard deviation $\sigma_w$ within
/// directions, each about its own mean.
pub fn fixed_pattern_share(samples: &[CensoredSample], total: f64) -> f64 {
    let half = samples.iter().map(|s| s.half).fold(0.0, f64::max);
    if total <= 0.0 {
        return 0.0;
    }
    let mut sorted = samples.to_vec();
    sorted.sort_by_key(|sample| sample.cell);
    let cells: Vec<&[CensoredSample]> = sorted.chunk_by(|a, b| a.cell == b.cell).collect();
    if cells.len() < 2 {
        return 0.0;
    }
    let fit = |log_sd: f64| -> f64 { cells.iter().map(|cell| own_mean(cell, log_sd.exp())).sum() };
    let highest = total.ln() + 0.05;
    let lowest = (LEAST * half).max(1e-3 * total).ln();
    let inner = maximum(lowest, highest, fit).exp();
    (1.0 - (inner / total).powi(2)).clamp(0.0, 1.0)
}

/// Log-likelihood of the samples of one direction about their own most likely mean.
fn own_mean(samples: &[CensoredSample], sd: f64) -> f64 {
    let plain = moments(samples);
    let likelihood = |mean: f64| log_likelihood(samples, NormalEstimate { mean, sd });
    let reach = samples.iter().map(|s| s.half).fold(0.0, f64::max);
    if reach == 0.0 {
        return likelihood(plain.mean);
    }
    let mean = maximum(plain.mean - reach, plain.mean + reach, likelihood);
    likelihood(mean)
}

/// Position of a maximum between two limits, by golden-section search.
fn maximum(mut low: f64, mut high: f64, value: impl Fn(f64) -> f64) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_895;
    let mut a = high - GOLDEN * (high - low);
    let mut b = low + GOLDEN * (high - low);
    let mut at_a = value(a);
    let mut at_b = value(b);
    for _ in 0..14 {
        if at_a > at_b {
            (high, b, at_b) = (b, a, at_a);
            a = high - GOLDEN * (high - low);
            at_a = value(a);
        } else {
            (low, a, at_a) = (a, b, at_b);
            b = low + GOLDEN * (high - low);
            at_b = value(b);
        }
    }
    if at_a > at_b { a } else { b }
}

/// Mean and standard deviation of the reported values.
fn moments(samples: &[CensoredSample]) -> NormalEstimate {
    let total: f64 = samples.iter().map(|s| s.count).sum();
    let mean = samples.iter().map(|s| s.count * s.error).sum::<f64>() / total.max(1.0);
    let square = samples
        .iter()
        .map(|s| s.count * (s.error - mean).powi(2))
        .sum::<f64>();
    NormalEstimate {
        mean,
        sd: (square / total.max(1.0)).sqrt(),
    }
}

fn log_likelihood(samples: &[CensoredSample], at: NormalEstimate) -> f64 {
    let one = |sample: &CensoredSample| {
        let middle = (sample.error - at.mean) / at.sd;
        if sample.half == 0.0 {
            return sample.count * (-0.5 * middle * middle - at.sd.ln());
        }
        let half = sample.half / at.sd;
        sample.count
            * normal::between(middle - half, middle + half)
                .max(1e-300)
                .ln()
    };
    samples.iter().map(one).sum()
}

/// Scoring step of the mean and of the logarithm of the standard deviation.
fn scoring_step(samples: &[CensoredSample], at: NormalEstimate) -> Option<[f64; 2]> {
    let (mut gradient, mut matrix) = ([0.0; 2], [0.0; 3]);
    for sample in samples {
        let low = (sample.error - sample.half - at.mean) / at.sd;
        let high = (sample.error + sample.half - at.mean) / at.sd;
        let probability = normal::between(low, high).max(1e-300);
        let densities = [normal::density(low), normal::density(high)];
        let by_mean = (densities[0] - densities[1]) / (at.sd * probability);
        let by_log_sd = (low * densities[0] - high * densities[1]) / probability;
        gradient[0] += sample.count * by_mean;
        gradient[1] += sample.count * by_log_sd;
        matrix[0] += sample.count * by_mean * by_mean;
        matrix[1] += sample.count * by_mean * by_log_sd;
        matrix[2] += sample.count * by_log_sd * by_log_sd;
    }
    matrix[0] *= 1.0 + 1e-6;
    matrix[2] *= 1.0 + 1e-6;
    let determinant = matrix[0] * matrix[2] - matrix[1] * matrix[1];
    let step = [
        (matrix[2] * gradient[0] - matrix[1] * gradient[1]) / determinant,
        (matrix[0] * gradient[1] - matrix[1] * gradient[0]) / determinant,
    ];
    step.iter().all(|s| s.is_finite()).then_some(step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use etendue_physics::{Purpose, Stream};

    fn rounded(mean: f64, sd: f64, step: f64, draws: usize) -> Vec<CensoredSample> {
        let mut stream = Stream::new(1, 0, 0, 0, Purpose::Search);
        // True ranges of several directions, a third of a step apart
        (0..draws)
            .map(|number| {
                let cell = u32::try_from(number % 7).unwrap_or(0);
                let truth = f64::from(cell) * 0.37 * step;
                let value = truth + mean + sd * stream.normal();
                CensoredSample {
                    error: (value / step).round() * step - truth,
                    half: 0.5 * step,
                    count: 1.0,
                    cell,
                }
            })
            .collect()
    }

    /// Spreads of 0.2 to 5 steps, 7,000 draws: the spread within 6 %, the mean within 0.05 of a step and
    /// 3 % of the spread.
    #[test]
    fn mean_and_spread_before_rounding_are_recovered() {
        for sd in [0.2e-3, 0.5e-3, 1e-3, 5e-3] {
            let found = censored_normal(&rounded(0.4e-3, sd, 1e-3, 7000));
            assert!((found.sd / sd - 1.0).abs() < 0.06, "{sd}: {found:?}");
            assert!(
                (found.mean - 0.4e-3).abs() < 0.05e-3 + 0.03 * sd,
                "{sd}: {found:?}"
            );
        }
    }

    /// Means of directions with standard deviation 3, noise of 4: the fixed-pattern share is 9/25.
    #[test]
    fn the_fixed_pattern_share_is_recovered() {
        let mut stream = Stream::new(2, 0, 0, 0, Purpose::Search);
        let mut samples = Vec::new();
        for cell in 0..200 {
            let own = 3e-3 * stream.normal();
            for _ in 0..30 {
                samples.push(CensoredSample {
                    error: own + 4e-3 * stream.normal(),
                    half: 0.0,
                    count: 1.0,
                    cell,
                });
            }
        }
        let total = censored_normal(&samples).sd;
        let share = fixed_pattern_share(&samples, total);
        assert!((share - 0.36).abs() < 0.05, "{share}");
    }
}
