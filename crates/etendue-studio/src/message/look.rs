//! How a material looks in the light of the sensor.

use etendue::physics::surface::{Material, Side};
use serde::Serialize;
use std::f64::consts::PI;

/// Appearance of a material at the wavelength of the sensor, for a standard surface shader.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Look {
    /// Scattered part of the light at normal incidence, in [0, 1].
    pub diffuse: f64,
    /// Part of the light that is reflected like by a mirror, in [0, 1].
    pub mirror: f64,
    /// Part of the light that passes, in [0, 1].
    pub transmitted: f64,
    /// Backscatter at normal incidence relative to a white diffuse surface.
    pub backscatter: f64,
}

impl Look {
    /// The appearance of a material at one wavelength.
    pub fn of(material: &Material<f64>) -> Self {
        let specular = material.specular(1.0, Side::Front);
        Self {
            diffuse: material.scattered_albedo(1.0, Side::Front).clamp(0.0, 1.0),
            mirror: specular.reflected.clamp(0.0, 1.0),
            transmitted: specular.transmitted.map_or(0.0, |light| light.fraction),
            backscatter: PI * material.backscatter(1.0, Side::Front),
        }
    }
}
