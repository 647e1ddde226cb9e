//! Levenberg-Marquardt.
//!
//! Source: Madsen, Nielsen, Tingleff 2004, "Methods for non-linear least squares problems",
//! algorithm 3.16, with Marquardt's diagonal scaling.

use super::{Iteration, Linearization, Normal, Problem, Residuals, SolveError, Stage, Stop, Walk};
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
        let cost = linearization.residuals.cost(stage.loss, walk.limits.gate);
        let trial = if normal.steepness() < walk.limits.gradient {
            Err(Stop::Gradient)
        } else {
            search(walk, stage, &normal, cost, &mut damping).ok_or(Stop::NoDescent)
        };
        let (fall, length) = match &trial {
            Ok(trial) => (cost - trial.cost, trial.length),
            Err(_) => (0.0, 0.0),
        };
        walk.known = Some(linearization);
        let trial = match trial {
            Ok(trial) => trial,
            Err(stop) => return Ok(stop),
        };
        if fall > 0.0 {
            accept(walk, stage, &normal, trial)?;
        }
        if length < walk.limits.step {
            return Ok(Stop::Step);
        }
        if fall <= stage.least_fall(&walk.limits) * cost {
            return Ok(Stop::Cost);
        }
    }
    Ok(Stop::Iterations)
}

/// A step that was tried.
struct Trial<M> {
    state: M,
    /// Where the step was expected to be taken, the derivatives at its end.
    linearization: Option<Linearization>,
    /// The residuals at its end, where the derivatives are not known.
    residuals: Option<Residuals>,
    missing: usize,
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
            // Most first steps are good: they get their derivatives with their residuals.
            let trial = attempt(walk, stage, step.as_slice(), *damping, growth == 2.0);
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

fn attempt<P: Problem>(
    walk: &Walk<'_, P>,
    stage: Stage,
    step: &[f64],
    damping: f64,
    hopeful: bool,
) -> Trial<P::State> {
    let state = walk.state.retract(step);
    let length = step.iter().map(|x| x * x).sum::<f64>().sqrt();
    // The last step needs none: the walk ends there.
    let goes_on = hopeful && length >= walk.limits.step;
    let linearization = goes_on.then(|| walk.problem.linearize(&state));
    let residuals = (!goes_on).then(|| walk.problem.residuals(&state));
    let seen = linearization.as_ref().map(|known| &known.residuals);
    let (cost, missing) = seen.or(residuals.as_ref()).map_or((0.0, 0), |seen| {
        (seen.cost(stage.loss, walk.limits.gate), seen.missing)
    });
    Trial {
        state,
        linearization,
        residuals,
        missing,
        cost,
        length,
        damping,
    }
}

/// Nielsen's rule: the better the model foretold the fall, the less damping.
fn relaxed(damping: f64, gain: f64) -> f64 {
    let factor = (1.0 - (2.0 * gain - 1.0).powi(3)).clamp(0.1, 2.0);
    (damping * factor).max(NEGLIGIBLE)
}

/// Takes a step, with what is known at its end.
fn accept<P: Problem>(
    walk: &mut Walk<'_, P>,
    stage: Stage,
    normal: &Normal,
    trial: Trial<P::State>,
) -> Result<(), SolveError> {
    walk.move_to(trial.state.clone());
    walk.note(Iteration {
        number: walk.log.len() + 1,
        state: trial.state,
        cost: trial.cost,
        gradient: normal.steepness(),
        step: trial.length,
        damping: trial.damping,
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
