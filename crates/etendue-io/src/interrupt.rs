//! Ends of readers that visit the parts of a file one after another.

use crate::FormatError;
use std::ops::ControlFlow;

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
    /// Calls a reader with a visitor that ends it with [`ControlFlow::Break`], or with an error of its own.
    ///
    /// # Errors
    /// Those of the reader and of the visitor.
    pub fn visit<T, E: From<FormatError>>(
        mut visit: impl FnMut(T) -> Result<ControlFlow<()>, E>,
        read: impl FnOnce(&mut dyn FnMut(T) -> Result<(), Self>) -> Result<(), Self>,
    ) -> Result<(), E> {
        let mut failed = None;
        let visited = read(&mut |part| match visit(part) {
            Ok(ControlFlow::Continue(())) => Ok(()),
            Ok(ControlFlow::Break(())) => Err(Self::Enough),
            Err(error) => {
                failed = Some(error);
                Err(Self::Enough)
            }
        });
        Self::result(visited)?;
        failed.map_or(Ok(()), Err)
    }

    /// The result of a reader whose visitor may end it.
    pub fn result(visited: Result<(), Self>) -> Result<(), FormatError> {
        match visited {
            Ok(()) | Err(Self::Enough) => Ok(()),
            Err(Self::Error(error)) => Err(error),
        }
    }
}
