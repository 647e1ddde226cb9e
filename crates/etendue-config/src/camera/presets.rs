//! Cameras that come with the library.

use super::parse;
use crate::toml_file::{Document, nearest};
use etendue_sensors::camera::Camera;
use thiserror::Error;

/// A camera file that is part of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// What to call it on the command line.
    pub name: &'static str,
    /// The camera file.
    pub text: &'static str,
}

/// There is no preset of that name.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "unknown camera preset \"{name}\"; {}",
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
            text: include_str!(concat!("../../cameras/", $name, ".toml")),
        }),*]
    };
}

const PRESETS: &[Preset] = presets!["fisheye", "global-shutter", "ideal", "raspberry-pi-v2"];

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
/// use etendue_config::camera::preset;
/// assert_eq!(preset("ideal").unwrap().width, 640);
/// let error = preset("fish-eye").unwrap_err();
/// assert_eq!(error.suggestion.as_deref(), Some("fisheye"));
/// ```
pub fn preset(name: &str) -> Result<Camera, UnknownPreset> {
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
    fn every_preset_is_a_camera_that_can_be() {
        for found in presets() {
            let camera = preset(found.name).expect("a known name");
            assert_eq!(camera.check(), Ok(()), "{}", found.name);
        }
        assert!(
            preset("zzz")
                .expect_err("none")
                .to_string()
                .contains("ideal, ")
        );
    }
}
