//! Stated uncertainty of the poses of a sequence, in `pose_uncertainty.toml` next to its scans.
//!
//! ```toml
//! version = 1
//! position_sd_m = 0.01     # standard deviation of each component of the position
//! rotation_sd_deg = 0.2    # standard deviation of each component of the rotation vector
//! ```

use crate::ConfigError;
use crate::toml_file::{Document, DocumentError, TomlProblem};
use etendue_calibrate::depth::PosePrior;
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::Path;
use toml::Spanned;

/// Name of the file.
pub const FILE: &str = "pose_uncertainty.toml";

/// Supported version of the format.
const VERSION: u32 = 1;

/// Uncertainty of the poses of a sequence.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoseUncertaintyFile {
    /// Version of this format: 1.
    #[schemars(with = "u32")]
    pub version: Spanned<u32>,
    /// Standard deviation of each component of the position, above zero.
    #[schemars(with = "f64")]
    #[schemars(range(min = 1e-09))]
    pub position_sd_m: Spanned<f64>,
    /// Standard deviation of each component of the rotation vector, above zero.
    #[schemars(with = "f64")]
    #[schemars(range(min = 1e-09))]
    pub rotation_sd_deg: Spanned<f64>,
}

/// Reads the file [`FILE`] of a folder of scans; `None` if there is none.
///
/// # Errors
/// If it cannot be read, or its content is invalid; the error contains the position.
pub fn beside(sequence: &Path) -> Result<Option<PosePrior>, ConfigError> {
    let path = sequence.join(FILE);
    if !path.is_file() {
        return Ok(None);
    }
    Ok(Some(parse(&Document::read(&path)?)?))
}

/// Parses the content of the file.
///
/// ```
/// use etendue_config::pose_uncertainty::parse;
/// use etendue_config::toml_file::Document;
/// let text = "version = 1\nposition_sd_m = 0.01\nrotation_sd_deg = 0.2\n";
/// let prior = parse(&Document::new("pose_uncertainty.toml", text))?;
/// assert_eq!(prior.position, 0.01);
/// let zero = text.replace("0.01", "0");
/// assert!(parse(&Document::new("pose_uncertainty.toml", zero)).is_err());
/// # Ok::<(), etendue_config::toml_file::DocumentError>(())
/// ```
///
/// # Errors
/// If it is not TOML, has unknown or missing keys, or a standard deviation is not above zero.
pub fn parse(document: &Document) -> Result<PosePrior, DocumentError> {
    let file: PoseUncertaintyFile = document.parse()?;
    document.check_version(&file.version, VERSION)?;
    let positive = |value: &Spanned<f64>| {
        let sd = *value.get_ref();
        if sd > 0.0 && sd.is_finite() {
            return Ok(sd);
        }
        let problem = TomlProblem::value(
            "the standard deviation is not above zero",
            "give a small positive number; to hold the poses fixed, use --poses-move fixed",
        );
        Err(document.error(value.span(), problem))
    };
    Ok(PosePrior {
        position: positive(&file.position_sd_m)?,
        rotation: positive(&file.rotation_sd_deg)?.to_radians(),
    })
}
