//! Scans as comma-separated values, one beam per row.
//!
//! The first line names the columns, in any order:
//!
//! | column | meaning |
//! |---|---|
//! | `azimuth_rad` or `azimuth_deg` | direction of the beam, anticlockwise from the sensor's x axis (required) |
//! | `elevation_rad` or `elevation_deg` | elevation of the beam above the sensor's x-y plane; 0 without this column |
//! | `range_m` | range; empty or `inf` for no return (required) |
//! | `sweep` | number of the scan: a change begins a scan (one scan without this column) |
//! | `time_s` | time of the beam; the scan's is that of its first beam |
//! | `reading` | `range`, `no_return`, `too_near` or `error` |
//! | `error_code` | code of the device, 0 to 255, for a beam without a range |
//! | `intensity` or `power_per_m2_sr` | intensity of the device, or received power |
//! | `odom_x_m`, `odom_y_m`, `odom_yaw_rad` | odometry pose of the robot; `sensor_x_m` ... in simulated scans |
//!
//! Other columns and lines that begin with `#` are ignored. The reader accepts the files of
//! [`write_sweeps_csv`]; if one of their columns is missing and another has an unknown name, it was renamed: an error.

use super::Geometries;
use crate::FormatError;
use crate::output::{OutputSet, SimulatedSweeps, Sink, check_beams};
use crate::precision::{DECIMALS, rounded, single};
use crate::text::{TextContent, TextField, TextLine};
use etendue_sensors::{BeamMeasurement, BeamSweep, RangeReading, Scan, ScanLog};
use nalgebra::{Isometry2, Vector2};
use std::borrow::Cow;
use std::io;
use std::path::Path;

pub(crate) fn is_header(line: &str) -> bool {
    let has = |requested: &str| line.split(',').any(|name| name.trim() == requested);
    has("range_m") && (has("azimuth_rad") || has("azimuth_deg")) || is_simulated(line)
}

/// Least number of columns by which a file of this program is recognised, where others are renamed.
const RECOGNISED: usize = 6;

/// Whether a header is that of this program, possibly with some columns removed or renamed.
fn is_simulated(line: &str) -> bool {
    let is_written = |name: &&str| HEADER.split(',').any(|written| written == name.trim());
    line.split(',').filter(is_written).count() >= RECOGNISED
}

/// Index of the column with the number of the scan.
pub(super) fn sweep_column(header: &str) -> Option<usize> {
    header.split(',').position(|name| name.trim() == "sweep")
}

/// Whether `row` begins a scan: its scan number differs from that of the row before.
pub(super) fn begins_scan(sweep: usize, before: &str, row: &str) -> bool {
    let number = |row: &str| row.split(',').nth(sweep).map(|word| word.trim().to_owned());
    number(before) != number(row)
}

pub(super) fn parse(text: TextContent<'_>) -> Result<ScanLog, FormatError> {
    let mut lines = text
        .lines()
        .filter(|line| !line.text.starts_with('#'))
        .peekable();
    let Some(header) = lines.next() else {
        return Ok(ScanLog::default());
    };
    // Read the names of the columns
    let columns = Columns::of(header)?;
    // Read the beams; the last line may be truncated
    let mut reader = Reader::default();
    while let Some(line) = lines.next() {
        let fields: Vec<TextField<'_>> = line.split_csv();
        if fields.len() < columns.width && lines.peek().is_none() {
            let warning = super::truncated_last_line(line);
            reader.log.warnings.push(warning);
            break;
        }
        if fields.len() != columns.width {
            return Err(line.error(
                format!(
                    "the line has {} columns, but the header has {}",
                    fields.len(),
                    columns.width
                ),
                "write the columns of the header in every line, and decimals with a point",
            ));
        }
        reader.add(&columns, &fields)?;
    }
    // End the last scan
    reader.end_scan();
    reader.log.description = "etendue CSV".into();
    Ok(reader.log)
}

/// Column of an angle.
#[derive(Clone, Copy)]
struct AngleColumn {
    column: usize,
    is_in_degrees: bool,
}

impl AngleColumn {
    /// The column `NAME_rad`, else `NAME_deg`.
    fn of(name: &str, find: impl Fn(&str) -> Option<usize>) -> Option<Self> {
        let with = |unit: &str, is_in_degrees| {
            let column = find(&format!("{name}_{unit}"))?;
            Some(Self {
                column,
                is_in_degrees,
            })
        };
        with("rad", false).or_else(|| with("deg", true))
    }

