//! Which points and which neighbourhoods a depth bias is learnt from.

mod mask;
mod shadow;

pub(super) use mask::NeighbourhoodShape;
pub use mask::{NeighbourhoodMask, MaskOutcome, MaskReport};
pub use shadow::without_shadows;
