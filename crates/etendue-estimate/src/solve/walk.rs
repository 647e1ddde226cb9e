//! State of a running minimisation.

use super::error::SolveError;
use super::limits::SolverLimits;
use super::loss::Loss;
use super::problem::{LeastSquares, Linearization, Residuals};
use super::solution::{Iteration, Solution, StopReason};
use crate::manifold::Manifold;

/// Relative decrease of the cost below which a stage before the last has converged: it only has to
/// reach the basin of attraction of the next stage.
///
/// A stage that ends on a slope of slow descent is outside that basin. With 1e-2, 18 of 300 fits from random
/// starts in an empty room end in false minima; with 1e-4 one of 400 in a planar model of it.
const LOOSE_DECREASE: f64 = 1e-4;

/// Stage of a continuation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stage {
    pub loss: Loss,
    /// Factor on the scale of the loss.
    pub widening: f64,
    pub is_last: bool,
}

impl Stage {
    /// Relative decrease of the cost below which the stage has converged.
    pub fn min_decrease(self, limits: &SolverLimits) -> f64 {
        if self.is_last {
            limits.cost
        } else {
            limits.cost.max(LOOSE_DECREASE)
        }
    }
}

/// State of a minimisation, shared by the methods: the current unknowns and their evaluation.
pub(super) struct Walk<'a, M: Manifold> {
    pub problem: &'a dyn LeastSquares<State = M>,
    pub state: M,
    pub limits: SolverLimits,
    pub stop: StopReason,
    pub log: Vec<Iteration<M>>,
    observe: &'a mut dyn FnMut(&Iteration<M>),
    /// Residuals and derivatives at the state, if known.
    pub known: Option<Linearization>,
    /// Residuals at the state, if known without derivatives.
    pub residuals: Option<Residuals>,
}

impl<'a, M: Manifold> Walk<'a, M> {
    /// Minimisation from a start.
    pub fn new(
        problem: &'a dyn LeastSquares<State = M>,
        state: M,
        limits: SolverLimits,
        observe: &'a mut dyn FnMut(&Iteration<M>),
    ) -> Self {
        Self {
            problem,
            state,
            limits,
            stop: StopReason::Iterations,
            log: Vec::new(),
            observe,
            known: None,
            residuals: None,
        }
    }

    /// Whether the maximum number of iterations is reached.
    pub fn exhausted(&self) -> bool {
        self.log.len() >= self.limits.iterations
    }

    /// Logs an iteration and passes it to the observer.
    pub fn note(&mut self, iteration: Iteration<M>) {
        (self.observe)(&iteration);
        self.log.push(iteration);
    }

    /// Replaces the state and discards its evaluation.
    pub fn move_to(&mut self, state: M) {
        self.state = state;
        self.known = None;
        self.residuals = None;
    }

    /// Residuals and derivatives at the state, evaluated if unknown.
    pub fn linearize(&mut self) -> Result<Linearization, SolveError> {
        if let Some(known) = self.known.take() {
            return Ok(known);
        }
        let linearization = self.problem.linearize(&self.state);
        linearization.check(self.log.len())?;
        Ok(linearization)
    }

    /// Solution at the state, under the final loss.
    pub fn finish(self, loss: Loss) -> Solution<M> {
        let known = self.known.map(|known| known.residuals).or(self.residuals);
        let residuals = known.unwrap_or_else(|| self.problem.residuals(&self.state));
        Solution {
            cost: residuals.cost(loss, self.limits.gate),
            residuals,
            state: self.state,
            stop: self.stop,
            log: self.log,
        }
    }
}
