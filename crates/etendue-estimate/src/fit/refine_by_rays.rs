//! Refinement of a fit by the rays of the beams, along directions that only edges determine.
//!
//! Predictions by rays jump when an edge passes from one ray of a beam to the next. Along a direction
//! that only edges determine, such as a translation of a mirror in its plane, the cost is therefore
//! piecewise constant, with zero derivatives almost everywhere. The derivatives of the integral over
//! the beam belong to a smooth cost whose minimum differs by millimetres, and one ray on the wrong
//! side of an edge biases weakly determined directions by more than their standard deviation.
//!
//! The refinement samples the cost $C$ along the principal directions of the normal matrix of the rays,
//! in ascending order of eigenvalue, and takes the likelihood $e^{-C/s^2}$ with the mean square $s^2$ of the
//! residuals. It moves to the mean of this distribution, and the solver ends the fit without edges. The steps of
//! different directions are not independent: the shared distribution of all directions
//! ([`likelihood_moments`](super::likelihood_moments)) gives the estimate and its covariance.
//!
//! Sweeps over several elevations are not scanned. They have hundreds of beams across an edge where a
//! planar sweep has a few: the steps of their cost are small, and the derivatives of edges suffice.

use super::likelihood_moments::Moments;
use super::problem::FitProblem;
use crate::manifold::{Manifold, Variable};
use crate::solve::{
    Iteration, LeastSquares, Linearization, Loss, NormalEquations, Solution, SolveError, Solver,
};
use nalgebra::{DMatrix, DVector, SymmetricEigen};
use std::ops::Range;

/// Norm of the change of the predictions (m) between adjacent samples of the coarsest scan.
const SPACING: f64 = 0.1;

/// Spacings of the scans of a refinement relative to the coarsest, in descending order.
const RELATIVE_SPACINGS: [f64; 3] = [1.0, 0.3, 0.1];

/// Number of samples of a scan on each side of its middle.
const SAMPLES_PER_SIDE: i32 = 24;

/// Logarithm of the likelihood, relative to the largest, of negligible samples.
const NEGLIGIBLE: f64 = -10.0;

/// Smallest number of samples that are not negligible for a scan that resolves the likelihood.
const RESOLVED: usize = 16;

/// Maximum number of scans along a direction, each finer than the one before it.
const MAX_SCANS: usize = 6;

/// Smallest standard deviation of the first distribution of the importance sampling, in spacings of the last scan.
const FIRST_WIDTH: f64 = 8.0;

/// Maximum number of unknowns of a problem that is scanned.
const MAX_UNKNOWNS: usize = 12;

/// Minimum norm of a column of the Jacobian relative to the longest, for scaling.
const MIN_COLUMN_NORM: f64 = 1e-6;

/// Scan of the cost along a direction of the tangent space.
struct Scan {
    /// Unit vector of the tangent space.
    direction: DVector<f64>,
    /// Distance between adjacent samples of the coarsest scan along the direction.
    spacing: f64,
}

/// Distribution of the position along a direction.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Position {
    /// Mean.
    mean: f64,
    /// Variance.
    variance: f64,
}

/// Refines a state near its minimum by scans of the cost, then by the solver without edges.
pub(super) fn refine_by_rays(
    problem: &FitProblem,
    solver: &Solver,
    start: Vec<Variable>,
    observe: &mut dyn FnMut(&Iteration<Vec<Variable>>),
) -> Result<Solution<Vec<Variable>>, SolveError> {
    if !problem.model.sensor().is_planar() {
        return solver.solve_observed(problem, start, observe);
    }
    // Move along each direction, with decreasing spacings.
    let by_rays = problem.by_rays();
    let mut state = start;
    for spacing in RELATIVE_SPACINGS {
        state = mean_by_rays(problem, solver, state, spacing);
    }
    // Minimise. On a step of the cost the solver descends to one of its ends: `move_to_mean` is the last operation.
    solver.solve_observed(&by_rays, state, observe)
}

/// Moves a solution to the mean of the likelihood of the rays, for problems that are scanned.
pub(super) fn move_to_mean(
    problem: &FitProblem,
    solver: &Solver,
    solution: &mut Solution<Vec<Variable>>,
) {
    if let Some(moments) = moments_by_rays(problem, solver, &solution.state) {
        let by_rays = problem.by_rays();
        solution.state = solution.state.retract(moments.mean.as_slice());
        solution.residuals = by_rays.residuals(&solution.state);
        solution.cost = solution.residuals.cost(solver.loss, solver.limits.gate);
    }
}

