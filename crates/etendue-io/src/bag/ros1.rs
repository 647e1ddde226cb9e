//! ROS 1 bags, version 2.0 (<http://wiki.ros.org/Bags/Format/2.0>).

use super::Visit;
use super::message::{Message, Serialisation};
use crate::foreign::most_content;
use crate::input::{Content, read_limited};
use crate::interrupt::Interrupt;
use crate::{FileLocation, FormatError};
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;

/// Opcodes of records.
const MESSAGE: u8 = 2;
const CHUNK: u8 = 5;
const CONNECTION: u8 = 7;

/// First line of a bag of version 2.0.
const VERSION: &[u8] = b"#ROSBAG V2.0\n";

/// Visits the messages, chunk by chunk. A truncated bag gives its complete messages and a warning.
pub(super) fn for_each(
    path: &Path,
    content: &Content,
    warnings: &mut Vec<String>,
    visit: Visit,
) -> Result<(), Interrupt> {
    let fail = |source| FormatError::cannot_read(path, source);
    // Check the version line
    let mut file = content.reader()?;
    let mut version = Vec::new();
    let mut start = file.by_ref().take(VERSION.len() as u64);
    start.read_to_end(&mut version).map_err(fail)?;
    if version != VERSION {
        let error = FormatError::Unsupported {
            path: path.to_owned(),
            message: "the version of the bag is not 2.0".into(),
            remedy: "convert it with `rosbag fix`".into(),
        };
        return Err(error.into());
    }
    // Read the records after it
    let mut bag = Bag {
        path,
        connections: BTreeMap::new(),
        messages: 0,
        left: most_content(content.size()),
        visit,
    };
    loop {
        match next_record(&mut file).map_err(fail)? {
            NextRecord::End => return Ok(()),
            NextRecord::Whole(header, data) => match fields(&header) {
                Some(header) => bag.take_record(&header, &data, true)?,
                None => break,
            },
            NextRecord::Truncated => break,
        }
    }
    warnings.push("the bag is truncated: records up to the last complete one were read".into());
    Ok(())
}

/// What follows in a file.
enum NextRecord {
    End,
    /// Header and data.
    Whole(Vec<u8>, Vec<u8>),
    Truncated,
}

/// Reads the next record of a file.
fn next_record(file: &mut impl Read) -> io::Result<NextRecord> {
    let mut parts = [Vec::new(), Vec::new()];
    for (number, part) in parts.iter_mut().enumerate() {
        let mut length = Vec::new();
        file.by_ref().take(4).read_to_end(&mut length)?;
        let Some(length) = length.first_chunk() else {
            let is_end = number == 0 && length.is_empty();
            return Ok(if is_end {
                NextRecord::End
            } else {
                NextRecord::Truncated
            });
        };
        let length = u64::from(u32::from_le_bytes(*length));
        if file.by_ref().take(length).read_to_end(part)? as u64 != length {
            return Ok(NextRecord::Truncated);
        }
    }
    let [header, data] = parts;
    Ok(NextRecord::Whole(header, data))
}

struct Bag<'a> {
    path: &'a Path,
    /// Topic and type of each connection.
    connections: BTreeMap<Vec<u8>, (String, String)>,
    /// Number of messages so far.
    messages: usize,
    /// Bytes of decompressed chunks that the size of the file allows.
    left: u64,
    visit: Visit<'a>,
}

/// A header's fields.
type Header<'a> = BTreeMap<&'a [u8], &'a [u8]>;

