//! Writer of an MCAP file whose end does not panic.

use crate::foreign::guarded;
use mcap::{McapResult, Writer};
use std::io::{Seek, Write};
use std::ops::{Deref, DerefMut};

/// A writer that is open until [`OpenWriter::finish`]. The library's writer ends the file when it is
/// dropped, and panics where that fails, for example on a full disk; this one then leaves the file
/// as it is.
pub(super) struct OpenWriter<W: Write + Seek>(Option<Writer<W>>);

impl<W: Write + Seek> OpenWriter<W> {
    pub fn new(writer: Writer<W>) -> Self {
        Self(Some(writer))
    }

    /// Ends the file and returns its sink.
    pub fn finish(mut self) -> McapResult<W> {
        self.0.as_mut().expect("it is open").finish()?;
        Ok(self.0.take().expect("it is open").into_inner())
    }
}

impl<W: Write + Seek> Deref for OpenWriter<W> {
    type Target = Writer<W>;

    fn deref(&self) -> &Writer<W> {
        self.0.as_ref().expect("it is open")
    }
}

impl<W: Write + Seek> DerefMut for OpenWriter<W> {
    fn deref_mut(&mut self) -> &mut Writer<W> {
        self.0.as_mut().expect("it is open")
    }
}

impl<W: Write + Seek> Drop for OpenWriter<W> {
    fn drop(&mut self) {
        let writer = self.0.take();
        // The error was reported where the file was written
        let _ = guarded(|| drop(writer));
    }
}
