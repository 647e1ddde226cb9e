//! Messages of MCAP files.

use super::message::{Body, LASER_SCAN, Message, ros2_message};
use crate::mcap_chunks::decompress_chunks;
use crate::{FormatError, Place};
use ::mcap::MessageStream;
use ::mcap::read::Options;
use etendue_sensors::Scan;
use std::path::Path;

/// The topics and scans of every `LaserScan` of an MCAP file.
pub(crate) fn mcap_scans(path: &Path, bytes: &[u8]) -> Result<Vec<(String, Scan)>, FormatError> {
    // Warnings come from the reader of clouds.
    let messages = mcap_messages(path, bytes, &mut Vec::new(), |kind| kind == LASER_SCAN)?;
    let scan = |message: Message| match message.body {
        Body::Scan(scan) => Some((message.topic, scan)),
        Body::Cloud(_) | Body::Other => None,
    };
    Ok(messages.into_iter().filter_map(scan).collect())
}

/// The messages of the wanted types; of a truncated file those before its end, with a warning.
pub(crate) fn mcap_messages(
    path: &Path,
    bytes: &[u8],
    warnings: &mut Vec<String>,
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<Message>, FormatError> {
    let bytes = decompress_chunks(bytes);
    let stream = MessageStream::new_with_options(&bytes, Options::IgnoreEndMagic.into()).map_err(
        |error| FormatError::malformed(path, Place::File, error.to_string(), "give an MCAP file"),
    )?;
    let mut messages = Vec::new();
    for message in stream {
        let message = match message {
            Ok(message) => message,
            Err(error) => {
                warnings.push(format!(
                    "the file is truncated or damaged ({error}): read up to there"
                ));
                break;
            }
        };
        let schema = message
            .channel
            .schema
            .as_ref()
            .map_or("", |schema| schema.name.as_str());
        let kind = schema.replace("/msg/", "/");
        if !wanted(&kind) {
            continue;
        }
        let damaged = || {
            let text = format!(
                "message {} of {} is damaged",
                message.sequence, message.channel.topic
            );
            FormatError::malformed(path, Place::File, text, "record it again")
        };
        let topic = &message.channel.topic;
        messages.push(ros2_message(&kind, topic, &message.data).ok_or_else(damaged)?);
    }
    Ok(messages)
}
