//! Ready profiles, embedded as files.

use super::ProfileFile;
use crate::presets::{PROFILES, Preset};
use crate::toml_file::UnknownName;
use etendue_physics::profile::Profile;
use std::sync::{Arc, OnceLock};

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

/// Every ready profile, by name. All are of recordings by Kepets (2024) with an RPLIDAR A1, panels
/// nearer than 0.4 m.
///
/// ```
/// use etendue_config::profile::library;
/// assert!(library().iter().all(|ready| !ready.file.provenance[0].source.is_empty()));
/// ```
pub fn library() -> &'static [LibraryProfile] {
    static LIBRARY: OnceLock<Vec<LibraryProfile>> = OnceLock::new();
    LIBRARY.get_or_init(|| PROFILES.all().iter().map(read).collect())
}

/// The ready profile of that name.
///
/// # Errors
/// If there is none; with the nearest name.
pub fn find(name: &str) -> Result<&'static LibraryProfile, UnknownName> {
    let found = library().iter().find(|profile| profile.name == name);
    found.ok_or_else(|| PROFILES.unknown(name))
}

fn read(preset: &Preset) -> LibraryProfile {
    let name = preset.name;
    let file = super::parse(&preset.document())
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
