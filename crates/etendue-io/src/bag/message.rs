//! One message of a bag.

use super::{laser_scan, point_cloud};
use crate::input::{ZSTD, decompress_zstd};
use etendue_sensors::Scan;
use nalgebra::Point3;
use std::borrow::Cow;

/// Points of one scan in the sensor frame (m, including non-finite points), and their intensities
/// or none.
pub type CloudScan = (Vec<Point3<f64>>, Vec<f32>);

/// Message type of planar scans.
pub(super) const LASER_SCAN: &str = "sensor_msgs/LaserScan";

/// One message of a recording.
pub(crate) struct Message {
    /// Message type, for example `sensor_msgs/LaserScan`.
    pub kind: String,
    pub topic: String,
    pub body: Body,
}

/// Decoded content of a message.
pub(crate) enum Body {
    Scan(Scan),
    Cloud(CloudScan),
    /// A message of another type.
    Other,
}

/// Decodes a ROS 2 message, compressed with zstd or plain (CDR begins with a zero); `None` if it is
/// damaged.
pub(super) fn ros2_message(kind: &str, topic: &str, data: &[u8]) -> Option<Message> {
    let data = if data.starts_with(&ZSTD) {
        let mut content = Vec::new();
        decompress_zstd(data, &mut content).ok()?;
        Cow::Owned(content)
    } else {
        Cow::Borrowed(data)
    };
    Some(Message {
        kind: kind.to_owned(),
        topic: topic.to_owned(),
        body: match kind {
            LASER_SCAN => Body::Scan(laser_scan::of_ros2(&data)?),
            "sensor_msgs/PointCloud2" => Body::Cloud(point_cloud::of_ros2(&data)?),
            _ => Body::Other,
        },
    })
}
