//! `sensor_msgs/PointCloud2`, of ROS 1 and ROS 2.

use super::message_reader::MessageReader;
use crate::precision::single;
use crate::table::{ColumnType, INTENSITY_NAMES, field_name};
use nalgebra::Point3;

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

/// Points of one scan in the sensor frame (m, including non-finite points), and their intensities
/// or none.
pub type CloudScan = (Vec<Point3<f64>>, Vec<f32>);

impl RecordedCloud {
    /// The values of a field. `None` if the cloud has no such field.
    pub fn field(&self, name: &str) -> Option<Vec<f64>> {
        let index = self.fields.iter().position(|field| field == name)?;
        Some(self.column(index))
    }

    /// The values of the field with an index.
    pub(crate) fn column(&self, index: usize) -> Vec<f64> {
        let points = self.values.chunks_exact(self.fields.len());
        points.map(|point| point[index]).collect()
    }

    /// Positions and intensities. `None` if the cloud has no position.
    pub(crate) fn scan(&self) -> Option<CloudScan> {
        let [x, y, z] = [self.field("x")?, self.field("y")?, self.field("z")?];
        let points = x.iter().zip(&y).zip(&z);
        let intensities = INTENSITY_NAMES.iter().chain(&["i"]);
        let intensities = { intensities }.find_map(|name| self.field(name));
        let intensities = intensities.unwrap_or_default();
        Some((
            points.map(|((x, y), z)| Point3::new(*x, *y, *z)).collect(),
            intensities.into_iter().map(single).collect(),
        ))
    }
}

/// Field of a point.
struct Field {
    offset: usize,
    datatype: u8,
}

/// Decodes a message; `None` if it is damaged.
pub(super) fn decode<'a>(
    message: &mut impl MessageReader<'a>,
    topic: &str,
) -> Option<RecordedCloud> {
    // Read the header, the size, and the name, the byte offset and the type of every field
    let (time, frame) = message.header()?;
    let size = [message.u32()? as usize, message.u32()? as usize];
    let count = message.u32()?;
    let mut names = Vec::new();
    let mut fields = Vec::new();
    for _ in 0..count {
        names.push(field_name(&message.text()?));
        let offset = message.u32()? as usize;
        let datatype = message.u8()?;
        fields.push(Field { offset, datatype });
        let _elements = message.u32()?;
    }

    // Read the points, field after field
    let is_big_endian = message.u8()? != 0;
    let step = message.u32()? as usize;
    let _row_step = message.u32()?;
    // Every field has at least one byte of a point
    if fields.len() > step {
        return None;
    }
    let mut values = Vec::new();
    for point in message.blob()?.chunks_exact(step.max(1)) {
        for field in &fields {
            values.push(number(
                point.get(field.offset..)?,
                field.datatype,
                is_big_endian,
            )?);
        }
    }
    let numbers = fields.iter().map(|field| column_type(field.datatype));
    Some(RecordedCloud {
        topic: topic.to_owned(),
        time,
        frame,
        size,
        numbers: numbers.collect(),
        fields: names,
        values,
    })
}

/// Column type that represents every value of a `PointField` type.
fn column_type(datatype: u8) -> ColumnType {
    match datatype {
        2 | 4 => ColumnType::U16,
        1 | 3 | 5 => ColumnType::I32,
        6 => ColumnType::U32,
        7 => ColumnType::F32,
        _ => ColumnType::F64,
    }
}

/// Decodes a number of a `PointField` type.
fn number(bytes: &[u8], datatype: u8, is_big_endian: bool) -> Option<f64> {
    /// The first bytes in little-endian order.
    fn first<const N: usize>(bytes: &[u8], is_big_endian: bool) -> Option<[u8; N]> {
        let mut bytes = *bytes.first_chunk()?;
        if is_big_endian {
            bytes.reverse();
        }
        Some(bytes)
    }
    Some(match datatype {
        1 => f64::from(i8::from_le_bytes(first(bytes, is_big_endian)?)),
        2 => f64::from(*bytes.first()?),
        3 => f64::from(i16::from_le_bytes(first(bytes, is_big_endian)?)),
        4 => f64::from(u16::from_le_bytes(first(bytes, is_big_endian)?)),
        5 => f64::from(i32::from_le_bytes(first(bytes, is_big_endian)?)),
        6 => f64::from(u32::from_le_bytes(first(bytes, is_big_endian)?)),
        7 => f64::from(f32::from_le_bytes(first(bytes, is_big_endian)?)),
        8 => f64::from_le_bytes(first(bytes, is_big_endian)?),
        _ => return None,
    })
}
