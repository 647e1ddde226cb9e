//! The registry of point formats.
//!
//! Each format is one file with its endings, recognition, reader, writer, field capacity and editor,
//! collected in a [`FormatEntry`]. A format is added with such a file, and here with a module, a variant
//! of [`PointFormat`], and its lines in `ALL` and `entry`.

mod bag;
mod capture;
mod csv;
mod e57;
mod feather;
mod kitti;
mod las;
mod mcap;
mod npz;
mod parquet;
mod pcd;
mod ply;
mod scan_log;
mod vtk;

pub use csv::write_csv;
pub use e57::write_e57;
pub use kitti::write_kitti;
pub use las::write_las;
pub use mcap::{McapSweeps, write_mcap};
pub use npz::write_npz;
pub use parquet::write_parquet;
pub use pcd::write_pcd;
pub use ply::write_ply;

use super::sweeps::{RecordedSweep, SweepSummary, VisitSweep};
use crate::bag::Bag;
use crate::editable::EditableScan;
use crate::input::{Content, first_bytes, unread_format};
use crate::interrupt::Interrupt;
use crate::output::{OutputSet, check_points};
use crate::packets::PacketSource;
use crate::scan_folder::{bag_files, scan_files};
use crate::scan_log::decimal_commas;
use crate::table::{Encoding, PointSweeps, PointTable};
use crate::{FileLocation, FormatError};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// A file format of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointFormat {
    /// PCD of the Point Cloud Library, text or binary: all fields.
    Pcd,
    /// PLY, the element `vertex`: all fields.
    Ply,
    /// Archive of NumPy arrays: all fields.
    Npz,
    /// LAS and LAZ of the ASPRS: position, intensity, return number and count, time, classification, scan angle, user data,
    /// point source, colour, ring, material.
    Las,
    /// ASTM E57: position, intensity, row, column, return number and count, time, of every cloud.
    E57,
    /// Velodyne scans of the KITTI data sets: position, intensity.
    Kitti,
    /// MCAP recording with ROS 2 messages: all fields of the `PointCloud2` of one topic, one cloud
    /// per sweep; without clouds, the `LaserScan`.
    Mcap,
    /// Bag of ROS 1 or of ROS 2 in SQLite, read only: as [`PointFormat::Mcap`].
    Bag,
    /// Apache Parquet: all fields.
    Parquet,
    /// Feather (Arrow IPC file), read only: all fields.
    Feather,
    /// Legacy VTK as text, read only: position.
    Vtk,
    /// Capture of lidar packets (PCAP, PCAPNG), read only: the fields in Velodyne, Ouster and Hesai
    /// packets ([`crate::packets`]).
    Capture,
    /// Columns of text: all fields.
    Csv,
    /// Log of planar scans ([`crate::scan_log`]), read only: position, intensity, range, time, beam.
    ScanLog,
}

/// Appends a file with points to a set of outputs.
type PointWriter = fn(&mut OutputSet, &Path, &PointTable, Encoding) -> Result<(), FormatError>;

/// Endings, recognition, reader, writer and limits of a format.
struct FormatEntry {
    /// Endings of file names, in lower case.
    endings: &'static [&'static str],
    /// Whether a file, with its path and content, has the format.
    recognizes: fn(&Path, &[u8]) -> bool,
    /// Whether files with these endings always contain points. A PLY file may contain a mesh, a CSV
    /// file a scan log.
    points_only: bool,
    /// Whether folders of results contain a file of the format.
    in_folders: bool,
    /// Whether each file of the format in the folder of a recording is one scan.
    is_recorded_cloud: bool,
    /// Reader.
    read: PointReader,
    /// Writes a table; `None` for read-only formats.
    write: Option<PointWriter>,
    /// Capacity of formats with fixed fields; `None` if all fields are stored.
    capacity: Option<FieldCapacity>,
    /// Editor of points in files of the format, if there is one.
    editor: Option<ScanEditor>,
}

/// Reads all points at once.
type ReadWhole = fn(PointSource) -> Result<PointSweeps, FormatError>;

/// Reads one sweep after another.
type ReadSweeps = fn(&SweepSource, &mut SweepSummary, VisitSweep) -> Result<(), Interrupt>;

