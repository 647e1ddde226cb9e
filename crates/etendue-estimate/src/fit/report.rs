//! Fit with its uncertainty.

use super::problem::FitProblem;
use super::refine_by_rays::step_variance;
use crate::manifold::Variable;
use crate::solve::{LeastSquares, Linearization, Solution, Solver};
use crate::uncertainty::{Gauge, Uncertainty, components};

/// A fit with its uncertainty.
#[derive(Clone, Debug)]
pub struct FitReport {
    /// Path and estimate of each unknown.
    pub estimate: Vec<(String, Variable)>,
    /// Result of the solver.
    pub solution: Solution<Vec<Variable>>,
    /// Uncertainty of the estimate.
    pub uncertainty: Uncertainty,
    /// Root mean square of the residuals of ranges, m.
    pub rms: f64,
    /// Root mean square of the residuals of intensities, counts, where there are any.
    pub intensity_rms: Option<f64>,
    /// Number of measured beams.
    pub measured: usize,
    /// Beams that the model does not explain.
    pub misfits: Misfits,
}

/// Beams with outlying range residuals: few in the true minimum of a correct scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Misfits {
    /// Number of outliers.
    pub count: usize,
    /// Number of beams with a measured and a predicted range.
    pub of: usize,
    /// Least residual of an outlier, m: six robust standard deviations.
    pub beyond: f64,
}

/// Standard deviations beyond which a beam counts as misfit.
const FAR: f64 = 6.0;

/// The standard deviation of normal numbers over the median of their absolute values.
const SPREAD_PER_MEDIAN: f64 = 1.4826;

/// Ranges are not held to be exact beyond this, m: rounding is no misfit.
const EXACT: f64 = 1e-6;

impl Misfits {
    /// Outliers among residuals of ranges, m.
    pub fn among(residuals: impl Iterator<Item = f64>) -> Self {
        let mut off: Vec<f64> = residuals.map(f64::abs).collect();
        off.sort_by(f64::total_cmp);
        let median = off.get(off.len() / 2).copied().unwrap_or(0.0);
        let beyond = FAR * SPREAD_PER_MEDIAN * median.max(EXACT);
        Self {
            count: off.len() - off.partition_point(|r| *r <= beyond),
            of: off.len(),
            beyond,
        }
    }

    /// Whether more than a twentieth are outliers: the minimum is probably false, or the scene differs
    /// from the scanned one.
    ///
    /// For a mirror sought from a far start false minima left 70 of 682 beams, true ones at most 3.
    pub fn are_many(&self) -> bool {
        20 * self.count > self.of
    }
}

/// Report of a solution with its uncertainty.
pub fn report(
    problem: &FitProblem,
    solver: &Solver,
    solution: Solution<Vec<Variable>>,
    gauge: &Gauge,
) -> FitReport {
    let linearization: Linearization = problem.linearize(&solution.state);
    let [rms, intensity_rms] = problem.root_mean_squares(&solution.state);
    let rms = rms.unwrap_or(f64::NAN);
    let unknowns = problem.model.unknowns();
    let paths = unknowns.iter().map(|known| known.path.as_str());
    let named: Vec<(&str, &Variable)> = paths.zip(&solution.state).collect();
    let mut uncertainty = Uncertainty::new(&linearization, solver.loss, components(&named), gauge);
    uncertainty.add(&step_variance(problem, solver, &solution.state));
    FitReport {
        estimate: named
            .iter()
            .map(|(path, variable)| ((*path).to_owned(), (*variable).clone()))
            .collect(),
        rms,
        intensity_rms,
        measured: problem.measured(),
        misfits: Misfits::among(problem.range_residuals(&solution.state).into_iter()),
        uncertainty,
        solution,
    }
}
