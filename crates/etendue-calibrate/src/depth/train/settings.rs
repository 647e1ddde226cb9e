//! Settings of the training.

use crate::depth::loss::{DepthLoss, PoseFreedom, Robust};

/// How the loss is minimised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Optimiser {
    /// Gauss-Newton with the damping of Levenberg and Marquardt (Marquardt 1963,
    /// doi:10.1137/0111030).
    GaussNewton,
    /// Limited memory of so many steps (Liu and Nocedal 1989, doi:10.1007/BF01589116).
    Lbfgs(usize),
    /// Steps of about this rate (Kingma and Ba 2015, arXiv:1412.6980); the paper's is 2e-4.
    Adam(f64),
}

/// What is learnt, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Training {
    /// The loss.
    pub loss: DepthLoss,
    /// How outliers count.
    pub robust: Robust,
    /// Which poses may move.
    pub freedom: PoseFreedom,
    /// The optimiser.
    pub optimiser: Optimiser,
    /// Most iterations, for each round.
    pub iterations: usize,
    /// How often neighbourhoods and masks are taken anew from the corrected map: zero leaves them
    /// frozen.
    pub refreshes: usize,
}

impl Default for Training {
    /// Gauss-Newton on $\lambda_1$ over the weights alone, 100 iterations, frozen.
    fn default() -> Self {
        Self {
            loss: DepthLoss::MinimumEigenvalue,
            robust: Robust::None,
            freedom: PoseFreedom::Fixed,
            optimiser: Optimiser::GaussNewton,
            iterations: 100,
            refreshes: 0,
        }
    }
}
