//! Differentiable simulation as a function of unknown parameters.
//!
//! A [`Model`] is a scene, a noise-free continuous-wave lidar or scanner, and the poses of its scans.
//! Unknowns are [`Parameter`]s named by paths such as `sensor.pose` or
//! `materials.white.reflectance`; [`Model::free`] adds one.

mod definition;
mod facets;
mod inputs;
mod jacobian;
mod parameter;
mod planar;
mod simulate;

pub use crate::sensor::{BeamMeasurement, Direction, ScannerSensor, Sensor};
pub use definition::{Model, ModelError, Unknown};
pub(crate) use inputs::SimulatorInputs;
pub(crate) use jacobian::Rows;
pub use parameter::{
    BeamOffset, BiasCoefficient, Divergence, DivergenceAxis, FacetScattering, Freedom,
    MaterialParameter, ObjectPose, OffsetKind, Parameter, ReceiverTiming, SensorPose, UnknownPath,
    WeatherAmount,
};
pub use planar::{planar, upright};
