//! Embedded profiles.

use super::ProfileFile;
use crate::presets::{PROFILES, Preset};
use crate::toml_file::UnknownName;
use etendue_physics::profile::Profile;
use std::sync::{Arc, OnceLock};

/// An embedded profile.
#[derive(Clone, Debug, PartialEq)]
pub struct LibraryProfile {
    /// Name for the key `profile` of a material.
    pub name: &'static str,
    /// The profile file.
    pub file: ProfileFile,
    /// The profile.
    pub profile: Arc<Profile>,
}

/// All embedded profiles, by name: recordings by Kepets (2024) with an RPLIDAR A1 of panels at
/// distances below 0.4 m.
///
/// ```
/// use etendue_config::profile::library;
/// assert!(library().iter().all(|ready| !ready.file.provenance[0].source.is_empty()));
/// ```
pub fn library() -> &'static [LibraryProfile] {
    static LIBRARY: OnceLock<Vec<LibraryProfile>> = OnceLock::new();
    LIBRARY.get_or_init(|| PROFILES.all().iter().map(read).collect())
}

/// The embedded profile with the name.
///
/// # Errors
/// If there is no such profile; the error contains the nearest name.
pub fn find(name: &str) -> Result<&'static LibraryProfile, UnknownName> {
    let found = library().iter().find(|profile| profile.name == name);
    found.ok_or_else(|| PROFILES.unknown(name))
}

fn read(preset: &Preset) -> LibraryProfile {
    let name = preset.name;
    let file = super::parse(&preset.document())
        .unwrap_or_else(|error| panic!("the embedded profile {name} is invalid: {error}"));
    let profile = file
        .profile()
        .unwrap_or_else(|error| panic!("the embedded profile {name} is inconsistent: {error}"));
    LibraryProfile {
        name,
        file,
        profile: Arc::new(profile),
    }
}
