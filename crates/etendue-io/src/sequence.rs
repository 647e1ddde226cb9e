//! Sequences: scans with their poses.
//!
//! A sequence is a folder of scans (sorted by name) with a trajectory next to them, or any recording
//! that [`read_points`](crate::points::read_points) reads: the sweeps of a bag, a capture or a scan
//! log. The poses of a bag are those of its transforms; below the root `odom` (REP 105) they are odometry, as those of a scan log.
//! Poses that are all equal are those of a mount, and no trajectory. Incomplete sweeps at the ends of a capture are left out.
//!
//! The trajectory is a text file in the folder whose name begins with `poses` or `trajectory` or
//! ends in `.tum`, or an explicitly given file. A line has eight numbers (TUM) or twelve (KITTI).
//! Poses with times that span those of the scans are interpolated at the times of the scans; otherwise
//! there is one line per scan.
//!
//! [`read_sequence`] has all scans in memory. For long recordings, [`survey_sequence`] reads what belongs to the whole
//! sequence, and [`for_each_scan`] visits the scans one after another.

use crate::interrupt::Interrupt;
use crate::points::{
    PointFormat, ReadOptions, SweepSummary, push_to_all, read_points_with, visit_sweeps,
};
use crate::scan_folder::{files_of, trajectory_in};
use crate::table::PointTable;
use crate::trajectory::{poses_of_kitti, poses_of_tum};
use crate::{FileLocation, FormatError};
use etendue_scene::{KeyFrame, KeyFrameTrajectory};
use nalgebra::{Isometry3, Point3};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

pub use crate::scan_folder::{bag_files, names_file, scan_files};

/// Scans with their poses.
#[derive(Clone, Debug)]
pub struct Sequence {
    /// Path.
    pub path: PathBuf,
    /// Points in the lidar frame, m, including non-finite ones.
    pub scans: Vec<Vec<Point3<f64>>>,
    /// Time of each point of each scan relative to the time of the scan, s, from the fields of a
    /// recording or of the files of a folder; `None` if a scan has no times.
    pub point_times: Option<Vec<Vec<f64>>>,
    /// Time of each scan, s; its index if neither recording nor trajectory has times.
    pub times: Vec<f64>,
    /// Pose of the lidar in the world, one per scan; `None` without a trajectory.
    pub world_from_lidar: Option<Vec<Isometry3<f64>>>,
    /// Pose in the frame of odometry, one per scan: of the lidar from a bag, of the robot from a scan log; `None` without odometry.
    pub odometry: Option<Vec<Isometry3<f64>>>,
    /// Irregularities that did not prevent reading.
    pub warnings: Vec<String>,
}

/// Source of a sequence.
#[derive(Clone, Copy, Debug)]
pub struct SequenceSource<'a> {
    /// Folder of scans, or recording.
    pub path: &'a Path,
    /// The trajectory, if it is not next to the scans.
    pub poses: Option<&'a Path>,
    /// What to read from a recording.
    pub options: ReadOptions<'a>,
}

/// A scan of a sequence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SequenceScan {
    /// Points in the lidar frame, m, including non-finite ones.
    pub points: Vec<Point3<f64>>,
    /// Time of each point relative to the time of the scan, s; `None` without times.
    pub point_times: Option<Vec<f64>>,
}

/// What belongs to the whole of a sequence, without its points.
#[derive(Clone, Debug, PartialEq)]
pub struct SequenceSurvey {
    /// Path.
    pub path: PathBuf,
    /// Whether the points of every scan have times.
    pub are_timed: bool,
    /// Time of each scan, s; its index if neither recording nor trajectory has times.
    pub times: Vec<f64>,
    /// Pose of the lidar in the world, one per scan; `None` without a trajectory.
    pub world_from_lidar: Option<Vec<Isometry3<f64>>>,
    /// Pose in the frame of odometry, one per scan: of the lidar from a bag, of the robot from a scan log; `None` without odometry.
    pub odometry: Option<Vec<Isometry3<f64>>>,
    /// Irregularities that did not prevent reading.
    pub warnings: Vec<String>,
}

