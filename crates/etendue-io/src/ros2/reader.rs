//! Reader of point clouds in MCAP recordings.

use super::cdr::CdrReader;
use crate::input::read_bytes;
use crate::mcap_messages::{damaged_message, for_each_message, schema_name};
use crate::table::ColumnType;
use crate::{FileLocation, FormatError};
use std::path::Path;

/// A `PointCloud2` message.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedCloud {
    /// Its topic.
    pub topic: String,
    /// Its stamp, s.
    pub time: f64,
    /// Its frame.
    pub frame: String,
    /// Rows and columns of points.
    pub size: [usize; 2],
    /// Names of the fields.
    pub fields: Vec<String>,
    /// Types of the fields.
    pub numbers: Vec<ColumnType>,
    /// Values of the fields, point after point.
    pub values: Vec<f64>,
}

/// Content of a recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    /// The clouds, in the order of the file.
    pub clouds: Vec<RecordedCloud>,
    /// Irregularities that did not prevent reading, for example a truncated end.
    pub warnings: Vec<String>,
}

impl RecordedCloud {
    /// The values of a field. `None` if the cloud has no such field.
    pub fn field(&self, name: &str) -> Option<Vec<f64>> {
        let index = self.fields.iter().position(|field| field == name)?;
        let values = self.values.iter().skip(index).step_by(self.fields.len());
        Some(values.copied().collect())
    }
}

/// Reads every `PointCloud2` of an MCAP file. A truncated file gives its complete clouds and a
/// warning.
///
/// # Errors
/// If the file cannot be read or is not an MCAP file with ROS 2 messages.
pub fn read_clouds(path: &Path) -> Result<Recording, FormatError> {
    parse_clouds(path, &read_bytes(path)?)
}

/// Parses the content of an MCAP file as [`read_clouds`] does. Errors name `path`.
///
/// # Errors
/// As [`read_clouds`], except errors of reading the file.
pub fn parse_clouds(path: &Path, bytes: &[u8]) -> Result<Recording, FormatError> {
    if !bytes.starts_with(mcap::MAGIC) {
        let message = "this is not an MCAP file";
        let remedy = "give an MCAP file";
        return Err(FormatError::malformed(
            path,
            FileLocation::File,
            message,
            remedy,
        ));
    }
    let mut recording = Recording::default();
    for_each_message(path, bytes, &mut recording.warnings, |message| {
        if schema_name(message) == "sensor_msgs/msg/PointCloud2" {
            let cloud = parse_cloud(&message.data, &message.channel.topic);
            let cloud = cloud.ok_or_else(|| damaged_message(path, message))?;
            recording.clouds.push(cloud);
        }
        Ok(())
    })?;
    Ok(recording)
}

/// Decodes a `sensor_msgs/msg/PointCloud2` in CDR; `None` if it is damaged.
fn parse_cloud(data: &[u8], topic: &str) -> Option<RecordedCloud> {
    // Read the header: stamp, frame, size
    let mut message = CdrReader::new(data)?;
    let time = f64::from(message.u32()?) + f64::from(message.u32()?) * 1e-9;
    let frame = message.text()?;
    let size = [message.u32()? as usize, message.u32()? as usize];
    // Read name, byte offset and type of every field
    let count = message.u32()?;
    let mut fields = Vec::new();
    for _ in 0..count {
        let name = message.text()?;
        let offset = message.u32()? as usize;
        fields.push((name, offset, message.u8()?));
        message.u32()?;
    }
    // Read the points, field after field
    let _is_big_endian = message.u8()?;
    let step = message.u32()? as usize;
    message.u32()?;
    let data = message.blob()?;
    // Every field has at least one byte of a point
    if fields.len() > step {
        return None;
    }
    let mut values = Vec::new();
    for point in data.chunks_exact(step.max(1)) {
        for (_, offset, datatype) in &fields {
            values.push(number(point.get(*offset..)?, *datatype)?);
        }
    }
    Some(RecordedCloud {
        topic: topic.to_owned(),
        time,
        frame,
        size,
        numbers: fields.iter().map(|field| number_type(field.2)).collect(),
        fields: fields.into_iter().map(|field| field.0).collect(),
        values,
    })
}

/// Column type that represents every value of a `PointField` type.
fn number_type(datatype: u8) -> ColumnType {
    match datatype {
        2 | 4 => ColumnType::U16,
        1 | 3 | 5 => ColumnType::I32,
        6 => ColumnType::U32,
        7 => ColumnType::F32,
        _ => ColumnType::F64,
    }
}

/// Decodes a number of a `PointField` type, little endian.
pub(crate) fn number(bytes: &[u8], datatype: u8) -> Option<f64> {
    Some(match datatype {
        1 => f64::from(i8::from_le_bytes(*bytes.first_chunk()?)),
        2 => f64::from(*bytes.first()?),
        3 => f64::from(i16::from_le_bytes(*bytes.first_chunk()?)),
        4 => f64::from(u16::from_le_bytes(*bytes.first_chunk()?)),
        5 => f64::from(i32::from_le_bytes(*bytes.first_chunk()?)),
        6 => f64::from(u32::from_le_bytes(*bytes.first_chunk()?)),
        7 => f64::from(f32::from_le_bytes(*bytes.first_chunk()?)),
        8 => f64::from_le_bytes(*bytes.first_chunk()?),
        _ => return None,
    })
}