/// Reader of a format.
enum PointReader {
    Whole(ReadWhole),
    Sweeps(ReadSweeps),
}

/// What to read from a file, where the file does not determine it.
#[derive(Clone, Copy, Debug)]
pub struct ReadOptions<'a> {
    /// Description of the lidar of packets.
    pub lidar: &'a PacketSource,
    /// Topic of a bag; required if it has points of several sensors.
    pub topic: Option<&'a str>,
    /// Numbers per point of a scan without a header, from three to six; detected if not given.
    pub columns: Option<usize>,
}

impl<'a> ReadOptions<'a> {
    /// Options that name a lidar only.
    pub const fn new(lidar: &'a PacketSource) -> Self {
        Self {
            lidar,
            topic: None,
            columns: None,
        }
    }
}

/// Content of a file with points.
struct PointSource<'a> {
    /// Path for errors.
    path: &'a Path,
    bytes: Vec<u8>,
    options: ReadOptions<'a>,
}

/// File whose sweeps are read one after another.
struct SweepSource<'a> {
    /// Path for errors.
    path: &'a Path,
    content: &'a Content<'a>,
    options: ReadOptions<'a>,
}

/// Fields of a format with a fixed set. These formats store only points with a position.
pub(super) struct FieldCapacity {
    /// Names of the fields.
    pub fields: &'static [&'static str],
    /// Warnings about values of a table that the format changes.
    pub warnings: fn(&PointTable) -> Vec<String>,
}

/// Opens a scan for editing.
type OpenScan = fn(&Path, Vec<u8>) -> Result<Box<dyn EditableScan>, FormatError>;

/// Editor of the points in files of a format.
struct ScanEditor {
    /// Endings of files that are opened without a magic number.
    endings: &'static [&'static str],
    open: OpenScan,
}

impl PointFormat {
    /// All formats, in the order of content recognition; plain text is last.
    pub const ALL: [Self; 14] = [
        Self::Pcd,
        Self::Ply,
        Self::Npz,
        Self::Las,
        Self::E57,
        Self::Kitti,
        Self::Mcap,
        Self::Bag,
        Self::Parquet,
        Self::Feather,
        Self::Vtk,
        Self::Capture,
        Self::Csv,
        Self::ScanLog,
    ];

