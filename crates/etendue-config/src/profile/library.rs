//! Ready profiles, embedded as files.

use super::ProfileFile;
use crate::toml_file::{Document, nearest};
use etendue_physics::profile::Profile;
use std::sync::{Arc, OnceLock};
use thiserror::Error;

/// A ready profile.
#[derive(Clone, Debug, PartialEq)]
pub struct LibraryProfile {
    /// The name that a material's `profile` takes.
    pub name: &'static str,
    /// The file it was read from.
    pub file: ProfileFile,
    /// The profile.
    pub profile: Arc<Profile>,
}

/// A name that is not in the library.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("there is no ready profile \"{name}\"{}", suggestion(nearest.as_deref()))]
pub struct UnknownProfile {
    /// The name asked for.
    pub name: String,
    /// The ready profile with the most similar name, if one is similar at all.
    pub nearest: Option<String>,
}

fn suggestion(nearest: Option<&str>) -> String {
    match nearest {
        Some(nearest) => format!("; did you mean \"{nearest}\"?"),
        None => format!(
            "; there are {}; files end in .toml",
            FILES.map(|f| f.0).join(", ")
        ),
    }
}

macro_rules! embedded {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../profiles/", $name, ".toml")))),*]
    };
}

const FILES: [(&str, &str); 5] = embedded![
    "rplidar-a1-acrylic",
    "rplidar-a1-metal",
    "rplidar-a1-metal2",
    "rplidar-a1-wall",
    "rplidar-a1-wood",
];

/// Every ready profile, by name. All are of recordings by Kepets (2024) with an RPLIDAR A1, panels
/// nearer than 0.4 m.
///
/// ```
/// use etendue_config::profile::library;
/// assert!(library().iter().all(|ready| !ready.file.provenance[0].source.is_empty()));
/// ```
pub fn library() -> &'static [LibraryProfile] {
    static LIBRARY: OnceLock<Vec<LibraryProfile>> = OnceLock::new();
    LIBRARY.get_or_init(|| FILES.iter().map(|(name, text)| read(name, text)).collect())
}

/// The ready profile of that name.
///
/// # Errors
/// Where there is none; with the nearest name.
pub fn find(name: &str) -> Result<&'static LibraryProfile, UnknownProfile> {
    let found = library().iter().find(|profile| profile.name == name);
    found.ok_or_else(|| UnknownProfile {
        name: name.to_owned(),
        nearest: nearest(name, FILES.map(|(name, _)| name)),
    })
}

fn read(name: &'static str, text: &str) -> LibraryProfile {
    let document = Document::new(format!("{name}.toml"), text);
    let file = super::parse(&document)
        .unwrap_or_else(|error| panic!("the tests read every embedded file; {name}: {error}"));
    let profile = file
        .profile()
        .unwrap_or_else(|error| panic!("the tests check every embedded file; {name}: {error}"));
    LibraryProfile {
        name,
        file,
        profile: Arc::new(profile),
    }
}
