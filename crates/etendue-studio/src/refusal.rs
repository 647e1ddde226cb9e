//! Why a request of the page is not carried out.

use etendue::config::ConfigError;
use etendue::config::toml_file::UnknownName;
use etendue::io::FormatError;
use etendue::sensors::transport::WorldError;
use serde::Serialize;
use thiserror::Error;

/// A refused request: the problem and its remedy.
#[derive(Clone, Debug, Error, PartialEq, Eq, Serialize)]
#[error("{message}")]
pub struct Refusal {
    /// Problem, with its place in a file where it has one.
    pub message: String,
    /// Remedy.
    pub remedy: String,
}

impl Refusal {
    /// A refusal with its remedy.
    pub fn new(message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            remedy: remedy.into(),
        }
    }

    /// The refusal where no thread can be started.
    pub(crate) fn no_thread(error: &std::io::Error) -> Self {
        Self::new(
            format!("no thread can be started: {error}"),
            "end other programs",
        )
    }
}

impl From<ConfigError> for Refusal {
    fn from(error: ConfigError) -> Self {
        Self::new(error.to_string(), error.remedy())
    }
}

impl From<UnknownName> for Refusal {
    fn from(error: UnknownName) -> Self {
        Self::new(error.to_string(), error.remedy())
    }
}

impl From<FormatError> for Refusal {
    fn from(error: FormatError) -> Self {
        Self::new(error.to_string(), error.remedy())
    }
}

impl From<WorldError> for Refusal {
    fn from(error: WorldError) -> Self {
        let remedy = "choose another material, or a sensor of another wavelength";
        Self::new(error.to_string(), remedy)
    }
}
