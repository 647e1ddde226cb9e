//! What there is to say of a fit.

use super::problem::FitProblem;
use super::refine_by_rays::step_variance;
use crate::manifold::Variable;
use crate::solve::{LeastSquares, Linearization, Solution, Solver};
use crate::uncertainty::{Gauge, Uncertainty, components};

/// A fit with its uncertainty.
#[derive(Clone, Debug)]
pub struct FitReport {
    /// Each unknown's path and where it ended.
    pub estimate: Vec<(String, Variable)>,
    /// The solver's own account.
    pub solution: Solution<Vec<Variable>>,
    /// How well it is known.
    pub uncertainty: Uncertainty,
    /// Root mean square of the residuals of ranges, m.
    pub rms: f64,
    /// Root mean square of the residuals of intensities, counts, where there are any.
    pub intensity_rms: Option<f64>,
    /// Beams that were measured.
    pub measured: usize,
    /// Those that it does not explain.
    pub misfits: Misfits,
}

/// Beams whose ranges are off by far more than the others': in a true minimum of a true scene few are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Misfits {
    /// How many there are.
    pub count: usize,
    /// Of how many with a measured and a predicted range.
    pub of: usize,
    /// They are off by more than this, m: six standard deviations, by the median of all.
    pub beyond: f64,
}

/// Standard deviations beyond which a beam counts as misfit.
const FAR: f64 = 6.0;

/// The standard deviation of normal numbers over the median of their absolute values.
const SPREAD_PER_MEDIAN: f64 = 1.4826;

/// Ranges are not held to be exact beyond this, m: rounding is no misfit.
const EXACT: f64 = 1e-6;

impl Misfits {
    /// Of residuals of ranges, m.
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

    /// Whether there are so many (more than a twentieth) that the estimate is in doubt: a false
    /// minimum, or a scene that is not what was scanned.
    ///
    /// For a mirror sought from a far start false minima left 70 of 682 beams, true ones at most 3.
    pub fn are_many(&self) -> bool {
        20 * self.count > self.of
    }
}

/// Puts the uncertainty beside a solution.
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
