//! Text logs of Slamtec RPLIDAR scanners, in three formats.

use super::Geometries;
use crate::FormatError;
use crate::precision::single;
use crate::text::{TextContent, TextField, TextLine, is_number};
use etendue_sensors::{RangeReading, Scan, ScanLog};

const NO_CLOCK: &str = "the log has no clock: the time of each scan is its index, s";

/// One beam of a scan.
struct Beam {
    azimuth: f64,
    reading: RangeReading,
    intensity: f32,
}

/// Assembles scans without a clock from beams.
#[derive(Default)]
struct Collector {
    log: ScanLog,
    geometries: Geometries,
    beams: Vec<Beam>,
}

impl Collector {
    fn end_scan(&mut self) {
        if self.beams.is_empty() {
            return;
        }
        let beams = std::mem::take(&mut self.beams);
        self.log.scans.push(Scan {
            time: self.log.scans.len() as f64,
            beam_interval: 0.0,
            azimuths: self
                .geometries
                .share(beams.iter().map(|beam| beam.azimuth).collect()),
            elevations: [].into(),
            readings: beams.iter().map(|beam| beam.reading).collect(),
            intensities: beams.iter().map(|beam| beam.intensity).collect(),
            odom_from_robot: None,
        });
    }

    fn finish(mut self, description: &str) -> ScanLog {
        self.end_scan();
        self.log.description = description.into();
        self.log.warnings.push(NO_CLOCK.into());
        self.log
    }
}

/// Whether a line has the form "range, quality, angle".
pub(super) fn is_row(line: &str) -> bool {
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    fields.len() == 3 && fields.iter().all(|field| is_number(field))
}

/// Whether `row` begins a scan: its angle is less than that of the row before.
pub(super) fn begins_scan(before: &str, row: &str) -> bool {
    let angle = |row: &str| row.rsplit(',').next()?.trim().parse::<f64>().ok();
    matches!((angle(before), angle(row)), (Some(before), Some(angle)) if angle < before)
}

/// Parses rows of range in m (inf: no return), quality, and angle in rad, anticlockwise. A
/// decreasing angle begins a scan.
pub(super) fn parse_rows(text: TextContent<'_>) -> Result<ScanLog, FormatError> {
    let mut collector = Collector::default();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        // Split the row; the last one may be truncated
        let fields: Vec<TextField<'_>> = line.split(',').collect();
        let [range, quality, angle] = fields[..] else {
            if fields.len() < 3 && lines.peek().is_none() {
                let warning = super::truncated_last_line(line);
                collector.log.warnings.push(warning);
                break;
            }
            return Err(wrong_columns(line, fields.len()));
        };
        // Begin a scan if the angle decreases
        let azimuth = angle.number()?;
        let last = collector.beams.last();
        if last.is_some_and(|last| azimuth < last.azimuth) {
            collector.end_scan();
        }
        // Append the beam
        collector.beams.push(Beam {
            azimuth,
            reading: rep117(range)?,
            intensity: single(quality.number()?),
        });
    }
    Ok(collector.finish("RPLIDAR rows of range, quality and angle"))
}

fn wrong_columns(line: TextLine<'_>, found: usize) -> FormatError {
    line.error(
        format!("the line has {found} columns instead of 3"),
        "write range, quality and angle, with decimal points",
    )
}

/// Decodes a range by REP 117: +inf no return, -inf too near, NaN an error.
fn rep117(field: TextField<'_>) -> Result<RangeReading, FormatError> {
    let range: f64 = field.parse("a range")?;
    Ok(if range.is_nan() {
        RangeReading::Error(0)
    } else if range == f64::INFINITY {
        RangeReading::NoReturn
    } else if range == f64::NEG_INFINITY {
        RangeReading::TooNear
    } else {
        RangeReading::Range(range)
    })
}

