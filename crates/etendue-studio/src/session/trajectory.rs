//! Trajectory of the sensor from a file.

use crate::refusal::Refusal;
use etendue::io::trajectory::{PoseFile, parse_trajectory, read_trajectory};
use etendue::scene::KeyFrameTrajectory;
use nalgebra::Isometry3;
use std::path::{Path, PathBuf};

/// Endings of files of poses.
const POSES: [&str; 2] = ["tum", "kitti"];

/// Endings of files of poses or of other rows of numbers.
const ROWS: [&str; 3] = ["txt", "csv", "poses"];

/// A trajectory file, as `etendue simulate --trajectory` reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct TrajectoryFile {
    /// Path of the file.
    pub path: PathBuf,
    /// Poses of the sensor.
    pub trajectory: KeyFrameTrajectory,
}

impl TrajectoryFile {
    /// Reads a TUM or a KITTI file.
    ///
    /// # Errors
    /// If the file cannot be read, or has other content.
    pub fn read(path: &Path) -> Result<Self, Refusal> {
        Ok(Self {
            trajectory: read_trajectory(path, PoseFile::default())?,
            path: path.to_owned(),
        })
    }

    /// Parses a dropped file: `None` if its name and its content are those of another kind of file.
    pub(super) fn parse(name: &str, bytes: &[u8]) -> Option<Result<Self, Refusal>> {
        let path = PathBuf::from(name);
        let ending = path.extension()?.to_string_lossy().to_ascii_lowercase();
        let is_named = POSES.contains(&ending.as_str());
        if !is_named && !ROWS.contains(&ending.as_str()) {
            return None;
        }
        let text = String::from_utf8_lossy(bytes);
        // Rows of eight or twelve numbers are poses if every row has a unit quaternion or a rotation
        match parse_trajectory(&path, &text, PoseFile::default()) {
            Ok(trajectory) => Some(Ok(Self { path, trajectory })),
            Err(error) => is_named.then(|| Err(error.into())),
        }
    }

    /// Time of the first pose, s.
    pub fn begins(&self) -> f64 {
        self.trajectory.span()[0]
    }

    /// The first pose.
    pub fn start(&self) -> Isometry3<f64> {
        self.trajectory.pose_or_end(self.begins())
    }
}
