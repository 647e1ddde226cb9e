//! Other answers that explain the scans as well.

use super::problem::FitProblem;
use super::stages::solve_in_stages;
use crate::manifold::Variable;
use crate::solve::{MultiStart, Solution, SolveError, Solver, multi_start_by};

/// A solution and those that explain the scans equally well.
#[derive(Clone, Debug)]
pub struct AmbiguousMinima {
    /// The cheapest, then the others that cost hardly more.
    pub solutions: Vec<Solution<Vec<Variable>>>,
    /// Other minima, which cost more.
    pub others: Vec<Solution<Vec<Variable>>>,
}

/// By how much the cost of equally good answers differs by chance: two standard deviations of the
/// half chi-square of `count` residuals with the standard deviation `sigma`,
/// $\sigma^2\sqrt{2n}$, with a floor for noise-free scans.
pub fn chance(sigma: f64, count: usize) -> f64 {
    sigma.powi(2).max(1e-12) * (2.0 * count as f64).sqrt()
}

/// Solves from every start, in stages of beams of `widths` times their width
/// ([`solve_in_stages`]), and tells which different minima cannot be told apart: their cost is
/// within `margin` of the cheapest, see [`chance`].
///
/// # Errors
/// Where no start leads anywhere: the first start's error.
pub fn find_ambiguous_minima(
    problem: &FitProblem,
    solver: &Solver,
    widths: &[f64],
    starts: impl IntoIterator<Item = Vec<Variable>>,
    same: f64,
    margin: impl Fn(&Solution<Vec<Variable>>) -> f64,
) -> Result<AmbiguousMinima, SolveError> {
    let solve = |start| solve_in_stages(problem, solver, widths, start, &mut |_| {});
    let MultiStart { minima, ended } = multi_start_by(starts, same, solve);
    let Some(most) = minima.first().map(|best| best.cost + margin(best)) else {
        let error = ended.into_iter().find_map(Result::err);
        return Err(error.unwrap_or(SolveError::NothingPredicted { missing: 0 }));
    };
    let (solutions, others) = minima.into_iter().partition(|minimum| minimum.cost <= most);
    Ok(AmbiguousMinima { solutions, others })
}
