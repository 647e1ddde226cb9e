//! Embedded sensors.

use super::{Sensor, parse};
use crate::presets::{Preset, SENSORS};
use crate::toml_file::UnknownName;

/// All sensor presets.
pub fn presets() -> &'static [Preset] {
    SENSORS.all()
}

/// The sensor preset with the name.
///
/// # Errors
/// If there is no such preset; the error contains the nearest name.
///
/// ```
/// use etendue_config::sensor::preset;
/// assert_eq!(preset("hokuyo-urg-04lx").unwrap().name, "Hokuyo URG-04LX");
/// let error = preset("hokuyo-urg04").unwrap_err();
/// assert_eq!(error.nearest().as_deref(), Some("hokuyo-urg-04lx"));
/// ```
pub fn preset(name: &str) -> Result<Sensor, UnknownName> {
    let document = SENSORS.find(name)?.document();
    Ok(parse(&document).expect("embedded presets are valid"))
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
