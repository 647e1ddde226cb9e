//! Comparison of the sensors of a scene's noise profiles with the sensor of a simulation.

use super::LoadedScene;
use crate::profile::{UNNAMED, is_same_sensor};
use etendue_scene::MaterialId;

/// Returns a warning for each material whose profile was recorded with a sensor other than
/// `sensor`.
pub fn other_sensors(scene: &LoadedScene, sensor: &str) -> Vec<String> {
    let warning = |(number, material): (u32, &etendue_scene::NamedMaterial)| {
        let profile = scene.profiles.profile(MaterialId(number))?;
        let is_known = profile.sensor != UNNAMED && !profile.sensor.is_empty();
        (is_known && !is_same_sensor(&profile.sensor, sensor)).then(|| {
            format!(
                "the noise of material \"{}\" was recorded with a {}, not with a {sensor}: \
                 calibrate this sensor to use its own noise",
                material.name, profile.sensor
            )
        })
    };
    (0..)
        .zip(scene.scene.materials())
        .filter_map(warning)
        .collect()
}
