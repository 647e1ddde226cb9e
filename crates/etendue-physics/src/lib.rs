//! The equations of etendue, generic in a differentiable [`Scalar`].
//!
//! Nothing here knows a triangle, a file, a clock or a thread.

pub mod ambient;
pub mod angle;
pub mod atmosphere;
pub mod beam;
pub mod camera;
mod dual;
pub mod gnss;
pub mod inertial;
pub mod light;
pub mod normal;
pub mod odometry;
pub mod phase;
pub mod profile;
pub mod pulse;
mod random;
mod scalar;
mod series;
mod spectrum;
pub mod statistics;
pub mod surface;

pub use dual::{Dual, DualParts};
pub use random::{Draws, NormalPairs, Purpose, Stream};
pub use scalar::Scalar;
pub use spectrum::{OutsideTable, Spectrum};

/// Speed of light in vacuum, m/s (exact, SI 2019).
pub const SPEED_OF_LIGHT: f64 = 299_792_458.0;
