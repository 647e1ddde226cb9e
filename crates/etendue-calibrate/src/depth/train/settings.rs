//! Settings of the training.

use crate::depth::loss::{DepthLoss, PoseFreedom, PosePrior, RobustLoss};

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

/// Uncertainty of the given poses, the prior of their corrections.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum PoseUncertainty {
    /// Estimated from the scans: the variance of the corrections that the map supports, by expectation
    /// maximisation (see [`super::pose_variance`]).
    #[default]
    Estimated,
    /// Stated standard deviations.
    Stated(PosePrior),
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
    /// Uncertainty of the poses; without effect if they are fixed.
    pub pose_uncertainty: PoseUncertainty,
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
            pose_uncertainty: PoseUncertainty::Estimated,
            optimiser: DepthOptimiser::GaussNewton,
            iterations: 100,
            refreshes: 0,
        }
    }
}
