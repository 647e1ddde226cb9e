//! The light sources of a scene.

use super::environment::Environment;
use super::light::Light;

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