/// Parses the output of `ultra_simple` of the SDK: angle in degrees, clockwise; distance in mm (0:
/// no return); quality. `S` marks the first beam of a rotation.
pub(super) fn parse_ultra_simple(text: TextContent<'_>) -> Result<ScanLog, FormatError> {
    let mut collector = Collector::default();
    let mut lines = text.lines().peekable();
    let mut begun = false;
    while let Some(line) = lines.next() {
        // Skip the output of the driver before the first beam
        if !line.text.contains("theta:") && !begun {
            continue;
        }
        begun = true;
        // Find the labelled numbers; the last line may be truncated
        let labelled = ["theta:", "Dist:", "Q:"].map(|label| after(line, label));
        let [Some(angle), Some(distance), Some(quality)] = labelled else {
            if lines.peek().is_none() {
                let warning = super::truncated_last_line(line);
                collector.log.warnings.push(warning);
                break;
            }
            return Err(line.truncated("theta, Dist and Q"));
        };
        // Append the beam to a new scan or the current one
        if line.text.trim_start().starts_with('S') {
            collector.end_scan();
        }
        let millimetres = distance.number()?;
        collector.beams.push(Beam {
            azimuth: -angle.number()?.to_radians(),
            reading: match millimetres {
                0.0 => RangeReading::NoReturn,
                _ => RangeReading::Range(millimetres * 1e-3),
            },
            intensity: single(quality.number()?),
        });
    }
    Ok(collector.finish("RPLIDAR ultra_simple log"))
}

/// The word after `label`.
fn after<'a>(line: TextLine<'a>, label: &str) -> Option<TextField<'a>> {
    let (_, rest) = line.text.split_once(label)?;
    rest.split_ascii_whitespace()
        .next()
        .map(|word| line.field(word))
}

/// Parses ROS scans in Python notation: one block of `name: value` lines per scan.
pub(super) fn parse_blocks(text: TextContent<'_>) -> Result<ScanLog, FormatError> {
    let mut log = ScanLog {
        description: "RPLIDAR scans printed by ROS".into(),
        ..ScanLog::default()
    };
    let mut geometries = Geometries::default();
    let mut block = Block::default();
    let mut last = None;
    // Collect the lines of a block, which the next time stamp ends
    for line in text.lines() {
        let Some((name, value)) = line.text.split_once(':') else {
            continue;
        };
        let value = line.field(value.trim());
        match name.trim() {
            "Timestamp" => {
                if let Some(before) = last {
                    log.scans.push(block.scan(before, &mut geometries)?);
                }
                block = Block {
                    time: value.number()?,
                    ..Block::default()
                };
            }
            "start_angle" => block.first = Some(value.number()?),
            "angle_increment" => block.step = Some(value.number()?),
            "ranges" => block.readings = list(line, value, rep117)?,
            "intensities" => {
                block.intensities = list(line, value, |field| Ok(single(field.number()?)))?;
            }
            _ => {}
        }
        last = Some(line);
    }
    // Add the last block, unless it is truncated
    if let Some(line) = last {
        match block.scan(line, &mut geometries) {
            Ok(scan) => log.scans.push(scan),
            Err(_) => log
                .warnings
                .push("the last scan is truncated and was skipped".into()),
        }
    }
    Ok(log)
}

#[derive(Default)]
struct Block {
    time: f64,
    first: Option<f64>,
    step: Option<f64>,
    readings: Vec<RangeReading>,
    intensities: Vec<f32>,
}

impl Block {
    fn scan(
        &mut self,
        line: TextLine<'_>,
        geometries: &mut Geometries,
    ) -> Result<Scan, FormatError> {
        let first = self.first.ok_or_else(|| line.truncated("start_angle"))?;
        let step = self.step.ok_or_else(|| line.truncated("angle_increment"))?;
        if self.readings.is_empty() {
            return Err(line.truncated("ranges"));
        }
        let readings = std::mem::take(&mut self.readings);
        let mut intensities = std::mem::take(&mut self.intensities);
        if intensities.len() != readings.len() {
            intensities.clear();
        }
        Ok(Scan {
            time: self.time,
            beam_interval: 0.0,
            azimuths: geometries.regular(first, step, readings.len()),
            elevations: [].into(),
            readings,
            intensities,
            odom_from_robot: None,
        })
    }
}

/// Parses the numbers of `array('f', [a, b, ..])`.
fn list<'a, T>(
    line: TextLine<'a>,
    value: TextField<'a>,
    read: impl Fn(TextField<'a>) -> Result<T, FormatError>,
) -> Result<Vec<T>, FormatError> {
    let inner = value
        .text
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'))
        .ok_or_else(|| line.truncated("the closing bracket of the list"))?
        .0;
    inner
        .split(',')
        .map(|item| read(line.field(item.trim())))
        .collect()
}
