//! Prescribed motions of robots.

use crate::ConfigError;
use crate::scene::{RotationDeg, pose_of_angles};
use crate::toml_file::resolve;
use crate::toml_file::{Document, TomlProblem};
use etendue_io::trajectory::{read_kitti, read_tum};
use etendue_physics::inertial::MotionState;
use etendue_sensors::dynamics::{
    CircularTrajectory, SplineTrajectory, StateTrajectory, Stationary,
};
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

/// The motion of a robot, with one key: `motion.circle = { .. }` and so on.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MotionTable {
    /// At rest.
    Still(StillTable),
    /// On a circle at constant speed.
    Circle(CircleTable),
    /// Through recorded poses, with smooth interpolation.
    Trajectory(TrajectoryTable),
}

/// A robot at rest.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StillTable {
    /// Position.
    #[serde(default)]
    #[schemars(with = "Option<[f64; 3]>")]
    pub position_m: Option<Spanned<[f64; 3]>>,
    /// Rotation.
    #[serde(default)]
    #[schemars(with = "Option<RotationDeg>")]
    pub rotation_deg: Option<Spanned<RotationDeg>>,
}

/// A robot on a circle to the left at constant speed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CircleTable {
    /// Initial position.
    #[serde(default)]
    #[schemars(with = "Option<[f64; 3]>")]
    pub position_m: Option<Spanned<[f64; 3]>>,
    /// Initial rotation.
    #[serde(default)]
    #[schemars(with = "Option<RotationDeg>")]
    pub rotation_deg: Option<Spanned<RotationDeg>>,
    /// Radius of the circle; negative to the right.
    #[schemars(with = "f64")]
    pub radius_m: Spanned<f64>,
    /// Speed.
    pub speed_mps: f64,
}

/// Recorded poses of the robot's base in the world.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrajectoryTable {
    /// The file, relative to the folder of this file.
    #[schemars(with = "String")]
    pub file: Spanned<String>,
    /// Its format.
    #[serde(default)]
    pub format: TrajectoryFormat,
    /// Time between the poses of a KITTI file. Default: 0.1 s.
    #[serde(default)]
    #[schemars(range(min = 1e-09))]
    pub interval_s: Option<f64>,
}

/// Format of a file of poses.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrajectoryFormat {
    /// Lines of `time x y z qx qy qz qw`. The run begins at the first pose.
    #[default]
    Tum,
    /// Lines with the twelve numbers of a 3 x 4 matrix.
    Kitti,
}

/// The configured trajectory of a robot.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RobotTrajectory {
    /// At rest.
    Still(Stationary),
    /// On a circle at constant speed.
    Circle(CircularTrajectory),
    /// Through recorded poses; the run begins at the first.
    Recorded {
        /// The poses.
        spline: SplineTrajectory,
        /// Time of the first pose, s.
        start: f64,
    },
}

impl StateTrajectory for RobotTrajectory {
    fn state(&self, time: f64) -> MotionState {
        match self {
            Self::Still(still) => still.state(time),
            Self::Circle(circle) => circle.state(time),
            Self::Recorded { spline, start } => spline.state(start + time),
        }
    }
}

impl RobotTrajectory {
    /// Duration, s; `None` for unlimited motions.
    pub fn duration(&self) -> Option<f64> {
        match self {
            Self::Recorded { spline, start } => Some(spline.span()[1] - start),
            Self::Still(_) | Self::Circle(_) => None,
        }
    }
}

impl MotionTable {
    pub(super) fn motion(&self, document: &Document) -> Result<RobotTrajectory, ConfigError> {
        Ok(match self {
            Self::Still(table) => RobotTrajectory::Still(Stationary(pose_of_angles(
                document,
                table.position_m.as_ref(),
                table.rotation_deg.as_ref(),
            )?)),
            // Check the circle; its radius has a sign
            Self::Circle(table) => {
                let radius = *table.radius_m.get_ref();
                if radius == 0.0 || !radius.is_finite() || !table.speed_mps.is_finite() {
                    let problem = TomlProblem::value(
                        format!("the radius of the circle is {radius} m"),
                        "give a radius that is not zero and a finite speed",
                    );
                    return Err(document.error(table.radius_m.span(), problem).into());
                }
                RobotTrajectory::Circle(CircularTrajectory {
                    start: pose_of_angles(
                        document,
                        table.position_m.as_ref(),
                        table.rotation_deg.as_ref(),
                    )?,
                    radius,
                    speed: table.speed_mps,
                })
            }
            // Read the poses and interpolate them with a spline
            Self::Trajectory(table) => {
                let path = resolve(document, &table.file)?;
                let trajectory = match table.format {
                    TrajectoryFormat::Tum => read_tum(&path)?,
                    TrajectoryFormat::Kitti => read_kitti(&path, table.interval_s.unwrap_or(0.1))?,
                };
                let [start, _] = trajectory.span();
                RobotTrajectory::Recorded {
                    spline: SplineTrajectory::through(&trajectory),
                    start,
                }
            }
        })
    }
}
