//! Errors of rigs.

use crate::camera::CameraWorldError;
use crate::capture::ClockError;
use crate::filter::FilterGraphError;
use crate::transport::WorldError;
use thiserror::Error;

/// Why a rig cannot be, or cannot run.
#[derive(Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum RigError {
    /// A sensor sits on a frame that is not there.
    #[error("the sensor \"{sensor}\" sits on the frame \"{frame}\", which is not there")]
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
    /// A sensor's clock cannot be.
    #[error("the sensor \"{sensor}\": {source}")]
    Clock {
        /// The sensor.
        sensor: String,
        /// What is wrong.
        source: ClockError,
    },
    /// A sensor without its own rate was given none.
    #[error("the sensor \"{sensor}\" has no rate")]
    NoRate {
        /// The sensor.
        sensor: String,
    },
    /// A sensor whose own motion sets its times was given others.
    #[error("the sensor \"{sensor}\" sets its {what} itself: {own}")]
    OwnTiming {
        /// The sensor.
        sensor: String,
        /// What was given.
        what: &'static str,
        /// What it is.
        own: String,
    },
    /// A sensor's filters do not fit each other.
    #[error("the sensor \"{sensor}\": {source}")]
    Graph {
        /// The sensor.
        sensor: String,
        /// What does not fit.
        source: FilterGraphError,
    },
    /// The scene's materials do not cover a sensor's wavelength.
    #[error("the sensor \"{sensor}\": {source}")]
    World {
        /// The sensor.
        sensor: String,
        /// What is missing.
        source: WorldError,
    },
    /// The scene cannot be photographed.
    #[error("the sensor \"{sensor}\": {source}")]
    CameraWorld {
        /// The sensor.
        sensor: String,
        /// Why.
        source: CameraWorldError,
    },
}
