//! Posterior distribution of unknowns that edges determine, by adaptive importance sampling.
//!
//! Predictions by rays jump where an edge passes from one ray of a beam to the next. The cost is then piecewise constant
//! along some directions, with several steps near the lowest one, and no normal matrix describes the error of
//! the estimate. With a uniform prior, the density of the unknowns given the measurements is proportional to $e^{-C}$.
//!
//! $C$ is the negative log-likelihood of the measurements ([`Likelihood`]). Beams without a measurement contribute nothing.
//!
//! Its mean and covariance are sums over samples $x_k$ with the weights
//!
//! $$w_k \propto \frac{e^{-C(x_k)}}{\sum_t n_t\,q_t(x_k)}$$
//!
//! with the densities $q_t$ of the proposals of all rounds, of $n_t$ samples each (adaptive multiple importance sampling:
//! Cornuet, Marin, Mira and Robert 2012, doi:10.1111/j.1467-9469.2011.00756.x). A proposal is a multivariate Student distribution with the mean and
//! covariance of the samples so far, in the first rounds at temperatures above 1. The first one has the extent of the cost along its principal directions.

use super::likelihood::Likelihood;
use super::problem::FitProblem;
use super::refine_by_rays::scans;
use crate::manifold::{Manifold, Variable};
use crate::solve::Solver;
use etendue_physics::{Purpose, Stream};
use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

/// Number of samples of the first round, which may be much wider than the distribution.
const FIRST_SAMPLES: u32 = 600;

/// Number of samples of each further round.
const SAMPLES: u32 = 150;

/// Maximum number of rounds.
const MAX_ROUNDS: u32 = 12;

/// Effective number of samples at which the sampling ends: the mean has a standard error of 0.07 standard deviations.
const ENOUGH: f64 = 200.0;

/// Effective number of samples below which mean and covariance are not stated.
const TOO_FEW: f64 = 50.0;

/// Effective number of samples from which a proposal has their covariance.
const ADAPTED: f64 = 15.0;

/// Degrees of freedom of the proposals: more samples far away than those of a normal distribution.
const FREEDOM: usize = 5;

/// Increase of the cost that limits the extent of the first proposal: five standard deviations.
const EXTENT: f64 = 12.5;

/// Standard deviation of the first proposal relative to its extent on one side. Much wider ones have few samples on the
/// distribution, and the next proposals would lose steps that are apart.
const FIRST_SD: f64 = 0.5;

/// Ratio of adjacent distances from the centre of a scan.
const RATIO: f64 = 1.5;

/// Greatest distance from the centre of a scan, in spacings of the scan.
const WIDEST: f64 = 1e3;

/// Number of distances of a scan on each side, from the greatest downwards.
const DISTANCES: i32 = 48;

/// Number of scans along each direction, of which each begins at the lowest cost of the one before.
const SCANS: usize = 2;

/// Temperature of the first round: its proposal approaches $e^{-C/T}$, on which steps are connected that are apart at the
/// temperature 1. Each round halves it.
const FIRST_TEMPERATURE: f64 = 8.0;

/// Share of the first covariance in every proposal, so that none is singular.
const FIRST_SHARE: f64 = 1e-3;

/// Mean and covariance of the unknowns, relative to a state, in the coordinates of the solver.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Posterior {
    /// Step from the state to the mean.
    pub mean: DVector<f64>,
    /// Covariance.
    pub covariance: DMatrix<f64>,
}

impl Posterior {
    /// Posterior distribution around a state; `None` for problems without edges or of sweeps over several
    /// elevations, and where the samples do not resolve it.
    pub fn along_edges(
        problem: &FitProblem,
        solver: &Solver,
        state: &Vec<Variable>,
    ) -> Option<Self> {
        let scans = scans(problem, solver.loss, state);
        if scans.len() < state.dimension() {
            return None;
        }
        let likelihood = Likelihood::new(problem, solver.loss, solver.limits.gate, state);
        let cost = |step: &DVector<f64>| likelihood.cost(&state.retract(step.as_slice()));
        // Descend along the principal directions, and measure the extent of the cost along each.
        let mut mean = DVector::zeros(state.dimension());
        let mut halves = vec![0.0; scans.len()];
        for _ in 0..SCANS {
            for (scan, half) in scans.iter().zip(&mut halves) {
                let along = |place: f64| cost(&(&mean + &scan.direction * place));
                let [lowest, extent] = extent(WIDEST * scan.spacing, &along)?;
                mean += &scan.direction * lowest;
                *half = extent;
            }
        }
        let mut covariance = DMatrix::zeros(state.dimension(), state.dimension());
        for (scan, half) in scans.iter().zip(halves) {
            let variance = (FIRST_SD * half).powi(2);
            covariance += &scan.direction * scan.direction.transpose() * variance;
        }
        Self::sampled(mean, &covariance, &cost)
    }

