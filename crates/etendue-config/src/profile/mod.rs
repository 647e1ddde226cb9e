//! Noise profiles: readable, versioned files, and the ready ones.
//!
//! A file holds a [`Profile`] over incidence with intervals and
//! counts, where it was recorded ([`Provenance`]) and how good the fit is ([`Quality`]). Columns of
//! `[knots]`, and of `[glare]` where there is one, go together; lengths are millimetres, angles degrees.

mod calibration_setup;
mod convert;
mod file;
mod library;
mod sensor_name;

pub use calibration_setup::{
    CalibrationSetup, CalibrationSetupFile, KindName, PanelTable, SetupPanel,
    load_calibration_setup,
};
pub use file::{
    CorrelationFile, GlareFile, GlossPart, IntensityFile, KnotsFile, LawFile, ProfileFile,
    Provenance, Quality, ReflectanceFile, StepFile,
};
pub use library::{LibraryProfile, find, library};
pub use sensor_name::{is_same_sensor, other_sensors};

use crate::ConfigError;
use crate::toml_file::{Document, DocumentError, Problem, UnknownName};
use etendue_physics::profile::Profile;
use std::path::Path;
use std::sync::Arc;

/// The version of the format that is read.
pub const VERSION: u32 = 1;

/// Reads a profile file.
///
/// # Errors
/// Where it cannot be read, or makes no sense.
pub fn load(path: &Path) -> Result<ProfileFile, ConfigError> {
    let document = Document::read(path)?;
    let file = parse(&document)?;
    Ok(file)
}

/// The profile that a document describes.
///
/// # Errors
/// Where the text is no profile of this version, or its numbers make no sense.
pub fn parse(document: &Document) -> Result<ProfileFile, DocumentError> {
    let file: ProfileFile = document.parse()?;
    let found = file.version;
    let known = VERSION;
    if found != known {
        return Err(document.error(0..0, Problem::Version { found, known }));
    }
    let fail = |message: String| {
        document.error(
            0..0,
            Problem::value(message, "calibrate again, or correct the file"),
        )
    };
    let profile = file.profile().map_err(&fail)?;
    profile.check().map_err(|error| fail(error.to_string()))?;
    Ok(file)
}

/// The profile of a file (a name that ends in `.toml`, from `folder`) or of that name in the
/// library.
///
/// # Errors
/// Where there is none, or the file is wrong.
pub fn resolve(name: &str, folder: &Path) -> Result<Arc<Profile>, ResolveError> {
    let is_file = Path::new(name)
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("toml"));
    if is_file {
        let file = load(&folder.join(name))?;
        return Ok(Arc::new(file.profile().map_err(ResolveError::Value)?));
    }
    Ok(Arc::clone(&find(name)?.profile))
}

/// Why there is no profile of that name.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// Its file is wrong.
    #[error(transparent)]
    File(#[from] ConfigError),
    /// The library has none of that name.
    #[error("{}; {}", .0, .0.remedy())]
    Unknown(#[from] UnknownName),
    /// A value makes no sense.
    #[error("{0}")]
    Value(String),
}
