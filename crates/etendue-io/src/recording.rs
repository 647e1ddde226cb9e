//! Recordings of a stationary sensor, in every supported container.
//!
//! | container | content |
//! |---|---|
//! | scan logs | as [`crate::scan_log`]; clouds, if beams have an elevation |
//! | MCAP (ROS 2) | `LaserScan`, else `PointCloud2` |
//! | ROS 2 bag in SQLite (`.db3`) | `LaserScan`, else `PointCloud2` |
//! | packet capture, table with the field `sweep` | one scan per sweep |
//! | either of ROS 2 with zstd compression per file (`.zstd`) or per message | the same |
//! | ROS 1 bag (2.0; uncompressed, bzip2 or LZ4) | `LaserScan`, else `PointCloud2` |
//! | a folder | its `.pcd`, `.ply`, `.vtk` and `.csv` clouds, by name, one per scan; else the bag in it, whose parts are joined |
//! | one point cloud | a single scan |
//!
//! Clouds keep non-finite points, which mark beams without a return in the grid of a spinning
//! lidar. Files may be compressed with bzip2, gzip or zstd.

pub use crate::bag::CloudScan;

use crate::bag::{BAG_ENDINGS, Bag, Measured, Measurement, SensorTopics};
use crate::digest::{sha256_of_all, sha256_of_readers};
use crate::input::{Content as Bytes, read_bytes};
use crate::interrupt::Interrupt;
use crate::packets::PacketSource;
use crate::points::{PointCloud, PointFormat, SweepSummary, is_cloud, parse_points};
use crate::scan_folder::{bag_files, files_of};
use crate::scan_log::{is_scan_log, parse_scan_log};
use crate::table::{PointSweeps, PointTable};
use crate::{FileLocation, FormatError};
use etendue_sensors::{Scan, ScanLog};
use nalgebra::Point3;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Measurements in the order of preference: scans keep the beams without a return.
const PREFERRED: [Measurement; 3] = [
    Measurement::Scans,
    Measurement::Clouds,
    Measurement::Packets,
];

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

/// Reads a recording of any supported kind. `topic` selects one of several sensors of a bag.
///
/// # Errors
/// If it cannot be read, is damaged, or contains neither scans nor clouds.
pub fn read_recording(
    path: &Path,
    source: &PacketSource,
    topic: Option<&str>,
) -> Result<SensorRecording, FormatError> {
    if path.is_dir() {
        return folder(path, source, topic);
    }
    parse(path, Bytes::open(path)?, source, topic)
}

/// Parses a recording in one file as [`read_recording`] does. Errors name `path`.
///
/// # Errors
/// As [`read_recording`], except errors of reading.
pub fn parse_recording(
    path: &Path,
    bytes: Vec<u8>,
    source: &PacketSource,
    topic: Option<&str>,
) -> Result<SensorRecording, FormatError> {
    parse(path, Bytes::Memory(Cow::Owned(bytes)), source, topic)
}

fn parse(
    path: &Path,
    bytes: Bytes,
    source: &PacketSource,
    topic: Option<&str>,
) -> Result<SensorRecording, FormatError> {
    let mut warnings = Vec::new();
    let sha256 = sha256_of_contents(path, std::slice::from_ref(&bytes))?;

    // Read the messages of a bag, a cloud of any format, or a text log
    if let Some(bag) = Bag::of(path, &bytes)? {
        return Ok(SensorRecording {
            content: from_bag(bag, source, topic, &mut warnings)?,
            sha256,
            warnings,
        });
    }
    let bytes = bytes.into_bytes()?;
    let content = if is_cloud(&bytes) && !is_scan_log(&bytes) {
        Content::Clouds(clouds_of(path, bytes, source, &mut warnings)?)
    } else {
        let log = parse_scan_log(path, &bytes)?;
        warnings.extend(log.warnings.iter().cloned());
        content_of(log)
    };
    Ok(SensorRecording {
        content,
        sha256,
        warnings,
    })
}

