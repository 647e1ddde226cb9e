//! State of a running solver.

use super::limits::SolverLimits;
use super::loss::Loss;
use super::problem::{LeastSquares, Linearization, Residuals};
use super::solution::{Iteration, Solution, SolveError, StopReason};

/// Relative decrease of the cost at which a stage before the last ends: it only has to reach the basin
/// of the next.
const LOOSE: f64 = 1e-2;

/// One stage of a continuation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stage {
    pub loss: Loss,
    pub widening: f64,
    pub is_last: bool,
}

impl Stage {
    /// Relative decrease of the cost below which the stage has converged.
    pub fn least_fall(self, limits: &SolverLimits) -> f64 {
        if self.is_last {
            limits.cost
        } else {
            limits.cost.max(LOOSE)
        }
    }
}

/// State shared by the methods: the current state of the unknowns and its evaluation.
pub(super) struct Walk<'a, P: LeastSquares> {
    pub problem: &'a P,
    pub state: P::State,
    pub limits: SolverLimits,
    pub stop: StopReason,
    pub log: Vec<Iteration<P::State>>,
    observe: &'a mut dyn FnMut(&Iteration<P::State>),
    /// Residuals and derivatives at the state, if known.
    pub known: Option<Linearization>,
    /// Residuals at the state, if known without derivatives.
    pub residuals: Option<Residuals>,
}

impl<'a, P: LeastSquares> Walk<'a, P> {
    pub fn new(
        problem: &'a P,
        state: P::State,
        limits: SolverLimits,
        observe: &'a mut dyn FnMut(&Iteration<P::State>),
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

    pub fn exhausted(&self) -> bool {
        self.log.len() >= self.limits.iterations
    }

    pub fn note(&mut self, iteration: Iteration<P::State>) {
        (self.observe)(&iteration);
        self.log.push(iteration);
    }

    /// Moves to a state without evaluation.
    pub fn move_to(&mut self, state: P::State) {
        self.state = state;
        self.known = None;
        self.residuals = None;
    }

    /// Residuals and derivatives at the state.
    pub fn linearize(&mut self) -> Result<Linearization, SolveError> {
        if let Some(known) = self.known.take() {
            return Ok(known);
        }
        let linearization = self.problem.linearize(&self.state);
        linearization.check(self.log.len())?;
        Ok(linearization)
    }

    pub fn finish(self, loss: Loss) -> Solution<P::State> {
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
