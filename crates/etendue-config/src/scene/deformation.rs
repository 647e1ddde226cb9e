//! Deformations of mesh objects in scene files.

use super::mesh_object::{MeshFiles, shaped};
use super::shape::MeshShape;
use crate::ConfigError;
use crate::toml_file::{Document, TomlProblem};
use crate::toml_file::{locate, resolve};
use etendue_io::{FileLocation, FormatError};
use etendue_scene::{Deformation, VertexFrame};
use schemars::JsonSchema;
use serde::Deserialize;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// Deformation of the vertices of a mesh file: `deformation.files = { .. }` or
/// `deformation.key_frames = { .. }`. Positions are interpolated linearly between two files.
/// Scanning lidars measure the deformation; other sensors use the positions at time zero.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeformationTable {
    /// Numbered mesh files, evenly spaced in time.
    Files(NumberedFilesTable),
    /// Mesh files at given times.
    KeyFrames(VertexFramesTable),
}

/// Numbered mesh files: `walk_001.obj`, `walk_002.obj` ...
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NumberedFilesTable {
    /// Name pattern relative to the folder of the scene file, with a `*` for the number. All files
    /// have the triangles of the object's own file.
    #[schemars(with = "String")]
    pub pattern: Spanned<String>,
    /// Time between two files.
    #[schemars(with = "f64")]
    pub interval_s: Spanned<f64>,
    /// Time of the first file.
    #[serde(default)]
    pub start_s: f64,
    /// Whether the deformation repeats after the last file, which must equal the first. Without
    /// repetition, the vertices are static before the first and after the last file.
    #[serde(default)]
    pub repeat: bool,
}

/// Mesh files at times.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VertexFramesTable {
    /// The files, in chronological order.
    #[schemars(with = "Vec<VertexFrameTable>")]
    pub frames: Spanned<Vec<Spanned<VertexFrameTable>>>,
    /// Whether the deformation repeats after the last file.
    #[serde(default)]
    pub repeat: bool,
}

/// A mesh file at a time.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VertexFrameTable {
    /// Time from the start of the run.
    pub time_s: f64,
    /// A mesh file with the triangles of the object's own file.
    #[schemars(with = "String")]
    pub file: Spanned<String>,
}

/// A key frame before its file is read, with its position in the document.
struct Planned {
    time: f64,
    path: PathBuf,
    span: Range<usize>,
}

impl DeformationTable {
    /// Converts the table to the deformation of an object with the shape.
    pub(super) fn deformation(
        &self,
        document: &Document,
        shape: &MeshShape,
        files: &mut MeshFiles,
    ) -> Result<Deformation, ConfigError> {
        // Plan the frames
        let (planned, repeats, all) = match self {
            Self::Files(table) => (table.planned(document)?, table.repeat, table.pattern.span()),
            Self::KeyFrames(table) => (table.planned(document)?, table.repeat, table.frames.span()),
        };
        // Read the vertices; all files must have the same triangles
        let base = files.get(resolve(document, &shape.file)?)?;
        let mut frames = Vec::new();
        for Planned { time, path, .. } in &planned {
            let file = files.get(path.clone())?;
            if file.mesh.triangles != base.mesh.triangles {
                return Err(other_triangles(path, shape.file.get_ref()).into());
            }
            frames.push(VertexFrame {
                time: *time,
                vertices: shaped(document, shape, &file)?.vertices,
            });
        }
        // Check the times; an error refers to a key frame
        Deformation::new(frames, repeats).map_err(|error| {
            let frame = error.frame().map(|frame| planned[frame].span.clone());
            let remedy = "use files with the same triangles, at increasing times";
            let problem = TomlProblem::value(error.to_string(), remedy);
            document.error(frame.unwrap_or(all), problem).into()
        })
    }
}

fn other_triangles(path: &Path, base: &str) -> FormatError {
    FormatError::malformed(
        path,
        FileLocation::File,
        format!("the triangles differ from those of {base}"),
        "export all key frames from one model, with the same triangles in the same order",
    )
}

impl VertexFramesTable {
    fn planned(&self, document: &Document) -> Result<Vec<Planned>, ConfigError> {
        let plan = |table: &Spanned<VertexFrameTable>| {
            Ok(Planned {
                time: table.get_ref().time_s,
                path: resolve(document, &table.get_ref().file)?,
                span: table.span(),
            })
        };
        self.frames.get_ref().iter().map(plan).collect()
    }
}

impl NumberedFilesTable {
    fn planned(&self, document: &Document) -> Result<Vec<Planned>, ConfigError> {
        let interval = *self.interval_s.get_ref();
        if !(interval > 0.0 && interval.is_finite() && self.start_s.is_finite()) {
            let message = format!("the interval is {interval} s, the start {} s", self.start_s);
            let problem = TomlProblem::value(
                message,
                "write the time between two files, for example 0.04",
            );
            return Err(document.error(self.interval_s.span(), problem).into());
        }
        let numbered = self.numbered(document)?;
        let plan = |(number, path): (usize, PathBuf)| Planned {
            time: self.start_s + interval * number as f64,
            path,
            span: self.pattern.span(),
        };
        Ok(numbered.into_iter().enumerate().map(plan).collect())
    }

    /// Files that match the pattern, in the order of their numbers.
    fn numbered(&self, document: &Document) -> Result<Vec<PathBuf>, ConfigError> {
        // Split the pattern at its *
        let wrong = |message: String| {
            let remedy = "write the name of the files with a * for the number: \"walk_*.obj\"";
            document.error(self.pattern.span(), TomlProblem::value(message, remedy))
        };
        let pattern = locate(document, &self.pattern)?;
        let name = pattern.file_name().unwrap_or_default().to_string_lossy();
        let Some((before, after)) = name.split_once('*') else {
            return Err(wrong(format!("\"{name}\" has no *")).into());
        };
        // Collect the files that match, with their number
        let folder = pattern.parent().filter(|folder| folder.as_os_str() != "");
        let folder = folder.unwrap_or(Path::new("."));
        let cannot_read = |source| FormatError::cannot_read(folder, source);
        let mut found = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(cannot_read)? {
            let path = entry.map_err(cannot_read)?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let rest = name.strip_prefix(before);
            let number = rest.and_then(|rest| rest.strip_suffix(after)?.parse::<u64>().ok());
            found.extend(number.map(|number| (number, path.clone())));
        }
        // Sort them by number
        if found.is_empty() {
            return Err(wrong(format!("no file matches {}", pattern.display())).into());
        }
        found.sort();
        Ok(found.into_iter().map(|(_, path)| path).collect())
    }
}
