//! Rawlogs of MRPT (<https://docs.mrpt.org/reference/latest/robotics_file_formats.html>): serialised objects, one after another or
//! within one another.
//!
//! Objects do not state their size. The planar scans and the odometry are found by the names of their classes, so that objects of
//! other classes may be between and around them. Read are `CObservation2DRangeScan`, and the odometry of
//! `CObservationOdometry` or `CActionRobotMovement2D`.

use super::Geometries;
use crate::little_endian::LittleEndian;
use crate::{FileLocation, FormatError};
use etendue_sensors::{RangeReading, Scan, ScanLog};
use nalgebra::{Isometry2, Vector2};
use std::collections::BTreeSet;
use std::path::Path;

/// Marks the first byte of an object: the length of the name of its class follows in the other bits.
const OBJECT: u8 = 0x80;
/// Last byte of an object.
const END: u8 = 0x88;
/// Longest name of a class, with its namespaces.
const LONGEST_NAME: usize = 60;
/// Maximum number of beams of a scan; a greater count is damaged.
const MOST_BEAMS: u32 = 100_000;
/// Seconds from the epoch of the time stamps (1601) to that of Unix (1970).
const EPOCH: f64 = 11_644_473_600.0;
/// Longest interval between two odometry readings that is interpolated, s.
const LONGEST_GAP: f64 = 1.0;
/// Estimation method of a movement that is odometry.
const BY_ODOMETRY: u32 = 0;

/// Class of an object that is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Scan,
    Odometry,
    Movement,
}

impl Class {
    fn of(name: &str) -> Option<Self> {
        match name {
            "CObservation2DRangeScan" => Some(Self::Scan),
            "CObservationOdometry" => Some(Self::Odometry),
            "CActionRobotMovement2D" => Some(Self::Movement),
            _ => None,
        }
    }
}

/// Whether the content begins with an object of MRPT.
pub(super) fn is_rawlog(bytes: &[u8]) -> bool {
    LittleEndian(bytes).class_name().is_some()
}

/// Reads the scans in the order of the file, with the odometry at their times.
///
/// # Errors
/// If there is no scan, or scans of several sensors.
pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<ScanLog, FormatError> {
    // Find the objects
    let mut log = Rawlog::default();
    let mut at = 0;
    while at < bytes.len() {
        let mut object = LittleEndian(&bytes[at..]);
        at += 1;
        let Some(class) = object.class_name().and_then(Class::of) else {
            continue;
        };
        match log.read(class, &mut object) {
            Some(()) => at = bytes.len() - object.0.len(),
            None => log.damaged += 1,
        }
    }
    log.finish(path)
}

/// A scan with the name of its sensor.
struct LabelledScan {
    label: String,
    scan: Scan,
    /// Number of odometry readings before it.
    readings_before: usize,
}

/// Objects of a rawlog.
#[derive(Default)]
struct Rawlog {
    geometries: Geometries,
    scans: Vec<LabelledScan>,
    /// Times (s) and poses of the odometry, in the order of the file.
    odometry: Vec<(f64, Isometry2<f64>)>,
    /// Sum of the movements so far; `None` without any.
    moved: Option<Isometry2<f64>>,
    /// Number of objects that cannot be read.
    damaged: usize,
}

impl Rawlog {
    /// Reads an object after the name of its class; `None` if it is damaged or of an unknown version.
    fn read(&mut self, class: Class, object: &mut LittleEndian) -> Option<()> {
        let version = object.u8()?;
        match class {
            Class::Scan => {
                let scan = self.scan(object, version)?;
                self.scans.push(scan);
            }
            Class::Odometry => {
                let pose = object.planar_pose()?;
                object.text()?;
                self.odometry.push((object.time()?, pose));
            }
            Class::Movement if version >= 2 => {
                if object.u32()? == BY_ODOMETRY {
                    let movement = object.planar_pose()?;
                    self.moved = Some(self.moved.unwrap_or_default() * movement);
                }
            }
            Class::Movement => return None,
        }
        Some(())
    }

    /// Reads a scan of version 1 to 7.
    fn scan(&mut self, object: &mut LittleEndian, version: u8) -> Option<LabelledScan> {
        // Geometry, and the pose on the robot
        let aperture = f64::from(object.f32()?);
        let is_anticlockwise = object.u8()? != 0;
        object.f32()?; // maximum range
        object.skip_pose()?;
        if version < 6 {
            object.skip_matrix()?;
        }

        // Ranges
        let beams = object.u32().filter(|beams| *beams <= MOST_BEAMS)?;
        let ranges: Vec<f32> = (0..beams).map(|_| object.f32()).collect::<Option<_>>()?;
        let valid = object.take(beams as usize)?;
        let readings = ranges.iter().zip(valid).map(|(range, valid)| match valid {
            0 => RangeReading::NoReturn,
            _ => RangeReading::Range(f64::from(*range)),
        });
        let readings = readings.collect();

        // Time, name of the sensor and intensities, in the versions that have them
        let mut time = 0.0;
        let mut label = String::new();
        let mut intensities = Vec::new();
        if version >= 2 {
            object.f32()?; // standard deviation
        }
        if version >= 3 {
            time = object.time()?;
        }
        if version >= 4 {
            object.f32()?; // aperture of a beam
        }
        if version >= 5 {
            label = object.text()?;
            object.f64()?; // change of pitch during the scan
        }
        if version >= 7 && object.u8()? != 0 {
            let all = (0..beams).map(|_| object.i32());
            intensities = all.map(|i| i.map(|i| i as f32)).collect::<Option<_>>()?;
        }
        ((1..=7).contains(&version) && object.u8()? == END).then_some(())?;

        // Directions
        let step = aperture / f64::from(beams.max(2) - 1);
        let sign = if is_anticlockwise { 1.0 } else { -1.0 };
        let first = -0.5 * sign * aperture;
        Some(LabelledScan {
            label,
            readings_before: self.odometry.len(),
            scan: Scan {
                time,
                beam_interval: 0.0,
                azimuths: self.geometries.regular(first, sign * step, beams as usize),
                elevations: [].into(),
                readings,
                intensities,
                odom_from_robot: self.moved,
            },
        })
    }

