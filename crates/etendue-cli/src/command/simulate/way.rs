//! How the sensor moves during a run.

use super::Simulate;
use crate::failure::Failure;
use crate::number::positive;
use clap::{Args, ValueEnum};
use etendue::config::scene::LoadedScene;
use etendue::io::trajectory::{PoseFile, read_trajectory};
use etendue::scene::{Interpolation, Trajectory};
use nalgebra::Isometry3;
use std::path::PathBuf;

/// Options that say how the sensor moves.
#[derive(Clone, Debug, Args)]
pub struct WayOptions {
    /// Poses of the sensor over time: a TUM file (time x y z qx qy qz qw a line) or a KITTI file
    /// (twelve numbers a line). The run begins at its first pose
    #[arg(long, value_name = "FILE", conflicts_with = "pose")]
    pub trajectory: Option<PathBuf>,
    /// Seconds from one pose of a KITTI file to the next
    #[arg(long, value_name = "S", default_value_t = 0.1, value_parser = positive, allow_negative_numbers = true, requires = "trajectory")]
    pose_interval: f64,
    /// What lies between the poses of the trajectory
    #[arg(long, value_enum, default_value_t, requires = "trajectory")]
    interpolation: InterpolationName,
}

/// What lies between poses.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum InterpolationName {
    /// Straight lines and even turns
    #[default]
    Linear,
    /// Curves without jumps of velocity
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

/// The sensor's pose over the time of a run.
#[derive(Clone, Debug)]
pub struct Way {
    motion: Option<Trajectory>,
    /// Time of the motion at which the run begins, s.
    begins: f64,
    /// Where the sensor is mounted on what moves.
    mount: Isometry3<f64>,
    /// Pose when the run begins.
    pub start: Isometry3<f64>,
}

impl Way {
    /// That of the command line, else that of the scene, of a sensor that is mounted there.
    pub fn of(
        arguments: &Simulate,
        loaded: &LoadedScene,
        mount: Isometry3<f64>,
    ) -> Result<Self, Failure> {
        let options = &arguments.way;
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

    /// The pose at a time of the run, s.
    pub fn at(&self, time: f64) -> Isometry3<f64> {
        match &self.motion {
            Some(motion) => motion.at(self.begins + time) * self.mount,
            None => self.start,
        }
    }

    /// Whether there are poses for a run of so many seconds.
    pub fn check(&self, seconds: f64) -> Result<(), Failure> {
        let Some(Trajectory::KeyFrames(trajectory)) = &self.motion else {
            return Ok(());
        };
        Ok(trajectory.check_span(self.begins, self.begins + seconds)?)
    }
}
