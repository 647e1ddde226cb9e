//! Channels of MCAP files with ROS 2 messages.

use super::definition::Definition;
use super::topic::Topic;
use mcap::records::MessageHeader;
use mcap::{Channel, McapError, Message, WriteOptions, Writer};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::{Seek, Write};

/// Quality of service of all channels in rosbag2's notation: reliable, volatile, history of ten
/// messages.
pub(super) const QOS: &str = "- history: 1\n  depth: 10\n  reliability: 1\n  durability: 2\n  deadline:\n    \
    sec: 9223372036\n    nsec: 854775807\n  lifespan:\n    sec: 9223372036\n    nsec: 854775807\n  \
    liveliness: 1\n  liveliness_lease_duration:\n    sec: 9223372036\n    nsec: 854775807\n  \
    avoid_ros_namespace_conventions: false";

/// Options of an uncompressed MCAP file with the `ros2` profile.
pub(super) fn ros2_options() -> WriteOptions {
    WriteOptions::new()
        .compression(None)
        .profile("ros2")
        .library("etendue")
}

/// Opens a channel of CDR messages on a topic. Returns the number of the channel in the file.
pub(super) fn add_channel<W: Write + Seek>(
    writer: &mut Writer<W>,
    topic: &str,
    definition: &Definition,
) -> Result<u16, McapError> {
    add_topic(writer, &Topic::new(topic, definition))
}

/// Opens the channel of a topic. Returns the number of the channel in the file.
pub(super) fn add_topic<W: Write + Seek>(
    writer: &mut Writer<W>,
    topic: &Topic,
) -> Result<u16, McapError> {
    let schema = topic.schema.as_bytes();
    let schema = writer.add_schema(&topic.schema_name, "ros2msg", schema)?;
    let qos = BTreeMap::from([("offered_qos_profiles".to_owned(), QOS.to_owned())]);
    writer.add_channel(schema, &topic.name, "cdr", &qos)
}

/// Copies of messages of another file, whose channels are opened at their first message.
#[derive(Default)]
pub(super) struct CopiedChannels {
    /// Numbers of the channels in this file by those in the other.
    numbers: BTreeMap<u16, u16>,
}

impl CopiedChannels {
    /// Header of the copy of a message, with its times.
    pub fn header<W: Write + Seek>(
        &mut self,
        writer: &mut Writer<W>,
        message: &Message,
    ) -> Result<MessageHeader, McapError> {
        let channel = &message.channel;
        let channel_id = match self.numbers.entry(channel.id) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => *new.insert(copy_channel(writer, channel)?),
        };
        Ok(MessageHeader {
            channel_id,
            sequence: message.sequence,
            log_time: message.log_time,
            publish_time: message.publish_time,
        })
    }
}

/// Opens a channel of another file. Returns the number of the channel in this one.
fn copy_channel<W: Write + Seek>(
    writer: &mut Writer<W>,
    channel: &Channel,
) -> Result<u16, McapError> {
    let schema = match &channel.schema {
        Some(schema) => writer.add_schema(&schema.name, &schema.encoding, &schema.data)?,
        None => 0,
    };
    writer.add_channel(
        schema,
        &channel.topic,
        &channel.message_encoding,
        &channel.metadata,
    )
}
