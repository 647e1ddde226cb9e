//! Light for scenes that say nothing of it.

use etendue::config::scene::{LoadedScene, daylight};
use etendue::physics::light::lamp_flux;
use etendue::scene::Ray;
use etendue::scene::lighting::{Light, PointLamp};
use nalgebra::{Isometry3, Vector3};
use std::f64::consts::PI;

/// Azimuth and elevation of the sun, haze and ground where the scene says nothing, rad.
const SUN: [f64; 4] = [2.4, 0.8, 0.08, 0.2];
/// Luminous flux (lm) and colour temperature (K) of a lamp on the camera.
const LAMP: [f64; 2] = [2000.0, 4500.0];

/// Lights a dark scene: by the sun and a clear sky where the sky is open above the camera, by a
/// lamp on the camera where it is not. Says so.
pub fn make_sure(loaded: &mut LoadedScene, world_from_camera: &Isometry3<f64>) -> Option<String> {
    if !loaded.lighting.is_dark() {
        return None;
    }
    let place = world_from_camera.translation.vector.into();
    let covered = loaded.scene.occluded(&Ray::new(place, Vector3::z()));
    if covered {
        let [flux, temperature] = LAMP;
        loaded.lighting.lights.push(Light::Point(PointLamp {
            position: place,
            intensity: lamp_flux(flux / (4.0 * PI), temperature),
        }));
        return Some(format!(
            "the scene has no [lights]: a lamp of {flux} lm is put where the camera is"
        ));
    }
    let [azimuth, elevation, haze, ground] = SUN;
    let (sun, sky) = daylight(azimuth, elevation, haze, ground)?;
    loaded.lighting.lights.push(sun);
    loaded.lighting.environment = sky;
    Some("the scene has no [lights]: it is lit by the sun in a clear sky".into())
}
