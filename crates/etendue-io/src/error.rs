//! Error of reading or writing a file.

use std::fmt;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Position of an error in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileLocation {
    /// The file as a whole.
    File,
    /// A line, counted from 1.
    Line(usize),
    /// A line and a column (in characters), both counted from 1.
    LineColumn(usize, usize),
    /// A byte, counted from 0.
    Byte(usize),
    /// A numbered element, for example a vertex or a face, counted from 0.
    Element(&'static str, usize),
}

impl fmt::Display for FileLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File => Ok(()),
            Self::Line(line) => write!(f, ", line {line}"),
            Self::LineColumn(line, column) => write!(f, ", line {line}, column {column}"),
            Self::Byte(byte) => write!(f, ", byte {byte}"),
            Self::Element(kind, number) => write!(f, ", {kind} {number}"),
        }
    }
}

/// Error of reading or writing a file.
///
/// The text contains the position and the problem; [`FormatError::remedy`] describes the
/// correction.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FormatError {
    /// An error of the operating system.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Operation, for example "read" or "write".
        action: &'static str,
        /// Error of the operating system.
        source: std::io::Error,
        /// Remedy.
        remedy: String,
    },
    /// The content violates the rules of its format.
    #[error("{}{place}: {message}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Position in the file.
        place: FileLocation,
        /// Description of the error.
        message: String,
        /// Remedy.
        remedy: String,
    },
    /// The format of the file is not supported.
    #[error("{}: {message}", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// Description of the unsupported content.
        message: String,
        /// Supported alternatives.
        remedy: String,
    },
    /// The format needs a feature that this build lacks.
    #[error("{}: this build does not support {format} files", path.display())]
    Disabled {
        /// The file.
        path: PathBuf,
        /// Name of the format.
        format: &'static str,
        /// Cargo feature that enables the format.
        feature: &'static str,
    },
}

impl FormatError {
    /// Remedy for the user.
    pub fn remedy(&self) -> String {
        match self {
            Self::Io { remedy, .. }
            | Self::Malformed { remedy, .. }
            | Self::Unsupported { remedy, .. } => remedy.clone(),
            Self::Disabled { feature, .. } => {
                format!("build it with `cargo build --features {feature}`")
            }
        }
    }

    /// Path of the file or folder.
    pub fn path(&self) -> &Path {
        match self {
            Self::Io { path, .. }
            | Self::Malformed { path, .. }
            | Self::Unsupported { path, .. }
            | Self::Disabled { path, .. } => path,
        }
    }

    /// A file that the operating system cannot read.
    pub fn cannot_read(path: &Path, source: std::io::Error) -> Self {
        Self::Io {
            remedy: reading_remedy(&source).into(),
            path: path.to_owned(),
            action: "read",
            source,
        }
    }

    /// A file of a format that needs the Cargo feature `feature`.
    pub(crate) fn disabled(path: &Path, format: &'static str, feature: &'static str) -> Self {
        Self::Disabled {
            path: path.to_owned(),
            format,
            feature,
        }
    }

    /// Content that violates the rules of its format at `place`.
    pub fn malformed(
        path: &Path,
        place: FileLocation,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::Malformed {
            path: path.to_owned(),
            place,
            message: message.into(),
            remedy: remedy.into(),
        }
    }
}

fn reading_remedy(source: &std::io::Error) -> &'static str {
    use std::io::ErrorKind;
    match source.kind() {
        ErrorKind::NotFound => "check the path; paths within a file are relative to its folder",
        ErrorKind::PermissionDenied => "change the permissions of the file",
        ErrorKind::IsADirectory => "name a file in that folder",
        ErrorKind::InvalidData => "the file must be text in UTF-8",
        _ => "check that the disk and the file are readable",
    }
}