impl Bag<'_> {
    /// Visits the messages of a record, of a file or of a chunk; a chunk contains no chunks.
    fn take_record(
        &mut self,
        header: &Header,
        data: &[u8],
        is_file: bool,
    ) -> Result<(), Interrupt> {
        let kind = header.get(b"op".as_slice()).and_then(|op| op.first());
        match kind {
            Some(&CHUNK) if is_file => {
                let chunk = self.unpacked(header, data)?;
                self.left = self
                    .left
                    .checked_sub(chunk.len() as u64)
                    .ok_or_else(|| self.damaged("its chunks are out of proportion to the file"))?;
                let mut rest = &chunk[..];
                while let Some((header, data, after)) = record(rest) {
                    rest = after;
                    self.take_record(&header, data, false)?;
                }
                Ok(())
            }
            Some(&CONNECTION) => {
                self.connect(header, data);
                Ok(())
            }
            Some(&MESSAGE) => self.take(header, data),
            _ => Ok(()),
        }
    }

    fn unpacked(&self, header: &Header, data: &[u8]) -> Result<Vec<u8>, FormatError> {
        let packing = header
            .get(b"compression".as_slice())
            .copied()
            .unwrap_or(b"none");
        match packing {
            b"none" => Ok(data.to_vec()),
            b"bz2" => self.read_all(bzip2::read::BzDecoder::new(data), data.len()),
            b"lz4" => self.read_all(lz4_flex::frame::FrameDecoder::new(data), data.len()),
            other => Err(FormatError::Unsupported {
                path: self.path.to_owned(),
                message: format!(
                    "chunks with the compression {} are not supported",
                    String::from_utf8_lossy(other)
                ),
                remedy: "decompress the bag with `rosbag decompress`".into(),
            }),
        }
    }

    fn read_all(&self, packed: impl Read, size: usize) -> Result<Vec<u8>, FormatError> {
        read_limited(packed, size)
            .map_err(|error| self.damaged(format!("a chunk cannot be decompressed: {error}")))
    }

    fn damaged(&self, message: impl Into<String>) -> FormatError {
        FormatError::malformed(self.path, FileLocation::File, message, "copy the bag again")
    }

    fn connect(&mut self, header: &Header, data: &[u8]) {
        let text = |bytes: Option<&&[u8]>| {
            bytes.map_or(String::new(), |b| String::from_utf8_lossy(b).into_owned())
        };
        let inner = fields(data).unwrap_or_default();
        let topic = text(header.get(b"topic".as_slice()));
        let kind = text(inner.get(b"type".as_slice()));
        if let Some(number) = header.get(b"conn".as_slice()) {
            self.connections.insert(number.to_vec(), (topic, kind));
        }
    }

    fn take(&mut self, header: &Header, data: &[u8]) -> Result<(), Interrupt> {
        let number = header.get(b"conn".as_slice()).copied().unwrap_or_default();
        let Some((topic, kind)) = self.connections.get(number) else {
            return Ok(());
        };
        let time = header.get(b"time".as_slice()).copied().unwrap_or_default();
        self.messages += 1;
        (self.visit)(&Message {
            path: self.path,
            kind,
            topic,
            time: time_of(time),
            number: self.messages - 1,
            data,
            serialisation: Serialisation::Ros1,
        })
    }
}

/// Time of a record, s: seconds and nanoseconds, 32 bits each. 0 for a damaged field.
fn time_of(bytes: &[u8]) -> f64 {
    let word = |at: usize| {
        let bytes = bytes.get(at..).and_then(<[u8]>::first_chunk);
        bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
    };
    f64::from(word(0)) + 1e-9 * f64::from(word(4))
}

/// Splits the first record off: header, data and the remaining bytes.
fn record(bytes: &[u8]) -> Option<(Header<'_>, &[u8], &[u8])> {
    let (header, rest) = block(bytes)?;
    let (data, rest) = block(rest)?;
    Some((fields(header)?, data, rest))
}

/// Splits a length-prefixed field off; returns its content and the remaining bytes.
fn block(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = u32::from_le_bytes(*bytes.first_chunk()?) as usize;
    bytes.get(4..)?.split_at_checked(length)
}

fn fields(mut bytes: &[u8]) -> Option<Header<'_>> {
    let mut fields = BTreeMap::new();
    while !bytes.is_empty() {
        let (field, rest) = block(bytes)?;
        let at = field.iter().position(|byte| *byte == b'=')?;
        fields.insert(&field[..at], &field[at + 1..]);
        bytes = rest;
    }
    Some(fields)
}
