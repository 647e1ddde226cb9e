//! Motions of objects and sensors in scene files.

use super::{Placement, RotationDeg};
use crate::ConfigError;
use crate::toml_file::resolve;
use crate::toml_file::{Document, DocumentError, TomlProblem};
use etendue_io::trajectory::{PoseFile, read_trajectory};
use etendue_scene::{Interpolation, KeyFrame, KeyFrameTrajectory, Trajectory, Twist};
use nalgebra::{Isometry3, Vector3};
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::PathBuf;
use toml::Spanned;

/// A motion: `motion.key_frames = { .. }`, `motion.file = { .. }` or `motion.twist = { .. }`. Its
/// poses are relative to the frame of `position_m` and the rotation next to it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MotionTable {
    /// Key frames; static before the first and after the last.
    KeyFrames(KeyFramesTable),
    /// A file of poses.
    File(MotionFileTable),
    /// Constant velocity, from time zero.
    Twist(TwistTable),
}

/// Poses at times.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyFramesTable {
    /// The poses, in chronological order.
    #[schemars(with = "Vec<KeyFrameTable>")]
    pub poses: Spanned<Vec<Spanned<KeyFrameTable>>>,
    /// Interpolation between them.
    #[serde(default)]
    pub interpolation: InterpolationName,
}

/// A pose at a time.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyFrameTable {
    /// Time from the start of the run.
    pub time_s: f64,
    /// Position.
    #[serde(default)]
    #[schemars(with = "Option<[f64; 3]>")]
    pub position_m: Option<Spanned<[f64; 3]>>,
    /// Rotation.
    #[serde(default)]
    #[schemars(with = "Option<RotationDeg>")]
    pub rotation_deg: Option<Spanned<RotationDeg>>,
    /// Rotation as a unit quaternion, real part first; alternative to `rotation_deg`.
    #[serde(default)]
    #[schemars(with = "Option<[f64; 4]>")]
    pub rotation_wxyz: Option<Spanned<[f64; 4]>>,
}

/// A file of poses.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MotionFileTable {
    /// A TUM file (lines of `time x y z qx qy qz qw`) or a KITTI file (lines with the upper three
    /// rows of a pose), relative to the folder of the scene file.
    #[schemars(with = "String")]
    pub path: Spanned<String>,
    /// Time between two poses of a KITTI file, s. Default: 0.1.
    #[serde(default)]
    #[schemars(with = "Option<f64>")]
    pub interval_s: Option<Spanned<f64>>,
    /// Interpolation between the poses.
    #[serde(default)]
    pub interpolation: InterpolationName,
}

/// Constant velocity and angular velocity in the moving frame.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TwistTable {
    /// Velocity.
    #[serde(default)]
    #[schemars(with = "[f64; 3]")]
    pub velocity_m_s: Option<Spanned<[f64; 3]>>,
    /// Angular velocity about x, y and z.
    #[serde(default)]
    #[schemars(with = "[f64; 3]")]
    pub angular_velocity_deg_s: Option<Spanned<[f64; 3]>>,
}

/// Interpolation between key frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InterpolationName {
    /// Linear interpolation of position and rotation.
    #[default]
    Linear,
    /// Smooth interpolation with continuous velocity.
    Cubic,
}

impl From<InterpolationName> for Interpolation {
    fn from(name: InterpolationName) -> Self {
        match name {
            InterpolationName::Linear => Self::Linear,
            InterpolationName::Cubic => Self::Cubic,
        }
    }
}

impl MotionTable {
    /// The motion in the world of an object at `parent`; appends the files that are read.
    pub(super) fn motion(
        &self,
        document: &Document,
        parent: &Isometry3<f64>,
        files: &mut Vec<PathBuf>,
    ) -> Result<Trajectory, ConfigError> {
        let motion = match self {
            Self::KeyFrames(table) => Trajectory::KeyFrames(table.trajectory(document)?),
            Self::File(table) => Trajectory::KeyFrames(table.trajectory(document, files)?),
            Self::Twist(table) => Trajectory::Twist(table.twist(document)?),
        };
        Ok(motion.within(parent))
    }
}

impl KeyFramesTable {
    fn trajectory(&self, document: &Document) -> Result<KeyFrameTrajectory, DocumentError> {
        // Convert the tables to poses
        let tables = self.poses.get_ref();
        let frame = |table: &Spanned<KeyFrameTable>| {
            let table = table.get_ref();
            let placement = Placement {
                position: table.position_m.as_ref(),
                angles: table.rotation_deg.as_ref(),
                quaternion: table.rotation_wxyz.as_ref(),
            };
            let pose = placement.pose(document)?;
            Ok(KeyFrame {
                time: table.time_s,
                pose,
            })
        };

        // Interpolate them; an error refers to a pose
        let frames = tables
            .iter()
            .map(frame)
            .collect::<Result<_, DocumentError>>()?;
        KeyFrameTrajectory::interpolated(frames, self.interpolation.into()).map_err(|error| {
            let span = match error.frame() {
                Some(frame) => tables[frame].span(),
                None => self.poses.span(),
            };
            let remedy = "give poses with finite, increasing times";
            document.error(span, TomlProblem::value(error.to_string(), remedy))
        })
    }
}

impl MotionFileTable {
    fn trajectory(
        &self,
        document: &Document,
        files: &mut Vec<PathBuf>,
    ) -> Result<KeyFrameTrajectory, ConfigError> {
        let mut how = PoseFile {
            interpolation: self.interpolation.into(),
            ..PoseFile::default()
        };
        if let Some(interval) = &self.interval_s {
            how.interval = *interval.get_ref();
            if !(how.interval > 0.0 && how.interval.is_finite()) {
                let message = format!("the interval is {} s", how.interval);
                let problem = TomlProblem::value(
                    message,
                    "write the time between two poses, for example 0.1",
                );
                return Err(document.error(interval.span(), problem).into());
            }
        }
        let path = resolve(document, &self.path)?;
        let trajectory = read_trajectory(&path, how)?;
        files.push(path);
        Ok(trajectory)
    }
}

impl TwistTable {
    fn twist(&self, document: &Document) -> Result<Twist, DocumentError> {
        let vector = |given: &Option<Spanned<[f64; 3]>>| {
            let Some(given) = given else {
                return Ok(Vector3::zeros());
            };
            super::pose::check_finite(document, given.span(), given.get_ref())?;
            Ok(Vector3::from(*given.get_ref()))
        };
        Ok(Twist {
            start: Isometry3::identity(),
            velocity: vector(&self.velocity_m_s)?,
            angular_velocity: vector(&self.angular_velocity_deg_s)?.map(f64::to_radians),
        })
    }
}
