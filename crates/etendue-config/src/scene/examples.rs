//! Scenes that come with the program.

use super::{LoadedScene, parse};
use crate::ConfigError;
use crate::toml_file::{Document, nearest};
use thiserror::Error;

/// A scene file that is part of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example {
    /// What to call it on the command line.
    pub name: &'static str,
    /// The scene file.
    pub text: &'static str,
}

/// There is no example of that name.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "unknown scene \"{name}\"; {}",
    suggestion.as_ref().map_or_else(
        || "it is neither a file nor one of the examples".to_owned(),
        |near| format!("did you mean \"{near}\"?"),
    )
)]
pub struct UnknownExample {
    /// The name given.
    pub name: String,
    /// The example most like it.
    pub suggestion: Option<String>,
}

macro_rules! embedded {
    ($($name:literal),* $(,)?) => {
        &[$(Example {
            name: $name,
            text: include_str!(concat!("../../scenes/", $name, ".toml")),
        }),*]
    };
}

/// The examples that need no other file.
const EXAMPLES: &[Example] = embedded![
    "arena",
    "checkerboard",
    "glass-door",
    "mirror-corridor",
    "patio"
];

/// Every example that needs no other file.
pub fn examples() -> &'static [Example] {
    EXAMPLES
}

/// The example of that name.
///
/// # Errors
/// Where there is none; the error names the nearest.
pub fn example(name: &str) -> Result<Example, UnknownExample> {
    let found = EXAMPLES.iter().find(|example| example.name == name);
    found.copied().ok_or_else(|| UnknownExample {
        name: name.to_owned(),
        suggestion: nearest(name, EXAMPLES.iter().map(|example| example.name)),
    })
}

impl Example {
    /// Reads it.
    ///
    /// # Errors
    /// None in practice: every example is read by a test.
    pub fn load(self) -> Result<LoadedScene, ConfigError> {
        parse(&Document::new(format!("{}.toml", self.name), self.text))
    }
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
    EXAMPLES[0].load().expect("the tests read every example")
}
