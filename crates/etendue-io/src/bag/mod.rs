//! Bags of ROS messages: MCAP, ROS 2 bags in SQLite, ROS 1 bags. Planar scans, point clouds and
//! transforms are decoded.

mod laser_scan;
mod mcap;
mod message;
mod message_reader;
mod motion;
mod packets;
mod point_cloud;
mod ros1;
mod rosbag2;
mod sqlite;
mod topic;
mod transform;

pub use motion::SensorMotion;
pub use point_cloud::{CloudScan, RecordedCloud};
pub use topic::{Measurement, Topic, read_topics};
pub use transform::StampedTransform;

pub(crate) use message::{Message, POINT_CLOUD};
pub(crate) use topic::{Measured, SensorTopics};

use crate::FormatError;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Endings of bags, in lower case. A bag of ROS 2 may be compressed as a whole (`.zstd`).
pub(crate) const BAG_ENDINGS: [&str; 4] = ["bag", "db3", "mcap", "zstd"];

/// Whether a file begins like a bag. A file that is compressed as a whole is one by its ending
/// `.zstd`. False for an unreadable file.
pub fn is_bag(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(16).read_to_end(&mut start));
    let ending = path.extension().unwrap_or_default();
    read.is_ok() && (Bag::of(path, &start).is_some() || ending.eq_ignore_ascii_case("zstd"))
}

/// Receives every message of a bag. Its error ends the reading.
type Visit<'a> = &'a mut dyn FnMut(&Message) -> Result<(), FormatError>;

/// Container of the messages of a bag.
#[derive(Clone, Copy)]
enum Container {
    Mcap,
    Ros1,
    Sqlite,
}

/// The content of a bag.
#[derive(Clone, Copy)]
pub(crate) struct Bag<'a> {
    /// Path for errors.
    pub path: &'a Path,
    bytes: &'a [u8],
    container: Container,
}

impl<'a> Bag<'a> {
    /// A bag, recognised by its first bytes. `None` for other content.
    pub fn of(path: &'a Path, bytes: &'a [u8]) -> Option<Self> {
        let container = if bytes.starts_with(::mcap::MAGIC) {
            Container::Mcap
        } else if bytes.starts_with(b"#ROSBAG") {
            Container::Ros1
        } else if bytes.starts_with(b"SQLite format 3") {
            Container::Sqlite
        } else {
            return None;
        };
        Some(Self {
            path,
            bytes,
            container,
        })
    }

    /// Visits every message. A truncated bag gives the messages before its end and a warning.
    ///
    /// # Errors
    /// If the content is not a bag, or `visit` fails.
    pub fn for_each(
        &self,
        warnings: &mut Vec<String>,
        mut visit: impl FnMut(&Message) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        let read = match self.container {
            Container::Mcap => mcap::for_each,
            Container::Ros1 => ros1::for_each,
            Container::Sqlite => rosbag2::for_each,
        };
        read(self.path, self.bytes, warnings, &mut visit)
    }
}
