//! Noise profiles: versioned text files, and the embedded ones.
//!
//! A file contains a [`Profile`] over incidence with intervals and counts, the recordings of the
//! calibration ([`Provenance`]) and the quality of the fit ([`Quality`]). Row i of all columns of
//! `[knots]`, and of the optional `[glare]`, is one knot. Lengths are in mm, angles in degrees.

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
    Provenance, Quality, ReflectanceFile, StepFile, VerdictFile,
};
pub use library::{LibraryProfile, find, library};
pub(crate) use sensor_name::UNNAMED;
pub use sensor_name::is_same_sensor;

use crate::ConfigError;
use crate::toml_file::{Document, DocumentError, FileKind, TomlProblem, UnknownName};
use etendue_physics::profile::{InvalidProfile, Profile};
use std::path::Path;
use std::sync::Arc;

/// Supported version of the format.
pub const VERSION: u32 = 1;

/// Reads a profile file.
///
/// # Errors
/// If the file cannot be read or its values are inconsistent.
pub fn load(path: &Path) -> Result<ProfileFile, ConfigError> {
    let document = Document::read(path)?;
    let file = parse(&document)?;
    Ok(file)
}

/// Parses a profile file.
///
/// # Errors
/// If the text is not a profile of this version, or its values are inconsistent.
pub fn parse(document: &Document) -> Result<ProfileFile, DocumentError> {
    let file: ProfileFile = document.parse_as(FileKind::Profile)?;
    let found = file.version;
    let known = VERSION;
    if found != known {
        return Err(document.error(0..0, TomlProblem::Version { found, known }));
    }
    let fail = |message: String| {
        document.error(
            0..0,
            TomlProblem::value(message, "calibrate again, or correct the file"),
        )
    };
    let profile = file.profile().map_err(&fail)?;
    profile.check().map_err(|error| match error {
        InvalidProfile::Incidence(_) => fail(format!("incidence_deg: {error}")),
        error => fail(error.to_string()),
    })?;
    Ok(file)
}

/// Loads a profile file (a name that ends in `.toml`, relative to `folder`) or the embedded profile
/// with the name.
///
/// # Errors
/// If there is no such profile, or the file is invalid.
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

/// Error of resolving the name of a profile.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// The file is invalid.
    #[error(transparent)]
    File(#[from] ConfigError),
    /// The library has no profile with the name.
    #[error("{}; {}", .0, .0.remedy())]
    Unknown(#[from] UnknownName),
    /// Values are inconsistent.
    #[error("{0}")]
    Value(String),
}
