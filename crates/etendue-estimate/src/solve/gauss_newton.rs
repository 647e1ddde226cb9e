//! Gauss-Newton method without step control.

use super::error::SolveError;
use super::normal::NormalEquations;
use super::solution::{Iteration, StopReason};
use super::walk::{Stage, Walk};
use crate::manifold::Manifold;

/// Number of iterations without a lower cost after which the correspondences alternate.
const PATIENCE: usize = 10;

/// Relative decrease below which a cost is not lower.
const DECREASE: f64 = 1e-6;

/// Iterates full Gauss-Newton steps until convergence, or until [`PATIENCE`] steps in a row have not lowered the cost. The
/// state of lowest cost is then the result.
pub(super) fn descend<M: Manifold>(
    walk: &mut Walk<'_, M>,
    stage: Stage,
) -> Result<StopReason, SolveError> {
    let mut linearization = walk.linearize()?;
    let mut lowest = (f64::INFINITY, walk.state.clone());
    let mut without_decrease = 0;
    while !walk.exhausted() {
        // Form the normal equations and test the gradient.
        let normal = NormalEquations::new(&linearization, stage.loss);
        let number = walk.log.len() + 1;
        if normal.steepness() < walk.limits.gradient {
            walk.known = Some(linearization);
            return Ok(StopReason::Gradient);
        }
        // Make the full step.
        let step = normal
            .step(0.0)
            .ok_or(SolveError::Singular { iteration: number })?;
        walk.move_to(walk.state.retract(step.as_slice()));
        linearization = walk.linearize()?;
        let cost = linearization.residuals.cost(stage.loss, walk.limits.gate);
        walk.note(Iteration {
            number,
            state: walk.state.clone(),
            cost,
            gradient: normal.steepness(),
            step: step.norm(),
            damping: 0.0,
            widening: stage.widening,
            missing: linearization.residuals.missing,
        });
        // Test the step.
        if step.norm() < walk.limits.step {
            walk.known = Some(linearization);
            return Ok(StopReason::Step);
        }
        // Test the cost.
        without_decrease += 1;
        if cost < lowest.0 * (1.0 - DECREASE) {
            lowest = (cost, walk.state.clone());
            without_decrease = 0;
        }
        if without_decrease == PATIENCE {
            walk.move_to(lowest.1);
            return Ok(StopReason::NoDescent);
        }
    }
    Ok(StopReason::Iterations)
}
