//! Settings of the training.

use crate::depth::loss::{DepthLoss, PoseFreedom, RobustLoss};

/// Optimiser of the loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DepthOptimiser {
    /// Gauss-Newton with the damping of Levenberg and Marquardt (Marquardt 1963,
    /// doi:10.1137/0111030).
    GaussNewton,
    /// L-BFGS with a memory of the given number of steps (Liu and Nocedal 1989, doi:10.1007/BF01589116).
    Lbfgs(usize),
    /// Adam with the learning rate (Kingma and Ba 2015, arXiv:1412.6980); 2e-4 in the paper.
    Adam(f64),
}

/// Settings of the training.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainingSettings {
    /// The loss.
    pub loss: DepthLoss,
    /// Robust treatment of outliers.
    pub robust: RobustLoss,
    /// Free pose corrections.
    pub freedom: PoseFreedom,
    /// The optimiser.
    pub optimiser: DepthOptimiser,
    /// Maximum number of iterations per round.
    pub iterations: usize,
    /// Number of times that neighbourhoods and masks are recomputed from the corrected map; with zero
    /// they are fixed.
    pub refreshes: usize,
}

impl Default for TrainingSettings {
    /// Gauss-Newton on $\lambda_1$ over the weights only, 100 iterations, fixed neighbourhoods.
    fn default() -> Self {
        Self {
            loss: DepthLoss::MinimumEigenvalue,
            robust: RobustLoss::None,
            freedom: PoseFreedom::Fixed,
            optimiser: DepthOptimiser::GaussNewton,
            iterations: 100,
            refreshes: 0,
        }
    }
}
