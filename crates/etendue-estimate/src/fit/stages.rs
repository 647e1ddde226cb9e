//! From wide beams to the true ones.

use super::FitProblem;
use crate::manifold::Variable;
use crate::solve::{Iteration, Limits, Solution, SolveError, Solver};

/// A stage of wide beams only leads into the basin of the next: it ends where the cost falls by less
/// than this,
const LOOSE_FALL: f64 = 1e-2;
/// or where its step is shorter than this.
const LOOSE_STEP: f64 = 1e-3;

/// Solves with the model's beams each of `widths` times as wide in turn, each stage from where the
/// one before ended: wide beams see an edge from afar, narrow ones tell where it is. All stages but
/// the last end early. The log counts the iterations of all stages; `observe` is told of each.
///
/// # Errors
/// As [`Solver::solve`].
pub fn solve_in_stages(
    problem: &FitProblem,
    solver: &Solver,
    widths: &[f64],
    start: Vec<Variable>,
    observe: &mut dyn FnMut(&Iteration<Vec<Variable>>),
) -> Result<Solution<Vec<Variable>>, SolveError> {
    let Some((last, wide)) = widths.split_last() else {
        return solver.solve_observed(problem, start, observe);
    };
    let loose = Solver {
        limits: Limits {
            cost: solver.limits.cost.max(LOOSE_FALL),
            step: solver.limits.step.max(LOOSE_STEP),
            ..solver.limits
        },
        ..*solver
    };
    let mut state = start;
    let mut log: Vec<Iteration<Vec<Variable>>> = Vec::new();
    let stages = wide.iter().map(|width| (width, &loose));
    let mut solution = None;
    for (width, solver) in stages.chain([(last, solver)]) {
        let before = log.len();
        let mut numbered = |iteration: &Iteration<Vec<Variable>>| {
            let mut counted = iteration.clone();
            counted.number += before;
            observe(&counted);
            log.push(counted);
        };
        let found = if *width == 1.0 {
            solver.solve_observed(problem, state.clone(), &mut numbered)?
        } else {
            solver.solve_observed(&problem.widened(*width), state.clone(), &mut numbered)?
        };
        state.clone_from(&found.state);
        solution = Some(found);
    }
    solution
        .map(|found| Solution { log, ..found })
        .ok_or(SolveError::NothingPredicted { missing: 0 })
}
