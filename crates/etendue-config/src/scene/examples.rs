//! Embedded scenes.

use super::{LoadedScene, parse};
use crate::presets::{Preset, SCENES};
use crate::toml_file::UnknownName;

/// All embedded scenes.
pub fn examples() -> &'static [Preset] {
    SCENES.all()
}

/// The embedded scene with the name.
///
/// # Errors
/// If there is no such scene; the error contains the nearest name.
pub fn example(name: &str) -> Result<LoadedScene, UnknownName> {
    let document = SCENES.find(name)?.document();
    Ok(parse(&document).expect("embedded scenes are valid"))
}

/// The arena of Heiden et al. 2019, section IV: a room of 1.85 x 0.92 x 0.28 m with walls of
/// reflectance 0.8, a mirror and a glass pane.
///
/// ```
/// let arena = etendue_config::scene::arena();
/// assert_eq!(arena.scene.objects()[0].name, "room");
/// assert!(arena.sensor.is_some());
/// ```
pub fn arena() -> LoadedScene {
    example("arena").expect("the scene is one of the examples")
}
