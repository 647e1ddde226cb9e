//! Light sources other than the sensor: the sun, the sky, lamps.
//!
//! Cameras need them; lidars see them as ambient light. Lamps have no geometry: area lamps are visible,
//! and no lamp occludes a ray.

mod environment;
mod light;

pub use environment::{Environment, EnvironmentMap, MapError, SkyLight};
pub use light::{AreaLamp, Light, PointLamp, SpotLamp, Sun};

/// The light sources of a scene.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lighting {
    /// The sun and lamps.
    pub lights: Vec<Light>,
    /// The light of directions without a surface.
    pub environment: Environment,
}

impl Lighting {
    /// Whether there is no light source.
    pub fn is_dark(&self) -> bool {
        self.lights.is_empty() && self.environment == Environment::Dark
    }
}
