//! Scenes that come with the library.

use super::{LoadedScene, parse};
use crate::presets::{Preset, SCENES};
use crate::toml_file::UnknownName;

/// Every scene that needs no other file.
pub fn examples() -> &'static [Preset] {
    SCENES.all()
}

/// The scene of that name.
///
/// # Errors
/// If there is none; the error names the nearest.
pub fn example(name: &str) -> Result<LoadedScene, UnknownName> {
    let document = SCENES.find(name)?.document();
    Ok(parse(&document).expect("the tests read every example"))
}

/// The arena of Heiden et al. 2019, section IV: a room of 1.85 x 0.92 x 0.28 m with walls of
/// reflectance 0.8, a mirror and a pane.
///
/// ```
/// let arena = etendue_config::scene::arena();
/// assert_eq!(arena.scene.objects()[0].name, "room");
/// assert!(arena.sensor.is_some());
/// ```
pub fn arena() -> LoadedScene {
    example("arena").expect("the scene is one of the examples")
}
