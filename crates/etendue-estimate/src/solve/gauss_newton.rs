//! Gauss-Newton method without step control.

use super::error::SolveError;
use super::extrapolation::Extrapolation;
use super::normal::NormalEquations;
use super::problem::{Linearization, Residuals};
use super::solution::{Iteration, StopReason};
use super::walk::{Stage, Walk};
use crate::manifold::Manifold;

/// Number of iterations without a lower cost after which the correspondences alternate.
const PATIENCE: usize = 10;

/// Relative decrease below which a cost is not lower.
const DECREASE: f64 = 1e-6;

/// Iterates full Gauss-Newton steps, which an extrapolation may extend, until convergence, or until [`PATIENCE`] steps in a
/// row have not lowered the cost. The state of lowest cost is then the result.
pub(super) fn descend<M: Manifold>(
    walk: &mut Walk<'_, M>,
    stage: Stage,
    mut extrapolation: Option<Extrapolation>,
) -> Result<StopReason, SolveError> {
    let mut evaluated = Evaluated::at(walk, stage)?;
    let mut lowest = (f64::INFINITY, walk.state.clone());
    let mut without_decrease = 0;
    while !walk.exhausted() {
        // Test the gradient.
        let number = walk.log.len() + 1;
        let steepness = evaluated.normal.steepness();
        if steepness < walk.limits.gradient {
            evaluated.keep(walk);
            return Ok(StopReason::Gradient);
        }
        // Make the full step.
        let mut step = evaluated
            .normal
            .step(0.0)
            .ok_or(SolveError::Singular { iteration: number })?;
        if let Some(extrapolation) = &mut extrapolation {
            extrapolation.extend(&mut step);
        }
        walk.move_to(walk.state.retract(step.as_slice()));
        evaluated = Evaluated::at(walk, stage)?;
        let cost = evaluated.residuals().cost(stage.loss, walk.limits.gate);
        walk.note(Iteration {
            number,
            state: walk.state.clone(),
            cost,
            gradient: steepness,
            step: step.norm(),
            damping: 0.0,
            widening: stage.widening,
            missing: evaluated.residuals().missing,
        });
        // Test the step.
        if step.norm() < walk.limits.step {
            evaluated.keep(walk);
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

/// Evaluation of a state.
struct Evaluated {
    normal: NormalEquations,
    from: Origin,
}

/// Origin of normal equations.
enum Origin {
    Linearization(Linearization),
    /// Those that the problem forms without the Jacobian.
    Residuals(Residuals),
}

impl Evaluated {
    /// Evaluation at the state of a walk.
    fn at<M: Manifold>(walk: &mut Walk<'_, M>, stage: Stage) -> Result<Self, SolveError> {
        if walk.known.is_none()
            && let Some((normal, residuals)) =
                walk.problem.normal_equations(&walk.state, stage.loss)
            && normal.is_finite()
        {
            let from = Origin::Residuals(residuals);
            return Ok(Self { normal, from });
        }
        // The linearization is known, or finds the residual that is not finite.
        let linearization = walk.linearize()?;
        Ok(Self {
            normal: NormalEquations::new(&linearization, stage.loss),
            from: Origin::Linearization(linearization),
        })
    }

    fn residuals(&self) -> &Residuals {
        match &self.from {
            Origin::Linearization(all) => &all.residuals,
            Origin::Residuals(residuals) => residuals,
        }
    }

    /// Keeps the evaluation of the state for the next stage and the solution.
    fn keep<M: Manifold>(self, walk: &mut Walk<'_, M>) {
        match self.from {
            Origin::Linearization(all) => walk.known = Some(all),
            Origin::Residuals(residuals) => walk.residuals = Some(residuals),
        }
    }
}
