//! Why a configuration file could not be read.

use crate::toml_file::DocumentError;
use etendue_io::FormatError;
use etendue_scene::SceneError;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a scene, sensor, robot or other TOML file could not be read.
///
/// The text names the problem and its place; [`ConfigError::remedy`] describes the correction.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A file cannot be read: the TOML file, or a mesh, picture or table that it names.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// A TOML file is wrong at a known place.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// The scene that a file describes cannot be built.
    #[error("{}: {source}", path.display())]
    Scene {
        /// The scene file.
        path: PathBuf,
        /// What is wrong.
        source: SceneError,
    },
}

impl ConfigError {
    /// Remedy: what the user can do.
    pub fn remedy(&self) -> String {
        match self {
            Self::Format(error) => error.remedy(),
            Self::Document(error) => error.remedy(),
            Self::Scene { .. } => "correct the named object, or leave it out".into(),
        }
    }

    /// The TOML document and the place in it, where the error has one.
    pub fn document(&self) -> Option<&DocumentError> {
        match self {
            Self::Document(error) => Some(error),
            _ => None,
        }
    }

    /// The file or folder it is about.
    pub fn path(&self) -> &Path {
        match self {
            Self::Format(error) => error.path(),
            Self::Document(error) => error.path(),
            Self::Scene { path, .. } => path,
        }
    }
}
