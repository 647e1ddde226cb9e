//! Gauss-Newton.

use super::{Iteration, Normal, Problem, SolveError, Stage, Stop, Walk};
use crate::manifold::Manifold;

pub(super) fn descend<P: Problem>(
    walk: &mut Walk<'_, P>,
    stage: Stage,
) -> Result<Stop, SolveError> {
    let mut linearization = walk.linearize()?;
    while !walk.exhausted() {
        let normal = Normal::new(&linearization, stage.loss);
        let number = walk.log.len() + 1;
        if normal.steepness() < walk.limits.gradient {
            return Ok(Stop::Gradient);
        }
        let step = normal
            .step(0.0)
            .ok_or(SolveError::Singular { iteration: number })?;
        walk.move_to(walk.state.retract(step.as_slice()));
        linearization = walk.linearize()?;
        walk.note(Iteration {
            number,
            state: walk.state.clone(),
            cost: linearization.residuals.cost(stage.loss, walk.limits.gate),
            gradient: normal.steepness(),
            step: step.norm(),
            damping: 0.0,
            widening: stage.widening,
            missing: linearization.residuals.missing,
        });
        if step.norm() < walk.limits.step {
            return Ok(Stop::Step);
        }
    }
    Ok(Stop::Iterations)
}
