//! Messages of MCAP files, in the order of the file.

use crate::mcap_chunks::decompress_chunks;
use crate::{FileLocation, FormatError};
use mcap::read::Options;
use mcap::{Message, MessageStream};
use std::path::Path;

/// Calls `visit` with every message of an MCAP file; a truncated or damaged file ends at its first
/// damaged record, with a warning.
///
/// # Errors
/// If the bytes are no MCAP file, or `visit` fails.
pub(crate) fn for_each_message(
    path: &Path,
    bytes: &[u8],
    warnings: &mut Vec<String>,
    mut visit: impl FnMut(&Message<'_>) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    let bytes = decompress_chunks(bytes);
    let stream = MessageStream::new_with_options(&bytes, Options::IgnoreEndMagic.into()).map_err(
        |error| {
            FormatError::malformed(
                path,
                FileLocation::File,
                error.to_string(),
                "give an MCAP file",
            )
        },
    )?;
    for message in stream {
        match message {
            Ok(message) => visit(&message)?,
            Err(error) => {
                warnings.push(format!(
                    "the file is truncated or damaged ({error}): read up to there"
                ));
                break;
            }
        }
    }
    Ok(())
}

/// The name of a message's type; empty where its channel has no schema.
pub(crate) fn schema_name<'a>(message: &'a Message<'_>) -> &'a str {
    let schema = message.channel.schema.as_ref();
    schema.map_or("", |schema| schema.name.as_str())
}

/// The error of a message whose bytes are not of its type.
pub(crate) fn damaged_message(path: &Path, message: &Message<'_>) -> FormatError {
    let text = format!(
        "message {} of {} is damaged",
        message.sequence, message.channel.topic
    );
    FormatError::malformed(path, FileLocation::File, text, "record it again")
}
