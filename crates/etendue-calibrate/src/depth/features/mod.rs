//! Selection of the points and neighbourhoods for the estimation of a depth bias.

mod mask;
mod shadow;

pub(super) use mask::NeighbourhoodShape;
pub use mask::{MaskOutcome, MaskReport, NeighbourhoodMask};
pub use shadow::without_shadows;
