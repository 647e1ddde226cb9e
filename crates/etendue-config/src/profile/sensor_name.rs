//! Comparison of the sensor of a profile with the sensor of a simulation.

use crate::scene::LoadedScene;
use etendue_scene::MaterialId;

/// Name of the sensor in a calibration setup without a name.
const UNNAMED: &str = "sensor";

/// Whether two names identify the same sensor: the letters and digits of one contain those of the
/// other. For example, "RPLIDAR A1" matches "Slamtec RPLIDAR A1M8".
///
/// ```
/// use etendue_config::profile::is_same_sensor;
/// assert!(is_same_sensor("Slamtec RPLIDAR A1", "slamtec-rplidar-a1"));
/// assert!(!is_same_sensor("Slamtec RPLIDAR A1", "Slamtec RPLIDAR A2M8"));
/// ```
pub fn is_same_sensor(a: &str, b: &str) -> bool {
    let plain = |name: &str| -> String {
        name.chars()
            .filter(|letter| letter.is_alphanumeric())
            .flat_map(char::to_lowercase)
            .collect()
    };
    let a = plain(a);
    let b = plain(b);
    a.contains(&b) || b.contains(&a)
}

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
