//! Levenberg-Marquardt.
//!
//! Source: Madsen, Nielsen, Tingleff 2004, "Methods for non-linear least squares problems",
//! algorithm 3.16, with Marquardt's diagonal scaling.

use super::{Iteration, Normal, Problem, Residuals, SolveError, Stage, Stop, Walk};
use crate::manifold::Manifold;

/// A damping beyond this makes steps too short to matter.
const HOPELESS: f64 = 1e12;

/// Below this the damping has no effect in double precision.
const NEGLIGIBLE: f64 = 1e-15;

pub(super) fn descend<P: Problem>(
    walk: &mut Walk<'_, P>,
    stage: Stage,
    first_damping: f64,
) -> Result<Stop, SolveError> {
    let mut damping = first_damping;
    while !walk.exhausted() {
        let linearization = walk.linearize()?;
        let normal = Normal::new(&linearization, stage.loss);
        if normal.steepness() < walk.limits.gradient {
            return Ok(Stop::Gradient);
        }
        let cost = linearization.residuals.cost(stage.loss, walk.limits.gate);
        let Some(trial) = search(walk, stage, &normal, cost, &mut damping) else {
            return Ok(Stop::NoDescent);
        };
        let fall = cost - trial.cost;
        let shift = trial.length;
        if fall > 0.0 {
            accept(walk, stage, &normal, trial);
        }
        if shift < walk.limits.step {
            return Ok(Stop::Step);
        }
        if fall <= walk.limits.cost * cost {
            return Ok(Stop::Cost);
        }
    }
    Ok(Stop::Iterations)
}

/// A step that was tried.
struct Trial<M> {
    state: M,
    residuals: Residuals,
    cost: f64,
    length: f64,
    damping: f64,
}

/// Raises the damping until a step lowers the cost, or is too short to matter; none where the
/// damping becomes hopeless first.
fn search<P: Problem>(
    walk: &Walk<'_, P>,
    stage: Stage,
    normal: &Normal,
    cost: f64,
    damping: &mut f64,
) -> Option<Trial<P::State>> {
    let mut growth = 2.0;
    while *damping < HOPELESS {
        if let Some(step) = normal.step(*damping) {
            let state = walk.state.retract(step.as_slice());
            let residuals = walk.problem.residuals(&state);
            let trial = Trial {
                cost: residuals.cost(stage.loss, walk.limits.gate),
                state,
                residuals,
                length: step.norm(),
                damping: *damping,
            };
            let gain = (cost - trial.cost) / normal.predicted_fall(&step);
            if trial.cost < cost {
                *damping = relaxed(*damping, gain);
                return Some(trial);
            }
            if trial.length < walk.limits.step {
                return Some(trial);
            }
        }
        *damping *= growth;
        growth *= 2.0;
    }
    None
}

/// Nielsen's rule: the better the model foretold the fall, the less damping.
fn relaxed(damping: f64, gain: f64) -> f64 {
    let factor = (1.0 - (2.0 * gain - 1.0).powi(3)).clamp(0.1, 2.0);
    (damping * factor).max(NEGLIGIBLE)
}

fn accept<P: Problem>(
    walk: &mut Walk<'_, P>,
    stage: Stage,
    normal: &Normal,
    trial: Trial<P::State>,
) {
    walk.state = trial.state.clone();
    walk.note(Iteration {
        number: walk.log.len() + 1,
        state: trial.state,
        cost: trial.cost,
        gradient: normal.steepness(),
        step: trial.length,
        damping: trial.damping,
        widening: stage.widening,
        missing: trial.residuals.missing,
    });
}
