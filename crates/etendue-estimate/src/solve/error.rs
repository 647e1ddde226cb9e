//! Errors of a solver.

use super::lbfgs_search::LbfgsError;
use thiserror::Error;

/// Errors of a solver.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SolveError {
    /// No measurement has a prediction at the start.
    #[error(
        "none of the {missing} measurements has a prediction at the start: start where the model predicts returns"
    )]
    NothingPredicted {
        /// Number of measurements without a prediction.
        missing: usize,
    },
    /// A descent ended where no measurement has a prediction; the start had predictions.
    #[error(
        "the fit moved to where none of the {missing} measurements has a prediction: start nearer to the truth, \
         or bound the unknowns"
    )]
    LeftPredictions {
        /// Number of measurements without a prediction.
        missing: usize,
    },
    /// There are fewer residuals than unknowns.
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
        /// Index of the residual.
        index: usize,
        /// Number of the iteration.
        iteration: usize,
    },
    /// The normal matrix of Gauss-Newton is singular.
    #[error(
        "the normal matrix is singular at iteration {iteration}: some combination of the unknowns changes no residual; fix one, add a prior, or use Levenberg-Marquardt"
    )]
    Singular {
        /// Number of the iteration.
        iteration: usize,
    },
    /// L-BFGS failed.
    #[error(transparent)]
    Lbfgs(#[from] LbfgsError),
}
