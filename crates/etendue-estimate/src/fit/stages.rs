//! Solution in stages of decreasing beam width.

use super::problem::FitProblem;
use super::refine_by_rays::refine_by_rays;
use crate::manifold::Variable;
use crate::solve::{Iteration, Solution, SolveError, Solver, SolverLimits};

/// Stages of wide beams end where the relative decrease of the cost is less than this,
const LOOSE_FALL: f64 = 1e-2;
/// (before scans, which extend farther, less than this)
const LOOSE_FALL_BEFORE_SCANS: f64 = 0.1;
/// or where its step is shorter than this.
const LOOSE_STEP: f64 = 1e-3;

/// Solves with the beams of the model multiplied by each of `widths` in turn, each stage from the end
/// of the previous one: edges affect wide beams from a distance, and narrow beams locate them. All stages
/// except the last end early. The log counts the iterations of all stages; `observe` receives each.
///
/// Where the model has edges, the stages before the last fit integrals over the beams, which change
/// smoothly. Before the last stage, which fits predictions by rays, the cost of a planar sweep is
/// scanned for its lowest step.
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
    let sees_edges = problem.model.edges.is_some();
    let least_fall = if sees_edges {
        LOOSE_FALL_BEFORE_SCANS
    } else {
        LOOSE_FALL
    };
    let loose = Solver {
        limits: SolverLimits {
            cost: solver.limits.cost.max(least_fall),
            step: solver.limits.step.max(LOOSE_STEP),
            ..solver.limits
        },
        ..*solver
    };
    let smooth = problem.integrated();
    let mut state = start;
    let mut log: Vec<Iteration<Vec<Variable>>> = Vec::new();
    let mut note = |iteration: &Iteration<Vec<Variable>>, before: usize| {
        let mut counted = iteration.clone();
        counted.number += before;
        observe(&counted);
        counted
    };
    let only = [*last];
    let wide = if wide.is_empty() && sees_edges {
        &only
    } else {
        wide
    };
    for width in wide {
        let (before, wider) = (log.len(), smooth.widened(*width));
        let mut numbered = |iteration: &_| log.push(note(iteration, before));
        let solution = loose.solve_observed(&wider, state, &mut numbered)?;
        state = solution.state;
    }
    let before = log.len();
    let mut numbered = |iteration: &_| log.push(note(iteration, before));
    let found = if sees_edges {
        refine_by_rays(problem, solver, state, &mut numbered)?
    } else if *last == 1.0 {
        solver.solve_observed(problem, state, &mut numbered)?
    } else {
        solver.solve_observed(&problem.widened(*last), state, &mut numbered)?
    };
    Ok(Solution { log, ..found })
}
