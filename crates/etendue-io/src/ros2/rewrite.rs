//! Copies of recordings with moved points.

use super::cdr::CdrReader;
use super::channel::{CopiedChannels, ros2_options};
use super::open_writer::OpenWriter;
use crate::editable::{ByteColumn, EditableScan, NumberType, Records};
use crate::input::Content;
use crate::interrupt::Interrupt;
use crate::mcap_messages::for_each_message;
use crate::output::{OutputSet, Sink};
use crate::{FileLocation, FormatError};
use mcap::{McapError, Message};
use nalgebra::Point3;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// Copies an MCAP recording and moves the points of every `PointCloud2` with `moved`. `moved`
/// receives the topic and the points (m, including non-finite ones) and returns the same number of
/// points. Other messages are copied unchanged. One message is in memory at a time.
///
/// # Errors
/// If the recording cannot be read, a cloud is damaged or has no x, y and z, or the copy cannot
/// be written.
pub fn rewrite_clouds(
    outputs: &mut OutputSet,
    from: &Path,
    to: &Path,
    mut moved: impl FnMut(&str, Vec<Point3<f64>>) -> Vec<Point3<f64>>,
) -> Result<(), FormatError> {
    let content = Content::open(from)?;
    let mut damage = None;
    let written = outputs.add(to, |file| {
        let copied = copy(from, &content, file, &mut moved);
        copied.map_err(|error| {
            damage = Some(error.to_string());
            io::Error::other(error.to_string())
        })
    });
    match damage {
        Some(message) => Err(FormatError::malformed(
            from,
            FileLocation::File,
            message,
            "record it again, or give a recording with clouds of float x, y and z",
        )),
        None => written,
    }
}

type Moved<'a> = &'a mut dyn FnMut(&str, Vec<Point3<f64>>) -> Vec<Point3<f64>>;

fn copy(path: &Path, content: &Content, file: &mut dyn Sink, moved: Moved) -> mcap::McapResult<()> {
    let mut writer = OpenWriter::new(ros2_options().create(file)?);
    let mut channels = CopiedChannels::default();
    let mut warnings = Vec::new();
    let mut failed = None;
    let visited = for_each_message(path, content, &mut warnings, |message| {
        copy_message(&mut writer, &mut channels, message, moved).map_err(|error| {
            failed = Some(error);
            Interrupt::Enough
        })
    });
    Interrupt::result(visited).map_err(|error| io::Error::other(error.to_string()))?;
    if let Some(error) = failed {
        return Err(error);
    }
    if let Some(damage) = warnings.pop() {
        return Err(McapError::Io(io::Error::other(damage)));
    }
    writer.finish()?;
    Ok(())
}

/// Copies a message with its times, and moves the points of a cloud.
fn copy_message(
    writer: &mut OpenWriter<&mut dyn Sink>,
    channels: &mut CopiedChannels,
    message: &Message,
    moved: Moved,
) -> mcap::McapResult<()> {
    let header = channels.header(writer, message)?;
    if !is_cloud(message) {
        return writer.write_to_known_channel(&header, &message.data);
    }
    let corrected = cloud(message, moved).ok_or_else(|| {
        let text = format!("a cloud of {} has no x, y and z", message.channel.topic);
        io::Error::other(text)
    })?;
    writer.write_to_known_channel(&header, &corrected)
}

fn is_cloud(message: &Message) -> bool {
    let schema = message.channel.schema.as_ref();
    schema.is_some_and(|s| s.name == "sensor_msgs/msg/PointCloud2")
}

/// The message with moved points; `None` if it is damaged.
fn cloud(message: &Message, moved: Moved) -> Option<Vec<u8>> {
    let mut records = records(&message.data)?;
    let points = records.points();
    let corrected = moved(&message.channel.topic, points);
    records.set_points(&corrected);
    Some(records.as_bytes().to_vec())
}

/// View of the points of a `PointCloud2` message.
fn records(data: &[u8]) -> Option<Records> {
    // Skip the header, and read the size and the fields.
    let mut message = CdrReader::new(data)?;
    message.u32()?;
    message.u32()?;
    message.text()?;
    let points = message.u32()? as usize * message.u32()? as usize;
    let count = message.u32()?;
    let mut fields = BTreeMap::new();
    for _ in 0..count {
        let name = message.text()?;
        let offset = message.u32()? as usize;
        fields.insert(name, (offset, message.u8()?));
        message.u32()?;
    }
    // Read the layout of the points.
    let is_big_endian = message.u8()? != 0;
    let step = message.u32()? as usize;
    message.u32()?;
    let start = message.blob_start()?;
    // Find the columns of position and range.
    let column = |name: &str| {
        let (offset, datatype) = fields.get(name)?;
        let column = ByteColumn::new(
            start.checked_add(*offset)?,
            step,
            NumberType::of_ros(*datatype)?,
        );
        Some(column.ordered(is_big_endian))
    };
    let position = [column("x")?, column("y")?, column("z")?];
    Records::new(data.to_vec(), points, position, column("range"))
}
