//! Sequences: scans with their poses.
//!
//! A sequence is a folder of scans (sorted by name) with a trajectory next to them, or any recording
//! that [`read_points`](crate::points::read_points) reads: the sweeps of a bag, a capture or a scan
//! log. The poses of a bag are those of its transforms.
//!
//! The trajectory is a text file in the folder whose name begins with `poses` or `trajectory` or
//! ends in `.tum`, or an explicitly given file. A line has eight numbers (TUM) or twelve (KITTI),
//! one line per scan.

use crate::points::{PointFormat, ReadOptions, read_points_with};
use crate::scan_folder::{files_of, trajectory_in};
use crate::table::{PointSweeps, PointTable};
use crate::trajectory::{poses_of_kitti, poses_of_tum};
use crate::{FileLocation, FormatError};
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
    /// recording; `None` for folders, and if a sweep has no times.
    pub point_times: Option<Vec<Vec<f64>>>,
    /// Time of each scan, s; its index if neither recording nor trajectory has times.
    pub times: Vec<f64>,
    /// Pose of the lidar in the world, one per scan; `None` without a trajectory.
    pub world_from_lidar: Option<Vec<Isometry3<f64>>>,
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
        && (bag.is_none() || !files_of(path, &PointFormat::edited_endings())?.is_empty());
    let Recorded {
        scans,
        point_times,
        stamps,
        posed: recorded,
        warnings,
    } = if has_scans {
        Recorded {
            scans: read_folder(path, source.options, progress)?,
            ..Recorded::default()
        }
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
    let times_without_poses = stamps.unwrap_or_else(numbers);
    let Some((times, world_from_lidar)) = posed else {
        return Ok(Sequence {
            path: path.to_owned(),
            times: times_without_poses,
            point_times,
            scans,
            world_from_lidar: None,
            warnings,
        });
    };

    // Check that every scan has a pose
    if world_from_lidar.len() != count {
        let message = format!("{count} scans, but {} poses", world_from_lidar.len());
        let remedy = "give a trajectory with one pose for every scan, in their order";
        return Err(FormatError::malformed(
            path,
            FileLocation::File,
            message,
            remedy,
        ));
    }
    Ok(Sequence {
        path: path.to_owned(),
        scans,
        times: times.unwrap_or(times_without_poses),
        point_times,
        world_from_lidar: Some(world_from_lidar),
        warnings,
    })
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

fn read_folder(
    folder: &Path,
    options: ReadOptions,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Vec<Vec<Point3<f64>>>, FormatError> {
    let files = scan_files(folder)?;
    let mut scans = Vec::new();
    for (number, file) in files.iter().enumerate() {
        scans.push(positions(&read_points_with(file, options)?.together()));
        progress(number + 1, files.len());
    }
    Ok(scans)
}

impl Recorded {
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
        let earliest = |table: &PointTable| table.finite_numbers("time").reduce(f64::min);
        let stamps = points
            .stamps
            .or_else(|| sweeps.iter().map(earliest).collect());
        let point_times = stamps.as_ref().and_then(|stamps| {
            let of_sweeps = sweeps.iter().zip(stamps);
            of_sweeps
                .map(|(sweep, stamp)| sweep.times_since(*stamp))
                .collect()
        });
        Ok(Self {
            scans: sweeps.iter().map(positions).collect(),
            point_times,
            posed: points
                .world_from_sensor
                .map(|poses| (stamps.clone(), poses)),
            stamps,
            warnings: points.warnings,
        })
    }
}

/// Positions of the points of a table, m, including non-finite ones.
fn positions(table: &PointTable) -> Vec<Point3<f64>> {
    let axes = ["x", "y", "z"].map(|name| table.column(name));
    let position = |point| axes.map(|axis| axis.map_or(f64::NAN, |axis| axis.number(point)));
    (0..table.points)
        .map(|point| position(point).into())
        .collect()
}
