//! `sensor_msgs/PointCloud2`, of ROS 1 and ROS 2.

use super::message::CloudScan;
use crate::precision::single;
use crate::ros2::{CdrReader, field_number};
use nalgebra::Point3;

/// Field of a point: name, offset, type.
pub(super) type Field = (String, usize, u8);

pub(super) fn of_ros2(data: &[u8]) -> Option<CloudScan> {
    let mut message = CdrReader::new(data)?;
    message.stamp()?;
    message.text()?;
    let _size = [message.u32()?, message.u32()?];
    let count = message.u32()?;
    let mut fields = Vec::new();
    for _ in 0..count {
        let name = message.text()?;
        let offset = message.u32()? as usize;
        fields.push((name, offset, message.u8()?));
        message.u32()?;
    }
    message.u8()?;
    let step = message.u32()? as usize;
    message.u32()?;
    points(message.blob()?, step, &fields)
}

/// Decodes the points of a cloud's data.
pub(super) fn points(data: &[u8], step: usize, fields: &[Field]) -> Option<CloudScan> {
    let find = |requested: &str| fields.iter().find(|(name, _, _)| name == requested);
    let axes = [find("x")?, find("y")?, find("z")?];
    let intensity = ["intensity", "reflectivity", "i"]
        .iter()
        .find_map(|name| find(name));
    let read = |point: &[u8], (_, offset, kind): &Field| field_number(point.get(*offset..)?, *kind);
    let mut points = Vec::new();
    let mut intensities = Vec::new();
    for point in data.chunks_exact(step.max(1)) {
        points.push(Point3::new(
            read(point, axes[0])?,
            read(point, axes[1])?,
            read(point, axes[2])?,
        ));
        if let Some(field) = intensity {
            intensities.push(single(read(point, field)?));
        }
    }
    Some((points, intensities))
}
