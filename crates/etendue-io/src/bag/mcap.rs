//! Messages of MCAP files.

use super::message::{Body, LASER_SCAN, Message, ros2_message};
use crate::FormatError;
use crate::mcap_messages::{damaged_message, for_each_message, schema_name};
use etendue_sensors::Scan;
use std::path::Path;

/// The topics and scans of every `LaserScan` of an MCAP file.
pub(crate) fn mcap_scans(path: &Path, bytes: &[u8]) -> Result<Vec<(String, Scan)>, FormatError> {
    // The reader of clouds reports the warnings.
    let messages = mcap_messages(path, bytes, &mut Vec::new(), |kind| kind == LASER_SCAN)?;
    let scan = |message: Message| match message.body {
        Body::Scan(scan) => Some((message.topic, scan)),
        Body::Cloud(_) | Body::Other => None,
    };
    Ok(messages.into_iter().filter_map(scan).collect())
}

/// Decodes the messages of the supported types. A truncated file gives the messages before its end
/// and a warning.
pub(crate) fn mcap_messages(
    path: &Path,
    bytes: &[u8],
    warnings: &mut Vec<String>,
    selected: impl Fn(&str) -> bool,
) -> Result<Vec<Message>, FormatError> {
    let mut messages = Vec::new();
    for_each_message(path, bytes, warnings, |message| {
        let kind = schema_name(message).replace("/msg/", "/");
        if selected(&kind) {
            let parsed = ros2_message(&kind, &message.channel.topic, &message.data);
            messages.push(parsed.ok_or_else(|| damaged_message(path, message))?);
        }
        Ok(())
    })?;
    Ok(messages)
}
