//! Complete copies of recordings that a killed process left.

use super::channel::{CopiedChannels, ros2_options};
use super::open_writer::OpenWriter;
use crate::foreign::guarded;
use crate::input::Content;
use crate::interrupt::Interrupt;
use crate::mcap_messages::for_each_message;
use crate::output::OutputSet;
use crate::{FileLocation, FormatError};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// Result of [`repair_recording`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairedRecording {
    /// Number of messages of the file.
    pub messages: usize,
    /// First and last time of the messages, ns; `None` without messages.
    pub span: Option<[u64; 2]>,
    /// Damage at which the file ends; `None` if the file is complete and was not copied.
    pub damage: Option<String>,
}

/// Bytes of messages in a chunk of the copy.
const CHUNK: u64 = 1 << 20;

/// Copies the messages of an MCAP recording up to its damage to `to`, with the index that the
/// recording lacks. A complete recording is not copied. Schemas, channels and times are those of the
/// recording; attachments and metadata records are not copied.
///
/// # Errors
/// If the recording cannot be read, is not MCAP or has no complete message, or the copy cannot be
/// written.
pub fn repair_recording(
    outputs: &mut OutputSet,
    from: &Path,
    to: &Path,
) -> Result<RepairedRecording, FormatError> {
    let content = Content::open(from)?;
    // Find the damage
    let mut found = RepairedRecording {
        messages: 0,
        span: None,
        damage: None,
    };
    let mut warnings = Vec::new();
    let visited = for_each_message(from, &content, &mut warnings, |message| {
        found.messages += 1;
        let time = message.log_time;
        let [first, last] = found.span.unwrap_or([time; 2]);
        found.span = Some([first.min(time), last.max(time)]);
        Ok(())
    });
    Interrupt::result(visited)?;
    found.damage = warnings.pop();
    if found.damage.is_none() && !ends_with_magic(from, &content)? {
        found.damage = Some("the file ends without its index".into());
    }
    if found.damage.is_none() {
        return Ok(found);
    }
    if found.messages == 0 {
        let message = "the recording has no complete message";
        let remedy = "record it again";
        return Err(FormatError::malformed(
            from,
            FileLocation::File,
            message,
            remedy,
        ));
    }
    // Copy the messages before it
    outputs.add(to, |file| {
        let copied = guarded(|| copy(from, &content, file)).map_err(io::Error::other)?;
        copied.map_err(|error| io::Error::other(error.to_string()))
    })?;
    Ok(found)
}

/// Whether the last bytes of a file are the magic number of MCAP.
fn ends_with_magic(path: &Path, content: &Content) -> Result<bool, FormatError> {
    let magic = mcap::MAGIC;
    let mut file = content.reader()?;
    let mut end = Vec::new();
    let start = content.size().saturating_sub(magic.len() as u64);
    let read = file
        .seek(SeekFrom::Start(start))
        .and_then(|_| file.read_to_end(&mut end));
    read.map_err(|source| FormatError::cannot_read(path, source))?;
    Ok(end == magic)
}

/// Bytes at the start of a file that contain its header record.
const HEADER: u64 = 4096;

fn copy(
    path: &Path,
    content: &Content,
    file: &mut dyn crate::output::Sink,
) -> mcap::McapResult<()> {
    let options = ros2_options().chunk_size(Some(CHUNK));
    let start = content
        .start(HEADER)
        .map_err(|error| io::Error::other(error.to_string()))?;
    let profile = profile(&start).unwrap_or_else(|| "ros2".into());
    let mut writer = OpenWriter::new(options.profile(profile).create(file)?);
    let mut channels = CopiedChannels::default();
    let mut failed = None;
    let visited = for_each_message(path, content, &mut Vec::new(), |message| {
        let header = channels.header(&mut writer, message);
        let copied =
            header.and_then(|header| writer.write_to_known_channel(&header, &message.data));
        copied.map_err(|error| {
            failed = Some(error);
            Interrupt::Enough
        })
    });
    match (failed, Interrupt::result(visited)) {
        (Some(error), _) => Err(error),
        (None, Err(error)) => Err(io::Error::other(error.to_string()).into()),
        (None, Ok(())) => writer.finish().map(drop),
    }
}

/// Profile in the header record of a file.
fn profile(bytes: &[u8]) -> Option<String> {
    let record = bytes.get(mcap::MAGIC.len()..)?;
    let content = record.strip_prefix(&[1])?.get(8..)?;
    let length = u32::from_le_bytes(*content.first_chunk()?) as usize;
    String::from_utf8(content.get(4..)?.get(..length)?.to_vec()).ok()
}
