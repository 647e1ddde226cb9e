//! Continuation in the divergence of the beams.

use super::problem::FitProblem;
use super::refine_by_rays::refine_by_rays;
use super::schedules::solve_by_schedules;
use crate::manifold::Variable;
use crate::solve::{Iteration, Solution, SolveError, Solver, SolverLimits};

/// Relative decrease of the cost below which a stage before the last has converged.
const LOOSE_DECREASE: f64 = 1e-2;

/// Value of [`LOOSE_DECREASE`] for models with edges, whose last stage also searches by scans of the
/// cost.
const LOOSE_DECREASE_BEFORE_SCANS: f64 = 0.1;

/// Length of a step below which a stage before the last has converged.
const LOOSE_STEP: f64 = 1e-3;

/// Solves a fit in stages, with the divergence of the beams multiplied by each of `widths` in turn.
///
/// Each stage starts from the solution of the previous one: wide beams widen the basin of attraction of
/// edges, narrow beams locate them. Stages before the last have loose tolerances. The log numbers the
/// iterations of all stages consecutively; `observe` receives each, and those of a loss schedule that was not
/// kept ([`solve_by_schedules`]).
///
/// For models with edges, the stages before the last fit integrals over the beams, which change
/// smoothly. The last stage fits predictions by rays; for planar sweeps it first scans the cost along
/// directions that only edges determine.
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
        return solve_by_schedules(problem, solver, start, observe);
    };
    // Loosen the tolerances of the stages before the last.
    let has_edges = problem.model.edges.is_some();
    let min_decrease = if has_edges {
        LOOSE_DECREASE_BEFORE_SCANS
    } else {
        LOOSE_DECREASE
    };
    let loose = Solver {
        limits: SolverLimits {
            cost: solver.limits.cost.max(min_decrease),
            step: solver.limits.step.max(LOOSE_STEP),
            ..solver.limits
        },
        ..*solver
    };
    // Number the iterations of all stages consecutively.
    let smooth = problem.integrated();
    let mut state = start;
    let mut log: Vec<Iteration<Vec<Variable>>> = Vec::new();
    let mut note = |iteration: &Iteration<Vec<Variable>>, before: usize| {
        let mut counted = iteration.clone();
        counted.number += before;
        observe(&counted);
        counted
    };
    // Solve the stages of wide beams.
    let only = [*last];
    let wide = if wide.is_empty() && has_edges {
        &only
    } else {
        wide
    };
    for width in wide {
        let before = log.len();
        let wider = smooth.widened(*width);
        let mut numbered = |iteration: &_| log.push(note(iteration, before));
        let solution = loose.solve_observed(&wider, state, &mut numbered);
        state = solution.map_err(|error| after(error, before))?.state;
    }
    // Solve the last stage.
    let before = log.len();
    let mut numbered = |iteration: &_| {
        note(iteration, before);
    };
    let found = if has_edges {
        refine_by_rays(problem, solver, state, &mut numbered)
    } else if *last == 1.0 {
        solve_by_schedules(problem, solver, state, &mut numbered)
    } else {
        solve_by_schedules(&problem.widened(*last), solver, state, &mut numbered)
    };
    let found = found.map_err(|error| after(error, before))?;
    log.extend(found.log.iter().map(|iteration| Iteration {
        number: iteration.number + before,
        ..iteration.clone()
    }));
    Ok(Solution { log, ..found })
}

/// The error of a stage that begins after a number of iterations of earlier stages.
fn after(error: SolveError, iterations: usize) -> SolveError {
    match error {
        SolveError::NothingPredicted { missing } if iterations > 0 => {
            SolveError::LeftPredictions { missing }
        }
        other => other,
    }
}
