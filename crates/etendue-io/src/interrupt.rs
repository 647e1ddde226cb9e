//! Ends of readers that visit the parts of a file one after another.

use crate::FormatError;

/// Why a reader ends before the end of its file.
#[derive(Debug)]
pub(crate) enum Interrupt {
    /// The visitor has what it needs.
    Enough,
    /// The file, or the visitor, has an error.
    Error(FormatError),
}

impl From<FormatError> for Interrupt {
    fn from(error: FormatError) -> Self {
        Self::Error(error)
    }
}

impl Interrupt {
    /// The result of a reader whose visitor may end it.
    pub fn result(visited: Result<(), Self>) -> Result<(), FormatError> {
        match visited {
            Ok(()) | Err(Self::Enough) => Ok(()),
            Err(Self::Error(error)) => Err(error),
        }
    }
}
