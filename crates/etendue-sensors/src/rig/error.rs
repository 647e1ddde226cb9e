//! Errors of rigs.

use crate::camera::CameraWorldError;
use crate::capture::ClockError;
use crate::filter::FilterGraphError;
use crate::transport::WorldError;
use thiserror::Error;

/// Error of a rig that is invalid or cannot run.
#[derive(Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum RigError {
    /// The frame of a sensor does not exist.
    #[error("the sensor \"{sensor}\" is mounted on the frame \"{frame}\", which does not exist")]
    UnknownFrame {
        /// The sensor.
        sensor: String,
        /// The frame.
        frame: String,
    },
    /// Two sensors, or taps, have one name.
    #[error("two outputs are named \"{name}\"")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// A sensor's clock is invalid.
    #[error("the sensor \"{sensor}\": {source}")]
    Clock {
        /// The sensor.
        sensor: String,
        /// The invalid parameter.
        source: ClockError,
    },
    /// No rate is configured for a sensor whose description has none.
    #[error("the sensor \"{sensor}\" has no rate")]
    NoRate {
        /// The sensor.
        sensor: String,
    },
    /// The configured timing differs from the description of the sensor.
    #[error("the {what} of the sensor \"{sensor}\" is given by its description: {own}")]
    OwnTiming {
        /// The sensor.
        sensor: String,
        /// The configured parameter.
        what: &'static str,
        /// Its value in the description of the sensor.
        own: String,
    },
    /// A sensor's filters do not form a graph.
    #[error("the sensor \"{sensor}\": {source}")]
    Graph {
        /// The sensor.
        sensor: String,
        /// The filter in error.
        source: FilterGraphError,
    },
    /// The scene's materials do not cover a sensor's wavelength.
    #[error("the sensor \"{sensor}\": {source}")]
    World {
        /// The sensor.
        sensor: String,
        /// The material without data.
        source: WorldError,
    },
    /// The scene has no values in a camera's bands.
    #[error("the sensor \"{sensor}\": {source}")]
    CameraWorld {
        /// The sensor.
        sensor: String,
        /// The cause.
        source: CameraWorldError,
    },
}
