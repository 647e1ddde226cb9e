//! Error of reading a configuration file.

use crate::toml_file::DocumentError;
use etendue_io::FormatError;
use etendue_scene::SceneError;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Error of reading a scene, sensor, robot or other TOML file.
///
/// The text contains the position and the problem; [`ConfigError::remedy`] describes the
/// correction.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A file cannot be read: the TOML file or a referenced mesh, image or table.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// A TOML file is invalid at a known position.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// The scene of a file cannot be built.
    #[error("{}: {source}", path.display())]
    Scene {
        /// The scene file.
        path: PathBuf,
        /// Error of the scene.
        source: SceneError,
    },
}

impl ConfigError {
    /// Remedy for the user.
    pub fn remedy(&self) -> String {
        match self {
            Self::Format(error) => error.remedy(),
            Self::Document(error) => error.remedy(),
            Self::Scene { .. } => "correct the named object, or remove it".into(),
        }
    }

    /// The TOML document and the position of the error, if it has one.
    pub fn document(&self) -> Option<&DocumentError> {
        match self {
            Self::Document(error) => Some(error),
            _ => None,
        }
    }

    /// Path of the file or folder.
    pub fn path(&self) -> &Path {
        match self {
            Self::Format(error) => error.path(),
            Self::Document(error) => error.path(),
            Self::Scene { path, .. } => path,
        }
    }
}