    /// The angle of a line, rad.
    fn angle(self, fields: &[TextField<'_>]) -> Result<f64, FormatError> {
        let angle = fields[self.column].number()?;
        Ok(if self.is_in_degrees {
            angle.to_radians()
        } else {
            angle
        })
    }
}

/// Column index of each quantity.
struct Columns {
    width: usize,
    azimuth: AngleColumn,
    elevation: Option<AngleColumn>,
    range: usize,
    sweep: Option<usize>,
    time: Option<usize>,
    reading: Option<usize>,
    error_code: Option<usize>,
    intensity: Option<usize>,
    odometry: Option<[usize; 3]>,
}

impl Columns {
    fn of(header: TextLine<'_>) -> Result<Self, FormatError> {
        // Find columns by name
        let names: Vec<&str> = header.split_csv().iter().map(|field| field.text).collect();
        let find = |requested: &str| names.iter().position(|name| *name == requested);
        let missing = |name: &str| {
            header.error(
                format!("there is no column {name}"),
                format!("add a column {name}"),
            )
        };
        // Assign them to quantities
        if is_simulated(header.text) {
            check_renamed(header, &names)?;
        }
        let pose = |of: &str| {
            let column = |part: &str| find(&format!("{of}_{part}"));
            Some([column("x_m")?, column("y_m")?, column("yaw_rad")?])
        };
        Ok(Self {
            width: names.len(),
            azimuth: AngleColumn::of("azimuth", find).ok_or_else(|| missing("azimuth_rad"))?,
            elevation: AngleColumn::of("elevation", find),
            range: find("range_m").ok_or_else(|| missing("range_m"))?,
            sweep: find("sweep"),
            time: find("time_s"),
            reading: find("reading"),
            error_code: find("error_code"),
            intensity: find("intensity").or_else(|| find("power_per_m2_sr")),
            odometry: pose("odom").or_else(|| pose("sensor")),
        })
    }
}

/// Columns that are read and that this program does not write.
const ADDED: [&str; 4] = ["intensity", "odom_x_m", "odom_y_m", "odom_yaw_rad"];

/// Checks that no column of a file of this program has another name.
fn check_renamed(header: TextLine<'_>, names: &[&str]) -> Result<(), FormatError> {
    let is_other =
        |name: &&&str| !ADDED.contains(name) && !HEADER.split(',').any(|written| written == **name);
    let missing = HEADER.split(',').find(|written| !names.contains(written));
    let (Some(missing), Some(other)) = (missing, names.iter().find(is_other)) else {
        return Ok(());
    };
    Err(header.field(other).error(
        format!("there is no column {missing}, but a column {other}"),
        format!("name the columns as `etendue simulate` writes them: {missing}, not {other}"),
    ))
}

#[derive(Default)]
struct Reader {
    log: ScanLog,
    geometries: Geometries,
    /// Sets of elevations.
    elevated: Geometries,
    sweep: String,
    azimuths: Vec<f64>,
    elevations: Vec<f64>,
    scan: Option<Scan>,
}

impl Reader {
    fn add(&mut self, columns: &Columns, fields: &[TextField<'_>]) -> Result<(), FormatError> {
        // Begin a scan if the number changes
        let sweep = columns.sweep.map_or("", |at| fields[at].text);
        if self.scan.is_some() && sweep != self.sweep {
            self.end_scan();
        }
        if self.scan.is_none() {
            sweep.clone_into(&mut self.sweep);
            self.scan = Some(self.begin_scan(columns, fields)?);
        }
        // Append the beam
        self.azimuths.push(columns.azimuth.angle(fields)?);
        if let Some(elevation) = columns.elevation {
            self.elevations.push(elevation.angle(fields)?);
        }
        let reading = reading(columns, fields)?;
        let intensity = columns
            .intensity
            .map(|at| fields[at].number())
            .transpose()?;
        if let Some(scan) = &mut self.scan {
            scan.readings.push(reading);
            scan.intensities.extend(intensity.map(single));
        }
        Ok(())
    }

    fn begin_scan(&self, columns: &Columns, fields: &[TextField<'_>]) -> Result<Scan, FormatError> {
        let time = columns.time.map(|at| fields[at].number()).transpose()?;
        let odometry = match columns.odometry {
            Some([x, y, yaw]) => Some(Isometry2::new(
                Vector2::new(fields[x].number()?, fields[y].number()?),
                fields[yaw].number()?,
            )),
            None => None,
        };
        Ok(Scan {
            time: time.unwrap_or(self.log.scans.len() as f64),
            beam_interval: 0.0,
            azimuths: [].into(),
            elevations: [].into(),
            readings: Vec::new(),
            intensities: Vec::new(),
            odom_from_robot: odometry,
        })
    }

    fn end_scan(&mut self) {
        if let Some(mut scan) = self.scan.take() {
            scan.azimuths = self.geometries.share(std::mem::take(&mut self.azimuths));
            let elevations = std::mem::take(&mut self.elevations);
            scan.elevations = self.elevated.share_elevations(elevations);
            self.log.scans.push(scan);
        }
    }
}

fn reading(columns: &Columns, fields: &[TextField<'_>]) -> Result<RangeReading, FormatError> {
    // An error code has priority
    let code = columns
        .error_code
        .map(|at| fields[at])
        .filter(|field| !field.text.is_empty());
    if let Some(code) = code {
        return Ok(RangeReading::Error(
            code.parse("an error code from 0 to 255")?,
        ));
    }
    // Then the kind of the reading
    match columns.reading.map(|at| fields[at]) {
        None => {}
        Some(field) => match field.text {
            "range" => {}
            "no_return" => return Ok(RangeReading::NoReturn),
            "too_near" => return Ok(RangeReading::TooNear),
            other => {
                return Err(field.error(
                    format!("unknown reading \"{other}\""),
                    "write range, no_return, too_near, or error with an error_code",
                ));
            }
        },
    }
    // Then the range; an empty one is no return
    let range = fields[columns.range];
    if range.text.is_empty() || range.text == "inf" {
        return Ok(RangeReading::NoReturn);
    }
    let metres = range.number()?;
    if metres < 0.0 {
        return Err(range.error(
            format!("the range {metres} is negative"),
            "write ranges of 0 m or more, and nothing for no return",
        ));
    }
    Ok(RangeReading::Range(metres))
}

const HEADER: &str = "sweep,beam,time_s,azimuth_rad,elevation_rad,reading,range_m,error_code,\
    power_per_m2_sr,returns,true_range_m,true_object,true_material,true_incidence_rad,\
    sensor_x_m,sensor_y_m,sensor_yaw_rad";

/// Writes one row per beam. Lengths, times and angles have at most nine decimals. Fields without a value
/// (the range of a beam without a return, the truth of a beam without a hit) are empty.
///
/// # Errors
/// If a number is not finite, or the file cannot be written.
pub fn write_sweeps_csv(
    outputs: &mut OutputSet,
    path: &Path,
    run: SimulatedSweeps<'_>,
) -> Result<(), FormatError> {
    check_beams(path, run)?;
    outputs.add(path, |file| {
        writeln!(file, "{HEADER}")?;
        for sweep in run.sweeps {
            let pose = pose_columns(sweep);
            for measurement in &sweep.measurements {
                write_row(file, run, sweep.index, measurement)?;
                writeln!(file, ",{pose}")?;
            }
        }
        Ok(())
    })
}

fn pose_columns(sweep: &BeamSweep) -> String {
    let pose = Scan::of_sweep(sweep).odom_from_robot;
    pose.map_or_else(
        || ",,".into(),
        |pose| {
            let at = pose.translation;
            let numbers = [at.x, at.y, pose.rotation.angle()];
            let [x, y, yaw] = numbers.map(|number| rounded(number, DECIMALS));
            format!("{x},{y},{yaw}")
        },
    )
}

fn write_row(
    file: &mut dyn Sink,
    run: SimulatedSweeps<'_>,
    sweep: u32,
    beam: &BeamMeasurement,
) -> io::Result<()> {
    // Describe the reading in words and numbers
    let BeamMeasurement {
        time,
        azimuth,
        elevation,
        power,
        returns,
        ..
    } = beam;
    let (reading, range, code) = match beam.reading {
        RangeReading::Range(range) => {
            let range = rounded(range, DECIMALS).to_string();
            ("range", range, String::new())
        }
        RangeReading::NoReturn => ("no_return", String::new(), String::new()),
        RangeReading::TooNear => ("too_near", String::new(), String::new()),
        RangeReading::Error(code) => ("error", String::new(), code.to_string()),
    };
    // Write the measured columns
    let number = beam.beam;
    let [time, azimuth, elevation] =
        [time, azimuth, elevation].map(|number| rounded(*number, DECIMALS));
    write!(
        file,
        "{sweep},{number},{time},{azimuth},{elevation},{reading},{range},{code},{power},{returns},"
    )?;
    // Write the truth
    match beam.truth {
        None => write!(file, ",,,"),
        Some(truth) => write!(
            file,
            "{},{},{},{}",
            rounded(truth.range, DECIMALS),
            quoted(&run.scene.objects()[truth.object.0 as usize].name),
            quoted(&run.scene.materials()[truth.material.0 as usize].name),
            rounded(truth.incidence, DECIMALS)
        ),
    }
}

fn quoted(name: &str) -> Cow<'_, str> {
    if name.contains([',', '"', '\n', '\r']) {
        Cow::Owned(format!(
            "\"{}\"",
            name.replace('"', "\"\"").replace(['\n', '\r'], " ")
        ))
    } else {
        Cow::Borrowed(name)
    }
}
