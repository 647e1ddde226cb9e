//! Mean and covariance of a likelihood that has steps, by adaptive importance sampling.
//!
//! Samples $x_i$ of a normal distribution $q$ have the weights $p(x_i)/q(x_i)$. Their mean and covariance give
//! the next $q$, widened by a factor (population Monte Carlo; Cappe, Guillin, Marin and Robert 2004,
//! doi:10.1198/106186004X12803). The target $p = L^\beta q_0^{1-\beta}$ leads from the first, wide distribution
//! $q_0$ to the likelihood $L$: every round takes the largest $\beta \leq 1$ at which enough samples have
//! weight (tempering; Del Moral, Doucet and Jasra 2006, doi:10.1111/j.1467-9868.2006.00553.x). So the distribution finds
//! the step of lowest cost among several. The random numbers have a fixed seed.

use etendue_physics::{Purpose, Stream};
use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

/// Largest number of rounds.
const MAX_ROUNDS: u32 = 20;

/// Number of samples of a round for each dimension.
const SAMPLES_PER_DIMENSION: u32 = 96;

/// Number of samples of the last round relative to that of the others.
const LAST_SAMPLES: u32 = 3;

/// Standard deviations of a distribution relative to those of the samples before it.
const WIDENING: f64 = 1.4;

/// Share of the samples that must have weight (effective number of samples, Kong 1992).
const EFFECTIVE_SHARE: f64 = 0.15;

/// Number of bisections for the exponent of the likelihood.
const BISECTIONS: u32 = 20;

/// Moments of a distribution of steps.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Moments {
    /// Mean.
    pub mean: DVector<f64>,
    /// Covariance.
    pub covariance: DMatrix<f64>,
}

/// Sample of a normal distribution, in units of the columns.
struct Sample {
    place: DVector<f64>,
    /// Logarithm of the likelihood.
    log_likelihood: f64,
    /// Logarithm of the density of the distribution, without its constant.
    log_density: f64,
}

impl Moments {
    /// Moments of the likelihood of steps in the span of the columns of `start`, from the logarithm of the
    /// likelihood. The columns are linearly independent; each is a standard deviation of the first distribution, which
    /// should be as wide as the likelihood or wider.
    pub(super) fn of(log_likelihood: impl Fn(&DVector<f64>) -> f64, start: &DMatrix<f64>) -> Self {
        let mut found = Self::standard(start.ncols());
        let mut is_last = false;
        for round in 0..MAX_ROUNDS {
            // Draw samples, and weigh them with the largest exponent.
            let Some(factor) = found.covariance.clone().cholesky() else {
                break;
            };
            let count = if is_last { LAST_SAMPLES } else { 1 } * SAMPLES_PER_DIMENSION;
            let of_columns = |place: &DVector<f64>| log_likelihood(&(start * place));
            let samples = found.draw(&factor, round, count, of_columns);
            let (exponent, weights) = weights_of(&samples);
            found = Self::of_samples(&samples, &weights);
            // End with the second round of the likelihood itself.
            if is_last {
                break;
            }
            is_last = exponent >= 1.0;
        }
        Self {
            mean: start * found.mean,
            covariance: start * found.covariance * start.transpose(),
        }
    }

    /// Standard normal distribution.
    fn standard(dimension: usize) -> Self {
        Self {
            mean: DVector::zeros(dimension),
            covariance: DMatrix::identity(dimension, dimension),
        }
    }

    /// Samples of the widened normal distribution, `per_dimension` for each dimension; `factor` is the Cholesky factor
    /// of the covariance.
    fn draw(
        &self,
        factor: &Cholesky<f64, Dyn>,
        round: u32,
        per_dimension: u32,
        log_likelihood: impl Fn(&DVector<f64>) -> f64,
    ) -> Vec<Sample> {
        let dimension = self.mean.len();
        let count = per_dimension * u32::try_from(dimension).unwrap_or(u32::MAX);
        let factor = factor.l() * WIDENING;
        let draw = |number| {
            let mut stream = Stream::new(0, round, number, 0, Purpose::Search);
            let normal = DVector::from_fn(dimension, |_, _| stream.normal());
            let place = &self.mean + &factor * &normal;
            Sample {
                log_likelihood: log_likelihood(&place),
                log_density: -0.5 * normal.norm_squared(),
                place,
            }
        };
        (0..count).map(draw).collect()
    }

    /// Moments of weighted samples; the weights have the sum one.
    fn of_samples(samples: &[Sample], weights: &[f64]) -> Self {
        let weighted = || samples.iter().map(|sample| &sample.place).zip(weights);
        let zero = Self::standard(samples[0].place.len());
        let mean = weighted().fold(zero.mean, |sum, (x, w)| sum + x * *w);
        let covariance = weighted().fold(zero.covariance * 0.0, |sum, (x, w)| {
            let deviation = x - &mean;
            sum + &deviation * deviation.transpose() * *w
        });
        Self { mean, covariance }
    }
}

/// The largest exponent of the likelihood, at most 1, at which enough samples have weight, and the weights.
fn weights_of(samples: &[Sample]) -> (f64, Vec<f64>) {
    let enough = EFFECTIVE_SHARE * samples.len() as f64;
    let effective = |weights: &[f64]| 1.0 / weights.iter().map(|w| w * w).sum::<f64>();
    let whole = weights_at(samples, 1.0);
    if effective(&whole) >= enough {
        return (1.0, whole);
    }
    let mut interval = [0.0, 1.0];
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (interval[0] + interval[1]);
        let is_enough = effective(&weights_at(samples, middle)) >= enough;
        interval[usize::from(!is_enough)] = middle;
    }
    (interval[0], weights_at(samples, interval[0]))
}

/// Weights of samples for an exponent of the likelihood, with the sum one. The first distribution is standard normal.
fn weights_at(samples: &[Sample], exponent: f64) -> Vec<f64> {
    let log_weight = |sample: &Sample| {
        let log_first = -0.5 * sample.place.norm_squared();
        exponent * sample.log_likelihood + (1.0 - exponent) * log_first - sample.log_density
    };
    let logs: Vec<f64> = samples.iter().map(log_weight).collect();
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = logs.iter().map(|log| (log - largest).exp()).collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Distribution of $x$ uniform in (-1, 1) and $y$ normal around $x$ with standard deviation 0.5, found from
    /// one that is wider, displaced and without the correlation.
    #[test]
    fn moments_of_a_step_with_a_correlated_normal_variable() {
        let log_likelihood = |step: &DVector<f64>| {
            let outside = if step[0].abs() > 1.0 { 50.0 } else { 0.0 };
            -0.5 * ((step[1] - step[0]) / 0.5).powi(2) - outside
        };
        let start = DMatrix::from_diagonal(&DVector::from_vec(vec![3.0, 20.0]));
        let found = Moments::of(log_likelihood, &start);
        // Measured: errors of the mean of at most 0.06, of the covariance of at most 0.05.
        assert!(found.mean.amax() < 0.12, "{}", found.mean);
        let expected = DMatrix::from_row_slice(2, 2, &[1.0, 1.0, 1.0, 1.75]) / 3.0;
        assert!(
            (&found.covariance - expected).amax() < 0.08,
            "{}",
            found.covariance
        );
    }
}
