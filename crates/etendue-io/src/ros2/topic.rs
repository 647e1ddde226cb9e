//! Topics and their messages, for recordings and live views.

use super::definition::Definition;
use super::recorder::failed;
use crate::FormatError;
use mcap::{MessageStream, Summary};
use std::path::Path;

/// A topic of ROS 2 messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    /// Its name, for example `/points`.
    pub name: String,
    /// Type of its messages, for example `sensor_msgs/msg/PointCloud2`.
    pub schema_name: String,
    /// Definition of the type, in the encoding `ros2msg`.
    pub schema: String,
}

impl Topic {
    pub(super) fn new(name: &str, definition: &Definition) -> Self {
        Self {
            name: name.into(),
            schema_name: definition.name.into(),
            schema: definition.schema(),
        }
    }
}

/// A message on a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicMessage {
    /// Index of the topic.
    pub topic: usize,
    /// Time at which the data are available, ns.
    pub time: u64,
    /// The message in CDR.
    pub bytes: Vec<u8>,
}

/// The topics and messages of a finished MCAP recording in memory.
///
/// # Errors
/// If the recording is damaged or has no summary.
pub fn recorded_messages(
    recording: &[u8],
) -> Result<
    (
        Vec<Topic>,
        impl Iterator<Item = Result<TopicMessage, FormatError>>,
    ),
    FormatError,
> {
    let in_memory = |error| failed(Path::new("memory"), error);
    // Topics in the order of their channels, also those without messages
    let summary = Summary::read(recording).map_err(in_memory)?;
    let channels = summary.unwrap_or_default().channels;
    let mut channels: Vec<_> = channels.into_values().collect();
    channels.sort_by_key(|channel| channel.id);
    let topics = channels.iter().map(|channel| {
        let schema = channel.schema.as_deref();
        let text = schema.map(|schema| String::from_utf8_lossy(&schema.data).into_owned());
        Topic {
            name: channel.topic.clone(),
            schema_name: schema.map(|schema| schema.name.clone()).unwrap_or_default(),
            schema: text.unwrap_or_default(),
        }
    });
    let topics = topics.collect();

    // Messages in the order of the file
    let messages = MessageStream::new(recording).map_err(in_memory)?;
    let messages = messages.map(move |message| {
        let message = message.map_err(in_memory)?;
        let mut ids = channels.iter().map(|channel| channel.id);
        let topic = ids.position(|id| id == message.channel.id);
        Ok(TopicMessage {
            topic: topic.unwrap_or(usize::MAX),
            time: message.log_time,
            bytes: message.data.into_owned(),
        })
    });
    Ok((topics, messages))
}