    /// Moments of the density $e^{-C}$ of a cost, from proposals that begin with a mean and a covariance.
    fn sampled(
        mean: DVector<f64>,
        first: &DMatrix<f64>,
        cost: &dyn Fn(&DVector<f64>) -> f64,
    ) -> Option<Self> {
        let mut proposals = vec![Proposal::new(mean, first.clone(), FIRST_SAMPLES)?];
        let mut samples: Vec<(DVector<f64>, f64)> = Vec::new();
        for round in 0..MAX_ROUNDS {
            // Draw from the newest proposal.
            let proposal = proposals.last()?;
            for number in 0..proposal.samples {
                let step = proposal.draw(&mut Stream::new(0, 0, round, number, Purpose::Search));
                let cost = cost(&step);
                samples.push((step, cost));
            }
            // Weigh all samples, and adapt the next proposal.
            let temperature = (FIRST_TEMPERATURE / f64::from(1_u32 << round)).max(1.0);
            let weights = weights(&samples, &proposals, temperature);
            let effective = 1.0 / weights.iter().map(|w| w * w).sum::<f64>();
            let found = Self::of(&samples, &weights);
            let is_last = round + 1 == MAX_ROUNDS;
            if temperature == 1.0 && (effective >= ENOUGH || (is_last && effective >= TOO_FEW)) {
                return Some(found);
            }
            let spread = if effective >= ADAPTED {
                found.covariance
            } else {
                &proposal.covariance * 0.5
            };
            let next = Proposal::new(found.mean, spread + first * FIRST_SHARE, SAMPLES)?;
            proposals.push(next);
        }
        None
    }

    /// Weighted mean and covariance.
    fn of(samples: &[(DVector<f64>, f64)], weights: &[f64]) -> Self {
        let dimension = samples.first().map_or(0, |(step, _)| step.len());
        let mut mean = DVector::zeros(dimension);
        for ((step, _), weight) in samples.iter().zip(weights) {
            mean.axpy(*weight, step, 1.0);
        }
        let mut covariance = DMatrix::zeros(dimension, dimension);
        for ((step, _), weight) in samples.iter().zip(weights) {
            let off = step - &mean;
            covariance.ger(*weight, &off, &off, 1.0);
        }
        Self { mean, covariance }
    }
}

/// Place of lowest cost along a direction, and the distance from there within which costs exceed the lowest by less than five
/// standard deviations; `None` if the cost does not rise that much within `widest` on both sides.
fn extent(widest: f64, cost: &dyn Fn(f64) -> f64) -> Option<[f64; 2]> {
    // Sample at geometric distances on both sides of the centre.
    let side = |sign: f64| {
        (0..DISTANCES)
            .map(move |k| sign * widest * RATIO.powi(-k))
            .map(|place| (place, cost(place)))
    };
    let [right, left] = [side(-1.0), side(1.0)].map(Iterator::collect::<Vec<_>>);
    let (place, lowest) = right
        .iter()
        .chain(&left)
        .copied()
        .chain([(0.0, cost(0.0))])
        .min_by(|a, b| a.1.total_cmp(&b.1))?;
    // Find the outermost samples near the lowest cost.
    let outermost = |samples: &[(f64, f64)]| {
        let inside = samples
            .iter()
            .position(|(_, cost)| *cost <= lowest + EXTENT);
        match inside {
            Some(0) => None,
            Some(number) => Some(samples[number - 1].0),
            None => Some(0.0),
        }
    };
    let ends = [outermost(&right)?, outermost(&left)?];
    let half = ends
        .iter()
        .map(|end| (end - place).abs())
        .fold(0.0, f64::max);
    (half > 0.0).then_some([place, half])
}

