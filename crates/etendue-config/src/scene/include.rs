//! Scene files that a scene file includes.

use super::SceneFile;
use super::file::VERSION;
use crate::ConfigError;
use crate::toml_file::{Document, FileKind, TomlProblem, resolve};
use std::path::{Path, PathBuf};

/// A file of a scene: the scene file itself, or one that it includes.
pub(super) struct ScenePart {
    pub document: Document,
    pub file: SceneFile,
}

/// The scene file, then the files that it includes, each once, in the order in which they are named.
///
/// # Errors
/// If a file cannot be read or has an error, or includes itself.
pub(super) fn with_includes(document: &Document) -> Result<Vec<ScenePart>, ConfigError> {
    let mut reading = Reading {
        parts: Vec::new(),
        read: vec![canonical(document.path())],
    };
    reading.add(document, &[canonical(document.path())])?;
    Ok(reading.parts)
}

struct Reading {
    parts: Vec<ScenePart>,
    /// Canonical paths of the files that were read.
    read: Vec<PathBuf>,
}

impl Reading {
    /// Adds a file and those that it includes; `chain` has the paths from the scene file to this one.
    fn add(&mut self, document: &Document, chain: &[PathBuf]) -> Result<(), ConfigError> {
        let file: SceneFile = document.parse_as(FileKind::Scene)?;
        document.check_version(&file.version, VERSION)?;
        let included = file.include.clone();
        self.parts.push(ScenePart {
            document: document.clone(),
            file,
        });
        for name in &included {
            let path = resolve(document, name)?;
            let own = canonical(&path);
            if let Some(start) = chain.iter().position(|above| *above == own) {
                let names = chain[start..]
                    .iter()
                    .chain([&own])
                    .map(|path| file_name(path));
                let message = format!(
                    "the file includes itself: {}",
                    names.collect::<Vec<_>>().join(", ")
                );
                let problem = TomlProblem::value(message, "remove the file from one of the lists");
                return Err(document.error(name.span(), problem).into());
            }
            if !self.read.contains(&own) {
                self.read.push(own.clone());
                self.add(&Document::read(&path)?, &[chain, &[own]].concat())?;
            }
        }
        Ok(())
    }
}

/// The path without links; the path itself if there is no such file.
fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().display().to_string()
}
