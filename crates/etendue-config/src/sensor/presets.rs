//! Sensors that come with the library.

use super::{Sensor, parse};
use crate::presets::{Preset, SENSORS};
use crate::toml_file::UnknownName;

/// Every sensor preset.
pub fn presets() -> &'static [Preset] {
    SENSORS.all()
}

/// The sensor preset of that name.
///
/// # Errors
/// If there is none; the error names the nearest.
///
/// ```
/// use etendue_config::sensor::preset;
/// assert_eq!(preset("hokuyo-urg-04lx").unwrap().name, "Hokuyo URG-04LX");
/// let error = preset("hokuyo-urg04").unwrap_err();
/// assert_eq!(error.nearest().as_deref(), Some("hokuyo-urg-04lx"));
/// ```
pub fn preset(name: &str) -> Result<Sensor, UnknownName> {
    let document = SENSORS.find(name)?.document();
    Ok(parse(&document).expect("the tests read every preset"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_a_valid_sensor_with_sources() {
        assert!(!presets().is_empty());
        for found in presets() {
            let sensor = preset(found.name).expect("a known name");
            assert!(!sensor.sources.is_empty(), "{}", found.name);
            assert!(!sensor.description.is_empty(), "{}", found.name);
        }
    }

    #[test]
    fn a_name_like_no_other_gets_the_list() {
        let error = preset("zzz").expect_err("no such preset");
        assert!(error.remedy().contains("hokuyo-urg-04lx, "));
    }
}