/// Weights of samples from all proposals at a temperature, with the sum 1.
fn weights(samples: &[(DVector<f64>, f64)], proposals: &[Proposal], temperature: f64) -> Vec<f64> {
    let lowest = samples
        .iter()
        .map(|(_, cost)| *cost)
        .fold(f64::INFINITY, f64::min);
    let ratio = |(step, cost): &(DVector<f64>, f64)| {
        let densities = proposals
            .iter()
            .map(|proposal| f64::from(proposal.samples) * proposal.density(step));
        ((lowest - cost) / temperature).exp() / densities.sum::<f64>()
    };
    let ratios: Vec<f64> = samples.iter().map(ratio).collect();
    let sum: f64 = ratios.iter().sum();
    ratios.iter().map(|ratio| ratio / sum).collect()
}

/// Multivariate Student distribution.
struct Proposal {
    mean: DVector<f64>,
    covariance: DMatrix<f64>,
    /// Decomposition of the covariance.
    cholesky: Cholesky<f64, Dyn>,
    /// Density at the mean, up to a factor that all proposals share.
    peak: f64,
    /// Number of samples.
    samples: u32,
}

impl Proposal {
    /// Proposal with a mean and the scale of a covariance; `None` if it is not positive definite.
    fn new(mean: DVector<f64>, covariance: DMatrix<f64>, samples: u32) -> Option<Self> {
        let cholesky = Cholesky::new(covariance.clone())?;
        let peak = 1.0 / cholesky.l_dirty().diagonal().product();
        Some(Self {
            mean,
            covariance,
            cholesky,
            peak,
            samples,
        })
    }

    /// A random sample.
    fn draw(&self, stream: &mut Stream) -> DVector<f64> {
        let chi_square: f64 = (0..FREEDOM).map(|_| stream.normal().powi(2)).sum();
        let scale = (FREEDOM as f64 / chi_square).sqrt();
        let normals = DVector::from_fn(self.mean.len(), |_, _| stream.normal());
        &self.mean + self.cholesky.l() * normals * scale
    }

    /// Density, up to a factor that all proposals share.
    fn density(&self, step: &DVector<f64>) -> f64 {
        let freedom = FREEDOM as f64;
        let off = step - &self.mean;
        let square = off.dot(&self.cholesky.solve(&off));
        let power = 0.5 * (freedom + self.mean.len() as f64);
        self.peak * (1.0 + square / freedom).powf(-power)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(start: [f64; 2], cost: &dyn Fn(&DVector<f64>) -> f64) -> Posterior {
        let mean = DVector::from_column_slice(&start);
        let first = DMatrix::from_diagonal_element(2, 2, 4.0);
        Posterior::sampled(mean, &first, cost).expect("the samples resolve the density")
    }

    /// Half of a chi-square variable with correlated components. Measured errors: 0.05 standard deviations of
    /// the mean, 8 % of a covariance.
    #[test]
    fn a_parabola_is_a_normal_distribution() {
        let covariance = DMatrix::from_row_slice(2, 2, &[0.25, 0.06, 0.06, 0.04]);
        let information = covariance.clone().try_inverse().expect("positive definite");
        let mean = DVector::from_column_slice(&[0.7, -0.4]);
        let cost = |step: &DVector<f64>| {
            let off = step - &mean;
            0.5 * off.dot(&(&information * &off))
        };
        let found = sampled([0.0, 0.0], &cost);
        let off = &found.mean - &mean;
        assert!(off[0].abs() < 0.1 && off[1].abs() < 0.04, "{off}");
        let ratio = found.covariance.component_div(&covariance);
        assert!(ratio.iter().all(|r| (r - 1.0).abs() < 0.25), "{ratio}");
    }

    /// Two steps of equal cost, from -1 to 0 and from 2 to 3, whose other component differs by 1: the mean is between
    /// them, and the variance is that of the two uniform distributions.
    #[test]
    fn two_steps_of_equal_cost_count_equally() {
        let cost = |step: &DVector<f64>| {
            let along = step[0];
            let (is_step, middle) = if along < 1.0 {
                ((-1.0..0.0).contains(&along), 0.0)
            } else {
                ((2.0..3.0).contains(&along), 1.0)
            };
            let wall = if is_step { 0.0 } else { 30.0 };
            wall + 0.5 * ((step[1] - middle) / 0.1).powi(2)
        };
        let found = sampled([-0.5, 0.0], &cost);
        let variance = 1.5_f64.powi(2) + 1.0 / 12.0;
        assert!((found.mean[0] - 1.0).abs() < 0.4, "{found:?}");
        assert!(
            (found.covariance[(0, 0)] / variance - 1.0).abs() < 0.2,
            "{found:?}"
        );
        assert!((found.mean[1] - 0.5).abs() < 0.15, "{found:?}");
    }
}
