//! Recordings of a stationary sensor, in every supported container.
//!
//! | container | content |
//! |---|---|
//! | scan logs | as [`crate::scan_log`] |
//! | MCAP (ROS 2) | `LaserScan`, else `PointCloud2` |
//! | ROS 2 bag in SQLite (`.db3`) | `LaserScan`, else `PointCloud2` |
//! | either with zstd compression per file (`.zstd`) or per message | the same |
//! | ROS 1 bag (2.0; uncompressed, bzip2 or LZ4) | `LaserScan`, else `PointCloud2` |
//! | a folder | its `.pcd`, `.ply`, `.vtk` and `.csv` clouds, by name, one per scan; else the bag in it |
//! | one point cloud | a single scan |
//!
//! Clouds keep non-finite points, which mark beams without a return in the grid of a spinning
//! lidar. Files may be compressed with bzip2, gzip or zstd.

pub use crate::bag::CloudScan;

use crate::bag::{self, Body, Message};
use crate::digest::sha256_of_all;
use crate::input::{read_bytes, text_of};
use crate::packets::PacketSource;
use crate::points::{PointFormat, is_cloud, parse_cloud};
use crate::scan_log::{is_scan_log, parse_scan_log};
use crate::{FileLocation, FormatError};
use etendue_sensors::ScanLog;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Endings of ROS 2 bags.
const BAG_ENDINGS: [&str; 3] = ["db3", "mcap", "zstd"];

/// Recording of a stationary sensor.
#[derive(Clone, Debug, PartialEq)]
pub struct SensorRecording {
    /// Scans or clouds.
    pub content: Content,
    /// SHA-256 of the file, or of the concatenated files of the folder, in hexadecimal.
    pub sha256: String,
    /// Irregularities that did not prevent reading.
    pub warnings: Vec<String>,
}

/// Content of a recording.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Planar scans.
    Scans(ScanLog),
    /// Clouds.
    Clouds(Vec<CloudScan>),
}

/// Reads a recording of any supported kind.
///
/// # Errors
/// If it cannot be read, is damaged, or contains neither scans nor clouds.
pub fn read_recording(path: &Path, source: &PacketSource) -> Result<SensorRecording, FormatError> {
    if path.is_dir() {
        return folder(path, source);
    }
    parse_recording(path, read_bytes(path)?, source)
}

/// Parses a recording in one file as [`read_recording`] does. Errors name `path`.
///
/// # Errors
/// As [`read_recording`], except errors of reading.
pub fn parse_recording(
    path: &Path,
    bytes: Vec<u8>,
    source: &PacketSource,
) -> Result<SensorRecording, FormatError> {
    let sha256 = sha256_of_all([bytes.as_slice()]);
    let mut warnings = Vec::new();

    // Read the messages of a bag, a cloud of any format, or a text log
    let messages = if bytes.starts_with(mcap::MAGIC) {
        Some(bag::mcap_messages(path, &bytes, &mut warnings, |_| true)?)
    } else if bytes.starts_with(b"#ROSBAG") {
        Some(bag::ros1_messages(path, &bytes, &mut warnings)?)
    } else if bytes.starts_with(b"SQLite format 3") {
        Some(bag::rosbag2_messages(path, &bytes, &mut warnings)?)
    } else {
        None
    };
    let content = if let Some(messages) = messages {
        from_messages(path, messages, &mut warnings)?
    } else if is_cloud(&bytes) && !std::str::from_utf8(&bytes).is_ok_and(is_scan_log) {
        Content::Clouds(vec![cloud(path, &bytes, source, &mut warnings)?])
    } else {
        let log = parse_scan_log(path, &text_of(path, bytes)?)?;
        warnings.extend(log.warnings.iter().cloned());
        Content::Scans(log)
    };
    Ok(SensorRecording {
        content,
        sha256,
        warnings,
    })
}

