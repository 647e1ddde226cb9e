//! Default light of scenes without lights.

use etendue::config::scene::daylight;
use etendue::physics::light::lamp_flux;
use etendue::scene::lighting::{Light, Lighting, PointLamp};
use etendue::scene::{CastScratch, Ray, Scene};
use nalgebra::{Isometry3, Vector3};
use std::f64::consts::PI;

/// Azimuth and elevation of the sun (rad), haze, and reflectance of the ground, by default.
const SUN: [f64; 4] = [2.4, 0.8, 0.08, 0.2];
/// Luminous flux (lm) and colour temperature (K) of a lamp at the camera.
const LAMP: [f64; 2] = [2000.0, 4500.0];

/// Adds light to a scene without any: the sun and a clear sky where nothing is above the camera,
/// else a lamp at the camera. Returns a warning about it.
pub fn light_if_dark(
    scene: &Scene,
    lighting: &mut Lighting,
    world_from_camera: &Isometry3<f64>,
) -> Option<String> {
    let mut scratch = CastScratch::new();
    if !lighting.is_dark() {
        return None;
    }
    let position = world_from_camera.translation.vector.into();
    let covered = scene.occluded(&Ray::new(position, Vector3::z()), &mut scratch);
    if covered {
        let [flux, temperature] = LAMP;
        lighting.lights.push(Light::Point(PointLamp {
            position,
            intensity: lamp_flux(flux / (4.0 * PI), temperature),
        }));
        return Some(format!(
            "the scene has no [lights]: it is lit by a lamp of {flux} lm at the camera"
        ));
    }
    let [azimuth, elevation, haze, ground] = SUN;
    let (sun, sky) = daylight(azimuth, elevation, haze, ground)?;
    lighting.lights.push(sun);
    lighting.environment = sky;
    Some("the scene has no [lights]: it is lit by the sun in a clear sky".into())
}
