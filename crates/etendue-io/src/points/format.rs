//! The registry of formats of points: the endings and first bytes of each, its reader and its
//! writer.
//!
//! A format is added with a file of its own and a variant here.

use super::csv::{self, write_csv};
use super::e57::{self, write_e57};
use super::kitti::{self, write_kitti};
use super::las::{self, write_las};
use super::mcap::{self, write_mcap};
use super::npz::{self, write_npz};
use super::parquet::{self, write_parquet};
use super::pcd::{self, write_pcd};
use super::ply::{self, write_ply};
use super::vtk;
use crate::input::read_bytes;
use crate::output::OutputSet;
use crate::packets::{self, PacketSource};
use crate::table::{Encoding, PointTable, Points};
use crate::{FormatError, Place};
use std::path::Path;

/// A format of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointFormat {
    /// Point Cloud Library.
    Pcd,
    /// Polygon file format, the element `vertex`.
    Ply,
    /// Columns of text.
    Csv,
    /// Archive of NumPy arrays.
    Npz,
    /// LAS and LAZ of the ASPRS.
    Las,
    /// ASTM E57.
    E57,
    /// Velodyne scans of the KITTI data sets.
    Kitti,
    /// Recording of ROS 2 messages.
    Mcap,
    /// Apache Parquet.
    Parquet,
    /// Legacy VTK, read only.
    Vtk,
    /// Capture of lidar packets, read only.
    Capture,
}

impl PointFormat {
    /// Every format.
    pub const ALL: [Self; 11] = [
        Self::Pcd,
        Self::Ply,
        Self::Csv,
        Self::Npz,
        Self::Las,
        Self::E57,
        Self::Kitti,
        Self::Mcap,
        Self::Parquet,
        Self::Vtk,
        Self::Capture,
    ];

    /// Endings of the format's files, in lower case.
    pub const fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Pcd => &["pcd"],
            Self::Ply => &["ply"],
            Self::Csv => &["csv"],
            Self::Npz => &["npz"],
            Self::Las => &["las", "laz"],
            Self::E57 => &["e57"],
            Self::Kitti => &["bin"],
            Self::Mcap => &["mcap"],
            Self::Parquet => &["parquet"],
            Self::Vtk => &["vtk"],
            Self::Capture => &["pcap", "pcapng"],
        }
    }

    /// First bytes of the format's files; none where other marks tell the format.
    const fn magic(self) -> &'static [u8] {
        match self {
            Self::Pcd => b"# .PCD",
            Self::Ply => b"ply",
            Self::Npz => b"PK\x03\x04",
            Self::Las => b"LASF",
            Self::E57 => b"ASTM-E57",
            Self::Mcap => ::mcap::MAGIC,
            Self::Parquet => parquet::MAGIC,
            Self::Vtk => vtk::MAGIC,
            Self::Csv | Self::Kitti | Self::Capture => b"",
        }
    }

    /// Whether the format is written.
    pub const fn is_written(self) -> bool {
        !matches!(self, Self::Vtk | Self::Capture)
    }

    /// Whether files of the format hold nothing but points: a PLY file may hold a mesh, a CSV file a
    /// scan log.
    pub const fn holds_points_only(self) -> bool {
        !matches!(self, Self::Ply | Self::Csv)
    }

    /// The format of a file name's ending.
    ///
    /// ```
    /// use etendue_io::points::PointFormat;
    /// assert_eq!(PointFormat::of_ending("a.LAZ".as_ref()), Some(PointFormat::Las));
    /// assert_eq!(PointFormat::of_ending("a.obj".as_ref()), None);
    /// ```
    pub fn of_ending(path: &Path) -> Option<Self> {
        let ending = path.extension()?;
        let has = |format: &Self| {
            let mut endings = format.endings().iter();
            endings.any(|own| ending.eq_ignore_ascii_case(own))
        };
        Self::ALL.into_iter().find(has)
    }

    /// Endings of the formats that are written.
    pub fn written_endings() -> Vec<&'static str> {
        let written = Self::ALL.into_iter().filter(|format| format.is_written());
        written.flat_map(Self::endings).copied().collect()
    }

    /// The format of a file's content; that of KITTI, which has no mark, by the ending `.bin`.
    pub(super) fn of_content(path: &Path, bytes: &[u8]) -> Option<Self> {
        let starts =
            |format: &Self| !format.magic().is_empty() && bytes.starts_with(format.magic());
        if let Some(format) = Self::ALL.into_iter().find(starts) {
            return Some(format);
        }
        if packets::is_capture(bytes) {
            return Some(Self::Capture);
        }
        if Self::of_ending(path) == Some(Self::Kitti) {
            return Some(Self::Kitti);
        }
        let head = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]);
        if head.starts_with("VERSION") || head.starts_with('#') && head.contains("\nVERSION") {
            return Some(Self::Pcd);
        }
        csv::is_csv(&head).then_some(Self::Csv)
    }

    fn parse(
        self,
        path: &Path,
        bytes: Vec<u8>,
        source: &PacketSource,
        topic: Option<&str>,
    ) -> Result<Points, FormatError> {
        match self {
            Self::Pcd => pcd::parse(path, &bytes).map(Points::one),
            Self::Ply => ply::parse(path, &bytes).map(Points::one),
            Self::Csv => csv::parse(path, &bytes),
            Self::Npz => npz::parse(path, &bytes).map(Points::one),
            Self::Las => las::parse(path, bytes).map(Points::one),
            Self::E57 => e57::parse(path, bytes),
            Self::Kitti => kitti::parse(path, &bytes).map(Points::one),
            Self::Mcap => mcap::parse(path, &bytes, topic),
            Self::Parquet => parquet::parse(path, bytes),
            Self::Vtk => vtk::parse(path, &bytes).map(Points::one),
            Self::Capture => packets::parse(path, &bytes, source),
        }
    }

    /// Writes a table; `encoding` applies to PCD and PLY.
    ///
    /// # Errors
    /// Where the file cannot be written, the format cannot hold the points, or it is not written.
    pub fn write(
        self,
        outputs: &mut OutputSet,
        path: &Path,
        table: &PointTable,
        encoding: Encoding,
    ) -> Result<(), FormatError> {
        match self {
            Self::Pcd => write_pcd(outputs, path, table, encoding),
            Self::Ply => write_ply(outputs, path, table, encoding),
            Self::Csv => write_csv(outputs, path, table),
            Self::Npz => write_npz(outputs, path, table),
            Self::Las => write_las(outputs, path, table),
            Self::E57 => write_e57(outputs, path, table),
            Self::Kitti => write_kitti(outputs, path, table),
            Self::Mcap => write_mcap(outputs, path, table),
            Self::Parquet => write_parquet(outputs, path, table),
            Self::Vtk | Self::Capture => Err(FormatError::Unsupported {
                path: path.to_owned(),
                message: "files of this format are read, not written".into(),
                remedy: format!(
                    "use one of the endings {}",
                    Self::written_endings().join(", ")
                ),
            }),
        }
    }
}

