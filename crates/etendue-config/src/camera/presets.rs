//! Cameras that come with the library.

use super::parse;
use crate::presets::{CAMERAS, Preset};
use crate::toml_file::UnknownName;
use etendue_sensors::camera::Camera;

/// Every camera preset.
pub fn presets() -> &'static [Preset] {
    CAMERAS.all()
}

/// The camera preset of that name.
///
/// # Errors
/// If there is none; the error names the nearest.
///
/// ```
/// use etendue_config::camera::preset;
/// assert_eq!(preset("ideal").unwrap().width, 640);
/// let error = preset("fish-eye").unwrap_err();
/// assert_eq!(error.nearest().as_deref(), Some("fisheye"));
/// ```
pub fn preset(name: &str) -> Result<Camera, UnknownName> {
    let document = CAMERAS.find(name)?.document();
    Ok(parse(&document).expect("the tests read every preset"))
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
