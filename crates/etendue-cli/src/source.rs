//! Where scenes and sensors come from: the user's files, or what is built in.

use crate::failure::Failure;
use etendue::formats::output::SourceMetadata;
use etendue::formats::scene::{LoadedScene, arena, load_scene};
use etendue::formats::sensor::{self, Sensor, preset, presets};
use sha2::{Digest, Sha256};
use std::path::Path;

/// The scene of a file, or the built-in arena.
pub fn scene(file: Option<&Path>) -> Result<LoadedScene, Failure> {
    Ok(match file {
        Some(file) => load_scene(file)?,
        None => arena(),
    })
}

/// The sensor of that file or preset: whatever ends in `.toml` or exists is a file.
pub fn sensor(name: &str) -> Result<(Sensor, SourceMetadata), Failure> {
    let path = Path::new(name);
    let is_file = path.extension().is_some_and(|ending| ending == "toml") || path.is_file();
    let (sensor, text) = if is_file {
        (sensor::load(path)?, std::fs::read(path).unwrap_or_default())
    } else {
        let known = presets().iter().find(|known| known.name == name);
        (preset(name)?, known.map_or_else(Vec::new, |known| known.text.into()))
    };
    let metadata = SourceMetadata {
        name: sensor.name.clone(),
        file: is_file.then(|| name.into()),
        sha256: format!("{:x}", Sha256::digest(&text)),
    };
    Ok((sensor, metadata))
}