    /// The log, with the odometry at the times of its scans.
    fn finish(self, path: &Path) -> Result<ScanLog, FormatError> {
        let malformed = |message: String, remedy: &'static str| {
            FormatError::malformed(path, FileLocation::File, message, remedy)
        };
        // One sensor
        let damaged = self.damaged;
        if self.scans.is_empty() {
            return Err(malformed(
                format!("the rawlog has no planar scan, and {damaged} objects cannot be read"),
                "give a rawlog with CObservation2DRangeScan; save one of an old version again with MRPT's rawlog-edit",
            ));
        }
        let labels: BTreeSet<&str> = self.scans.iter().map(|scan| &*scan.label).collect();
        if labels.len() > 1 {
            let labels: Vec<&str> = labels.into_iter().collect();
            return Err(malformed(
                format!(
                    "there are planar scans of several sensors: {}",
                    labels.join(", ")
                ),
                "keep those of one sensor with MRPT's rawlog-edit --keep-label LABEL",
            ));
        }

        // Odometry
        let scans = self.scans.into_iter().map(
            |LabelledScan {
                 scan,
                 readings_before,
                 ..
             }| {
                let pose = pose_at(&self.odometry, readings_before, scan.time);
                Scan {
                    odom_from_robot: pose.or(scan.odom_from_robot),
                    ..scan
                }
            },
        );
        let mut scans: Vec<Scan> = scans.collect();
        // Scans at one time have none: MRPT's carmen2rawlog writes the time of the conversion
        let mut warnings = Vec::new();
        if scans.len() > 1 && scans.iter().all(|scan| scan.time == scans[0].time) {
            for (number, scan) in scans.iter_mut().enumerate() {
                scan.time = number as f64;
            }
            warnings.push("all scans have the same time: their index replaces it, s".into());
        }
        if damaged > 0 {
            warnings.push(format!(
                "{damaged} objects of the rawlog are damaged or of an old version and were skipped"
            ));
        }
        Ok(ScanLog {
            description: "MRPT rawlog".into(),
            scans,
            warnings,
        })
    }
}

/// Pose of the odometry at a time, s: linear between the last of the `before` first readings and the next, where the time is between
/// theirs, otherwise that of the last reading. `None` without a reading within [`LONGEST_GAP`].
fn pose_at(odometry: &[(f64, Isometry2<f64>)], before: usize, time: f64) -> Option<Isometry2<f64>> {
    let (start, last) = odometry.get(before.checked_sub(1)?)?;
    let between = odometry.get(before).and_then(|(end, next)| {
        let is_between = *start < time && time <= *end && end - start <= LONGEST_GAP;
        is_between.then(|| last.lerp_slerp(next, (time - start) / (end - start)))
    });
    let is_near = (time - start).abs() <= LONGEST_GAP;
    between.or(is_near.then_some(*last))
}

/// Fields of objects. Every method returns `None` at the end of the content.
impl<'a> LittleEndian<'a> {
    /// A time stamp in units of 100 ns, as Unix time, s.
    fn time(&mut self) -> Option<f64> {
        let ticks = self.i64()?;
        let seconds = (ticks / 10_000_000) as f64 - EPOCH;
        Some(seconds + 1e-7 * (ticks % 10_000_000) as f64)
    }

    /// Name of the class at the start of an object, without its namespaces.
    fn class_name(&mut self) -> Option<&'a str> {
        let first = self.u8()?;
        let length = usize::from(first ^ OBJECT);
        if first & OBJECT == 0 || length > LONGEST_NAME {
            return None;
        }
        let name = std::str::from_utf8(self.take(length)?).ok()?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || "_:".contains(c);
        let class = name.rsplit("::").next()?;
        (class.starts_with('C') && class.len() > 3 && name.chars().all(is_name)).then_some(class)
    }

    /// Beginning of an object of a class; returns its version.
    fn begin(&mut self, class: &str) -> Option<u8> {
        (self.class_name()? == class).then_some(())?;
        self.u8()
    }

    fn end(&mut self) -> Option<()> {
        (self.u8()? == END).then_some(())
    }

    /// A pose in the plane: x and y, m, and an angle, rad.
    fn planar_pose(&mut self) -> Option<Isometry2<f64>> {
        let version = self.begin("CPose2D")?;
        let mut values = [0.0; 3];
        for value in &mut values {
            *value = match version {
                0 => f64::from(self.f32()?),
                _ => self.f64()?,
            };
        }
        self.end()?;
        let [x, y, angle] = values;
        let is_finite = values.iter().all(|value| value.is_finite());
        is_finite.then(|| Isometry2::new(Vector2::new(x, y), angle))
    }

    /// A pose in space of version 2 (position and quaternion) or 3 (position and matrix).
    fn skip_pose(&mut self) -> Option<()> {
        let numbers = match self.begin("CPose3D")? {
            2 => 7,
            3 => 12,
            _ => return None,
        };
        self.take(8 * numbers)?;
        self.end()
    }

    /// A matrix of single precision.
    fn skip_matrix(&mut self) -> Option<()> {
        self.class_name()?;
        self.u8()?;
        let numbers = u64::from(self.u32()?) * u64::from(self.u32()?);
        self.take(usize::try_from(numbers.checked_mul(4)?).ok()?)?;
        self.end()
    }
}
