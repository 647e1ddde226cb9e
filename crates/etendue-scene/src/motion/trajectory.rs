//! A pose over time.

use super::key_frames::KeyFrameTrajectory;
use super::twist::Twist;
use etendue_raycast::{BoundingBox, RigidMotion};
use nalgebra::Isometry3;

/// A pose over time.
#[derive(Clone, Debug, PartialEq)]
pub enum Trajectory {
    /// Through key frames; constant before the first and after the last.
    KeyFrames(KeyFrameTrajectory),
    /// A motion of constant velocity and angular velocity.
    Twist(Twist),
}

impl Trajectory {
    /// The pose at a time, s.
    pub fn at(&self, time: f64) -> Isometry3<f64> {
        match self {
            Self::KeyFrames(trajectory) => trajectory.pose_or_end(time),
            Self::Twist(twist) => twist.at(time),
        }
    }

    /// First and last time of its key frames, s, if it has any.
    pub fn span(&self) -> Option<[f64; 2]> {
        match self {
            Self::KeyFrames(trajectory) => Some(trajectory.span()),
            Self::Twist(_) => None,
        }
    }

    /// The motion relative to the parent frame of `parent`: its poses are multiplied by `parent` from the
    /// left.
    #[must_use]
    pub fn within(self, parent: &Isometry3<f64>) -> Self {
        match self {
            Self::KeyFrames(trajectory) => Self::KeyFrames(trajectory.within(parent)),
            Self::Twist(twist) => Self::Twist(Twist {
                start: parent * twist.start,
                ..twist
            }),
        }
    }
}

impl RigidMotion for Trajectory {
    fn world_from_object(&self, time: f64) -> Isometry3<f64> {
        self.at(time)
    }

    fn bounds(&self, local: &BoundingBox, span: [f64; 2]) -> BoundingBox {
        match self {
            Self::KeyFrames(trajectory) => trajectory.bounds(local, span),
            Self::Twist(twist) => twist.bounds(local, span),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::key_frame::{Interpolation, KeyFrame};
    use nalgebra::{Point3, Vector3};

    fn frames() -> Vec<KeyFrame> {
        let frame = |time, x, yaw| KeyFrame {
            time,
            pose: Isometry3::new(Vector3::new(x, 0.0, 0.3 * x), Vector3::new(0.2, 0.0, yaw)),
        };
        vec![
            frame(1.0, 0.0, 0.0),
            frame(2.0, 1.0, 2.0),
            frame(4.0, 0.0, 1.0),
            frame(4.5, -2.0, 1.5),
        ]
    }

    fn motions() -> [Trajectory; 3] {
        let trajectory = |interpolation| {
            KeyFrameTrajectory::interpolated(frames(), interpolation).expect("good frames")
        };
        [
            Trajectory::KeyFrames(trajectory(Interpolation::Linear)),
            Trajectory::KeyFrames(trajectory(Interpolation::Cubic)),
            Trajectory::Twist(Twist {
                start: frames()[1].pose,
                velocity: Vector3::new(2.0, -1.0, 0.5),
                angular_velocity: Vector3::new(0.3, 1.0, -2.0),
            }),
        ]
    }

    #[test]
    fn bounds_hold_the_object_all_the_time() {
        let local = BoundingBox {
            low: Point3::new(-1.0, 0.5, 0.0),
            high: Point3::new(2.0, 1.0, 3.0),
        };
        for motion in motions() {
            for span in [[0.5, 5.0], [1.9, 2.1], [2.0, 2.0]] {
                let all = motion.bounds(&local, span);
                for step in 0..=300 {
                    let time = span[0] + (span[1] - span[0]) * f64::from(step) / 300.0;
                    let now = motion.at(time) * local.high;
                    let holds =
                        |a: usize| all.low[a] - 1e-12 <= now[a] && now[a] <= all.high[a] + 1e-12;
                    assert!((0..3).all(holds), "{motion:?} at {time}");
                }
            }
        }
    }

    #[test]
    fn a_motion_within_a_frame_is_the_frame_after_it() {
        let parent = Isometry3::new(Vector3::new(3.0, 1.0, 0.0), Vector3::new(0.0, 0.4, 1.0));
        for motion in motions() {
            let moved = motion.clone().within(&parent);
            for time in [0.3, 1.7, 2.9, 4.2] {
                let a = moved.at(time);
                let b = parent * motion.at(time);
                assert!((a.to_homogeneous() - b.to_homogeneous()).amax() < 1e-12);
            }
        }
    }
}
