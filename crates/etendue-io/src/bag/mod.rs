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
pub(crate) use transform::ODOMETRY_FRAME;
pub use transform::StampedTransform;

pub(crate) use message::{Message, POINT_CLOUD};
pub(crate) use topic::{Measured, SensorTopics};

use crate::input::{Content, first_bytes};
use crate::interrupt::Interrupt;
use crate::{FileLocation, FormatError};
use std::path::{Path, PathBuf};

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

/// A bag, whose messages are read one after another. ROS splits a long one into several files.
pub(crate) struct Bag<'a> {
    /// Path for errors: the file, or the folder of several ones.
    pub path: &'a Path,
    files: Vec<BagFile<'a>>,
}

/// A file of a bag.
struct BagFile<'a> {
    path: &'a Path,
    content: &'a Content<'a>,
    container: Container,
}

impl<'a> Bag<'a> {
    /// A bag, recognised by its first bytes. `None` for other content.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn of(path: &'a Path, content: &'a Content<'a>) -> Result<Option<Self>, FormatError> {
        let file = BagFile::of(path, content)?;
        Ok(file.map(|file| Self {
            path,
            files: vec![file],
        }))
    }

    /// The contents of the files of a bag.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn open_all(files: &[PathBuf]) -> Result<Vec<Content<'_>>, FormatError> {
        files.iter().map(|path| Content::open(path)).collect()
    }

    /// The bag whose messages are those of one file after another. `path` is that of their folder.
    ///
    /// # Errors
    /// If there is no file, or one cannot be read or is no bag.
    pub fn of_files(
        path: &'a Path,
        files: &'a [PathBuf],
        contents: &'a [Content<'a>],
    ) -> Result<Self, FormatError> {
        let no_bag = |path: &Path| {
            let remedy = format!(
                "give a file with one of the endings {}",
                BAG_ENDINGS.join(", ")
            );
            FormatError::malformed(path, FileLocation::File, "this is not a bag", remedy)
        };
        let path = match files {
            [] => return Err(no_bag(path)),
            [only] => only,
            _ => path,
        };
        let file = |(path, content): (&'a PathBuf, &'a Content<'a>)| {
            BagFile::of(path, content)?.ok_or_else(|| no_bag(path))
        };
        let files = files.iter().zip(contents).map(file);
        Ok(Self {
            path,
            files: files.collect::<Result<_, _>>()?,
        })
    }

    /// Whether the container is MCAP.
    pub fn is_mcap(&self) -> bool {
        { self.files.iter() }.all(|file| file.container == Container::Mcap)
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
        for file in &self.files {
            let read = match file.container {
                Container::Mcap => mcap::for_each,
                Container::Ros1 => ros1::for_each,
                Container::Sqlite => rosbag2::for_each,
            };
            let mut own = Vec::new();
            read(file.path, file.content, &mut own, &mut visit)?;

            // Warnings of one of several files name it
            let name = file.path.file_name().unwrap_or_default().display();
            warnings.extend(own.into_iter().map(|warning| match self.files.len() {
                1 => warning,
                _ => format!("{name}: {warning}"),
            }));
        }
        Ok(())
    }
}

impl<'a> BagFile<'a> {
    /// A file, recognised by its first bytes. `None` for other content.
    fn of(path: &'a Path, content: &'a Content<'a>) -> Result<Option<Self>, FormatError> {
        let container = Container::of(&content.start(START)?);
        Ok(container.map(|container| Self {
            path,
            content,
            container,
        }))
    }
}
