//! A file of the session: its text, and the text that is saved.

use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Text of a scene or sensor file as it is edited.
#[derive(Clone, Debug, PartialEq)]
pub struct TextFile {
    /// Word by which the command line names the saved text: a path or the name of a preset.
    pub word: String,
    /// Path at which the text is saved. Relative paths in the text are relative to its folder.
    pub path: PathBuf,
    /// Saved text, or the text of the preset.
    pub saved: Arc<str>,
    /// Text as it is edited.
    pub text: Arc<str>,
}

impl TextFile {
    /// A saved text.
    pub fn new(word: impl Into<String>, path: impl Into<PathBuf>, text: &str) -> Self {
        let text: Arc<str> = text.into();
        Self {
            word: word.into(),
            path: path.into(),
            saved: text.clone(),
            text,
        }
    }

    /// Whether the text differs from the saved one.
    pub fn is_changed(&self) -> bool {
        self.text != self.saved
    }

    /// Word of the command line that names the text as it is edited, once it is saved.
    pub fn word_when_saved(&self) -> String {
        if self.is_changed() {
            self.save_path().display().to_string()
        } else {
            self.word.clone()
        }
    }

    /// Path at which the text would be saved: its own file, or a new one for a preset.
    pub fn save_path(&self) -> PathBuf {
        if self.is_file() {
            return self.path.clone();
        }
        let stem = self
            .path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let numbered = (2..).map(|number| format!("{stem}-{number}"));
        let mut names = std::iter::once(stem.clone()).chain(numbered);
        let free = names.find_map(|name| {
            let path = self.path.with_file_name(format!("{name}.toml"));
            (!path.exists()).then_some(path)
        });
        free.unwrap_or_else(|| self.path.clone())
    }

    /// Whether the saved text is a file, and no preset.
    pub fn is_file(&self) -> bool {
        Path::new(&self.word) == self.path
    }

    /// Marks the text as saved at a path.
    pub fn mark_saved(&mut self, path: &Path) {
        self.word = path.display().to_string();
        path.clone_into(&mut self.path);
        self.saved = self.text.clone();
    }
}