/// Reads a sequence. `progress` receives the number of scans read, and their total for a folder of scans.
///
/// # Errors
/// If a file cannot be read or is damaged, or the numbers of poses and scans differ.
pub fn read_sequence(
    source: SequenceSource,
    progress: &mut dyn FnMut(usize, Option<usize>),
) -> Result<Sequence, FormatError> {
    let mut scans = Vec::new();
    let mut point_times = Vec::new();
    let survey = survey(source, progress, &mut |scan| {
        scans.push(scan.points);
        point_times.extend(scan.point_times);
    })?;
    Ok(Sequence {
        path: survey.path,
        scans,
        point_times: survey.are_timed.then_some(point_times),
        times: survey.times,
        world_from_lidar: survey.world_from_lidar,
        odometry: survey.odometry,
        warnings: survey.warnings,
    })
}

/// Reads the times and poses of a sequence. `observe` sees every scan; one is in memory at a time. `progress` is as in
/// [`read_sequence`].
///
/// # Errors
/// As [`read_sequence`].
pub fn survey_sequence(
    source: SequenceSource,
    progress: &mut dyn FnMut(usize, Option<usize>),
    observe: &mut dyn FnMut(&SequenceScan),
) -> Result<SequenceSurvey, FormatError> {
    survey(source, progress, &mut |scan| observe(&scan))
}

/// Visits the scans of a sequence in their order, one in memory at a time. `visit` ends the reading with
/// [`ControlFlow::Break`].
///
/// # Errors
/// If a file cannot be read or is damaged, and those of `visit`.
pub fn for_each_scan<E: From<FormatError>>(
    source: SequenceSource,
    mut visit: impl FnMut(SequenceScan) -> Result<ControlFlow<()>, E>,
) -> Result<(), E> {
    let visit = |scan: StampedScan| visit(scan.scan);
    Interrupt::visit(visit, |visit| visit_scans(source, &mut Vec::new(), visit))
}

/// Reads a sequence, and gives its scans away.
fn survey(
    source: SequenceSource,
    progress: &mut dyn FnMut(usize, Option<usize>),
    take: &mut dyn FnMut(SequenceScan),
) -> Result<SequenceSurvey, FormatError> {
    // Read the scans
    let SequenceSource { path, poses, .. } = source;
    let files = files_in(path)?.map(|files| files.len());
    let mut stamps = Stamps::default();
    let mut recorded = Some(Vec::new());
    let mut odometry = Some(Vec::new());
    let mut warnings = Vec::new();
    let visited = visit_scans(source, &mut warnings, &mut |scan| {
        stamps.add(&scan);
        push_to_all(&mut recorded, scan.world_from_sensor);
        push_to_all(&mut odometry, scan.odometry);
        take(scan.scan);
        progress(stamps.count, files);
        Ok(())
    });
    Interrupt::result(visited)?;
    let count = stamps.count;
    let are_timed = stamps.are_timed;
    let stamps = stamps.times(files.is_some(), &mut warnings);

    // Read the trajectory, if there is one
    let trajectory = match poses {
        Some(file) => Some(file.to_owned()),
        None if path.is_dir() => trajectory_in(path)?,
        None => None,
    };
    let posed = match trajectory {
        Some(file) => Some(read_poses(&file)?),
        None => recorded
            .filter(|poses| is_trajectory(poses, &mut warnings))
            .map(|poses| (stamps.clone(), poses)),
    };

    // Number the scans if they have no times
    let numbers = || (0..count).map(|number| number as f64).collect();
    let (times, world_from_lidar) = match posed {
        Some(posed) => {
            let (times, poses) = pose_of_each(path, count, stamps.as_deref(), posed)?;
            (times.or(stamps), Some(poses))
        }
        None => (stamps, None),
    };
    Ok(SequenceSurvey {
        path: path.to_owned(),
        are_timed,
        times: times.unwrap_or_else(numbers),
        world_from_lidar,
        odometry,
        warnings,
    })
}

/// Largest difference of equal poses, which are interpolated, m and rad.
const SAME_POSE: f64 = 1e-9;

/// Whether the poses of a recording are a trajectory: equal ones are those of a mount, or of a sensor at rest, and a warning
/// states it.
fn is_trajectory(poses: &[Isometry3<f64>], warnings: &mut Vec<String>) -> bool {
    let is_first = |pose: &Isometry3<f64>| {
        let shift = pose.translation.vector - poses[0].translation.vector;
        shift.norm() <= SAME_POSE && pose.rotation.angle_to(&poses[0].rotation) <= SAME_POSE
    };
    let is_mount = poses.len() > 1 && poses.iter().all(is_first);
    if is_mount {
        warnings.push(
            "the transform of the sensor is the same at all times: it is taken for a mount, not for a trajectory".to_owned(),
        );
    }
    !is_mount
}

