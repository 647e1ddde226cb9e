//! L-BFGS for least-squares problems, in the tangent space at the start.

use super::error::SolveError;
use super::lbfgs_search::{DifferentiableFunction, LbfgsSearch};
use super::loss::Loss;
use super::problem::LeastSquares;
use super::solution::{Iteration, StopReason};
use super::walk::{Stage, Walk};
use crate::manifold::Manifold;
use nalgebra::DVector;

/// Length of the first step, in the units of the unknowns: without an estimate of the curvature, the
/// norm of the gradient gives no step length.
const FIRST_STEP: f64 = 0.1;

/// Iterates L-BFGS steps until convergence.
pub(super) fn descend<M: Manifold>(
    walk: &mut Walk<'_, M>,
    stage: Stage,
    memory: usize,
) -> Result<StopReason, SolveError> {
    // Scale the cost so that the first step has the length FIRST_STEP.
    let objective = TangentObjective::new(walk, stage.loss);
    let unit = objective.unit;
    if unit * FIRST_STEP < walk.limits.gradient {
        return Ok(StopReason::Gradient);
    }
    let start = objective.start.clone();
    let mut search = LbfgsSearch::new(objective, vec![0.0; start.dimension()], memory)?;
    while !walk.exhausted() {
        // Test the gradient.
        let gradient = largest(search.gradient()) * unit;
        if gradient < walk.limits.gradient {
            return Ok(StopReason::Gradient);
        }
        // Make a step.
        let before = search.point().to_vec();
        let cost_before = search.value();
        search.advance()?;
        let length = distance(&before, search.point());
        walk.move_to(start.retract(search.point()));
        let missing = walk.problem.residuals(&walk.state).missing;
        walk.note(Iteration {
            number: walk.log.len() + 1,
            state: walk.state.clone(),
            cost: search.value() * unit,
            gradient,
            step: length,
            damping: 0.0,
            widening: stage.widening,
            missing,
        });
        // Test the step and the decrease of the cost.
        if length < walk.limits.step {
            return Ok(StopReason::Step);
        }
        if cost_before - search.value() <= walk.limits.cost * cost_before.abs() {
            return Ok(StopReason::Cost);
        }
    }
    Ok(StopReason::Iterations)
}

/// Maximum norm.
fn largest(gradient: &[f64]) -> f64 {
    gradient.iter().fold(0.0, |max, x| x.abs().max(max))
}

/// Euclidean distance.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    let squares = a.iter().zip(b).map(|(x, y)| (x - y).powi(2));
    squares.sum::<f64>().sqrt()
}

/// Cost as a function of the tangent at the start, divided by `unit` so that the first step has the
/// length [`FIRST_STEP`].
struct TangentObjective<'a, M: Manifold> {
    problem: &'a dyn LeastSquares<State = M>,
    start: M,
    loss: Loss,
    gate: f64,
    unit: f64,
}

impl<'a, M: Manifold> TangentObjective<'a, M> {
    /// Objective at the state of a minimisation.
    fn new(walk: &Walk<'a, M>, loss: Loss) -> Self {
        let (_, gradient) = walk.problem.gradient(&walk.state, loss, walk.limits.gate);
        Self {
            problem: walk.problem,
            start: walk.state.clone(),
            loss,
            gate: walk.limits.gate,
            unit: DVector::from_vec(gradient).norm() / FIRST_STEP,
        }
    }
}

impl<M: Manifold> DifferentiableFunction for TangentObjective<'_, M> {
    fn value(&self, tangent: &[f64]) -> f64 {
        let residuals = self.problem.residuals(&self.start.retract(tangent));
        residuals.cost(self.loss, self.gate) / self.unit
    }

    fn gradient(&self, tangent: &[f64]) -> Vec<f64> {
        let state = self.start.retract(tangent);
        let (_, gradient) = self.problem.gradient(&state, self.loss, self.gate);
        let at_start = self
            .start
            .right_jacobian(tangent)
            .tr_mul(&DVector::from_vec(gradient));
        (at_start / self.unit).as_slice().to_vec()
    }
}
