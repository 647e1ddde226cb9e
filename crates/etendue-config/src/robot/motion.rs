//! How a robot moves.

use crate::ConfigError;
use crate::scene::{RotationDeg, pose_of_angles, resolve};
use crate::toml_file::{Document, Problem};
use etendue_io::trajectory::{read_kitti, read_tum};
use etendue_physics::inertial::MotionState;
use etendue_sensors::dynamics::{
    CircularTrajectory, SplineTrajectory, StateTrajectory, Stationary,
};
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

/// How a robot moves: `motion.circle = { .. }` and so on, one of them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MotionTable {
    /// At rest at a pose.
    Still(StillTable),
    /// On a circle at constant speed.
    Circle(CircleTable),
    /// It follows recorded poses, smoothly.
    Trajectory(TrajectoryTable),
}

/// A robot at rest.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StillTable {
    /// Where.
    #[serde(default)]
    #[schemars(with = "Option<[f64; 3]>")]
    pub position_m: Option<Spanned<[f64; 3]>>,
    /// How it is turned.
    #[serde(default)]
    #[schemars(with = "Option<RotationDeg>")]
    pub rotation_deg: Option<Spanned<RotationDeg>>,
}

/// A robot that drives round a circle to the left at a steady speed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CircleTable {
    /// Where it starts.
    #[serde(default)]
    #[schemars(with = "Option<[f64; 3]>")]
    pub position_m: Option<Spanned<[f64; 3]>>,
    /// How it is turned at the start.
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
    /// The file, from the folder of this file.
    #[schemars(with = "String")]
    pub file: Spanned<String>,
    /// Its format.
    #[serde(default)]
    pub format: TrajectoryFormat,
    /// Time between the poses of a KITTI file: 0.1 s where it is left out.
    #[serde(default)]
    pub interval_s: Option<f64>,
}

/// Format of a file of poses.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrajectoryFormat {
    /// `time x y z qx qy qz qw` a line. The run begins at the first pose.
    #[default]
    Tum,
    /// Twelve numbers of a 3 x 4 matrix a line.
    Kitti,
}

/// The configured trajectory of a robot.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RobotTrajectory {
    /// At rest at a pose.
    Still(Stationary),
    /// On a circle at constant speed.
    Circle(CircularTrajectory),
    /// Through recorded poses; the run starts at the first.
    Recorded {
        /// The poses.
        spline: SplineTrajectory,
        /// Time of the first, s.
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
    /// Its duration, s; `None` where it has no end.
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
            // Check the circle, whose radius has a sign
            Self::Circle(table) => {
                let radius = *table.radius_m.get_ref();
                if radius == 0.0 || !radius.is_finite() || !table.speed_mps.is_finite() {
                    let problem = Problem::value(
                        format!("no circle has the radius {radius} m"),
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
            // Read the poses and lay a spline through them
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
