//! Recordings with one reading per beam, mostly planar scans. The content of a log determines its format.
//!
//! | format | recognition | source |
//! |---|---|---|
//! | tinySLAM text | 700 or more numbers per line, no header | Hokuyo URG-04LX on the Mines ParisTech rover |
//! | MRPT rawlog | serialised objects, often in a gzip file | robots of the University of Málaga, CARMEN logs converted by MRPT |
//! | CARMEN | lines that begin with `FLASER`, `ROBOTLASER1`, `RAWLASER1`, `PARAM`, `ODOM` ... | SICK LMS and others |
//! | RPLIDAR `ultra_simple` | `theta: .. Dist: .. Q: ..` | Slamtec SDK |
//! | RPLIDAR rows | three numbers per line: range, quality, angle | ROS scans, one beam per row |
//! | RPLIDAR blocks | `Timestamp:` ... `ranges: array('f', [..])` | ROS scans, printed |
//! | etendue CSV | a header with `azimuth_rad` or `azimuth_deg`, and `range_m` | this program; see [`csv`] |
//! | etendue NPZ | an archive with the arrays `azimuth_rad` and `range_m` | this program; see [`write_sweeps_npz`] |
//!
//! Logs may be compressed with bzip2, gzip or zstd, or come from a driver that is still writing
//! ([`ScanStream`]).
//!
//! A field that is not a number, a decimal comma, and a truncated line before the end of the file
//! are errors that name the line. A truncated **last** line is the normal end of an interrupted
//! recording: it is skipped with a warning.

mod carmen;
pub mod csv;
mod geometry;
mod npz;
mod rawlog;
mod rplidar;
mod stream;
mod tinyslam;

use crate::input::{read_bytes, str_of};
use crate::points::missing_column;
use crate::text::{TextContent, TextLine, is_number};
use crate::{FileLocation, FormatError};
use etendue_sensors::ScanLog;
use geometry::Geometries;
use std::path::Path;

pub use csv::write_sweeps_csv;
pub use npz::write_sweeps_npz;
pub use stream::{ScanStream, Source, open_stream};

/// Reads a scan log of any known format.
///
/// # Errors
/// If the file cannot be read, its format is unknown, or a line is invalid.
pub fn read_scan_log(path: &Path) -> Result<ScanLog, FormatError> {
    parse_scan_log(path, &read_bytes(path)?)
}

/// Parses the content of a scan log. Errors name `path`.
///
/// # Errors
/// If its format is unknown, or a line is invalid.
///
/// # Example
/// ```
/// use etendue_io::scan_log::parse_scan_log;
/// let text = "sweep,azimuth_deg,range_m\n0,-90,1.5\n0,0,2.0\n0,90,\n";
/// let log = parse_scan_log("a.csv".as_ref(), text).unwrap();
/// assert_eq!(log.scans.len(), 1);
/// assert_eq!(log.scans[0].readings[1].range(), Some(2.0));
/// assert_eq!(log.scans[0].readings[2].range(), None);
/// ```
pub fn parse_scan_log(
    path: &Path,
    content: &(impl AsRef<[u8]> + ?Sized),
) -> Result<ScanLog, FormatError> {
    let bytes = content.as_ref();
    if rawlog::is_rawlog(bytes) {
        return rawlog::parse(path, bytes);
    }
    let log = if npz::is_scan_log(bytes) {
        npz::parse(path, bytes)?
    } else {
        let content = str_of(path, bytes)?;
        let format = Format::of(content).ok_or_else(|| unknown(path, content))?;
        format.parse(TextContent { path, content })?
    };
    if log.scans.is_empty() {
        return Err(FormatError::malformed(
            path,
            FileLocation::File,
            "the log has no scans",
            "record at least one full rotation of the sensor",
        ));
    }
    Ok(log)
}

/// Whether the content has the format of a scan log.
pub fn is_scan_log(content: &(impl AsRef<[u8]> + ?Sized)) -> bool {
    let bytes = content.as_ref();
    let text = std::str::from_utf8(bytes).ok();
    rawlog::is_rawlog(bytes)
        || npz::is_scan_log(bytes)
        || text.is_some_and(|text| Format::of(text).is_some())
}