/// Reads the points of a file; the content determines the format (for KITTI, which has no mark, the
/// ending `.bin`). `source` describes the lidar whose packets a capture holds.
///
/// # Errors
/// Where the file cannot be read, is damaged, holds no point, is of no known format, or is a
/// recording of several sensors.
pub fn read_points(path: &Path, source: &PacketSource) -> Result<Points, FormatError> {
    read_points_of_topic(path, source, None)
}

/// [`read_points`] of one topic of a recording: each sensor has a frame of its own, so that only one
/// can be read.
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
/// let points = parse_points("a.csv".as_ref(), text, &PacketSource::default()).unwrap();
/// assert_eq!(points.together().number("ring", 1), Some(8.0));
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
    let format = PointFormat::of_content(path, &bytes).ok_or_else(|| {
        let endings: Vec<&str> = PointFormat::ALL
            .iter()
            .flat_map(|f| f.endings())
            .copied()
            .collect();
        FormatError::Unsupported {
            path: path.to_owned(),
            message: "this is no point cloud of a known format".into(),
            remedy: format!("give a file with one of the endings {}", endings.join(", ")),
        }
    })?;
    if topic.is_some() && format != PointFormat::Mcap {
        let message = "this is no MCAP recording, and has no topics";
        let remedy = "leave the topic out";
        return Err(FormatError::malformed(path, Place::File, message, remedy));
    }
    let points = format.parse(path, bytes, source, topic)?;
    if points.sweeps.iter().all(|sweep| sweep.points == 0) {
        let why = points.warnings.first();
        let why = why.map_or(String::new(), |warning| format!(": {warning}"));
        let message = format!("the file holds no point{why}");
        let remedy = "give a file with points";
        return Err(FormatError::malformed(path, Place::File, message, remedy));
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ending_belongs_to_one_format() {
        for format in PointFormat::ALL {
            for ending in format.endings() {
                let path = format!("a.{ending}");
                assert_eq!(PointFormat::of_ending(path.as_ref()), Some(format));
            }
        }
    }
}