/// Times of the scans that were read.
struct Stamps {
    /// Number of scans.
    count: usize,
    /// Time of every scan, s; `None` if one has none.
    all: Option<Vec<f64>>,
    /// Whether the points of every scan have times.
    are_timed: bool,
    /// Duration of the longest scan by the times of its points, s.
    longest: f64,
}

impl Default for Stamps {
    fn default() -> Self {
        Self {
            count: 0,
            all: Some(Vec::new()),
            are_timed: true,
            longest: 0.0,
        }
    }
}

impl Stamps {
    fn add(&mut self, scan: &StampedScan) {
        self.count += 1;
        push_to_all(&mut self.all, scan.stamp);
        let times = scan.scan.point_times.as_deref();
        self.are_timed &= times.is_some();
        self.longest = times
            .into_iter()
            .flatten()
            .copied()
            .fold(self.longest, f64::max);
    }

    /// Times of the scans, s. In a folder they come from the times of the points; those that begin anew in each file are
    /// times within a scan: the scans follow one another.
    fn times(self, are_files: bool, warnings: &mut Vec<String>) -> Option<Vec<f64>> {
        let stamps = self.all.filter(|_| self.count > 0)?;
        if !are_files {
            return Some(stamps);
        }
        if !self.are_timed {
            return None;
        }
        if stamps.is_sorted_by(|a, b| a < b) {
            return Some(stamps);
        }
        let period = self.longest;
        warnings.push(format!(
            "the times of the points begin anew in each file: the scans are taken to begin \
             {period:.4} s apart, the longest duration of a scan"
        ));
        Some((0..self.count).map(|i| i as f64 * period).collect())
    }
}

/// A scan as it is read.
struct StampedScan {
    scan: SequenceScan,
    /// Time of the scan, s.
    stamp: Option<f64>,
    world_from_sensor: Option<Isometry3<f64>>,
    odometry: Option<Isometry3<f64>>,
}

/// The files of a folder of scans; `None` for a recording, and for a folder with a bag only.
fn files_in(path: &Path) -> Result<Option<Vec<PathBuf>>, FormatError> {
    if !path.is_dir() {
        return Ok(None);
    }
    let is_bag = !bag_files(path)?.is_empty();
    if is_bag && files_of(path, &PointFormat::scan_endings())?.is_empty() {
        return Ok(None);
    }
    scan_files(path).map(Some)
}

/// Visits the scans of a folder or of a recording.
fn visit_scans(
    source: SequenceSource,
    warnings: &mut Vec<String>,
    visit: &mut dyn FnMut(StampedScan) -> Result<(), Interrupt>,
) -> Result<(), Interrupt> {
    // A folder: one scan per file
    if let Some(files) = files_in(source.path)? {
        for file in files {
            let table = read_points_with(&file, source.options)?.together();
            let stamp = earliest(&table);
            visit(StampedScan {
                scan: SequenceScan::of(&table, stamp),
                stamp,
                world_from_sensor: None,
                odometry: None,
            })?;
        }
        return Ok(());
    }
    // A recording: its sweeps
    let mut summary = SweepSummary::default();
    let mut left_out = Vec::new();
    let visited = visit_sweeps(source.path, source.options, &mut summary, &mut |sweep| {
        if sweep.is_incomplete {
            left_out.push(format!(
                "sweep {} is left out: the packets contain only a part of its rotation, {} points",
                sweep.number, sweep.table.points
            ));
            return Ok(());
        }
        if sweep.table.column("x").is_none() {
            let message = "a sweep has no positions (x, y and z)";
            let remedy = "give a recording of a lidar";
            let place = FileLocation::File;
            return Err(FormatError::malformed(source.path, place, message, remedy).into());
        }
        let stamp = sweep.stamp.or_else(|| earliest(&sweep.table));
        visit(StampedScan {
            scan: SequenceScan::of(&sweep.table, stamp),
            stamp,
            world_from_sensor: sweep.world_from_sensor,
            odometry: sweep.odometry,
        })
    });
    warnings.append(&mut summary.warnings);
    warnings.append(&mut left_out);
    visited
}

