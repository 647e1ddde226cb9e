//! Messages of MCAP files, in file order.

use crate::foreign::guarded;
use crate::input::Content;
use crate::interrupt::Interrupt;
use crate::mcap_chunks::{CHUNK, ChunkRecords};
use crate::{FileLocation, FormatError};
use mcap::read::{ChunkReader, LinearReader};
use mcap::records::Record;
use mcap::{Channel, McapError, McapResult, Message, Schema};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

/// Opcodes of the records that end the messages, or have none.
const FOOTER: u8 = 0x02;
const ATTACHMENT: u8 = 0x09;
const DATA_END: u8 = 0x0f;

/// Calls `visit` with every message of an MCAP file. One chunk is in memory at a time. A truncated or damaged file ends at
/// its first damaged record; a warning reports it.
///
/// # Errors
/// If the file cannot be read or is not an MCAP file, or `visit` fails.
pub(crate) fn for_each_message(
    path: &Path,
    content: &Content,
    warnings: &mut Vec<String>,
    mut visit: impl FnMut(&Message<'_>) -> Result<(), Interrupt>,
) -> Result<(), Interrupt> {
    // Check the magic number
    let mut file = content.reader()?;
    let mut magic = Vec::new();
    let mut start = file.by_ref().take(mcap::MAGIC.len() as u64);
    let read = start.read_to_end(&mut magic);
    read.map_err(|source| FormatError::cannot_read(path, source))?;
    if magic != mcap::MAGIC {
        return Err(no_mcap(path).into());
    }

    // Visit the messages of every record
    let mut channels = Channels::default();
    loop {
        let record = next_record(&mut file);
        let record = record.map_err(|source| FormatError::cannot_read(path, source))?;
        let Some(record) = record else {
            return Ok(());
        };
        match channels.visit(&record, &mut visit) {
            Ok(()) if [DATA_END, FOOTER].contains(&record.opcode) => return Ok(()),
            Ok(()) => {}
            Err(Ended::Visitor(interrupt)) => return Err(interrupt),
            Err(Ended::Damage(damage)) => {
                // Records inside of a chunk that the end of the file cuts are damaged only by that
                let reason = if record.is_whole {
                    damage
                } else {
                    "it ends within a record".to_owned()
                };
                warnings.push(format!(
                    "the file is truncated or damaged ({reason}): messages before the damage were read"
                ));
                return Ok(());
            }
        }
    }
}

/// Error of a file that is not MCAP.
pub(crate) fn no_mcap(path: &Path) -> FormatError {
    let place = FileLocation::File;
    FormatError::malformed(path, place, "this is not an MCAP file", "give an MCAP file")
}

/// Type name of a message; empty if its channel has no schema.
pub(crate) fn schema_name<'a>(message: &'a Message<'_>) -> &'a str {
    let schema = message.channel.schema.as_ref();
    schema.map_or("", |schema| schema.name.as_str())
}

/// A record of a file.
struct FileRecord {
    opcode: u8,
    content: Vec<u8>,
    /// Whether the file has all bytes of the content.
    is_whole: bool,
}

/// The next record; `None` at the end of the file. Attachments are skipped.
fn next_record(file: &mut impl Read) -> io::Result<Option<FileRecord>> {
    loop {
        let mut header = Vec::new();
        file.by_ref().take(9).read_to_end(&mut header)?;
        let (opcode, length) = match header[..] {
            [] => return Ok(None),
            [opcode, a, b, c, d, e, f, g, h] => {
                (opcode, u64::from_le_bytes([a, b, c, d, e, f, g, h]))
            }
            [opcode, ..] => (opcode, u64::MAX),
        };
        let mut record = file.by_ref().take(length);
        if opcode == ATTACHMENT && io::copy(&mut record, &mut io::sink())? == length {
            continue;
        }
        let mut content = Vec::new();
        record.read_to_end(&mut content)?;
        return Ok(Some(FileRecord {
            opcode,
            is_whole: content.len() as u64 == length,
            content,
        }));
    }
}

/// Why the messages end.
enum Ended {
    /// A record is damaged.
    Damage(String),
    Visitor(Interrupt),
}

impl From<McapError> for Ended {
    fn from(error: McapError) -> Self {
        Self::Damage(error.to_string())
    }
}

/// Schemas and channels so far.
#[derive(Default)]
struct Channels {
    schemas: BTreeMap<u16, Arc<Schema<'static>>>,
    channels: BTreeMap<u16, Arc<Channel<'static>>>,
}

impl Channels {
    /// Visits the message of a record, or those of a chunk.
    fn visit(
        &mut self,
        record: &FileRecord,
        visit: &mut impl FnMut(&Message<'_>) -> Result<(), Interrupt>,
    ) -> Result<(), Ended> {
        // A record outside of a chunk
        if record.opcode != CHUNK {
            if !record.is_whole {
                return Err(McapError::UnexpectedEof.into());
            }
            let parsed = guarded(|| mcap::parse_record(record.opcode, &record.content));
            let parsed = parsed.map_err(|panic| Ended::Damage(panic.to_string()))?;
            return self.take(parsed?, visit);
        }

        // The records of a chunk, up to its damage
        let Some(chunk) = ChunkRecords::decompress(&record.content) else {
            return Err(McapError::UnexpectedEof.into());
        };
        if record.is_whole && chunk.damage.is_none() {
            let records = ChunkReader::new(chunk.header, &chunk.records)?;
            return self.take_all(records, visit);
        }
        self.take_all(LinearReader::sans_magic(&chunk.records), visit)?;
        let damage = chunk.damage.unwrap_or(McapError::UnexpectedEoc.to_string());
        Err(Ended::Damage(damage))
    }

    /// Visits the messages of records.
    fn take_all<'a>(
        &mut self,
        mut records: impl Iterator<Item = McapResult<Record<'a>>>,
        visit: &mut impl FnMut(&Message<'_>) -> Result<(), Interrupt>,
    ) -> Result<(), Ended> {
        loop {
            let next = guarded(|| records.next());
            match next.map_err(|panic| Ended::Damage(panic.to_string()))? {
                Some(record) => self.take(record?, visit)?,
                None => return Ok(()),
            }
        }
    }

    /// Stores a schema or a channel, and visits a message.
    fn take(
        &mut self,
        record: Record,
        visit: &mut impl FnMut(&Message<'_>) -> Result<(), Interrupt>,
    ) -> Result<(), Ended> {
        match record {
            Record::Schema { header, data } => {
                let schema = Schema {
                    id: header.id,
                    name: header.name,
                    encoding: header.encoding,
                    data: Cow::Owned(data.into_owned()),
                };
                self.schemas.insert(schema.id, Arc::new(schema));
            }
            Record::Channel(channel) => {
                let schema = match channel.schema_id {
                    0 => None,
                    id => Some(
                        self.schemas
                            .get(&id)
                            .cloned()
                            .ok_or_else(|| McapError::UnknownSchema(channel.topic.clone(), id))?,
                    ),
                };
                let channel = Channel {
                    id: channel.id,
                    topic: channel.topic,
                    schema,
                    message_encoding: channel.message_encoding,
                    metadata: channel.metadata,
                };
                self.channels.insert(channel.id, Arc::new(channel));
            }
            Record::Message { header, data } => {
                let id = header.channel_id;
                let channel = self.channels.get(&id).cloned();
                let channel = channel.ok_or(McapError::UnknownChannel(header.sequence, id))?;
                let message = Message {
                    channel,
                    sequence: header.sequence,
                    log_time: header.log_time,
                    publish_time: header.publish_time,
                    data,
                };
                return visit(&message).map_err(Ended::Visitor);
            }
            _ => {}
        }
        Ok(())
    }
}