/// The scans of the first topic with scans, or otherwise the clouds of the first topic with clouds.
/// A warning lists other topics of the same kind.
///
/// # Errors
/// If there are neither scans nor clouds; the error lists the topics.
fn from_messages(
    path: &Path,
    messages: Vec<Message>,
    warnings: &mut Vec<String>,
) -> Result<Content, FormatError> {
    let topics: BTreeSet<String> = messages
        .iter()
        .map(|message| format!("{} ({})", message.topic, message.kind))
        .collect();

    // Collect the scans and the clouds of their first topics
    let mut scans = Topic::default();
    let mut clouds = Topic::default();
    for message in messages {
        match message.body {
            Body::Scan(scan) => scans.add(message.topic, scan),
            Body::Cloud(cloud) => clouds.add(message.topic, cloud),
            Body::Other => {}
        }
    }

    // Prefer scans
    if !scans.messages.is_empty() {
        warnings.extend(scans.not_read());
        return Ok(Content::Scans(ScanLog {
            description: format!("topic {}", scans.name),
            scans: scans.messages,
            warnings: Vec::new(),
        }));
    }
    if !clouds.messages.is_empty() {
        warnings.extend(clouds.not_read());
        return Ok(Content::Clouds(clouds.messages));
    }

    // Report the topics if there are neither
    let found = if topics.is_empty() {
        "the recording has no messages".to_owned()
    } else {
        let topics: Vec<String> = topics.into_iter().collect();
        format!("the recording has {}", topics.join(", "))
    };
    Err(FormatError::malformed(
        path,
        FileLocation::File,
        format!("there is neither a LaserScan nor a PointCloud2 topic: {found}"),
        "record the topic of the lidar",
    ))
}

/// The messages of the first of several topics of one kind.
struct Topic<T> {
    name: String,
    messages: Vec<T>,
    others: BTreeSet<String>,
}

impl<T> Default for Topic<T> {
    fn default() -> Self {
        Self {
            name: String::new(),
            messages: Vec::new(),
            others: BTreeSet::new(),
        }
    }
}

impl<T> Topic<T> {
    fn add(&mut self, topic: String, message: T) {
        if self.messages.is_empty() {
            self.name = topic;
        } else if self.name != topic {
            self.others.insert(topic);
            return;
        }
        self.messages.push(message);
    }

    /// A warning that lists the topics that were not read, if there are any.
    fn not_read(&self) -> Option<String> {
        let others: Vec<&str> = self.others.iter().map(String::as_str).collect();
        (!others.is_empty()).then(|| {
            format!(
                "the topic {} is read; of the same kind are {}, which are not: record one sensor \
                 alone to read another",
                self.name,
                others.join(", ")
            )
        })
    }
}

fn cloud(
    path: &Path,
    bytes: &[u8],
    source: &PacketSource,
    warnings: &mut Vec<String>,
) -> Result<CloudScan, FormatError> {
    let cloud = parse_cloud(path, bytes, source)?;
    warnings.extend(cloud.warnings);
    Ok((cloud.points, cloud.intensities))
}

/// The files of a folder with one of the endings, by name.
fn files_of(path: &Path, endings: &[&str]) -> Result<Vec<PathBuf>, FormatError> {
    let entries =
        std::fs::read_dir(path).map_err(|source| FormatError::cannot_read(path, source))?;
    let is_known = |path: &PathBuf| {
        let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        ending.is_some_and(|ending| endings.contains(&ending.as_str()))
    };
    let mut files: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(is_known)
        .collect();
    files.sort();
    Ok(files)
}

/// The clouds of a folder, by name, or otherwise the single bag in it.
fn folder(path: &Path, source: &PacketSource) -> Result<SensorRecording, FormatError> {
    let cloud_endings = PointFormat::recorded_cloud_endings();
    let files = files_of(path, &cloud_endings)?;
    if files.is_empty() {
        // ROS 2 stores a bag in a folder.
        if let [bag] = &files_of(path, &BAG_ENDINGS)?[..] {
            return read_recording(bag, source);
        }
    }
    let mut clouds = Vec::new();
    let mut contents = Vec::new();
    let mut warnings = Vec::new();
    for file in &files {
        let bytes = read_bytes(file)?;
        clouds.push(cloud(file, &bytes, source, &mut warnings)?);
        contents.push(bytes);
    }
    if clouds.is_empty() {
        return Err(FormatError::malformed(
            path,
            FileLocation::File,
            format!(
                "the folder contains no .{} cloud and not exactly one .{} bag",
                cloud_endings.join(", ."),
                BAG_ENDINGS.join(", .")
            ),
            "give the folder of the scans, or the file of the bag",
        ));
    }
    Ok(SensorRecording {
        content: Content::Clouds(clouds),
        sha256: sha256_of_all(contents.iter().map(Vec::as_slice)),
        warnings,
    })
}
