//! The `metadata.yaml` that describes a rosbag2 folder.

use super::channel::QOS;
use super::recorder::failed;
use crate::FormatError;
use mcap::sans_io::summary_reader::{SummaryReadEvent, SummaryReader};
use mcap::{McapError, McapResult, Summary};
use std::fmt::Write;
use std::io::{Read, Seek};
use std::path::Path;

/// The `metadata.yaml` (rosbag2, version 5) of a finished MCAP recording at `path`, with which ROS 2 opens its
/// folder as a bag. The numbers are those of the recording's own summary.
///
/// # Errors
/// If the recording cannot be read, or has no summary.
pub fn bag_metadata(path: &Path, recording: impl Read + Seek) -> Result<String, FormatError> {
    let summary = read_summary(recording).map_err(|error| failed(path, error))?;
    let statistics = summary.stats.unwrap_or_default();

    // Topics, in the order in which they were opened
    let mut channels: Vec<_> = summary.channels.values().collect();
    channels.sort_by_key(|channel| channel.id);
    let mut topics = String::new();
    for channel in channels {
        let name = quoted(&channel.topic);
        let kind = channel.schema.as_ref().map_or("", |schema| &schema.name);
        let qos = quoted(QOS);
        let counts = &statistics.channel_message_counts;
        let count = counts.get(&channel.id).unwrap_or(&0);
        // Writing to a string is infallible.
        let _ = write!(
            topics,
            "    - topic_metadata:\n        name: {name}\n        type: {kind}\n        \
             serialization_format: cdr\n        offered_qos_profiles: {qos}\n      \
             message_count: {count}\n"
        );
    }

    // The recording as the only file of the bag
    let file = quoted(&path.file_name().unwrap_or_default().to_string_lossy());
    let messages = statistics.message_count;
    let first = statistics.message_start_time;
    let duration = statistics.message_end_time.saturating_sub(first);
    Ok(format!(
        "rosbag2_bagfile_information:\n  version: 5\n  storage_identifier: mcap\n  \
         duration:\n    nanoseconds: {duration}\n  starting_time:\n    \
         nanoseconds_since_epoch: {first}\n  message_count: {messages}\n  \
         topics_with_message_count:\n{topics}  compression_format: \"\"\n  \
         compression_mode: \"\"\n  relative_file_paths:\n    - {file}\n  files:\n    \
         - path: {file}\n      starting_time:\n        nanoseconds_since_epoch: {first}\n      \
         duration:\n        nanoseconds: {duration}\n      message_count: {messages}\n"
    ))
}

/// The summary section of a recording.
fn read_summary(mut recording: impl Read + Seek) -> McapResult<Summary> {
    let mut reader = SummaryReader::new();
    while let Some(event) = reader.next_event() {
        match event? {
            SummaryReadEvent::ReadRequest(bytes) => {
                let read = recording.read(reader.insert(bytes))?;
                reader.notify_read(read);
            }
            SummaryReadEvent::SeekRequest(to) => {
                let position = recording.seek(to)?;
                reader.notify_seeked(position);
            }
        }
    }
    reader.finish().ok_or(McapError::UnexpectedEof)
}

/// A quoted YAML string. JSON strings are valid YAML strings.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
