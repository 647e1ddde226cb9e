//! Results of a solver.

use super::lbfgs_search::LbfgsError;
use super::problem::Residuals;
use thiserror::Error;

/// Why a solver stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// The step became shorter than [`SolverLimits::step`](super::SolverLimits::step).
    Step,
    /// The cost fell by less than [`SolverLimits::cost`](super::SolverLimits::cost) of itself.
    Cost,
    /// The gradient fell below [`SolverLimits::gradient`](super::SolverLimits::gradient).
    Gradient,
    /// [`SolverLimits::iterations`](super::SolverLimits::iterations) was reached.
    Iterations,
    /// No step lowered the cost although the gradient is not zero: the model is discontinuous here.
    NoDescent,
}

impl StopReason {
    /// Whether the solver converged within its tolerances.
    pub fn converged(self) -> bool {
        matches!(self, Self::Step | Self::Cost | Self::Gradient)
    }
}

impl std::fmt::Display for StopReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Step => "converged: the step became too short to matter",
            Self::Cost => "converged: the cost no longer falls",
            Self::Gradient => "converged: the gradient vanished",
            Self::Iterations => "stopped at the limit of iterations, not converged",
            Self::NoDescent => "stopped: no step lowers the cost, though the gradient is not zero",
        })
    }
}

/// One iteration of a solver.
#[derive(Clone, Debug, PartialEq)]
pub struct Iteration<M> {
    /// Number of the iteration, from 1.
    pub number: usize,
    /// State after the iteration.
    pub state: M,
    /// Cost after the iteration, under the loss of its stage.
    pub cost: f64,
    /// Largest component of the gradient before the iteration.
    pub gradient: f64,
    /// Length of the step.
    pub step: f64,
    /// Damping of the step; zero for methods without damping.
    pub damping: f64,
    /// Factor on the scale of the loss (graduated non-convexity); 1 in the last stage.
    pub widening: f64,
    /// Measurements without a prediction after the iteration.
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
    /// Why the solver stopped.
    pub stop: StopReason,
    /// All iterations.
    pub log: Vec<Iteration<M>>,
}

/// Errors of a solver.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SolveError {
    /// No measurement has a prediction at the start.
    #[error(
        "none of the {missing} measurements has a prediction at the start: start where the model predicts returns"
    )]
    NothingPredicted {
        /// Measurements without a prediction.
        missing: usize,
    },
    /// Fewer residuals than unknowns.
    #[error(
        "{residuals} residuals cannot determine {unknowns} unknowns: free fewer, or measure more"
    )]
    TooFew {
        /// Number of residuals.
        residuals: usize,
        /// Number of unknowns.
        unknowns: usize,
    },
    /// A residual or derivative is not finite.
    #[error("residual {index} is not finite at iteration {iteration}")]
    NotFinite {
        /// The number of the residual.
        index: usize,
        /// The iteration.
        iteration: usize,
    },
    /// The normal matrix of Gauss-Newton is singular.
    #[error(
        "the normal matrix is singular at iteration {iteration}: some combination of the unknowns changes no residual; fix one, add a prior, or use Levenberg-Marquardt"
    )]
    Singular {
        /// The iteration.
        iteration: usize,
    },
    /// L-BFGS failed.
    #[error(transparent)]
    Lbfgs(#[from] LbfgsError),
}