    const fn entry(self) -> &'static FormatEntry {
        match self {
            Self::Pcd => &pcd::FORMAT,
            Self::Ply => &ply::FORMAT,
            Self::Npz => &npz::FORMAT,
            Self::Las => &las::FORMAT,
            Self::E57 => &e57::FORMAT,
            Self::Kitti => &kitti::FORMAT,
            Self::Mcap => &mcap::FORMAT,
            Self::Bag => &bag::FORMAT,
            Self::Parquet => &parquet::FORMAT,
            Self::Feather => &feather::FORMAT,
            Self::Vtk => &vtk::FORMAT,
            Self::Capture => &capture::FORMAT,
            Self::Csv => &csv::FORMAT,
            Self::ScanLog => &scan_log::FORMAT,
        }
    }

    /// Endings of file names, in lower case.
    pub const fn endings(self) -> &'static [&'static str] {
        self.entry().endings
    }

    /// Whether the format has a writer.
    pub const fn is_written(self) -> bool {
        self.entry().write.is_some()
    }

    /// Whether files with these endings always contain points. A PLY file may contain a mesh, a CSV
    /// file a scan log.
    pub const fn holds_points_only(self) -> bool {
        self.entry().points_only
    }

    /// Whether folders of results contain a file of the format.
    pub const fn is_in_folders(self) -> bool {
        self.entry().in_folders
    }

    /// Endings of files that contain one scan each in the folder of a recording.
    pub(crate) fn recorded_cloud_endings() -> Vec<&'static str> {
        let clouds = Self::ALL
            .iter()
            .filter(|format| format.entry().is_recorded_cloud);
        clouds
            .flat_map(|format| format.endings())
            .copied()
            .collect()
    }

    /// Capacity of the fields; `None` if all are stored.
    pub(super) const fn capacity(self) -> Option<&'static FieldCapacity> {
        self.entry().capacity.as_ref()
    }

    /// Format of a path by its ending.
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

    /// Endings of all formats that are read.
    pub fn read_endings() -> Vec<&'static str> {
        Self::ALL
            .iter()
            .flat_map(|f| f.endings())
            .copied()
            .collect()
    }

    /// Endings of all formats that are written.
    ///
    /// ```
    /// use etendue_io::points::PointFormat;
    /// assert!(PointFormat::written_endings().contains(&"pcd"));
    /// assert!(!PointFormat::written_endings().contains(&"pcap"));
    /// ```
    pub fn written_endings() -> Vec<&'static str> {
        let written = Self::ALL.into_iter().filter(|format| format.is_written());
        written.flat_map(Self::endings).copied().collect()
    }

    /// Endings of all scans that a [`ScanFile`](crate::scan_file::ScanFile) edits.
    pub fn edited_endings() -> Vec<&'static str> {
        let editors = Self::ALL.iter().filter_map(|f| f.entry().editor.as_ref());
        editors.flat_map(|editor| editor.endings).copied().collect()
    }

    /// Endings of files in a folder of scans that contain one scan each.
    pub(crate) fn scan_endings() -> Vec<&'static str> {
        let mut endings = Self::edited_endings();
        let clouds = Self::recorded_cloud_endings().into_iter();
        let others: Vec<_> = clouds.filter(|own| !endings.contains(own)).collect();
        endings.extend(others);
        endings
    }

    /// Format of a file by its content; for KITTI, which has no magic number, by the ending `.bin`.
    pub(super) fn of_content(path: &Path, bytes: &[u8]) -> Option<Self> {
        let is_format = |format: &Self| (format.entry().recognizes)(path, bytes);
        Self::ALL.into_iter().find(is_format)
    }

    /// Function that opens a scan for editing, by its content, otherwise by its ending.
    pub(crate) fn editor(path: &Path, bytes: &[u8]) -> Option<OpenScan> {
        let ending = path.extension().unwrap_or_default();
        let of_content = Self::of_content(path, bytes).and_then(|f| f.entry().editor.as_ref());
        let of_ending = || {
            let mut editors = Self::ALL.iter().filter_map(|f| f.entry().editor.as_ref());
            editors.find(|editor| {
                let mut endings = editor.endings.iter();
                endings.any(|own| ending.eq_ignore_ascii_case(own))
            })
        };
        of_content.or_else(of_ending).map(|editor| editor.open)
    }

    /// Writes a table; `encoding` applies to PCD and PLY.
    ///
    /// # Errors
    /// If the file cannot be written, a number is infinite (except in the field `range`, where it is a
    /// code of REP 117), the format cannot represent the points, or it is read-only.
    pub fn write(
        self,
        outputs: &mut OutputSet,
        path: &Path,
        table: &PointTable,
        encoding: Encoding,
    ) -> Result<(), FormatError> {
        let write = self.entry().write.ok_or_else(|| FormatError::Unsupported {
            path: path.to_owned(),
            message: "this format is read-only".into(),
            remedy: format!(
                "use one of the endings {}",
                Self::written_endings().join(", ")
            ),
        })?;
        check_points(path, table)?;
        write(outputs, path, table, encoding)
    }
}

/// Reads the points of a file, of the bag in a folder, or of a folder of scans (one sweep each). The
/// content determines the format; for KITTI, which has no magic number, the ending `.bin`. `source`
/// describes the lidar of a packet capture.
///
/// # Errors
/// If the file cannot be read, is damaged, has no points, has an unknown format, or is a recording
/// of several sensors.
pub fn read_points(path: &Path, source: &PacketSource) -> Result<PointSweeps, FormatError> {
    read_points_with(path, ReadOptions::new(source))
}

/// Reads points as [`read_points`] does, with options.
///
/// # Errors
/// As [`read_points`], or if the file has no such topic or number of columns.
pub fn read_points_with(path: &Path, options: ReadOptions) -> Result<PointSweeps, FormatError> {
    if path.is_dir() {
        return read_folder(path, options);
    }
    parse(path, Content::open(path)?, options)
}

