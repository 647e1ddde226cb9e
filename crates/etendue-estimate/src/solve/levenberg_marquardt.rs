//! Levenberg-Marquardt method with Marquardt's diagonal scaling (Marquardt 1963, doi:10.1137/0111030).

use super::damped_search::{DampedSearch, DampedStep, DampingSchedule};
use super::error::SolveError;
use super::normal::NormalEquations;
use super::problem::{Linearization, Residuals};
use super::solution::{Iteration, StopReason};
use super::walk::{Stage, Walk};
use crate::manifold::Manifold;
use nalgebra::DVector;

/// Relative decrease of the cost below which a step that follows rejected ones is the last: the cost has
/// a kink there, as between two samples of a waveform, and further steps only become shorter.
const KINK_DECREASE: f64 = 1e-6;

/// Iterates damped steps that lower the cost until convergence.
pub(super) fn descend<M: Manifold>(
    walk: &mut Walk<'_, M>,
    stage: Stage,
    first_damping: f64,
) -> Result<StopReason, SolveError> {
    let mut search = DampedSearch {
        damping: first_damping,
        schedule: DampingSchedule::Nielsen,
        min_step: walk.limits.step,
        min_decrease: f64::NEG_INFINITY,
    };
    while !walk.exhausted() {
        // Form the normal equations.
        let linearization = walk.linearize()?;
        let normal = NormalEquations::new(&linearization, stage.loss);
        let cost = linearization.residuals.cost(stage.loss, walk.limits.gate);
        // Search for a step that lowers the cost.
        let trial = if normal.steepness() < walk.limits.gradient {
            Err(StopReason::Gradient)
        } else {
            let step = search.step(&normal, cost, |step, is_first| {
                evaluate(walk, stage, step, is_first)
            });
            step.ok_or(StopReason::NoDescent)
        };
        walk.known = Some(linearization);
        let trial = match trial {
            Ok(trial) => trial,
            Err(stop) => return Ok(stop),
        };
        // Accept it and test for convergence.
        let decrease = cost - trial.cost;
        let DampedStep {
            length, is_first, ..
        } = trial;
        if decrease > 0.0 {
            accept(walk, stage, &normal, trial)?;
        }
        if length < walk.limits.step {
            return Ok(StopReason::Step);
        }
        let min_decrease = stage.min_decrease(&walk.limits);
        let limit = if is_first {
            min_decrease
        } else {
            min_decrease.max(KINK_DECREASE)
        };
        if decrease <= limit * cost {
            return Ok(StopReason::Cost);
        }
    }
    Ok(StopReason::Iterations)
}

/// State after a trial step, with its residuals.
struct Trial<M> {
    state: M,
    /// Derivatives after the step, where the step was likely to be accepted.
    linearization: Option<Linearization>,
    /// Residuals after the step, where the derivatives are unknown.
    residuals: Option<Residuals>,
    /// Number of measurements without a prediction after the step.
    missing: usize,
}

/// Cost and state after a trial step.
///
/// First trials are usually accepted and are evaluated with derivatives. A step below the limit of
/// convergence is the last one and is evaluated without.
fn evaluate<M: Manifold>(
    walk: &Walk<'_, M>,
    stage: Stage,
    step: &DVector<f64>,
    is_first: bool,
) -> (f64, Trial<M>) {
    // Evaluate the residuals, and the derivatives of a step that will probably be accepted.
    let state = walk.state.retract(step.as_slice());
    let is_likely = is_first && step.norm() >= walk.limits.step;
    let linearization = is_likely.then(|| walk.problem.linearize(&state));
    let residuals = (!is_likely).then(|| walk.problem.residuals(&state));
    let evaluated = linearization.as_ref().map(|all| &all.residuals);
    let evaluated = evaluated.or(residuals.as_ref());
    let (cost, missing) = evaluated.map_or((0.0, 0), |residuals| {
        let cost = residuals.cost(stage.loss, walk.limits.gate);
        (cost, residuals.missing)
    });
    let trial = Trial {
        state,
        linearization,
        residuals,
        missing,
    };
    (cost, trial)
}

/// Moves to the state after an accepted step and logs the iteration.
fn accept<M: Manifold>(
    walk: &mut Walk<'_, M>,
    stage: Stage,
    normal: &NormalEquations,
    step: DampedStep<Trial<M>>,
) -> Result<(), SolveError> {
    let trial = step.evaluation;
    walk.move_to(trial.state.clone());
    walk.note(Iteration {
        number: walk.log.len() + 1,
        state: trial.state,
        cost: step.cost,
        gradient: normal.steepness(),
        step: step.length,
        damping: step.damping,
        widening: stage.widening,
        missing: trial.missing,
    });
    if let Some(known) = &trial.linearization {
        known.check(walk.log.len())?;
    }
    walk.known = trial.linearization;
    walk.residuals = trial.residuals;
    Ok(())
}
