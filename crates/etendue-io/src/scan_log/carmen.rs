//! CARMEN logs (`.log`, `.clf`): one message per line.
//!
//! Scans are read from `FLASER`, `RLASER`, `ROBOTLASERn` and `RAWLASERn`; other messages are
//! ignored. `FLASER` contains no directions: the beams cover the front half plane. 180 or 360 beams
//! exclude the last direction; any other number includes both ends. A range at or beyond the limit
//! of the scanner (of the message, otherwise `robot_front_laser_max`, otherwise 80 m) is no return.

use super::{Geometries, truncated_last_line};
use crate::FormatError;
use crate::precision::single;
use crate::text::{TextContent, TextField, TextLine};
use etendue_sensors::{RangeReading, Scan, ScanLog};
use nalgebra::{Isometry2, Vector2};
use std::f64::consts::{FRAC_PI_2, PI};

/// Default maximum range, m.
const USUAL_LIMIT: f64 = 80.0;
/// Maximum number of beams of a scan; a greater count is damaged.
const MOST_BEAMS: usize = 100_000;

pub(super) fn is_keyword(word: &str) -> bool {
    ["PARAM", "SYNC", "ODOM", "TRUEPOS", "NEFF"].contains(&word) || is_scan(word)
}

fn is_scan(word: &str) -> bool {
    word == "FLASER" || is_rear(word) || is_new_style(word)
}

fn is_rear(word: &str) -> bool {
    word == "RLASER"
}

fn is_new_style(word: &str) -> bool {
    word.starts_with("ROBOTLASER") || word.starts_with("RAWLASER")
}

pub(super) fn parse(text: TextContent<'_>) -> Result<ScanLog, FormatError> {
    let mut reader = Reader {
        limit: USUAL_LIMIT,
        ..Reader::default()
    };
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        match reader.read(line)? {
            Outcome::Done => {}
            Outcome::Truncated(_) if lines.peek().is_none() => {
                reader.log.warnings.push(truncated_last_line(line));
            }
            Outcome::Truncated(error) => return Err(error),
        }
    }
    Ok(reader.finish())
}

#[derive(Default)]
struct Reader {
    log: ScanLog,
    geometries: Geometries,
    limit: f64,
    without_time: usize,
    messages: Vec<String>,
}

enum Outcome {
    Done,
    Truncated(FormatError),
}

impl Reader {
    fn read(&mut self, line: TextLine<'_>) -> Result<Outcome, FormatError> {
        // Read a parameter; skip messages other than scans
        let mut fields = Fields {
            line,
            words: line.words().collect(),
            next: 1,
            truncated: false,
        };
        let keyword = fields.words[0].text;
        if keyword == "PARAM" {
            self.read_parameter(&fields);
            return Ok(Outcome::Done);
        }
        if !is_scan(keyword) {
            return Ok(Outcome::Done);
        }
        // Parse the scan
        let scan = if is_new_style(keyword) {
            self.new_style(&mut fields, keyword.starts_with("RAW"))
        } else {
            self.old_style(&mut fields, is_rear(keyword))
        };
        // Append it, and store the type of message
        match scan {
            Ok(scan) => {
                self.log.scans.push(scan);
                if !self.messages.iter().any(|known| known == keyword) {
                    self.messages.push(keyword.into());
                }
                Ok(Outcome::Done)
            }
            Err(error) if fields.truncated => Ok(Outcome::Truncated(error)),
            Err(error) => Err(error),
        }
    }

    fn read_parameter(&mut self, fields: &Fields<'_>) {
        if let [_, name, value, ..] = fields.words[..]
            && name.text == "robot_front_laser_max"
            && let Ok(limit) = value.text.parse::<f64>()
            && limit > 0.0
        {
            self.limit = limit;
        }
    }

    /// `FLASER n r1 .. rn x y yaw odom_x odom_y odom_yaw time host logger_time`
    fn old_style(&mut self, fields: &mut Fields<'_>, rear: bool) -> Result<Scan, FormatError> {
        let beams = fields.count("the number of ranges")?;
        let readings = fields.readings(beams, self.limit)?;
        let _corrected = fields.pose()?;
        let odometry = fields.pose()?;
        let time = self.time(fields)?;
        let step = match beams {
            180 | 360 => PI / beams as f64,
            _ => PI / (beams.max(2) - 1) as f64,
        };
        let first = if rear { FRAC_PI_2 } else { -FRAC_PI_2 };
        Ok(Scan {
            time,
            beam_interval: 0.0,
            azimuths: self.geometries.regular(first, step, beams),
            elevations: [].into(),
            readings,
            intensities: Vec::new(),
            odom_from_robot: Some(odometry),
        })
    }

