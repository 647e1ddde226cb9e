//! Pose files of the KITTI odometry benchmark: the upper three rows of one pose per line.

use super::{lines, numbers, trajectory};
use crate::{FileLocation, FormatError};
use etendue_scene::{KeyFrame, KeyFrameTrajectory};
use nalgebra::{Isometry3, Matrix3, Rotation3, Translation3, UnitQuaternion};
use std::path::Path;

/// Tolerance of orthonormality of rotation matrices.
const ROTATION_TOLERANCE: f64 = 1e-3;

/// Maximum number of steps of the search for the nearest rotation, which oscillates in the last
/// digit for some matrices; a matrix within the tolerance needs fewer than ten.
const STEPS: usize = 1000;

/// Reads a KITTI pose file with one pose every `interval` seconds from time zero.
///
/// # Errors
/// As [`parse_kitti`], or if the file cannot be read.
pub fn read_kitti(path: &Path, interval: f64) -> Result<KeyFrameTrajectory, FormatError> {
    parse_kitti(path, &crate::input::read_text(path)?, interval)
}

/// Parses a KITTI pose file. Errors name `path`.
///
/// # Errors
/// If a line does not have twelve numbers or its matrix is not a rotation; the error contains the
/// line.
///
/// ```
/// use etendue_io::trajectory::parse_kitti;
/// let text = "1 0 0 0 0 1 0 0 0 0 1 0\n1 0 0 3 0 1 0 0 0 0 1 0\n";
/// let trajectory = parse_kitti("00.txt".as_ref(), text, 0.1).unwrap();
/// assert!((trajectory.pose(0.05).unwrap().translation.x - 1.5).abs() < 1e-12);
/// ```
pub fn parse_kitti(
    path: &Path,
    text: &str,
    interval: f64,
) -> Result<KeyFrameTrajectory, FormatError> {
    trajectory(path, frames(path, text, interval)?)
}

/// Parses the poses of a KITTI file.
///
/// # Errors
/// If a line does not have twelve numbers or its matrix is not a rotation.
pub fn poses_of_kitti(path: &Path, text: &str) -> Result<Vec<Isometry3<f64>>, FormatError> {
    let frames = frames(path, text, 1.0)?;
    Ok(frames.iter().map(|(f, _)| f.pose).collect())
}

/// The text of a KITTI file with the poses.
pub fn kitti_text(poses: &[Isometry3<f64>]) -> String {
    let line = |pose: &Isometry3<f64>| {
        let m = pose.to_homogeneous();
        let rows = (0..3).flat_map(|i| (0..4).map(move |j| (i, j)));
        let numbers: Vec<String> = rows.map(|at| m[at].to_string()).collect();
        numbers.join(" ") + "\n"
    };
    poses.iter().map(line).collect()
}

fn frames(path: &Path, text: &str, interval: f64) -> Result<Vec<(KeyFrame, usize)>, FormatError> {
    let mut frames = Vec::new();
    for (number, line) in lines(text) {
        let v = numbers(path, number, line, 12)?;
        let matrix = Matrix3::new(v[0], v[1], v[2], v[4], v[5], v[6], v[8], v[9], v[10]);
        let off = (matrix * matrix.transpose() - Matrix3::identity()).amax();
        let determinant = matrix.determinant();
        let is_rotation = off <= ROTATION_TOLERANCE && determinant > 0.0;
        if !is_rotation {
            let message = format!(
                "the matrix is not a rotation (residual {off:.2e}, determinant {determinant:.3})"
            );
            let remedy = "write r11 r12 r13 tx r21 r22 r23 ty r31 r32 r33 tz of a rigid pose";
            return Err(FormatError::malformed(
                path,
                FileLocation::Line(number),
                message,
                remedy,
            ));
        }
        let rotation =
            Rotation3::from_matrix_eps(&matrix, f64::EPSILON, STEPS, Rotation3::identity());
        let rotation = UnitQuaternion::from_rotation_matrix(&rotation);
        let pose = Isometry3::from_parts(Translation3::new(v[3], v[7], v[11]), rotation);
        let time = frames.len() as f64 * interval;
        frames.push((KeyFrame { time, pose }, number));
    }
    Ok(frames)
}
