//! Trajectory files of the TUM benchmark: `time x y z qx qy qz qw` per line.

use super::{lines, numbers, trajectory};
use crate::precision::{DECIMALS, ROTATION_DECIMALS, rounded};
use crate::{FileLocation, FormatError};
use etendue_scene::{KeyFrame, KeyFrameTrajectory};
use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion};
use std::path::Path;

/// Tolerance of the norm of quaternions.
const UNIT_TOLERANCE: f64 = 1e-3;

/// Reads a trajectory file of the TUM benchmark.
///
/// # Errors
/// As [`parse_tum`], or if the file cannot be read.
pub fn read_tum(path: &Path) -> Result<KeyFrameTrajectory, FormatError> {
    parse_tum(path, &crate::input::read_text(path)?)
}

/// Parses a TUM file. Errors name `path`.
///
/// # Errors
/// If a line does not have eight numbers, a quaternion does not have unit norm, or times are not
/// finite or not ascending; the error contains the line.
///
/// ```
/// use etendue_io::trajectory::parse_tum;
/// let text = "# time x y z qx qy qz qw\n0.0 0 0 1 0 0 0 1\n1.0 2 0 1 0 0 0 1\n";
/// let trajectory = parse_tum("drive.txt".as_ref(), text).unwrap();
/// assert_eq!(trajectory.pose(0.25).unwrap().translation.x, 0.5);
/// let error = parse_tum("drive.txt".as_ref(), "0 0 0 1 0 0 0 2\n").unwrap_err();
/// assert!(error.to_string().starts_with("drive.txt, line 1: "));
/// ```
pub fn parse_tum(path: &Path, text: &str) -> Result<KeyFrameTrajectory, FormatError> {
    trajectory(path, frames(path, text)?)
}

/// Times (s) and poses of a TUM file, in file order.
///
/// # Errors
/// If a line does not have eight numbers, or a quaternion does not have unit norm.
pub fn poses_of_tum(path: &Path, text: &str) -> Result<Vec<(f64, Isometry3<f64>)>, FormatError> {
    let frames = frames(path, text)?;
    Ok(frames.iter().map(|(f, _)| (f.time, f.pose)).collect())
}

/// The text of a TUM file with times (s) and poses: nine decimals of times and positions, twelve of quaternions.
///
/// ```
/// use etendue_io::trajectory::{poses_of_tum, tum_text};
/// use nalgebra::Isometry3;
/// let text = tum_text(&[0.5], &[Isometry3::translation(1.0, 2.0, 3.0)]);
/// let back = poses_of_tum("a.tum".as_ref(), &text)?;
/// assert_eq!(back, [(0.5, Isometry3::translation(1.0, 2.0, 3.0))]);
/// # Ok::<(), etendue_io::FormatError>(())
/// ```
pub fn tum_text(times: &[f64], poses: &[Isometry3<f64>]) -> String {
    let line = |(time, pose): (&f64, &Isometry3<f64>)| {
        let time = rounded(*time, DECIMALS);
        let t = pose.translation.vector.map(|x| rounded(x, DECIMALS));
        let q = (pose.rotation.coords).map(|x| rounded(x, ROTATION_DECIMALS));
        format!(
            "{time} {} {} {} {} {} {} {}\n",
            t.x, t.y, t.z, q.x, q.y, q.z, q.w
        )
    };
    times.iter().zip(poses).map(line).collect()
}

fn frames(path: &Path, text: &str) -> Result<Vec<(KeyFrame, usize)>, FormatError> {
    let mut frames = Vec::new();
    for (number, line) in lines(text) {
        let v = numbers(path, number, line, 8)?;
        let quaternion = Quaternion::new(v[7], v[4], v[5], v[6]);
        let norm = quaternion.norm();
        let is_unit = (norm - 1.0).abs() <= UNIT_TOLERANCE;
        if !is_unit {
            let message = format!("the quaternion has the norm {norm}, not 1");
            let remedy = "write a unit quaternion qx qy qz qw, in this order";
            return Err(FormatError::malformed(
                path,
                FileLocation::Line(number),
                message,
                remedy,
            ));
        }
        let pose = Isometry3::from_parts(
            Translation3::new(v[1], v[2], v[3]),
            UnitQuaternion::from_quaternion(quaternion),
        );
        frames.push((KeyFrame { time: v[0], pose }, number));
    }
    Ok(frames)
}
