//! One message of a bag, and its decoders.

use super::laser_scan::{self, RecordedScan};
use super::message_reader::MessageReader;
use super::packets::{self, PacketLayout};
use super::point_cloud::{self, RecordedCloud};
use super::transform::{self, StampedTransform};
use crate::input::{ZSTD, decompress_zstd};
use crate::little_endian::LittleEndian;
use crate::ros2::CdrReader;
use crate::{FileLocation, FormatError};
use std::borrow::Cow;
use std::path::Path;

/// Message type of planar scans.
pub(crate) const LASER_SCAN: &str = "sensor_msgs/LaserScan";
/// Message type of point clouds.
pub(crate) const POINT_CLOUD: &str = "sensor_msgs/PointCloud2";
/// Message types of transforms, of ROS 2 and ROS 1.
pub(crate) const TRANSFORMS: [&str; 2] = ["tf2_msgs/TFMessage", "tf/tfMessage"];

/// Serialisation of a message.
#[derive(Clone, Copy)]
pub(super) enum Serialisation {
    Ros1,
    Ros2,
}

/// One message of a recording.
pub(crate) struct Message<'a> {
    /// File of the message, for errors.
    pub(super) path: &'a Path,
    /// Message type, for example `sensor_msgs/LaserScan`.
    pub kind: &'a str,
    pub topic: &'a str,
    /// Time of recording, s.
    pub time: f64,
    /// Position among the messages of the file, from 0.
    pub(super) number: usize,
    pub(super) data: &'a [u8],
    pub(super) serialisation: Serialisation,
}

/// Decoder of one message type, for both serialisations.
macro_rules! decode {
    ($message:ident, $decode:path $(, $argument:expr)*) => {{
        let decoded = match $message.serialisation {
            Serialisation::Ros1 => $decode(&mut LittleEndian($message.data) $(, $argument)*),
            Serialisation::Ros2 => $message.decompressed().and_then(|data| {
                $decode(&mut CdrReader::new(&data)? $(, $argument)*)
            }),
        };
        decoded.ok_or_else(|| $message.damaged())
    }};
}

impl Message<'_> {
    /// Decodes a planar scan.
    ///
    /// # Errors
    /// If the message is damaged.
    pub fn scan(&self) -> Result<RecordedScan, FormatError> {
        decode!(self, laser_scan::decode)
    }

    /// Decodes a cloud.
    ///
    /// # Errors
    /// If the message is damaged.
    pub fn cloud(&self) -> Result<RecordedCloud, FormatError> {
        decode!(self, point_cloud::decode, self.topic)
    }

    /// Decodes the packets of a lidar; none for a message of another type.
    ///
    /// # Errors
    /// If the message is damaged.
    pub fn packets(&self) -> Result<Vec<Vec<u8>>, FormatError> {
        let Some(layout) = PacketLayout::of(self.kind) else {
            return Ok(Vec::new());
        };
        decode!(self, packets::decode, layout)
    }

    /// Decodes a text.
    ///
    /// # Errors
    /// If the message is damaged.
    pub fn text(&self) -> Result<String, FormatError> {
        decode!(self, MessageReader::text)
    }

    /// Decodes transforms; none if the message is damaged.
    pub fn transforms(&self) -> Vec<StampedTransform> {
        let decoded = decode!(self, transform::decode, self.topic);
        decoded.unwrap_or_default()
    }

    /// The data, decompressed where they are compressed with zstd (CDR begins with a zero).
    fn decompressed(&self) -> Option<Cow<'_, [u8]>> {
        if !self.data.starts_with(&ZSTD) {
            return Some(Cow::Borrowed(self.data));
        }
        let mut content = Vec::new();
        decompress_zstd(self.data, &mut content).ok()?;
        Some(Cow::Owned(content))
    }

    /// Error of a message whose bytes do not match its type.
    fn damaged(&self) -> FormatError {
        let text = format!("message {} of {} is damaged", self.number, self.topic);
        FormatError::malformed(self.path, FileLocation::File, text, "record it again")
    }
}
