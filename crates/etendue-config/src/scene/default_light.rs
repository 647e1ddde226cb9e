//! Light for cameras in scenes without lights.

use super::daylight;
use etendue_physics::light::lamp_flux;
use etendue_scene::lighting::{Light, Lighting, PointLamp};
use etendue_scene::{CastScratch, Ray, Scene};
use nalgebra::{Isometry3, Vector3};
use std::f64::consts::PI;

/// Azimuth and elevation of the sun (rad), haze, and reflectance of the ground.
const SUN: [f64; 4] = [2.4, 0.8, 0.08, 0.2];
/// Luminous flux (lm) and colour temperature (K) of the lamp at the camera.
const LAMP: [f64; 2] = [2000.0, 4500.0];

/// Adds light for a camera to a scene without lights: the sun and a clear sky where nothing is above the camera,
/// else a lamp of 2000 lm at the camera. Returns a warning about it; `None` if the scene has lights.
///
/// # Example
/// ```
/// use etendue_config::scene::{arena, light_if_dark};
/// use etendue_scene::lighting::Lighting;
/// use nalgebra::Isometry3;
///
/// let mut lighting = Lighting::default();
/// let warning = light_if_dark(&arena().scene, &mut lighting, &Isometry3::identity());
/// assert!(warning.unwrap().contains("a lamp of 2000 lm at the camera"));
/// assert_eq!(light_if_dark(&arena().scene, &mut lighting, &Isometry3::identity()), None);
/// ```
pub fn light_if_dark(
    scene: &Scene,
    lighting: &mut Lighting,
    world_from_camera: &Isometry3<f64>,
) -> Option<String> {
    if !lighting.is_dark() {
        return None;
    }
    let position = world_from_camera.translation.vector.into();
    let upwards = Ray::new(position, Vector3::z());
    if scene.occluded(&upwards, &mut CastScratch::new()) {
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
