//! Errors of a camera's world.

use super::model::CameraError;
use etendue_physics::OutsideTable;
use thiserror::Error;

/// Error of a scene that cannot be rendered for a camera.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum CameraWorldError {
    /// The camera's description is invalid.
    #[error(transparent)]
    Camera(#[from] CameraError),
    /// The data of a material do not cover a band.
    #[error("{material} has no value in the camera's band at {:.0} nm", wavelength * 1e9)]
    Material {
        /// The material and the range of its data.
        material: String,
        /// Centre of the band, m.
        wavelength: f64,
    },
    /// The data of a light do not cover a band.
    #[error("the {light}: {source}")]
    Light {
        /// Name of the light.
        light: &'static str,
        /// The range of its data.
        source: OutsideTable,
    },
}
