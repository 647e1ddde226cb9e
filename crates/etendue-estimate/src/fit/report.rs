//! What there is to say of a fit.

use super::FitProblem;
use super::settle::step_variance;
use crate::manifold::Variable;
use crate::solve::{Linearization, Problem, Solution, Solver};
use crate::uncertainty::{Gauge, Uncertainty, components};

/// A fit with its uncertainty.
#[derive(Clone, Debug)]
pub struct Report {
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
}

/// Puts the uncertainty beside a solution.
pub fn report(
    problem: &FitProblem,
    solver: &Solver,
    solution: Solution<Vec<Variable>>,
    gauge: &Gauge,
) -> Report {
    let linearization: Linearization = problem.linearize(&solution.state);
    let [rms, intensity_rms] = problem.root_mean_squares(&solution.state);
    let rms = rms.unwrap_or(f64::NAN);
    let unknowns = problem.model.unknowns();
    let paths = unknowns.iter().map(|known| known.path.as_str());
    let named: Vec<(&str, &Variable)> = paths.zip(&solution.state).collect();
    let mut uncertainty = Uncertainty::new(&linearization, solver.loss, components(&named), gauge);
    uncertainty.add(&step_variance(problem, solver, &solution.state));
    Report {
        estimate: named
            .iter()
            .map(|(path, variable)| ((*path).to_owned(), (*variable).clone()))
            .collect(),
        rms,
        intensity_rms,
        measured: problem.measured(),
        uncertainty,
        solution,
    }
}
