//! Light that is not the sensor's own: the sun, the sky, lamps.
//!
//! Lidars bring their own light; cameras need this. Lamps have no body: they are seen (where they
//! have an area) but stop no ray.

mod environment;
mod light;

pub use environment::{Environment, EnvironmentMap, MapError, SkyLight};
pub use light::{AreaLamp, Light, PointLamp, SpotLamp, Sun};

/// Everything that lights a scene.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lighting {
    /// The sun and lamps.
    pub lights: Vec<Light>,
    /// What is seen where there is no surface.
    pub environment: Environment,
}

impl Lighting {
    /// Whether there is no light at all.
    pub fn is_dark(&self) -> bool {
        self.lights.is_empty() && self.environment == Environment::Dark
    }
}
