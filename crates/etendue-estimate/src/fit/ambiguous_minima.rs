//! Ambiguous solutions of a fit: distinct minima of nearly equal cost.

use super::problem::FitProblem;
use super::stages::solve_in_stages;
use crate::manifold::Variable;
use crate::solve::{MultiStart, Solution, SolveError, Solver, multi_start_by};

/// Distinct minima of a fit, split by whether their cost is within a margin of the lowest.
#[derive(Clone, Debug)]
pub struct AmbiguousMinima {
    /// The minimum of lowest cost and those within the margin, in ascending order of cost.
    pub solutions: Vec<Solution<Vec<Variable>>>,
    /// The minima above the margin, in ascending order of cost.
    pub others: Vec<Solution<Vec<Variable>>>,
}

/// Difference of cost below which two minima are ambiguous: $\sigma^2\sqrt{2n}$ for $n$ = `count`
/// residuals of standard deviation $\sigma$ = `sigma`, in the squared unit of a residual.
///
/// The cost is $\sigma^2/2$ times a $\chi^2_n$ variable, whose standard deviation is $\sqrt{2n}$: the
/// difference is two standard deviations of the cost. Below $\sigma = 10^{-6}$ (noise-free scans) it is
/// that of $\sigma = 10^{-6}$.
pub fn cost_margin(sigma: f64, count: usize) -> f64 {
    sigma.powi(2).max(1e-12) * (2.0 * count as f64).sqrt()
}

/// Solves from every start and splits the distinct minima by whether their cost is within `margin` of
/// the lowest ([`cost_margin`]).
///
/// Each start is solved in stages of beams of `widths` times their width ([`solve_in_stages`]). Minima
/// closer than `min_distance` (norm of the tangent between them) count as one.
///
/// # Errors
/// Where no start has a solution: the first start's error.
pub fn find_ambiguous_minima(
    problem: &FitProblem,
    solver: &Solver,
    widths: &[f64],
    starts: impl IntoIterator<Item = Vec<Variable>>,
    min_distance: f64,
    margin: impl Fn(&Solution<Vec<Variable>>) -> f64,
) -> Result<AmbiguousMinima, SolveError> {
    let solve = |start| solve_in_stages(problem, solver, widths, start, &mut |_| {});
    let MultiStart { minima, ended } = multi_start_by(starts, min_distance, solve);
    let Some(limit) = minima.first().map(|best| best.cost + margin(best)) else {
        let error = ended.into_iter().find_map(Result::err);
        return Err(error.unwrap_or(SolveError::NothingPredicted { missing: 0 }));
    };
    let (solutions, others) = minima
        .into_iter()
        .partition(|minimum| minimum.cost <= limit);
    Ok(AmbiguousMinima { solutions, others })
}
