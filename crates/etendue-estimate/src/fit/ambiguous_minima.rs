//! Distinct minima of equal cost.

use super::problem::FitProblem;
use super::stages::solve_in_stages;
use crate::manifold::Variable;
use crate::solve::{MultiStart, Solution, SolveError, Solver, multi_start_by};

/// Minima that fit the scans equally well.
#[derive(Clone, Debug)]
pub struct AmbiguousMinima {
    /// The minimum of lowest cost and those within the margin.
    pub solutions: Vec<Solution<Vec<Variable>>>,
    /// Other minima, of higher cost.
    pub others: Vec<Solution<Vec<Variable>>>,
}

/// Margin of the cost of equally good minima: two standard deviations of the
/// half chi-square of `count` residuals with the standard deviation `sigma`,
/// $\sigma^2\sqrt{2n}$, with a floor for noise-free scans.
pub fn chance(sigma: f64, count: usize) -> f64 {
    sigma.powi(2).max(1e-12) * (2.0 * count as f64).sqrt()
}

/// Solves from every start, in stages of beams of `widths` times their width
/// ([`solve_in_stages`]), and returns the distinct minima whose cost is within `margin` of the lowest,
/// see [`chance`].
///
/// # Errors
/// Where no start has a solution: the first start's error.
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
