//! Loss schedules of a robust fit: least squares first, or the robust loss first.

use super::problem::FitProblem;
use crate::manifold::Variable;
use crate::solve::{Iteration, LeastSquares, Loss, Solution, SolveError, Solver, SolverLimits};

/// Relative decrease of the cost below which the least-squares stage has converged.
const FIRST_DECREASE: f64 = 1e-6;

/// Difference of the final costs, relative to the cost at the start, by which the second schedule has to be better than the first.
/// Where both end at a cost of zero, rounding errors are no difference.
const MIN_GAIN: f64 = 1e-9;

/// Solves a fit by two loss schedules and keeps the solution of lower final cost.
///
/// Graduated non-convexity starts at a finite scale of the loss. Far from the solution most residuals are
/// above it, and their weights make false minima that least squares do not have. With mirrors and glass, on
/// the other hand, least squares have false minima that the robust loss does not have. The two schedules are
///
/// 1. the schedule of the solver ([`Continuation`](crate::solve::Continuation)),
/// 2. least squares until convergence (the limit of an infinite scale), then the schedule of the solver.
///
/// Both end with the same loss, so their costs are comparable. A solver without a continuation has one
/// schedule.
///
/// # Errors
/// As [`Solver::solve`], where both schedules fail.
pub fn solve_by_schedules(
    problem: &FitProblem,
    solver: &Solver,
    start: Vec<Variable>,
    observe: &mut dyn FnMut(&Iteration<Vec<Variable>>),
) -> Result<Solution<Vec<Variable>>, SolveError> {
    if solver.continuation.is_none() || solver.loss == Loss::Squared {
        return solver.solve_observed(problem, start, observe);
    }
    let gain = MIN_GAIN
        * problem
            .residuals(&start)
            .cost(solver.loss, solver.limits.gate);
    let robust_first = solver.solve_observed(problem, start.clone(), observe);
    let squares_first = least_squares_first(problem, solver, start, observe);
    match (robust_first, squares_first) {
        (Ok(first), Ok(second)) if second.cost < first.cost - gain => Ok(second),
        (Ok(first), _) => Ok(first),
        (Err(_), Ok(second)) => Ok(second),
        (Err(error), Err(_)) => Err(error),
    }
}

/// Solves by least squares, then by the schedule of the solver.
fn least_squares_first(
    problem: &FitProblem,
    solver: &Solver,
    start: Vec<Variable>,
    observe: &mut dyn FnMut(&Iteration<Vec<Variable>>),
) -> Result<Solution<Vec<Variable>>, SolveError> {
    let squares = Solver {
        loss: Loss::Squared,
        continuation: None,
        limits: SolverLimits {
            cost: solver.limits.cost.max(FIRST_DECREASE),
            ..solver.limits
        },
        ..*solver
    };
    // The iterations of least squares have a loss of infinite scale.
    let mut log = Vec::new();
    let mut widest = |iteration: &Iteration<Vec<Variable>>| {
        let iteration = Iteration {
            widening: f64::INFINITY,
            ..iteration.clone()
        };
        observe(&iteration);
        log.push(iteration);
    };
    let start = squares.solve_observed(problem, start, &mut widest)?.state;
    // Number the iterations of both parts consecutively.
    let before = log.len();
    let mut numbered = |iteration: &Iteration<Vec<Variable>>| {
        let mut iteration = iteration.clone();
        iteration.number += before;
        observe(&iteration);
        log.push(iteration);
    };
    let found = solver.solve_observed(problem, start, &mut numbered)?;
    Ok(Solution { log, ..found })
}
