//! Sensors that come with the library.

use super::{Sensor, parse};
use crate::toml_file::{Document, nearest};
use thiserror::Error;

/// A sensor file that is part of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// What to call it on the command line.
    pub name: &'static str,
    /// The sensor file.
    pub text: &'static str,
}

/// There is no preset of that name.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "unknown sensor preset \"{name}\"; {}",
    suggestion.as_ref().map_or_else(
        || format!("there are: {}", names()),
        |near| format!("did you mean \"{near}\"?"),
    )
)]
pub struct UnknownPreset {
    /// The name given.
    pub name: String,
    /// The preset most like it.
    pub suggestion: Option<String>,
}

macro_rules! presets {
    ($($name:literal),* $(,)?) => {
        &[$(Preset {
            name: $name,
            text: include_str!(concat!("../../sensors/", $name, ".toml")),
        }),*]
    };
}

const PRESETS: &[Preset] = presets![
    "hesai-pandar40p",
    "hesai-xt32",
    "hokuyo-urg-04lx",
    "hokuyo-ust-10lx",
    "hokuyo-utm-30lx",
    "livox-avia",
    "livox-mid-360",
    "ouster-os0-128",
    "ouster-os1-128",
    "ouster-os1-64",
    "sick-lms-111",
    "sick-lms-291",
    "slamtec-rplidar-a1",
    "slamtec-rplidar-a2",
    "slamtec-rplidar-c1",
    "velodyne-hdl-32e",
    "velodyne-hdl-64e",
    "velodyne-vlp-16",
    "velodyne-vlp-32c",
];

/// Every preset.
pub fn presets() -> &'static [Preset] {
    PRESETS
}

/// The preset of that name.
///
/// # Errors
/// Where there is none; the error names the nearest.
///
/// ```
/// use etendue_config::sensor::preset;
/// assert_eq!(preset("hokuyo-urg-04lx").unwrap().name, "Hokuyo URG-04LX");
/// let error = preset("hokuyo-urg04").unwrap_err();
/// assert_eq!(error.suggestion.as_deref(), Some("hokuyo-urg-04lx"));
/// ```
pub fn preset(name: &str) -> Result<Sensor, UnknownPreset> {
    let Some(found) = PRESETS.iter().find(|preset| preset.name == name) else {
        return Err(UnknownPreset {
            name: name.to_owned(),
            suggestion: nearest(name, PRESETS.iter().map(|preset| preset.name)),
        });
    };
    let document = Document::new(format!("{name}.toml"), found.text);
    Ok(parse(&document).expect("the tests read every preset"))
}

fn names() -> String {
    let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
    names.join(", ")
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
        assert!(error.to_string().contains("hokuyo-urg-04lx, "));
    }
}
