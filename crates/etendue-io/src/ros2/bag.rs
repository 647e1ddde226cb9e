//! The `metadata.yaml` that describes a rosbag2 folder.

use super::channel::QOS;
use std::fmt::Write;

/// A channel of a recording.
pub(super) struct Channel {
    pub id: u16,
    pub topic: String,
    /// Name of the message type.
    pub kind: &'static str,
    /// Number of messages.
    pub messages: u64,
}

/// The `metadata.yaml` (rosbag2, version 5) of a bag with one MCAP file. `[first, last]` are the
/// times of the first and last message, ns.
pub(super) fn bag_metadata(file: &str, channels: &[Channel], [first, last]: [u64; 2]) -> String {
    let messages: u64 = channels.iter().map(|channel| channel.messages).sum();
    let file = quoted(file);
    let duration = last - first;
    let mut topics = String::new();
    for channel in channels {
        let name = quoted(&channel.topic);
        let kind = channel.kind;
        let qos = quoted(QOS);
        let count = channel.messages;
        // Writing to a string is infallible.
        let _ = write!(
            topics,
            "    - topic_metadata:\n        name: {name}\n        type: {kind}\n        \
             serialization_format: cdr\n        offered_qos_profiles: {qos}\n      \
             message_count: {count}\n"
        );
    }
    format!(
        "rosbag2_bagfile_information:\n  version: 5\n  storage_identifier: mcap\n  \
         duration:\n    nanoseconds: {duration}\n  starting_time:\n    \
         nanoseconds_since_epoch: {first}\n  message_count: {messages}\n  \
         topics_with_message_count:\n{topics}  compression_format: \"\"\n  \
         compression_mode: \"\"\n  relative_file_paths:\n    - {file}\n  files:\n    \
         - path: {file}\n      starting_time:\n        nanoseconds_since_epoch: {first}\n      \
         duration:\n        nanoseconds: {duration}\n      message_count: {messages}\n"
    )
}

/// A quoted YAML string. JSON strings are valid YAML strings.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
