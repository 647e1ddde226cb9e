//! Differentiable simulation of lidar scans as a function of unknown parameters.
//!
//! A [`Model`] is a scene, a noise-free lidar with any receiver, and the poses of its scans. Its
//! unknowns are [`Parameter`]s with paths such as `sensor.pose` or `materials.white.reflectance`;
//! [`Model::free`] adds one.

mod definition;
mod facets;
mod hit_triangles;
mod inputs;
mod jacobian;
mod linearized;
mod noise;
mod parameter;
mod planar;
mod simulate;
mod slopes;
mod vertices;

pub(crate) use crate::sensor::QUANTITIES;
pub use crate::sensor::{BeamGroup, BeamMeasurement, Direction, NoiselessLidar};
pub use definition::{Model, ModelError, Unknown};
pub(crate) use inputs::SimulatorInputs;
pub(crate) use jacobian::Rows;
pub use linearized::LinearizedMeasurements;
pub use parameter::*;
pub use planar::{planar, upright};