    /// `ROBOTLASER1 type start fov resolution limit accuracy remission n r1 .. rn m e1 .. em
    /// laser_x laser_y laser_yaw robot_x robot_y robot_yaw tv rv .. time host logger_time`;
    /// `RAWLASER1` has no poses and velocities.
    fn new_style(&mut self, fields: &mut Fields<'_>, raw: bool) -> Result<Scan, FormatError> {
        // Read the geometry of the scan
        fields.skip(1);
        let first = fields.number("the first direction")?;
        fields.skip(1);
        let step = fields.number("the angular resolution")?;
        let limit = fields.number("the range limit")?;
        fields.skip(2);
        let beams = fields.count("the number of ranges")?;
        // Read ranges and remissions
        let readings = fields.readings(beams, limit)?;
        let remissions = fields.count("the number of remissions")?;
        let intensities = (0..remissions)
            .map(|_| fields.number("a remission").map(single))
            .collect::<Result<Vec<f32>, _>>()?;
        // Read the odometry
        let mut odometry = None;
        if !raw {
            fields.pose()?;
            odometry = Some(fields.pose()?);
            fields.skip(5);
        }
        Ok(Scan {
            time: self.time(fields)?,
            beam_interval: 0.0,
            azimuths: self.geometries.regular(first, step, beams),
            elevations: [].into(),
            readings,
            intensities: if intensities.len() == beams {
                intensities
            } else {
                Vec::new()
            },
            odom_from_robot: odometry,
        })
    }

    fn time(&mut self, fields: &mut Fields<'_>) -> Result<f64, FormatError> {
        if fields.at_end() {
            self.without_time += 1;
            return Ok(self.log.scans.len() as f64);
        }
        fields.number("the time")
    }

    fn finish(mut self) -> ScanLog {
        self.log.description = format!("CARMEN log, {}", self.messages.join(" and "));
        if self.without_time > 0 {
            self.log.warnings.push(format!(
                "{} scans have no time: their index replaces it, s",
                self.without_time
            ));
        }
        let backwards = self
            .log
            .scans
            .windows(2)
            .filter(|two| two[1].time < two[0].time)
            .count();
        if backwards > 0 {
            self.log
                .warnings
                .push(format!("time runs backwards {backwards} times"));
        }
        self.log
    }
}

/// Sequential reader of the fields of a message.
struct Fields<'a> {
    line: TextLine<'a>,
    words: Vec<TextField<'a>>,
    next: usize,
    truncated: bool,
}

impl<'a> Fields<'a> {
    fn take(&mut self, expected: &str) -> Result<TextField<'a>, FormatError> {
        let Some(field) = self.words.get(self.next) else {
            self.truncated = true;
            return Err(self.line.truncated(expected));
        };
        self.next += 1;
        Ok(*field)
    }

    fn skip(&mut self, fields: usize) {
        self.next += fields;
    }

    fn at_end(&self) -> bool {
        self.next >= self.words.len()
    }

    fn number(&mut self, expected: &str) -> Result<f64, FormatError> {
        self.take(expected)?.number()
    }

    fn count(&mut self, expected: &str) -> Result<usize, FormatError> {
        let field = self.take(expected)?;
        let count: usize = field.parse("a whole number")?;
        if count > MOST_BEAMS {
            return Err(field.error(
                format!("{count} is too many beams"),
                "the count is damaged: delete this line",
            ));
        }
        Ok(count)
    }

    fn readings(&mut self, beams: usize, limit: f64) -> Result<Vec<RangeReading>, FormatError> {
        (0..beams)
            .map(|_| {
                let range = self.number("its last range")?;
                Ok(if range >= limit {
                    RangeReading::NoReturn
                } else {
                    RangeReading::Range(range)
                })
            })
            .collect()
    }

    fn pose(&mut self) -> Result<Isometry2<f64>, FormatError> {
        let x = self.number("the pose")?;
        let y = self.number("the pose")?;
        let yaw = self.number("the pose")?;
        Ok(Isometry2::new(Vector2::new(x, y), yaw))
    }
}