#[derive(Clone, Copy)]
enum Format {
    TinySlam,
    Carmen,
    UltraSimple,
    RplidarRows,
    RplidarBlocks,
    Csv,
}

impl Format {
    fn of(content: &str) -> Option<Self> {
        content.lines().take(200).find_map(Self::of_line)
    }

    fn of_line(line: &str) -> Option<Self> {
        let first = line.split_ascii_whitespace().next()?;
        if carmen::is_keyword(first) {
            Some(Self::Carmen)
        } else if line.contains("theta:") && line.contains("Dist:") {
            Some(Self::UltraSimple)
        } else if first == "Timestamp:" {
            Some(Self::RplidarBlocks)
        } else if csv::is_header(line) {
            Some(Self::Csv)
        } else if line.split_ascii_whitespace().nth(700).is_some() && is_number(first) {
            Some(Self::TinySlam)
        } else if rplidar::is_row(line) {
            Some(Self::RplidarRows)
        } else {
            None
        }
    }

    fn parse(self, text: TextContent<'_>) -> Result<ScanLog, FormatError> {
        match self {
            Self::TinySlam => tinyslam::parse(text),
            Self::Carmen => carmen::parse(text),
            Self::UltraSimple => rplidar::parse_ultra_simple(text),
            Self::RplidarRows => rplidar::parse_rows(text),
            Self::RplidarBlocks => rplidar::parse_blocks(text),
            Self::Csv => csv::parse(text),
        }
    }
}

fn unknown(path: &Path, content: &str) -> FormatError {
    let Some(line) = content.lines().find(|line| !line.trim().is_empty()) else {
        let remedy = "record some seconds";
        return FormatError::malformed(path, FileLocation::File, "the file is empty", remedy);
    };
    if let Some(error) = missing_column(path, content.as_bytes()) {
        return error;
    }
    let start = beginning(line);
    if let Some(error) = decimal_commas(path, content) {
        return error;
    }
    FormatError::Unsupported {
        path: path.to_owned(),
        message: format!("this is not a scan log of a known format; it begins with: {start}"),
        remedy: "give a tinySLAM, CARMEN or RPLIDAR text log, an MRPT rawlog, the beams.npz of \
                 `etendue simulate`, or a CSV with the columns sweep, azimuth_deg and range_m"
            .into(),
    }
}

/// Error of a table whose numbers have decimal commas; `None` for other files.
pub(crate) fn decimal_commas(path: &Path, content: &str) -> Option<FormatError> {
    // The first lines that are not empty may include a header
    let lines = (1..).zip(content.lines());
    let mut first = lines.filter(|(_, line)| !line.trim().is_empty()).take(5);
    let (number, line) = first.find(|(_, line)| has_decimal_commas(line))?;
    Some(FormatError::malformed(
        path,
        FileLocation::Line(number),
        format!("the numbers have decimal commas: {}", beginning(line)),
        "write decimal points, and commas between the columns: 0.314,47,-3.12",
    ))
}

fn beginning(line: &str) -> String {
    line.chars().take(48).collect()
}

/// Whether a line consists of numbers, some with a decimal comma.
fn has_decimal_commas(line: &str) -> bool {
    let has_comma = |field: &&str| field.contains(',');
    let is_meant = |field: &str| field.is_empty() || is_number(&field.replacen(',', ".", 1));
    let apart = |separator: fn(char) -> bool| {
        let fields: Vec<&str> = line.split(separator).map(str::trim).collect();
        fields.iter().any(has_comma) && fields.iter().all(|field| is_meant(field))
    };
    // The columns are also separated by commas: 0,314,47,-3,12.
    let parts: Vec<&str> = line.split(',').map(str::trim).collect();
    let all_whole = parts.len() > 3
        && parts
            .iter()
            .all(|part| is_number(part) && !part.contains('.'));
    apart(|c| c == ';') || apart(char::is_whitespace) || all_whole
}

/// The warning about a truncated last line.
fn truncated_last_line(line: TextLine<'_>) -> String {
    format!("line {} is truncated and was skipped", line.number)
}