impl SequenceScan {
    /// Positions of the points of a table, and their times relative to a stamp, s.
    fn of(table: &PointTable, stamp: Option<f64>) -> Self {
        Self {
            points: positions(table),
            point_times: stamp.and_then(|stamp| table.times_since(stamp)),
        }
    }
}

/// Times and poses of the scans: those of the trajectory interpolated at the stamps of the scans (s) where it
/// spans them, else one pose for every scan.
fn pose_of_each(
    path: &Path,
    count: usize,
    stamps: Option<&[f64]>,
    (times, poses): Posed,
) -> Result<Posed, FormatError> {
    // Interpolate
    let mut remedy = "give a trajectory with one pose for every scan, in their order";
    let mut spans = String::new();
    if let (Some(stamps), Some(times)) = (stamps, &times) {
        let span = |times: &[f64]| {
            let least = times.iter().copied().fold(f64::INFINITY, f64::min);
            let greatest = times.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            [least, greatest]
        };
        let [first, last] = span(times);
        let [begin, end] = span(stamps);
        if first - SAME_TIME <= begin && end <= last + SAME_TIME {
            match interpolated(path, times, &poses, stamps) {
                Ok(poses) => return Ok((Some(stamps.to_vec()), poses)),
                Err(error) if poses.len() != count => return Err(error),
                // One pose for every scan, such as those of a recording with repeated stamps.
                Err(_) => return Ok((Some(times.clone()), poses)),
            }
        }
        spans = format!(
            "; the scans begin from {begin} s to {end} s, the poses are from {first} s to {last} s"
        );
        remedy = "give a trajectory that spans the times of the scans, or one pose for every scan, \
                  in their order";
    }
    // One pose for every scan
    if poses.len() != count {
        let message = format!("{count} scans, but {} poses{spans}", poses.len());
        return Err(FormatError::malformed(
            path,
            FileLocation::File,
            message,
            remedy,
        ));
    }
    Ok((times, poses))
}

/// Largest difference of times that are the same but for rounding, s.
const SAME_TIME: f64 = 1e-3;

/// Poses at some times (s), linear between those of a trajectory.
fn interpolated(
    path: &Path,
    times: &[f64],
    poses: &[Isometry3<f64>],
    at: &[f64],
) -> Result<Vec<Isometry3<f64>>, FormatError> {
    let frames = times.iter().zip(poses);
    let frames = frames.map(|(&time, &pose)| KeyFrame { time, pose });
    let trajectory = KeyFrameTrajectory::new(frames.collect()).map_err(|error| {
        let remedy = "sort the poses by time, each time once";
        FormatError::malformed(path, FileLocation::File, error.to_string(), remedy)
    })?;
    Ok(at.iter().map(|&t| trajectory.pose_or_end(t)).collect())
}

type Posed = (Option<Vec<f64>>, Vec<Isometry3<f64>>);

/// Times (TUM only) and poses of a trajectory file; the first line determines the format.
///
/// # Errors
/// If it cannot be read, or a line is not a pose.
pub fn read_poses(path: &Path) -> Result<Posed, FormatError> {
    let text = crate::input::read_text(path)?;
    let first = text
        .lines()
        .map(str::trim)
        .find(|l| !l.is_empty() && !l.starts_with('#'));
    let separate = |c: char| c.is_whitespace() || c == ',';
    let numbers = first.map_or(0, |l| l.split(separate).filter(|w| !w.is_empty()).count());
    if numbers == 12 {
        return Ok((None, poses_of_kitti(path, &text)?));
    }
    let frames = poses_of_tum(path, &text)?;
    let (times, poses) = frames.into_iter().unzip();
    Ok((Some(times), poses))
}

/// Time of the first point of a table, s.
fn earliest(table: &PointTable) -> Option<f64> {
    table.finite_numbers("time").reduce(f64::min)
}

/// Positions of the points of a table, m, including non-finite ones.
fn positions(table: &PointTable) -> Vec<Point3<f64>> {
    let axes = ["x", "y", "z"].map(|name| table.column(name));
    let position = |point| axes.map(|axis| axis.map_or(f64::NAN, |axis| axis.number(point)));
    (0..table.points)
        .map(|point| position(point).into())
        .collect()
}
