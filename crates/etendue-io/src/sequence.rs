//! Sequences: scans with their poses.
//!
//! A sequence is a folder of scans (sorted by name) with a trajectory next to them, or any recording
//! that [`read_points`](crate::points::read_points) reads: the sweeps of a bag, a capture or a scan
//! log. The poses of a bag are those of its transforms.
//!
//! The trajectory is a text file in the folder whose name begins with `poses` or `trajectory` or
//! ends in `.tum`, or an explicitly given file. A line has eight numbers (TUM) or twelve (KITTI).
//! Poses with times that span those of the scans are interpolated at the times of the scans; otherwise
//! there is one line per scan.

use crate::points::{PointFormat, ReadOptions, read_points_with};
use crate::scan_folder::{files_of, trajectory_in};
use crate::table::{PointSweeps, PointTable};
use crate::trajectory::{poses_of_kitti, poses_of_tum};
use crate::{FileLocation, FormatError};
use etendue_scene::{KeyFrame, KeyFrameTrajectory};
use nalgebra::{Isometry3, Point3};
use std::path::{Path, PathBuf};

pub use crate::scan_folder::{bag_in, scan_files};

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
    /// Pose of the robot in the frame of its odometry, one per scan; `None` without odometry in a scan log.
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

/// Reads a sequence. `progress` receives the number of scans read and their total.
///
/// # Errors
/// If a file cannot be read or is damaged, or the numbers of poses and scans differ.
pub fn read_sequence(
    source: SequenceSource,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Sequence, FormatError> {
    // Read the scans
    let SequenceSource { path, poses, .. } = source;
    let bag = if path.is_dir() { bag_in(path)? } else { None };
    let has_scans = path.is_dir()
        && (bag.is_none() || !files_of(path, &PointFormat::scan_endings())?.is_empty());
    let Recorded {
        scans,
        point_times,
        stamps,
        posed: recorded,
        odometry,
        warnings,
    } = if has_scans {
        read_folder(path, source.options, progress)?
    } else {
        let file = bag.as_deref().unwrap_or(path);
        let points = read_points_with(file, source.options)?;
        Recorded::of(path, points)?
    };

    // Read the trajectory, if there is one
    let trajectory = match poses {
        Some(file) => Some(file.to_owned()),
        None if path.is_dir() => trajectory_in(path)?,
        None => None,
    };
    let posed = match trajectory {
        Some(file) => Some(read_poses(&file)?),
        None => recorded,
    };

    // Number the scans if they have no times
    let count = scans.len();
    let numbers = || (0..count).map(|number| number as f64).collect();
    let (times, world_from_lidar) = match posed {
        Some(posed) => {
            let (times, poses) = pose_of_each(path, count, stamps.as_deref(), posed)?;
            (times.or(stamps), Some(poses))
        }
        None => (stamps, None),
    };
    Ok(Sequence {
        path: path.to_owned(),
        scans,
        times: times.unwrap_or_else(numbers),
        point_times,
        world_from_lidar,
        odometry,
        warnings,
    })
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

/// Scans of a recording, with their poses if available.
#[derive(Default)]
struct Recorded {
    scans: Vec<Vec<Point3<f64>>>,
    /// Times of the points of each scan relative to its stamp, s.
    point_times: Option<Vec<Vec<f64>>>,
    /// Times of the scans, s.
    stamps: Option<Vec<f64>>,
    posed: Option<Posed>,
    odometry: Option<Vec<Isometry3<f64>>>,
    warnings: Vec<String>,
}

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

/// The scans of a folder, with the times of their points if every file has some.
fn read_folder(
    folder: &Path,
    options: ReadOptions,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Recorded, FormatError> {
    let files = scan_files(folder)?;
    let mut tables = Vec::new();
    for (number, file) in files.iter().enumerate() {
        tables.push(read_points_with(file, options)?.together());
        progress(number + 1, files.len());
    }
    Ok(Recorded::of_files(&tables))
}

impl Recorded {
    /// Scans that are files of their own, with the time column of each.
    fn of_files(tables: &[PointTable]) -> Self {
        let scans = tables.iter().map(positions).collect();
        let stamps: Option<Vec<f64>> = tables.iter().map(earliest).collect();
        let point_times = stamps
            .as_ref()
            .and_then(|stamps| times_since(tables, stamps));
        let (Some(stamps), Some(point_times)) = (stamps, point_times) else {
            return Self {
                scans,
                ..Self::default()
            };
        };
        // Times that begin anew in each file are those within a scan: the scans follow one another.
        let mut warnings = Vec::new();
        let ascending = stamps.is_sorted_by(|a, b| a < b);
        let stamps = if ascending {
            stamps
        } else {
            let period = longest(&point_times);
            warnings.push(format!(
                "the times of the points begin anew in each file: the scans are taken to begin \
                 {period:.4} s apart, the longest duration of a scan"
            ));
            (0..tables.len()).map(|i| i as f64 * period).collect()
        };
        Self {
            scans,
            point_times: Some(point_times),
            stamps: Some(stamps),
            posed: None,
            odometry: None,
            warnings,
        }
    }

    /// The sweeps of a recording.
    fn of(path: &Path, points: PointSweeps) -> Result<Self, FormatError> {
        // Split a table with numbers of sweeps
        let points = points.split();
        let sweeps = &points.sweeps;
        if sweeps.iter().any(|sweep| sweep.column("x").is_none()) {
            let message = "a sweep has no positions (x, y and z)";
            let remedy = "give a recording of a lidar";
            return Err(FormatError::malformed(
                path,
                FileLocation::File,
                message,
                remedy,
            ));
        }

        // Stamp every sweep, and count the times of its points from there
        let stamps = points
            .stamps
            .or_else(|| sweeps.iter().map(earliest).collect());
        let point_times = stamps
            .as_ref()
            .and_then(|stamps| times_since(sweeps, stamps));
        Ok(Self {
            scans: sweeps.iter().map(positions).collect(),
            point_times,
            posed: points
                .world_from_sensor
                .map(|poses| (stamps.clone(), poses)),
            stamps,
            odometry: points.odometry,
            warnings: points.warnings,
        })
    }
}

/// Time of the first point of a table, s.
fn earliest(table: &PointTable) -> Option<f64> {
    table.finite_numbers("time").reduce(f64::min)
}

/// Times of the points of tables relative to a stamp each, s; `None` if a table has no times.
fn times_since(tables: &[PointTable], stamps: &[f64]) -> Option<Vec<Vec<f64>>> {
    let of_tables = tables.iter().zip(stamps);
    of_tables
        .map(|(table, stamp)| table.times_since(*stamp))
        .collect()
}

/// The longest of the scans by the times of their points (s).
fn longest(point_times: &[Vec<f64>]) -> f64 {
    point_times.iter().flatten().copied().fold(0.0, f64::max)
}

/// Positions of the points of a table, m, including non-finite ones.
fn positions(table: &PointTable) -> Vec<Point3<f64>> {
    let axes = ["x", "y", "z"].map(|name| table.column(name));
    let position = |point| axes.map(|axis| axis.map_or(f64::NAN, |axis| axis.number(point)));
    (0..table.points)
        .map(|point| position(point).into())
        .collect()
}