/// State at the mean of the likelihood along each direction in turn, from scans with a relative spacing.
fn mean_by_rays(
    problem: &FitProblem,
    solver: &Solver,
    mut state: Vec<Variable>,
    spacing: f64,
) -> Vec<Variable> {
    let by_rays = problem.by_rays();
    for scan in scans(problem, solver.loss, &state) {
        let position = scan.position(&by_rays, solver, &state, spacing, 1);
        state = state.retract((&scan.direction * position.mean).as_slice());
    }
    state
}

/// Moments of the likelihood of the rays around a state, in the coordinates of the solver; `None` for problems that
/// are not scanned.
pub(super) fn moments_by_rays(
    problem: &FitProblem,
    solver: &Solver,
    state: &Vec<Variable>,
) -> Option<Moments> {
    // The first distribution is as wide as the likelihood along each direction, and covers neighbouring steps.
    let by_rays = problem.by_rays();
    let scans = scans(problem, solver.loss, state);
    let finest = RELATIVE_SPACINGS[RELATIVE_SPACINGS.len() - 1];
    let column = |scan: &Scan| {
        let position = scan.position(&by_rays, solver, state, finest, MAX_SCANS);
        &scan.direction
            * position
                .variance
                .sqrt()
                .max(FIRST_WIDTH * finest * scan.spacing)
    };
    let columns: Vec<DVector<f64>> = scans.iter().map(column).collect();
    if columns.is_empty() {
        return None;
    }
    // Shared distribution
    let log_likelihood = LogLikelihood::new(&by_rays, solver, state);
    let start = DMatrix::from_columns(&columns);
    Some(Moments::of(|step| log_likelihood.at(step), &start))
}

/// Logarithm of the likelihood around a state.
struct LogLikelihood<'a> {
    problem: &'a FitProblem,
    solver: &'a Solver,
    state: &'a Vec<Variable>,
    /// Mean square of the residuals at the state.
    mean_square: f64,
}

impl<'a> LogLikelihood<'a> {
    fn new(problem: &'a FitProblem, solver: &'a Solver, state: &'a Vec<Variable>) -> Self {
        Self {
            mean_square: problem.mean_square(&problem.residuals(state), solver.loss),
            problem,
            solver,
            state,
        }
    }

    /// Value at a step from the state.
    fn at(&self, step: &DVector<f64>) -> f64 {
        let residuals = self.problem.residuals(&self.state.retract(step.as_slice()));
        -residuals.cost(self.solver.loss, self.solver.limits.gate) / self.mean_square
    }
}

/// Scans along the principal directions of the normal matrix of the rays, in ascending order of
/// eigenvalue; none for models without edges, and none along directions that change no prediction.
fn scans(problem: &FitProblem, loss: Loss, state: &Vec<Variable>) -> Vec<Scan> {
    // Return early for problems that are not scanned.
    let has_fine_steps = !problem.model.sensor().is_planar();
    if has_fine_steps || state.dimension() > MAX_UNKNOWNS || problem.model.edges.is_none() {
        return Vec::new();
    }
    // Scale the normal matrix of the rays to columns of unit length.
    let in_metres = problem.in_metres().linearize(state);
    let normal = NormalEquations::new(&problem.by_rays().linearize(state), loss).matrix;
    if normal.diagonal().amax() == 0.0 {
        return Vec::new();
    }
    let min_norm = MIN_COLUMN_NORM * normal.diagonal().amax().sqrt();
    let norms = normal.diagonal().map(|d| d.sqrt().max(min_norm));
    let scaled = DMatrix::from_fn(normal.nrows(), normal.ncols(), |i, j| {
        normal[(i, j)] / (norms[i] * norms[j])
    });
    // Scan along its eigenvectors, so that the predictions change equally between samples.
    let eigen = SymmetricEigen::new(scaled);
    let mut order: Vec<usize> = (0..norms.len()).collect();
    order.sort_by(|&a, &b| eigen.eigenvalues[a].total_cmp(&eigen.eigenvalues[b]));
    let scan = |i: usize| {
        let direction = eigen.eigenvectors.column(i).component_div(&norms);
        let direction = direction.normalize();
        let change = change(&in_metres, &direction);
        (change > 0.0).then(|| Scan {
            spacing: SPACING / change,
            direction,
        })
    };
    order.into_iter().filter_map(scan).collect()
}

