//! Embedded cameras.

use super::parse;
use crate::presets::{CAMERAS, Preset};
use crate::toml_file::UnknownName;
use etendue_sensors::camera::Camera;

/// All camera presets.
pub fn presets() -> &'static [Preset] {
    CAMERAS.all()
}

/// The camera preset with the name.
///
/// # Errors
/// If there is no such preset; the error contains the nearest name.
///
/// ```
/// use etendue_config::camera::preset;
/// assert_eq!(preset("ideal").unwrap().width, 640);
/// let error = preset("fish-eye").unwrap_err();
/// assert_eq!(error.nearest().as_deref(), Some("fisheye"));
/// ```
pub fn preset(name: &str) -> Result<Camera, UnknownName> {
    let document = CAMERAS.find(name)?.document();
    Ok(parse(&document).expect("embedded presets are valid"))
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
                .remedy()
                .contains("ideal, ")
        );
    }
}
