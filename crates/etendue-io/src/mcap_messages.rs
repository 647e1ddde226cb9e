//! Messages of MCAP files, in file order.

use crate::foreign::guarded;
use crate::mcap_chunks::decompress_chunks;
use crate::{FileLocation, FormatError};
use mcap::read::Options;
use mcap::{Message, MessageStream};
use std::path::Path;

/// Calls `visit` with every message of an MCAP file. A truncated or damaged file ends at its first
/// damaged record; a warning reports it.
///
/// # Errors
/// If the bytes are not an MCAP file, or `visit` fails.
pub(crate) fn for_each_message(
    path: &Path,
    bytes: &[u8],
    warnings: &mut Vec<String>,
    mut visit: impl FnMut(&Message<'_>) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    let bytes = decompress_chunks(bytes);
    let mut stream = MessageStream::new_with_options(&bytes, Options::IgnoreEndMagic.into())
        .map_err(|error| {
            FormatError::malformed(
                path,
                FileLocation::File,
                error.to_string(),
                "give an MCAP file",
            )
        })?;
    let damage = loop {
        match guarded(|| stream.next()) {
            Ok(Some(Ok(message))) => visit(&message)?,
            Ok(Some(Err(error))) => break error.to_string(),
            Err(panic) => break panic.to_string(),
            Ok(None) => return Ok(()),
        }
    };
    warnings.push(format!(
        "the file is truncated or damaged ({damage}): messages before the damage were read"
    ));
    Ok(())
}

/// Type name of a message; empty if its channel has no schema.
pub(crate) fn schema_name<'a>(message: &'a Message<'_>) -> &'a str {
    let schema = message.channel.schema.as_ref();
    schema.map_or("", |schema| schema.name.as_str())
}
