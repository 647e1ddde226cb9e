//! Poisson-distributed counts.

use crate::Stream;
use std::f64::consts::TAU;

/// Smallest mean for draws by rejection; the method requires at least 10.
const BY_REJECTION: f64 = 12.0;

/// Exact draw from the Poisson distribution with the given mean.
///
/// For small means it counts the events of a unit-rate Poisson process in an interval of that length; for
/// larger ones it uses the transformed rejection method PTRS of Hörmann 1993
/// (doi:10.1016/0167-6687(93)90997-4), whose cost does not depend on the mean.
///
/// ```
/// use etendue_physics::pulse::poisson;
/// use etendue_physics::{Purpose, Stream};
/// let mut stream = Stream::new(1, 0, 0, 0, Purpose::ShotNoise);
/// let counts: Vec<f64> = (0..10_000).map(|_| poisson(100.0, &mut stream)).collect();
/// assert!((counts.iter().sum::<f64>() / 1e4 - 100.0).abs() < 0.5); // 5 standard errors
/// ```
pub fn poisson(mean: f64, stream: &mut Stream) -> f64 {
    if mean < BY_REJECTION {
        by_gaps(mean, stream)
    } else {
        by_rejection(mean, stream)
    }
}

/// Number of events of a unit-rate Poisson process in an interval of length `mean`, by exponential gaps.
fn by_gaps(mean: f64, stream: &mut Stream) -> f64 {
    let mut count = 0.0;
    let mut left = mean;
    loop {
        left += (1.0 - stream.uniform()).ln();
        if left < 0.0 {
            return count;
        }
        count += 1.0;
    }
}

/// Transformed rejection PTRS, with the variable names of the paper.
fn by_rejection(mean: f64, stream: &mut Stream) -> f64 {
    let b = 0.931 + 2.53 * mean.sqrt();
    let a = -0.059 + 0.024_83 * b;
    let inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    let quick = 0.9277 - 3.6224 / (b - 2.0);
    loop {
        let u = stream.uniform() - 0.5;
        let v = stream.uniform();
        let us = 0.5 - u.abs();
        let k = ((2.0 * a / us + b) * u + mean + 0.43).floor();
        if us >= 0.07 && v <= quick {
            return k;
        }
        if k < 0.0 || (us < 0.013 && v > us) {
            continue;
        }
        let height = (v * inverse_alpha / (a / (us * us) + b)).ln();
        if height <= k * mean.ln() - mean - ln_factorial(k) {
            return k;
        }
    }
}

/// $\ln k!$ of an integer, by Stirling's series for $k \ge 10$ (within 1e-10).
fn ln_factorial(k: f64) -> f64 {
    if k < 10.0 {
        let mut product = 1.0;
        let mut factor = 2.0;
        while factor <= k {
            product *= factor;
            factor += 1.0;
        }
        return product.ln();
    }
    let square = k * k;
    let series = (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / (1260.0 * square)) / square) / k;
    (k + 0.5) * k.ln() - k + 0.5 * TAU.ln() + series
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Purpose;

    fn draws(mean: f64, count: usize) -> Vec<f64> {
        let mut stream = Stream::new(1, 0, 0, 7, Purpose::ShotNoise);
        (0..count).map(|_| poisson(mean, &mut stream)).collect()
    }

    /// 20,000 draws a mean: within 4.5 standard errors of mean and variance.
    #[test]
    fn the_variance_of_a_count_is_its_mean() {
        for mean in [0.05, 3.0, 11.9, 12.1, 80.0, 5000.0, 1e7] {
            let draws = draws(mean, 20_000);
            let m = draws.iter().sum::<f64>() / 2e4;
            let v = draws.iter().map(|x| (x - m).powi(2)).sum::<f64>() / 2e4;
            let error = (mean / 2e4).sqrt();
            assert!((m - mean).abs() < 4.5 * error, "{mean}: {m}");
            let variance_error = ((mean + 2.0 * mean * mean) / 2e4).sqrt();
            assert!((v - mean).abs() < 4.5 * variance_error, "{mean}: {v}");
            assert!(draws.iter().all(|d| d.fract() == 0.0 && *d >= 0.0));
        }
    }

    /// Pearson's statistic of 100,000 draws over all counts that are expected ten times at least: of
    /// $n$ bins it spreads by $\sqrt{2n}$ about $n$, and is below $n + 4.5\sqrt{2n}$.
    #[test]
    fn the_frequencies_of_counts_follow_the_poisson_distribution() {
        for mean in [5.0, 12.0, 100.0, 600.0_f64] {
            let draws = draws(mean, 100_000);
            let mut bins = 0.0_f64;
            let mut statistic = 0.0;
            let mut k = 0.0;
            while k < 2.0 * mean + 30.0 {
                let expected = 1e5 * (k * mean.ln() - mean - ln_factorial(k)).exp();
                if expected >= 10.0 {
                    let found = draws.iter().filter(|draw| **draw == k).count() as f64;
                    statistic += (found - expected).powi(2) / expected;
                    bins += 1.0;
                }
                k += 1.0;
            }
            let most = bins + 4.5 * (2.0 * bins).sqrt();
            assert!(statistic < most, "{mean}: {statistic} in {bins} bins");
        }
    }

    #[test]
    fn the_series_of_the_log_factorial_is_continuous() {
        let mut sum = 0.0;
        for k in 1..30 {
            sum += f64::from(k).ln();
            assert!((ln_factorial(f64::from(k)) - sum).abs() < 1e-9, "{k}");
        }
    }
}
