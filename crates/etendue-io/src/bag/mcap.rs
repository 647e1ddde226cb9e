//! Messages of MCAP files.

use super::Visit;
use super::message::{Message, Serialisation};
use crate::input::Content;
use crate::interrupt::Interrupt;
use crate::mcap_messages::{for_each_message, schema_name};
use std::path::Path;

/// Visits the messages in file order. A truncated file gives the messages before its end and a
/// warning.
pub(super) fn for_each(
    path: &Path,
    content: &Content,
    warnings: &mut Vec<String>,
    visit: Visit,
) -> Result<(), Interrupt> {
    let mut number = 0;
    for_each_message(path, content, warnings, |message| {
        let visited = visit(&Message {
            path,
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
