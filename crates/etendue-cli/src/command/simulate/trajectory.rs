//! Trajectory of a sensor during a run.

use super::Simulate;
use crate::failure::Failure;
use crate::number::positive;
use clap::{Args, ValueEnum};
use etendue::config::scene::LoadedScene;
use etendue::io::trajectory::{PoseFile, read_trajectory};
use etendue::scene::{Interpolation, Trajectory};
use nalgebra::Isometry3;
use std::path::PathBuf;

/// Arguments of the trajectory.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Motion")]
pub struct TrajectoryOptions {
    /// Trajectory of the sensor: a TUM file (time x y z qx qy qz qw per line) or a KITTI file (twelve
    /// numbers per line). The run begins at its first pose
    #[arg(long, value_name = "FILE", conflicts_with = "pose")]
    pub trajectory: Option<PathBuf>,
    /// Time between the poses of a KITTI file, s
    #[arg(long, value_name = "S", default_value_t = 0.1, value_parser = positive, allow_negative_numbers = true, requires = "trajectory")]
    pose_interval: f64,
    /// Interpolation between the poses of the trajectory
    #[arg(long, value_enum, default_value_t, requires = "trajectory")]
    interpolation: InterpolationName,
}

/// Interpolation between poses.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum InterpolationName {
    /// Constant velocities
    #[default]
    Linear,
    /// Continuous velocities
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

/// Trajectory of a mounted sensor over the time of a run.
#[derive(Clone, Debug)]
pub struct SensorTrajectory {
    motion: Option<Trajectory>,
    /// Time of the trajectory at which the run begins, s.
    begins: f64,
    /// Pose of the sensor on the moving platform.
    mount: Isometry3<f64>,
    /// Pose at the start of the run.
    pub start: Isometry3<f64>,
}

impl SensorTrajectory {
    /// Trajectory of the arguments, else of the scene, for a mounted sensor.
    pub fn of(
        arguments: &Simulate,
        loaded: &LoadedScene,
        mount: Isometry3<f64>,
    ) -> Result<Self, Failure> {
        // Trajectory of a file
        let options = &arguments.motion;
        if let Some(path) = &options.trajectory {
            let how = PoseFile {
                interval: options.pose_interval,
                interpolation: options.interpolation.into(),
            };
            let trajectory = read_trajectory(path, how)?;
            let [begins, _] = trajectory.span();
            return Ok(Self {
                start: trajectory.pose_or_end(begins) * mount,
                motion: Some(Trajectory::KeyFrames(trajectory)),
                begins,
                mount,
            });
        }

        // Given pose, or the pose and motion of the scene
        let placement = loaded.sensor.as_ref();
        let own = arguments.pose.as_ref().map(|pose| pose.world_from_sensor);
        let start = own.or(placement.map(|placement| placement.world_from_sensor));
        let start = start.ok_or_else(|| Failure::NoPose {
            scene: loaded.name.clone(),
        })?;
        let motion = placement.and_then(|placement| placement.motion.clone());
        Ok(Self {
            motion: motion.filter(|_| own.is_none()),
            begins: 0.0,
            mount,
            start: start * mount,
        })
    }

    /// Pose at a time of the run, s.
    pub fn at(&self, time: f64) -> Isometry3<f64> {
        match &self.motion {
            Some(motion) => motion.at(self.begins + time) * self.mount,
            None => self.start,
        }
    }

    /// Time from the first to the last pose of a trajectory with an end, s.
    pub fn duration(&self) -> Option<f64> {
        match &self.motion {
            Some(Trajectory::KeyFrames(trajectory)) => {
                let [_, ends] = trajectory.span();
                Some(ends - self.begins)
            }
            _ => None,
        }
    }

    /// Error if the trajectory is shorter than a run of `seconds`.
    pub fn check(&self, seconds: f64) -> Result<(), Failure> {
        if let Some(Trajectory::KeyFrames(trajectory)) = &self.motion {
            trajectory.check_span(self.begins, self.begins + seconds)?;
        }
        Ok(())
    }
}
