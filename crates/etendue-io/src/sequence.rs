//! Sequences: scans with their poses.
//!
//! A sequence is a folder of scans (any [`ScanFile`], sorted by name) with a trajectory next to
//! them, or an MCAP recording of `PointCloud2` and transforms.
//!
//! The trajectory is a text file in the folder whose name begins with `poses` or `trajectory` or
//! ends in `.tum`, or an explicitly given file. A line has eight numbers (TUM) or twelve (KITTI),
//! one line per scan.

use crate::points::PointFormat;
use crate::ros2::{RecordedCloud, StampedTransform, read_clouds, read_transforms};
use crate::scan_file::ScanFile;
use crate::trajectory::{poses_of_kitti, poses_of_tum};
use crate::{FileLocation, FormatError};
use nalgebra::{Isometry3, Point3};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Scans with their poses.
#[derive(Clone, Debug)]
pub struct Sequence {
    /// Path.
    pub path: PathBuf,
    /// Points in the lidar frame, m, including non-finite ones.
    pub scans: Vec<Vec<Point3<f64>>>,
    /// Time of each point of each scan relative to the time of the scan, s, from the fields of a
    /// recording; `None` for folders, and if a cloud has no times.
    pub point_times: Option<Vec<Vec<f64>>>,
    /// Time of each scan, s; its index if neither recording nor trajectory has times.
    pub times: Vec<f64>,
    /// Pose of the lidar in the world, one per scan; `None` without a trajectory.
    pub world_from_lidar: Option<Vec<Isometry3<f64>>>,
    /// Irregularities that did not prevent reading.
    pub warnings: Vec<String>,
}

/// The scan files of a folder, sorted by name (numbers by value).
///
/// # Errors
/// If the folder cannot be read or has no scans.
pub fn scan_files(folder: &Path) -> Result<Vec<PathBuf>, FormatError> {
    let files = entries(folder)?;
    let endings = PointFormat::edited_endings();
    let is_scan = |path: &PathBuf| {
        let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
        endings.iter().any(|known| ending == *known) && !is_trajectory(path)
    };
    let mut scans: Vec<PathBuf> = files.into_iter().filter(is_scan).collect();
    scans.sort_by(|a, b| natural(&a.to_string_lossy(), &b.to_string_lossy()));
    if scans.is_empty() {
        let message = format!(
            "the folder has no scan ({})",
            PointFormat::edited_endings().join(", ")
        );
        let remedy = "name the folder of the scans";
        return Err(FormatError::malformed(
            folder,
            FileLocation::File,
            message,
            remedy,
        ));
    }
    Ok(scans)
}

