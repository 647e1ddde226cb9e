//! Result of a fit with its uncertainty.

use super::goodness::Goodness;
use super::posterior::Posterior;
use super::problem::FitProblem;
use crate::manifold::{Manifold, Variable};
use crate::solve::{LeastSquares, Linearization, Solution, Solver};
use crate::uncertainty::{Gauge, Uncertainty, components};
use nalgebra::DMatrix;

/// Result of a fit with its uncertainty.
#[derive(Clone, Debug)]
pub struct FitReport {
    /// Parameter path and estimate of each unknown.
    pub estimate: Vec<(String, Variable)>,
    /// Result of the solver.
    pub solution: Solution<Vec<Variable>>,
    /// Uncertainty of the estimate.
    pub uncertainty: Uncertainty,
    /// Root mean square of the range residuals, m; NaN without any.
    pub rms: f64,
    /// Root mean square of the intensity residuals, counts; `None` without any.
    pub intensity_rms: Option<f64>,
    /// Number of beams with a measured range.
    pub measured: usize,
    /// Beams with outlying range residuals.
    pub misfits: Misfits,
    /// Residuals against the noise of the sensor, with the verdict.
    pub goodness: Goodness,
}

impl FitReport {
    /// Number of beams with a measured range that the model does not predict.
    pub fn missing(&self) -> usize {
        self.measured - self.misfits.of
    }
}

/// Outliers among the range residuals: few at the global minimum of a correct scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Misfits {
    /// Number of outliers.
    pub count: usize,
    /// Number of residuals: beams with a measured and a predicted range.
    pub of: usize,
    /// Threshold of the absolute residual, m: six robust standard deviations.
    pub beyond: f64,
}

/// Threshold of an outlier in robust standard deviations.
const OUTLIER_THRESHOLD: f64 = 6.0;

/// Standard deviation of a normal distribution divided by its median absolute deviation.
const SIGMA_PER_MEDIAN: f64 = 1.4826;

/// Minimum median absolute residual, m: differences by rounding are no outliers.
const MIN_MEDIAN: f64 = 1e-6;

impl Misfits {
    /// Outliers among range residuals, m.
    pub fn among(residuals: impl Iterator<Item = f64>) -> Self {
        let mut off: Vec<f64> = residuals.map(f64::abs).collect();
        off.sort_by(f64::total_cmp);
        let median = off.get(off.len() / 2).copied().unwrap_or(0.0);
        let beyond = OUTLIER_THRESHOLD * SIGMA_PER_MEDIAN * median.max(MIN_MEDIAN);
        Self {
            count: off.len() - off.partition_point(|r| *r <= beyond),
            of: off.len(),
            beyond,
        }
    }

    /// Whether more than 5 % of the residuals are outliers: the solution is probably a local minimum,
    /// or the scene differs from the scanned one.
    ///
    /// Measured for the pose of a mirror, of 682 beams: 70 outliers in local minima, at most 3 in the
    /// global one.
    pub fn are_many(&self) -> bool {
        20 * self.count > self.of
    }
}

/// Report of a solution, with its uncertainty under a gauge.
///
/// The residuals of the problem must be in units of their standard deviations: those of
/// [`refine_weighted`](super::refine_weighted), or with [`FitProblem::sigma`] set.
///
/// Where edges determine unknowns of a planar sweep, estimate and covariance are the mean and the covariance of their
/// posterior distribution, which steps of the cost make different from the minimum and the inverse of the normal matrix.
pub fn report(
    problem: &FitProblem,
    solver: &Solver,
    mut solution: Solution<Vec<Variable>>,
    gauge: &Gauge,
) -> FitReport {
    // Propagate the noise of the residuals to the unknowns.
    let mut uncertainty = uncertainty(problem, solver, &solution.state, gauge);
    let posterior = if *gauge == Gauge::Free {
        Posterior::along_edges(problem, solver, &solution.state)
    } else {
        None
    };
    if let Some(posterior) = posterior {
        solution.state = solution.state.retract(posterior.mean.as_slice());
        uncertainty.replace_independent(&posterior.covariance);
    }
    // Evaluate the residuals at the estimate.
    let [rms, intensity_rms] = problem.root_mean_squares(&solution.state);
    let rms = rms.unwrap_or(f64::NAN);
    let paths = problem
        .model
        .unknowns()
        .iter()
        .map(|unknown| unknown.path.clone());
    let estimate = paths.zip(solution.state.iter().cloned()).collect();
    FitReport {
        estimate,
        rms,
        intensity_rms,
        measured: problem.measured(),
        goodness: Goodness::new(problem, &solution.state, uncertainty.rank()),
        misfits: Misfits::among(problem.range_residuals(&solution.state).into_iter()),
        uncertainty,
        solution,
    }
}

/// Uncertainty of a state by the derivatives of its residuals.
fn uncertainty(
    problem: &FitProblem,
    solver: &Solver,
    state: &Vec<Variable>,
    gauge: &Gauge,
) -> Uncertainty {
    let linearization: Linearization = problem.linearize(state);
    let unknowns = problem.model.unknowns();
    let paths = unknowns.iter().map(|unknown| unknown.path.as_str());
    let named: Vec<(&str, &Variable)> = paths.zip(state).collect();
    let components = components(&named);
    let excess = |jacobian: &DMatrix<f64>| problem.excess(state, jacobian);
    Uncertainty::of_correlated(&linearization, solver.loss, components, gauge, excess)
}
