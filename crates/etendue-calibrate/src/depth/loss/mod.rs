//! Map-consistency losses with derivatives.

mod corrected_points;
mod loss_kind;
mod neighbourhood;
mod objective;
mod pair;
mod pose_prior;
mod robust;
mod sums;
mod unknowns;

pub use loss_kind::DepthLoss;
pub use objective::DepthObjective;
pub(in crate::depth) use objective::Influences;
pub use pose_prior::PosePrior;
pub use robust::RobustLoss;
pub use unknowns::{DepthUnknowns, PoseFreedom};
