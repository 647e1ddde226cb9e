//! Messages of MCAP files.

use super::Visit;
use super::message::{Message, Serialisation};
use crate::FormatError;
use crate::mcap_messages::{for_each_message, schema_name};
use std::path::Path;

/// Visits the messages in file order. A truncated file gives the messages before its end and a
/// warning.
pub(super) fn for_each(
    path: &Path,
    bytes: &[u8],
    warnings: &mut Vec<String>,
    visit: Visit,
) -> Result<(), FormatError> {
    let mut number = 0;
    for_each_message(path, bytes, warnings, |message| {
        let visited = visit(&Message {
            kind: &schema_name(message).replace("/msg/", "/"),
            topic: &message.channel.topic,
            time: 1e-9 * message.log_time as f64,
            number,
            data: &message.data,
            serialisation: Serialisation::Ros2,
        });
        number += 1;
        visited
    })
}
