//! Lens models: projection of directions to pixels and back.

mod brown_conrady;
mod check;
mod fov;
mod intrinsics;
mod kannala_brandt;
mod model;

pub use brown_conrady::BrownConrady;
pub use check::LensError;
pub use fov::fov_radius;
pub use intrinsics::Intrinsics;
pub use kannala_brandt::KannalaBrandt;
pub use model::Lens;
