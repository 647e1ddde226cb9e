//! Gauss-Newton method without step control.

use super::error::SolveError;
use super::normal::NormalEquations;
use super::solution::{Iteration, StopReason};
use super::walk::{Stage, Walk};
use crate::manifold::Manifold;

/// Iterates full Gauss-Newton steps until convergence.
pub(super) fn descend<M: Manifold>(
    walk: &mut Walk<'_, M>,
    stage: Stage,
) -> Result<StopReason, SolveError> {
    let mut linearization = walk.linearize()?;
    while !walk.exhausted() {
        // Form the normal equations and test the gradient.
        let normal = NormalEquations::new(&linearization, stage.loss);
        let number = walk.log.len() + 1;
        if normal.steepness() < walk.limits.gradient {
            return Ok(StopReason::Gradient);
        }
        // Make the full step.
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
        // Test the step.
        if step.norm() < walk.limits.step {
            return Ok(StopReason::Step);
        }
    }
    Ok(StopReason::Iterations)
}