/// Whether the sweeps of a file are read one after another: those of a bag, a capture, or a folder. False for other files, such as
/// compressed ones, which are read as a whole, and for an unreadable one.
pub fn has_separate_sweeps(path: &Path) -> bool {
    let is_of_sweeps = |start: Vec<u8>| format_of_sweeps(path, &start).is_some();
    path.is_dir() || first_bytes(path, START).is_ok_and(is_of_sweeps)
}

/// Reads the bag of a folder, or its scans, one sweep each.
fn read_folder(folder: &Path, options: ReadOptions) -> Result<PointSweeps, FormatError> {
    let bag = bag_files(folder)?;
    if !bag.is_empty() {
        let points = PointSweeps::collect(|summary, visit| {
            visit_bag(folder, &bag, options, summary, visit)
        })?;
        return with_points(folder, points);
    }
    let mut all = PointSweeps::default();
    for file in scan_files(folder)? {
        let points = read_points_with(&file, options)?;
        all.sweeps.extend(points.sweeps);
        all.warnings.extend(points.warnings);
    }
    Ok(all)
}

/// Parses the points in the content of a file. Errors name `path`.
///
/// # Errors
/// As [`read_points`], except errors of reading the file.
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
) -> Result<PointSweeps, FormatError> {
    parse(
        path,
        Content::Memory(Cow::Owned(bytes)),
        ReadOptions::new(source),
    )
}

/// Reads the points of a file, at least one.
fn parse(path: &Path, content: Content, options: ReadOptions) -> Result<PointSweeps, FormatError> {
    let points = match recognize(path, content, options)? {
        Recognized::Whole(read, bytes) => read(PointSource {
            path,
            bytes,
            options,
        })?,
        Recognized::Sweeps(read, content) => {
            let source = SweepSource {
                path,
                content: &content,
                options,
            };
            PointSweeps::collect(|summary, visit| read(&source, summary, visit))?
        }
    };
    with_points(path, points)
}

/// Sweeps of which at least one has points.
fn with_points(path: &Path, points: PointSweeps) -> Result<PointSweeps, FormatError> {
    if points.sweeps.iter().all(|sweep| sweep.points == 0) {
        return Err(no_points(path, &points.warnings));
    }
    Ok(points)
}

/// Visits the sweeps of the bag of some files of a folder.
fn visit_bag(
    folder: &Path,
    files: &[PathBuf],
    options: ReadOptions,
    summary: &mut SweepSummary,
    visit: VisitSweep,
) -> Result<(), Interrupt> {
    let contents = Bag::open_all(files)?;
    let bag = Bag::of_files(folder, files, &contents)?;
    bag::read_bag(bag, options, summary, visit)
}

/// Error of a file without points.
fn no_points(path: &Path, warnings: &[String]) -> FormatError {
    let why = warnings.first();
    let why = why.map_or(String::new(), |warning| format!(": {warning}"));
    let message = format!("the file has no points{why}");
    let remedy = "give a file with points";
    FormatError::malformed(path, FileLocation::File, message, remedy)
}

/// Visits the sweeps of a file or a folder, at least one with a point, and fills in the summary.
pub(crate) fn visit_sweeps(
    path: &Path,
    options: ReadOptions,
    summary: &mut SweepSummary,
    visit: VisitSweep,
) -> Result<(), Interrupt> {
    let mut has_points = false;
    let mut visit = |sweep: RecordedSweep| {
        has_points |= sweep.table.points > 0;
        visit(sweep)
    };
    if path.is_dir() {
        visit_folder(path, options, summary, &mut visit)?;
    } else {
        visit_file(path, options, summary, &mut visit)?;
    }
    if has_points {
        Ok(())
    } else {
        Err(no_points(path, &summary.warnings).into())
    }
}

/// Visits the sweeps of the bag in a folder, or otherwise its files, one sweep each.
fn visit_folder(
    folder: &Path,
    options: ReadOptions,
    summary: &mut SweepSummary,
    visit: VisitSweep,
) -> Result<(), Interrupt> {
    let bag = bag_files(folder)?;
    if !bag.is_empty() {
        return visit_bag(folder, &bag, options, summary, visit);
    }
    let mut number = 0;
    for file in scan_files(folder)? {
        let points = read_points_with(&file, options)?;
        summary.warnings.extend(points.warnings);
        for table in points.sweeps {
            number += 1;
            visit(RecordedSweep {
                number: number - 1,
                table,
                ..RecordedSweep::default()
            })?;
        }
    }
    Ok(())
}

