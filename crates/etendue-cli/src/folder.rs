//! A folder of results that is written completely or not at all.

use crate::failure::Failure;
use crate::finite;
use crate::interrupt;
use crate::output::{commit_while_writing, list_written};
use etendue::io::output::OutputSet;
use etendue_plot::{Drawing, png, svg};
use serde::Serialize;
use std::path::{Path, PathBuf, is_separator};

/// Whether an output is the name of a file: it has an ending, and is neither a folder nor written as one, with a separator
/// at the end.
pub fn is_file_name(output: &Path) -> bool {
    let is_folder = output.is_dir() || output.to_string_lossy().ends_with(is_separator);
    output.extension().is_some() && !is_folder
}

/// Pixels per page unit.
const PNG_SCALE: f64 = 2.0;

/// Files of one folder; none exists before [`Folder::commit`].
pub struct Folder {
    path: PathBuf,
    files: Vec<(String, Vec<u8>)>,
}

impl Folder {
    /// The folder `path`, without files yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            files: Vec::new(),
        }
    }

    /// Adds a text file, whose numbers have to be finite.
    pub fn text(&mut self, name: &str, text: impl Into<String>) -> Result<(), Failure> {
        let text = text.into();
        finite::check_text(name, &text)?;
        self.files.push((name.into(), text.into_bytes()));
        Ok(())
    }

    /// Adds a file.
    pub fn bytes(&mut self, name: &str, content: Vec<u8>) {
        self.files.push((name.into(), content));
    }

    /// Adds a value as a JSON file.
    pub fn json(&mut self, name: &str, value: &impl Serialize) -> Result<(), Failure> {
        let text = finite::json(value)?;
        self.files.push((name.into(), text.into_bytes()));
        Ok(())
    }

    /// Adds a picture as `NAME.png` and `NAME.svg`.
    pub fn picture(&mut self, name: &str, drawing: &Drawing) -> Result<(), Failure> {
        let png = png::render(drawing, PNG_SCALE)?;
        self.files.push((format!("{name}.png"), png));
        self.text(&format!("{name}.svg"), svg::write(drawing))
    }

    /// Adds the files of another folder of the same path.
    pub fn append(&mut self, other: Self) {
        self.files.extend(other.files);
    }

    /// Writes every file, or none, and returns their paths.
    pub fn commit(self) -> Result<Vec<PathBuf>, Failure> {
        let _guard = interrupt::writing();
        let mut outputs = OutputSet::new();
        for (name, bytes) in &self.files {
            outputs.add(&self.path.join(name), |file| file.write_all(bytes))?;
            interrupt::check()?;
        }
        commit_while_writing(outputs)
    }

    /// Writes every file, or none, and prints their names on standard error.
    pub fn commit_and_list(self) -> Result<(), Failure> {
        list_written(&self.commit()?);
        Ok(())
    }
}