/// The scans of the only topic with scans, or otherwise the clouds of the only topic with clouds.
///
/// # Errors
/// If there are neither scans nor clouds, or several topics; the error lists the topics.
fn from_bag(
    bag: Bag,
    source: &PacketSource,
    requested: Option<&str>,
    warnings: &mut Vec<String>,
) -> Result<Content, FormatError> {
    let path = bag.path;
    let topics = SensorTopics::of(bag)?;
    let topic = topics.choose(requested, PREFERRED)?;
    warnings.extend(topics.warnings.iter().cloned());

    // Sweeps of packets
    if topic.measurement() == Some(Measurement::Packets) {
        let mut clouds = Vec::new();
        let mut left_out = Vec::new();
        let mut summary = SweepSummary::default();
        let visited = topics.visit_sweeps_of_packets(topic, source, &mut summary, &mut |sweep| {
            clouds.push(cloud_of(&sweep.table, &mut left_out));
            Ok(())
        });
        Interrupt::result(visited)?;
        warnings.extend(summary.warnings);
        warnings.extend(left_out);
        return Ok(Content::Clouds(clouds));
    }

    // Scans or clouds
    let mut scans = Vec::new();
    let mut clouds = Vec::new();
    let visited = topics.for_each(topic, |measured| {
        match measured {
            Measured::Scan(recorded) => scans.push(recorded.scan),
            Measured::Cloud(cloud) => clouds.push(cloud.scan().ok_or_else(|| {
                FormatError::malformed(
                    path,
                    FileLocation::File,
                    format!("a cloud of {} has no fields x, y and z", topic.name),
                    "give a recording of a lidar",
                )
            })?),
            Measured::Packets(_) => {}
        }
        Ok(())
    });
    Interrupt::result(visited)?;
    Ok(match topic.measurement() {
        Some(Measurement::Scans) => Content::Scans(ScanLog {
            description: format!("topic {}", topic.name),
            scans,
            warnings: Vec::new(),
        }),
        _ => Content::Clouds(clouds),
    })
}

/// Planar scans as they are, others as clouds. Beams without a return have points that are not finite.
fn content_of(log: ScanLog) -> Content {
    if log.scans.iter().all(Scan::is_planar) {
        return Content::Scans(log);
    }
    let nowhere = Point3::new(f64::NAN, f64::NAN, f64::NAN);
    let cloud = |scan: Scan| {
        let beams = 0..scan.readings.len();
        let points = beams.map(|beam| scan.point(beam).unwrap_or(nowhere));
        (points.collect(), scan.intensities)
    };
    Content::Clouds(log.scans.into_iter().map(cloud).collect())
}

/// The sweeps of a file: those of a capture, those of the field `sweep`, or the only one.
fn clouds_of(
    path: &Path,
    bytes: Vec<u8>,
    source: &PacketSource,
    warnings: &mut Vec<String>,
) -> Result<Vec<CloudScan>, FormatError> {
    let points = parse_points(path, bytes, source)?;
    warnings.extend(points.warnings.iter().cloned());
    Ok(sweeps_of(points, warnings))
}

/// Positions and intensities of every sweep.
fn sweeps_of(points: PointSweeps, warnings: &mut Vec<String>) -> Vec<CloudScan> {
    let points = points.split();
    let clouds = points.sweeps.iter().map(|sweep| cloud_of(sweep, warnings));
    clouds.collect()
}

/// Positions and intensities of a sweep.
fn cloud_of(sweep: &PointTable, warnings: &mut Vec<String>) -> CloudScan {
    let cloud = PointCloud::of_table(sweep);
    warnings.extend(cloud.warnings);
    (cloud.points, cloud.intensities)
}

/// Reads the bag of some files of a folder.
fn read_bag_files(
    folder: &Path,
    files: &[PathBuf],
    source: &PacketSource,
    topic: Option<&str>,
) -> Result<SensorRecording, FormatError> {
    let contents = Bag::open_all(files)?;
    let bag = Bag::of_files(folder, files, &contents)?;
    let mut warnings = Vec::new();
    Ok(SensorRecording {
        content: from_bag(bag, source, topic, &mut warnings)?,
        sha256: sha256_of_contents(folder, &contents)?,
        warnings,
    })
}

/// SHA-256 of the contents of files, as [`sha256_of_all`].
fn sha256_of_contents(path: &Path, contents: &[Bytes]) -> Result<String, FormatError> {
    let mut readers = Vec::new();
    for content in contents {
        readers.push((content.size(), content.reader()?));
    }
    sha256_of_readers(readers).map_err(|source| FormatError::cannot_read(path, source))
}

/// The clouds of a folder, by name, or otherwise the bag in it.
fn folder(
    path: &Path,
    source: &PacketSource,
    topic: Option<&str>,
) -> Result<SensorRecording, FormatError> {
    let cloud_endings = PointFormat::recorded_cloud_endings();
    let files = files_of(path, &cloud_endings)?;
    if files.is_empty() {
        let bag = bag_files(path)?;
        if !bag.is_empty() {
            return read_bag_files(path, &bag, source, topic);
        }
    }
    let mut clouds = Vec::new();
    let mut contents = Vec::new();
    let mut warnings = Vec::new();
    for file in &files {
        let bytes = read_bytes(file)?;
        contents.push(bytes.clone());
        clouds.extend(clouds_of(file, bytes, source, &mut warnings)?);
    }
    if clouds.is_empty() {
        return Err(FormatError::malformed(
            path,
            FileLocation::File,
            format!(
                "the folder contains no .{} cloud and not exactly one .{} bag, which may have several parts",
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
