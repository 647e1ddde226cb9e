//! Points with all their fields, read back from every format that is written, and from captures of
//! lidar packets.
//!
//! | format | fields |
//! |---|---|
//! | PCD (text, binary), PLY, CSV, NPZ, Parquet | all that the file has |
//! | LAS, LAZ | position, intensity, return number and count, time, ring, material, as [`write_las`] puts them |
//! | E57 | position, intensity, row, column, return, time of every cloud |
//! | KITTI `.bin` | position and intensity |
//! | MCAP | all fields of one topic's `PointCloud2`, one cloud a sweep; else its `LaserScan` |
//! | PCAP, PCAPNG | what Velodyne, Ouster and Hesai packets hold ([`crate::packets`]) |

mod cloud;
mod csv;
mod e57;
mod kitti;
mod las;
mod lossy;
mod mcap;
mod npz;
mod parquet;
pub(crate) mod pcd;
mod ply;
mod vtk;

pub use cloud::{Cloud, is_cloud, parse_cloud, read_cloud};
pub use csv::write_csv;
pub use e57::write_e57;
pub use kitti::write_kitti;
pub(crate) use las::pack as pack_las;
pub use las::write_las;
pub use lossy::{Kept, kept};
pub use npz::write_npz;
pub use parquet::write_parquet;
pub use pcd::write_pcd;
pub use ply::write_ply;

use crate::input::read_bytes;
use crate::packets::{self, PacketSource};
use crate::table::Points;
use crate::{FormatError, Place};
use csv::is_csv;
use std::path::Path;

/// A format of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Pcd,
    Ply,
    Las,
    E57,
    Npz,
    Mcap,
    Parquet,
    Capture,
    Kitti,
    Csv,
}

/// Reads the points of a file; the format is told from the content (KITTI's, which has no mark, by
/// the ending `.bin`). `source` describes the lidar whose packets a capture holds.
///
/// # Errors
/// Where the file cannot be read, is damaged, holds no point, is of no known format, or is a
/// recording of several sensors.
pub fn read_points(path: &Path, source: &PacketSource) -> Result<Points, FormatError> {
    read_points_of_topic(path, source, None)
}

/// [`read_points`], with the topic of a recording of several sensors: each has a frame of its own,
/// so that one alone can be read.
///
/// # Errors
/// As [`read_points`], and where the file has no such topic.
pub fn read_points_of_topic(
    path: &Path,
    source: &PacketSource,
    topic: Option<&str>,
) -> Result<Points, FormatError> {
    parse(path, read_bytes(path)?, source, topic)
}

/// Reads the points in the content of a file; `path` is named in errors.
///
/// # Errors
/// As [`read_points`], but for reading the file.
///
/// ```
/// use etendue_io::packets::PacketSource;
/// use etendue_io::points::parse_points;
/// let text = b"x,y,z,ring\n1,2,3,7\n4,5,6,8\n".to_vec();
/// let table = parse_points("a.csv".as_ref(), text, &PacketSource::default()).unwrap().together();
/// assert_eq!(table.number("ring", 1), Some(8.0));
/// ```
pub fn parse_points(
    path: &Path,
    bytes: Vec<u8>,
    source: &PacketSource,
) -> Result<Points, FormatError> {
    parse(path, bytes, source, None)
}

fn parse(
    path: &Path,
    bytes: Vec<u8>,
    source: &PacketSource,
    topic: Option<&str>,
) -> Result<Points, FormatError> {
    let format = Format::of(path, &bytes).ok_or_else(|| FormatError::Unsupported {
        path: path.to_owned(),
        message: "this is no point cloud of a known format".into(),
        remedy:
            "give a .pcd, .ply, .las, .laz, .e57, .npz, .parquet, .mcap, .pcap or .csv file, or \
                 KITTI's .bin"
                .into(),
    })?;
    if topic.is_some() && format != Format::Mcap {
        let message = "this is no MCAP recording, and has no topics";
        let remedy = "leave the topic out";
        return Err(FormatError::malformed(path, Place::File, message, remedy));
    }
    let points = match format {
        Format::Pcd => pcd::parse(path, &bytes).map(Points::one),
        Format::Ply => ply::parse(path, &bytes).map(Points::one),
        Format::Las => las::parse(path, bytes).map(Points::one),
        Format::E57 => e57::parse(path, bytes),
        Format::Npz => npz::parse(path, &bytes).map(Points::one),
        Format::Mcap => mcap::parse(path, &bytes, topic),
        Format::Parquet => parquet::parse(path, bytes),
        Format::Capture => packets::parse(path, &bytes, source),
        Format::Kitti => kitti::parse(path, &bytes).map(Points::one),
        Format::Csv => csv::parse(path, &bytes),
    }?;
    if points.sweeps.iter().all(|sweep| sweep.points == 0) {
        let why = points.warnings.first();
        let why = why.map_or(String::new(), |warning| format!(": {warning}"));
        let message = format!("the file holds no point{why}");
        let remedy = "give a file with points";
        return Err(FormatError::malformed(path, Place::File, message, remedy));
    }
    Ok(points)
}

/// Whether the content looks like points.
pub(crate) fn is_points(path: &Path, bytes: &[u8]) -> bool {
    Format::of(path, bytes).is_some()
}

impl Format {
    fn of(path: &Path, bytes: &[u8]) -> Option<Self> {
        let starts = |mark: &[u8]| bytes.starts_with(mark);
        let ends = |ending: &str| {
            path.extension()
                .is_some_and(|own| own.eq_ignore_ascii_case(ending))
        };
        let marks: [(&[u8], Self); 7] = [
            (b"ply", Self::Ply),
            (b"# .PCD", Self::Pcd),
            (b"LASF", Self::Las),
            (b"ASTM-E57", Self::E57),
            (b"PK\x03\x04", Self::Npz),
            (::mcap::MAGIC, Self::Mcap),
            (parquet::MAGIC, Self::Parquet),
        ];
        if let Some((_, format)) = marks.iter().find(|(mark, _)| starts(mark)) {
            return Some(*format);
        }
        if packets::is_capture(bytes) {
            return Some(Self::Capture);
        }
        if ends("bin") {
            return Some(Self::Kitti);
        }
        let head = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]);
        if head.starts_with("VERSION") || head.starts_with('#') && head.contains("\nVERSION") {
            return Some(Self::Pcd);
        }
        is_csv(&head).then_some(Self::Csv)
    }
}
