//! Motion of a sensor in a recording.

use super::transform::{ODOMETRY_FRAME, StampedTransform, TransformTree};
use nalgebra::Isometry3;

/// Poses of a moving sensor over time, from the transforms of a recording or the odometry of a scan log.
#[derive(Clone, Debug, PartialEq)]
pub struct SensorMotion {
    transforms: TransformTree,
    /// Frame of the sensor.
    frame: String,
    span: [f64; 2],
}

impl SensorMotion {
    /// The motion of a frame. `None` if its transforms are known at less than two times.
    pub(crate) fn of(transforms: TransformTree, frame: &str) -> Option<Self> {
        let span = transforms.span(frame)?;
        (span[0] < span[1]).then(|| Self {
            transforms,
            frame: frame.to_owned(),
            span,
        })
    }

    /// The motion through poses at some times (s), of a robot in the frame of its odometry. `None` for less than two times.
    pub(crate) fn of_odometry(poses: impl Iterator<Item = (f64, Isometry3<f64>)>) -> Option<Self> {
        let robot = "robot";
        let transforms = poses.map(|(time, pose)| StampedTransform {
            time,
            parent: ODOMETRY_FRAME.to_owned(),
            child: robot.to_owned(),
            parent_from_child: pose,
            is_static: false,
        });
        Self::of(TransformTree::new(transforms.collect()), robot)
    }

    /// First and last time with a pose, s.
    pub fn span(&self) -> [f64; 2] {
        self.span
    }

    /// Pose of the sensor in the world at a time (s), interpolated between transforms and constant
    /// outside of [`SensorMotion::span`]. `None` in a gap of the transforms.
    pub fn world_from_sensor(&self, time: f64) -> Option<Isometry3<f64>> {
        let [from, to] = self.span;
        self.transforms
            .world_from(&self.frame, time.clamp(from, to))
    }
}
