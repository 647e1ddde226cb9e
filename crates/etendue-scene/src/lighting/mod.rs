//! Light sources other than the sensor: the sun, the sky, lamps.
//!
//! Cameras need them; lidars see them as ambient light. Lamps have no geometry: area lamps are visible,
//! and no lamp occludes a ray.

mod environment;
mod light;
mod sources;

pub use environment::{Environment, EnvironmentMap, MapError, SkyLight};
pub use light::{AreaLamp, Light, PointLamp, SpotLamp, Sun};
pub use sources::Lighting;