/// Reads a sequence. `poses` is the trajectory if it is not next to the scans. `progress` receives
/// the number of scans read and their total.
///
/// # Errors
/// If a file cannot be read or is damaged, or the numbers of poses and scans differ.
pub fn read_sequence(
    path: &Path,
    poses: Option<&Path>,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Sequence, FormatError> {
    // Read the scans
    let Recorded {
        scans,
        point_times,
        stamps,
        posed: recorded,
        warnings,
    } = if path.is_dir() {
        Recorded {
            scans: read_folder(path, progress)?,
            ..Recorded::default()
        }
    } else {
        read_recording(path)?
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
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Vec<Vec<Point3<f64>>>, FormatError> {
    let files = scan_files(folder)?;
    let mut scans = Vec::new();
    for (number, file) in files.iter().enumerate() {
        scans.push(ScanFile::read(file)?.points());
        progress(number + 1, files.len());
    }
    Ok(scans)
}

/// The clouds of the first topic, with the transforms of their frame at the same stamps. A warning
/// lists other topics.
fn read_recording(path: &Path) -> Result<Recorded, FormatError> {
    let recording = read_clouds(path)?;
    let Some(first) = recording.clouds.first() else {
        let message = "the recording has no PointCloud2";
        let remedy = "give a recording of a lidar";
        return Err(FormatError::malformed(
            path,
            FileLocation::File,
            message,
            remedy,
        ));
    };
    let transforms = read_transforms(path)?;
    let clouds = recording.clouds.iter().filter(|c| c.topic == first.topic);
    let mut scans = Vec::new();
    let mut point_times = Vec::new();
    let mut stamps = Vec::new();
    let mut times = Vec::new();
    let mut poses = Vec::new();
    for cloud in clouds {
        // Collect the points
        let field = |name| cloud.field(name).unwrap_or_default();
        let [x, y, z] = ["x", "y", "z"].map(field);
        let points = x.iter().zip(&y).zip(&z);
        scans.push(points.map(|((x, y), z)| Point3::new(*x, *y, *z)).collect());
        point_times.push(times_of_points(cloud));
        stamps.push(cloud.time);

        // Find the transform of their frame nearest in time
        let difference = |transform: &StampedTransform| (transform.time - cloud.time).abs();
        let of_frame = transforms.iter().filter(|t| t.child == cloud.frame);
        let nearest = of_frame.min_by(|a, b| difference(a).total_cmp(&difference(b)));
        if let Some(nearest) = nearest.filter(|nearest| difference(nearest) < SAME_TIME) {
            times.push(cloud.time);
            poses.push(nearest.parent_from_child);
        }
    }
    let posed = (poses.len() == scans.len()).then_some((Some(times), poses));

    // Warn of other topics
    let others: BTreeSet<&str> = recording
        .clouds
        .iter()
        .map(|cloud| cloud.topic.as_str())
        .filter(|topic| *topic != first.topic)
        .collect();
    let mut warnings = recording.warnings.clone();
    if !others.is_empty() {
        let others: Vec<&str> = others.into_iter().collect();
        warnings.push(format!(
            "the clouds of {} were read, those of {} were not: record one topic per file to read another",
            first.topic,
            others.join(", ")
        ));
    }
    Ok(Recorded {
        scans,
        point_times: point_times.into_iter().collect(),
        stamps: Some(stamps),
        posed,
        warnings,
    })
}

/// Times of the points of a cloud relative to its stamp, s: the fields `time` (s after the stamp, as in
/// recordings of etendue and of Velodyne's driver), `t` (ns after the stamp, Ouster) or `timestamp` (s,
/// Hesai). `None` without such a field, and for times more than a minute from the stamp.
fn times_of_points(cloud: &RecordedCloud) -> Option<Vec<f64>> {
    let scaled = |name, scale: f64, origin: f64| {
        let values = cloud.field(name)?;
        Some(
            values
                .iter()
                .map(|value| (value - origin) * scale)
                .collect(),
        )
    };
    let times: Vec<f64> = scaled("time", 1.0, 0.0)
        .or_else(|| scaled("t", 1e-9, 0.0))
        .or_else(|| scaled("timestamp", 1.0, cloud.time))?;
    let plausible = times.iter().all(|time| time.abs() < LONGEST_SCAN);
    (plausible && !times.is_empty()).then_some(times)
}

/// Largest time of a point relative to the stamp of its cloud, s.
const LONGEST_SCAN: f64 = 60.0;

/// Tolerance of equal stamps, s.
const SAME_TIME: f64 = 0.02;

fn trajectory_in(folder: &Path) -> Result<Option<PathBuf>, FormatError> {
    let mut found: Vec<PathBuf> = entries(folder)?
        .into_iter()
        .filter(|p| is_trajectory(p))
        .collect();
    found.sort();
    Ok(found.into_iter().next())
}

fn is_trajectory(path: &Path) -> bool {
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .to_lowercase();
    let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
    ending == "tum"
        || (ending == "txt" && (name.starts_with("poses") || name.starts_with("trajectory")))
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, FormatError> {
    let fail = |source| FormatError::cannot_read(folder, source);
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fail)? {
        paths.push(entry.map_err(fail)?.path());
    }
    Ok(paths)
}

/// Natural order of names: digits are compared by their numeric value.
fn natural(a: &str, b: &str) -> Ordering {
    let pieces = |text: &str| -> Vec<(String, u128)> {
        let mut pieces = vec![(String::new(), 0_u128)];
        let mut digits = false;
        for letter in text.chars() {
            if letter.is_ascii_digit() != digits && !digits {
                digits = true;
            } else if digits && !letter.is_ascii_digit() {
                digits = false;
                pieces.push((String::new(), 0));
            }
            let Some(last) = pieces.last_mut() else {
                continue;
            };
            match letter.to_digit(10) {
                Some(digit) => last.1 = last.1.saturating_mul(10).saturating_add(digit.into()),
                None => last.0.push(letter),
            }
        }
        pieces
    };
    pieces(a).cmp(&pieces(b)).then_with(|| a.cmp(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_the_order_of_their_numbers() {
        let mut names = [
            "scan10.pcd",
            "scan9.pcd",
            "a/2/b1",
            "a/10/b0",
            "scan09b.pcd",
        ];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(
            names,
            [
                "a/2/b1",
                "a/10/b0",
                "scan9.pcd",
                "scan09b.pcd",
                "scan10.pcd"
            ]
        );
    }
}
