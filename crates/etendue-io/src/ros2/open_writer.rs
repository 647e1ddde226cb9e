//! Writer of an MCAP file whose chunks have a least size, and whose end does not panic.

use crate::foreign::guarded;
use mcap::records::MessageHeader;
use mcap::{McapResult, Writer};
use std::io::{Seek, Write};
use std::ops::{Deref, DerefMut};

/// A writer that is open until [`OpenWriter::finish`]. The library's writer ends the file when it is
/// dropped, and panics where that fails, for example on a full disk; this one then leaves the file
/// as it is.
pub(super) struct OpenWriter<W: Write + Seek> {
    writer: Option<Writer<W>>,
    /// Bytes of messages in the chunk that is not on the disk.
    unflushed: usize,
}

/// Least size of a chunk of small sweeps or frames, bytes: a killed run loses less. The index of the file, which is in
/// memory until the end, has about 200 bytes for each chunk.
pub(super) const LEAST_CHUNK: usize = 1 << 16;

impl<W: Write + Seek> OpenWriter<W> {
    pub fn new(writer: Writer<W>) -> Self {
        Self {
            writer: Some(writer),
            unflushed: 0,
        }
    }

    /// Appends a message.
    pub fn append(&mut self, header: &MessageHeader, bytes: &[u8]) -> McapResult<()> {
        self.unflushed += bytes.len();
        self.write_to_known_channel(header, bytes)
    }

    /// Ends the chunk and puts it on the disk if its messages have at least a number of bytes. A killed run leaves a
    /// recording that is readable up to there.
    pub fn flush_from(&mut self, least: usize) -> McapResult<()> {
        if self.unflushed < least {
            return Ok(());
        }
        self.unflushed = 0;
        self.flush()
    }

    /// Ends the file and returns its sink.
    pub fn finish(mut self) -> McapResult<W> {
        self.writer.as_mut().expect("it is open").finish()?;
        Ok(self.writer.take().expect("it is open").into_inner())
    }
}

impl<W: Write + Seek> Deref for OpenWriter<W> {
    type Target = Writer<W>;

    fn deref(&self) -> &Writer<W> {
        self.writer.as_ref().expect("it is open")
    }
}

impl<W: Write + Seek> DerefMut for OpenWriter<W> {
    fn deref_mut(&mut self) -> &mut Writer<W> {
        self.writer.as_mut().expect("it is open")
    }
}

impl<W: Write + Seek> Drop for OpenWriter<W> {
    fn drop(&mut self) {
        let writer = self.writer.take();
        // The error was reported where the file was written
        let _ = guarded(|| drop(writer));
    }
}
