//! Results of a solver.

use super::problem::Residuals;

/// Reason why a solver stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// The step became shorter than [`SolverLimits::step`](super::SolverLimits::step).
    Step,
    /// The relative decrease of the cost was below [`SolverLimits::cost`](super::SolverLimits::cost).
    Cost,
    /// The maximum norm of the gradient fell below
    /// [`SolverLimits::gradient`](super::SolverLimits::gradient).
    Gradient,
    /// [`SolverLimits::iterations`](super::SolverLimits::iterations) was reached.
    Iterations,
    /// No step lowered the cost although the gradient is not zero: the cost is discontinuous here.
    NoDescent,
}

impl StopReason {
    /// Whether the solver reached one of its tolerances.
    pub fn converged(self) -> bool {
        matches!(self, Self::Step | Self::Cost | Self::Gradient)
    }
}

impl std::fmt::Display for StopReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Step => "converged: the step is below its tolerance",
            Self::Cost => "converged: the decrease of the cost is below its tolerance",
            Self::Gradient => "converged: the gradient is below its tolerance",
            Self::Iterations => "stopped: the maximum number of iterations was reached",
            Self::NoDescent => {
                "stopped: no step lowers the cost, although the gradient is not zero"
            }
        })
    }
}

/// Log entry of one iteration of a solver.
#[derive(Clone, Debug, PartialEq)]
pub struct Iteration<M> {
    /// Number of the iteration, from 1.
    pub number: usize,
    /// State after the iteration.
    pub state: M,
    /// Cost after the iteration, under the loss of its stage.
    pub cost: f64,
    /// Maximum norm of the gradient before the iteration.
    pub gradient: f64,
    /// Norm of the step.
    pub step: f64,
    /// Damping of the step; zero for methods without damping.
    pub damping: f64,
    /// Factor on the scale of the loss (graduated non-convexity); 1 in the last stage.
    pub widening: f64,
    /// Number of measurements without a prediction after the iteration.
    pub missing: usize,
}

/// Result of a solver.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution<M> {
    /// The estimate.
    pub state: M,
    /// Cost of the estimate under the final loss.
    pub cost: f64,
    /// Residuals of the estimate.
    pub residuals: Residuals,
    /// Reason why the solver stopped.
    pub stop: StopReason,
    /// All iterations.
    pub log: Vec<Iteration<M>>,
}
