//! Which points and which neighbourhoods a depth bias is learnt from.

mod mask;
mod shadow;

pub(super) use mask::Shape;
pub use mask::{Mask, MaskOutcome, MaskReport};
pub use shadow::without_shadows;