/// Visits the sweeps of a file.
fn visit_file(
    path: &Path,
    options: ReadOptions,
    summary: &mut SweepSummary,
    visit: VisitSweep,
) -> Result<(), Interrupt> {
    match recognize(path, Content::open(path)?, options)? {
        Recognized::Whole(read, bytes) => {
            let mut points = read(PointSource {
                path,
                bytes,
                options,
            })?;
            summary.sensor = points.sensor.take();
            summary.warnings.append(&mut points.warnings);
            points.split().into_recorded().try_for_each(visit)
        }
        Recognized::Sweeps(read, content) => {
            let source = SweepSource {
                path,
                content: &content,
                options,
            };
            read(&source, summary, visit)
        }
    }
}

/// A file with its reader.
enum Recognized<'a> {
    Whole(ReadWhole, Vec<u8>),
    Sweeps(ReadSweeps, Content<'a>),
}

/// The format of a file whose sweeps are read one after another, by its first bytes.
fn format_of_sweeps(path: &Path, start: &[u8]) -> Option<(PointFormat, ReadSweeps)> {
    PointFormat::ALL.into_iter().find_map(|format| {
        let entry = format.entry();
        match entry.read {
            PointReader::Sweeps(read) if (entry.recognizes)(path, start) => Some((format, read)),
            _ => None,
        }
    })
}

/// Number of bytes that identify a format whose sweeps are read one after another.
const START: u64 = 16;

/// Recognises the format of a file.
fn recognize<'a>(
    path: &Path,
    content: Content<'a>,
    options: ReadOptions,
) -> Result<Recognized<'a>, FormatError> {
    if content.size() == 0 {
        let remedy = "record or export it again";
        let place = FileLocation::File;
        return Err(FormatError::malformed(
            path,
            place,
            "the file is empty",
            remedy,
        ));
    }
    let check_topic = |format: PointFormat| {
        if options.topic.is_none() || [PointFormat::Mcap, PointFormat::Bag].contains(&format) {
            return Ok(());
        }
        let message = "the file is not a recording of ROS and has no topics";
        let place = FileLocation::File;
        Err(FormatError::malformed(
            path,
            place,
            message,
            "omit the topic",
        ))
    };
    // A format of sweeps, by its first bytes
    let of_start = format_of_sweeps(path, &content.start(START)?);
    if let Some((format, read)) = of_start {
        check_topic(format)?;
        return Ok(Recognized::Sweeps(read, content));
    }
    // Another format, by all bytes; rows of numbers below other names are no scan log
    let bytes = content.into_bytes()?;
    let missing = missing_column(path, &bytes);
    let format = PointFormat::of_content(path, &bytes);
    let format = format.filter(|format| *format != PointFormat::ScanLog || missing.is_none());
    let format = format.ok_or_else(|| {
        let known = missing.or_else(|| unread_format(path, &bytes));
        let with_commas = || decimal_commas(path, str::from_utf8(&bytes).ok()?);
        let known = known.or_else(with_commas);
        known.unwrap_or_else(|| unknown(path))
    })?;
    check_topic(format)?;
    match format.entry().read {
        PointReader::Whole(read) => Ok(Recognized::Whole(read, bytes)),
        PointReader::Sweeps(_) => Err(unknown(path)),
    }
}

/// Error of a table with named columns, which names the missing one and the others; `None` for other files.
pub(crate) fn missing_column(path: &Path, bytes: &[u8]) -> Option<FormatError> {
    let (missing, columns) = csv::missing_column(bytes)?;
    Some(FormatError::malformed(
        path,
        FileLocation::File,
        format!("there is no column {missing}; the columns are {columns}"),
        "name the columns x, y and z of points (m), or azimuth_rad and range_m of beams",
    ))
}

/// Error of a file without a known format.
fn unknown(path: &Path) -> FormatError {
    FormatError::Unsupported {
        path: path.to_owned(),
        message: "this is not a point cloud of a known format".into(),
        remedy: format!(
            "give a file with one of the endings {}",
            PointFormat::read_endings().join(", ")
        ),
    }
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
