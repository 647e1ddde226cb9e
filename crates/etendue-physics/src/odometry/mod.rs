//! Sensors of a robot's own wheels.

mod wheel;

pub use wheel::{WheelEncoder, WheelEncoderRun};
