//! Other answers that explain the scans as well.

use super::FitProblem;
use crate::manifold::Variable;
use crate::solve::{MultiStart, Solution, SolveError, Solver, multi_start};

/// A solution and those that explain the scans equally well.
#[derive(Clone, Debug)]
pub struct Twins {
    /// The cheapest, then the others that cost hardly more.
    pub solutions: Vec<Solution<Vec<Variable>>>,
    /// Other minima, which cost more.
    pub others: Vec<Solution<Vec<Variable>>>,
}

/// Solves from every start and tells which different minima cannot be told apart: their cost is
/// within `margin` of the least (0.5 times a chi-square quantile where residuals are in standard
/// deviations; for noise-free scans a small number).
///
/// # Errors
/// Where no start leads anywhere: the first start's error.
pub fn find_twins(
    problem: &FitProblem,
    solver: &Solver,
    starts: impl IntoIterator<Item = Vec<Variable>>,
    same: f64,
    margin: f64,
) -> Result<Twins, SolveError> {
    let MultiStart { minima, ended } = multi_start(solver, problem, starts, same);
    let Some(least) = minima.first().map(|best| best.cost) else {
        let error = ended.into_iter().find_map(Result::err);
        return Err(error.unwrap_or(SolveError::NothingPredicted { missing: 0 }));
    };
    let (solutions, others) = minima
        .into_iter()
        .partition(|minimum| minimum.cost <= least + margin);
    Ok(Twins { solutions, others })
}
