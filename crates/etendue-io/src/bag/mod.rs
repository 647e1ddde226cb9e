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
use crate::input::{Content, first_bytes};
use crate::interrupt::Interrupt;
use std::path::Path;

/// Endings of bags, in lower case. A bag of ROS 2 may be compressed as a whole (`.zstd`).
pub(crate) const BAG_ENDINGS: [&str; 4] = ["bag", "db3", "mcap", "zstd"];

/// Number of bytes that identify a container.
const START: u64 = 16;

/// Whether a file begins like a bag. A file that is compressed as a whole is one by its ending
/// `.zstd`. False for an unreadable file.
pub fn is_bag(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default();
    let is_container = |start: Vec<u8>| Container::of(&start).is_some();
    match first_bytes(path, START) {
        Ok(start) => is_container(start) || ending.eq_ignore_ascii_case("zstd"),
        Err(_) => false,
    }
}

/// Receives every message of a bag.
type Visit<'a> = &'a mut dyn FnMut(&Message) -> Result<(), Interrupt>;

/// Container of the messages of a bag.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Container {
    Mcap,
    Ros1,
    Sqlite,
}

impl Container {
    /// The container of a bag by its first bytes. `None` for other content.
    pub fn of(start: &[u8]) -> Option<Self> {
        if start.starts_with(::mcap::MAGIC) {
            Some(Self::Mcap)
        } else if start.starts_with(b"#ROSBAG") {
            Some(Self::Ros1)
        } else if start.starts_with(b"SQLite format 3") {
            Some(Self::Sqlite)
        } else {
            None
        }
    }
}

/// A bag, whose messages are read one after another.
#[derive(Clone, Copy)]
pub(crate) struct Bag<'a> {
    /// Path for errors.
    pub path: &'a Path,
    content: &'a Content<'a>,
    container: Container,
}

impl<'a> Bag<'a> {
    /// A bag, recognised by its first bytes. `None` for other content.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn of(path: &'a Path, content: &'a Content<'a>) -> Result<Option<Self>, FormatError> {
        let container = Container::of(&content.start(START)?);
        Ok(container.map(|container| Self {
            path,
            content,
            container,
        }))
    }

    /// Whether the container is MCAP.
    pub fn is_mcap(&self) -> bool {
        self.container == Container::Mcap
    }

    /// Visits every message. A truncated bag gives the messages before its end and a warning. A chunk, or a message, is in
    /// memory at a time.
    ///
    /// # Errors
    /// If the file cannot be read or its content is not a bag, or `visit` fails.
    pub fn for_each(
        &self,
        warnings: &mut Vec<String>,
        mut visit: impl FnMut(&Message) -> Result<(), Interrupt>,
    ) -> Result<(), Interrupt> {
        let read = match self.container {
            Container::Mcap => mcap::for_each,
            Container::Ros1 => ros1::for_each,
            Container::Sqlite => rosbag2::for_each,
        };
        read(self.path, self.content, warnings, &mut visit)
    }
}
