//! Noise-free sensors of a fit model, the quantities that they measure, and their differentiable
//! parameters.

mod inputs;
mod measured;
mod noiseless;

pub(crate) use inputs::{ScannerInputs, SensorInputs};
pub use measured::BeamMeasurement;
pub use noiseless::{Direction, ScannerSensor, Sensor};