/// Norm of the directional derivative of the residuals.
fn change(linearization: &Linearization, direction: &DVector<f64>) -> f64 {
    let along = |row: &[f64]| -> f64 { row.iter().zip(direction).map(|(j, d)| j * d).sum() };
    let squares = linearization.rows().map(|row| along(row).powi(2));
    squares.sum::<f64>().sqrt()
}

impl Scan {
    /// Distribution of the position around a state, from at most `count` scans, the first with the spacing multiplied
    /// by `fine`.
    fn position(
        &self,
        by_rays: &FitProblem,
        solver: &Solver,
        state: &Vec<Variable>,
        fine: f64,
        count: usize,
    ) -> Position {
        let likelihood = LogLikelihood::new(by_rays, solver, state);
        let log_likelihood = |position: f64| likelihood.at(&(&self.direction * position));
        // Scan with decreasing spacings until the likelihood is resolved.
        let mut middle = 0.0;
        let mut spacing = self.spacing * fine;
        let mut position = Position {
            mean: 0.0,
            variance: 0.0,
        };
        for _ in 0..count {
            let places =
                (-SAMPLES_PER_SIDE..=SAMPLES_PER_SIDE).map(|i| middle + f64::from(i) * spacing);
            let samples: Vec<(f64, f64)> =
                places.map(|place| (place, log_likelihood(place))).collect();
            let (found, range) = moments(&samples, spacing);
            position = found;
            if range.len() >= RESOLVED {
                break;
            }
            // Continue with the samples that are not negligible and their neighbours.
            middle = 0.5 * (samples[range.start].0 + samples[range.end - 1].0);
            spacing *= 0.5 * (range.len() + 1) as f64 / f64::from(SAMPLES_PER_SIDE);
        }
        position
    }
}

/// Moments of a distribution from pairs of position and log-likelihood at equal spacings, and the range of samples
/// that are not negligible.
fn moments(samples: &[(f64, f64)], spacing: f64) -> (Position, Range<usize>) {
    // Find the samples that are not negligible.
    let likelihoods = samples.iter().map(|sample| sample.1);
    let largest = likelihoods.fold(f64::NEG_INFINITY, f64::max);
    let is_likely = |sample: &(f64, f64)| sample.1 - largest >= NEGLIGIBLE;
    let first = samples.iter().position(is_likely).unwrap_or(0);
    let last = samples.iter().rposition(is_likely).unwrap_or(0);
    // Integrate over them; each represents an interval of one spacing.
    let weights: Vec<f64> = samples.iter().map(|s| (s.1 - largest).exp()).collect();
    let sum = weights.iter().sum::<f64>();
    let weighted = |value: &dyn Fn(f64) -> f64| {
        let terms = weights.iter().zip(samples).map(|(w, s)| w * value(s.0));
        terms.sum::<f64>() / sum
    };
    let mean = weighted(&|place| place);
    let position = Position {
        mean,
        variance: weighted(&|place| (place - mean).powi(2)) + spacing * spacing / 12.0,
    };
    (position, first..last + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(log_likelihood: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        let places = (-SAMPLES_PER_SIDE..=SAMPLES_PER_SIDE).map(|i| 0.1 * f64::from(i));
        places.map(|place| (place, log_likelihood(place))).collect()
    }

    #[test]
    fn a_step_has_the_moments_of_the_uniform_distribution() {
        // Ten samples from -0.5 to 0.4 represent the interval from -0.55 to 0.45.
        let inside = |place: f64| (-0.55..0.45).contains(&place);
        let step = samples(|place| if inside(place) { 0.0 } else { -50.0 });
        let (position, range) = moments(&step, 0.1);
        assert!((position.mean + 0.05).abs() < 1e-12, "{position:?}");
        assert!(
            (position.variance - 1.0 / 12.0).abs() < 1e-12,
            "{position:?}"
        );
        assert_eq!(range.len(), 10);
    }

    #[test]
    fn a_smooth_cost_has_the_moments_of_the_normal_distribution() {
        let normal = samples(|place| -0.5 * ((place - 0.2) / 0.3).powi(2));
        let (position, _) = moments(&normal, 0.1);
        assert!((position.mean - 0.2).abs() < 1e-9, "{position:?}");
        // The variance of the spacing is included.
        let expected = 0.09 + 0.01 / 12.0;
        assert!((position.variance - expected).abs() < 1e-9, "{position:?}");
    }
}
