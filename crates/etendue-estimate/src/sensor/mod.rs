//! Noise-free lidar of a fit model, its measured quantities, and its differentiable parameters.

mod inputs;
mod measured;
mod noiseless;

pub use inputs::BeamGroup;
pub(crate) use inputs::LidarInputs;
pub use measured::BeamMeasurement;
pub(crate) use measured::QUANTITIES;
pub use noiseless::{Direction, NoiselessLidar};
