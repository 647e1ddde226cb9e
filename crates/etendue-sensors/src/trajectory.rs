//! Poses over time by key frames.

use nalgebra::Isometry3;
use thiserror::Error;

/// A pose at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeyFrame {
    /// When, s from the start of the run.
    pub time: f64,
    /// Pose in the world.
    pub pose: Isometry3<f64>,
}

/// A motion through key frames: positions linear, orientations by spherical linear interpolation
/// (Shoemake 1985, doi:10.1145/325165.325242) in between.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory {
    frames: Vec<KeyFrame>,
}

/// Why key frames are no trajectory, or do not reach.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum TrajectoryError {
    /// There is no key frame.
    #[error("the trajectory has no pose")]
    Empty,
    /// A key frame's time or pose is not finite.
    #[error("pose {frame} is not finite (time {time})")]
    NotFinite {
        /// Its number.
        frame: usize,
        /// Its time, s.
        time: f64,
    },
    /// A key frame is not later than the one before.
    #[error("pose {frame} (time {time} s) is not later than the one before ({before} s)")]
    NotAscending {
        /// Its number.
        frame: usize,
        /// Its time, s.
        time: f64,
        /// The time of the one before, s.
        before: f64,
    },
    /// The run needs poses outside of the key frames.
    #[error(
        "the run needs poses from {needed_from} to {needed_to} s, the trajectory has them from \
         {from} to {to} s: shorten the run or give more poses"
    )]
    TooShort {
        /// First time needed, s.
        needed_from: f64,
        /// Last time needed, s.
        needed_to: f64,
        /// First time there is, s.
        from: f64,
        /// Last time there is, s.
        to: f64,
    },
}

impl TrajectoryError {
    /// The key frame that is wrong, if one is.
    pub fn frame(&self) -> Option<usize> {
        match self {
            Self::NotFinite { frame, .. } | Self::NotAscending { frame, .. } => Some(*frame),
            Self::Empty | Self::TooShort { .. } => None,
        }
    }
}

impl Trajectory {
    /// A trajectory through these key frames.
    ///
    /// # Errors
    /// Where there is none, one is not finite, or times do not ascend.
    pub fn new(frames: Vec<KeyFrame>) -> Result<Self, TrajectoryError> {
        if frames.is_empty() {
            return Err(TrajectoryError::Empty);
        }
        for (number, frame) in frames.iter().enumerate() {
            let finite = frame
                .pose
                .to_homogeneous()
                .iter()
                .all(|entry| entry.is_finite());
            if !finite || !frame.time.is_finite() {
                return Err(TrajectoryError::NotFinite {
                    frame: number,
                    time: frame.time,
                });
            }
        }
        if let Some(i) = (1..frames.len()).find(|i| frames[*i].time <= frames[*i - 1].time) {
            return Err(TrajectoryError::NotAscending {
                frame: i,
                time: frames[i].time,
                before: frames[i - 1].time,
            });
        }
        Ok(Self { frames })
    }

    /// The key frames, in the order of time.
    pub fn frames(&self) -> &[KeyFrame] {
        &self.frames
    }

    /// First and last time, s.
    pub fn span(&self) -> [f64; 2] {
        [self.frames[0].time, self.frames[self.frames.len() - 1].time]
    }

    /// Whether there are poses from one time to another (s).
    ///
    /// # Errors
    /// Where there are not.
    pub fn check_span(&self, needed_from: f64, needed_to: f64) -> Result<(), TrajectoryError> {
        let [from, to] = self.span();
        if needed_from >= from && needed_to <= to {
            return Ok(());
        }
        Err(TrajectoryError::TooShort {
            needed_from,
            needed_to,
            from,
            to,
        })
    }

    /// The pose at `time` (s); none outside of the key frames.
    ///
    /// ```
    /// use etendue_sensors::trajectory::{KeyFrame, Trajectory};
    /// use nalgebra::{Isometry3, Vector3};
    /// let frame = |time, x, turn| KeyFrame {
    ///     time,
    ///     pose: Isometry3::new(Vector3::new(x, 0.0, 0.0), Vector3::z() * turn),
    /// };
    /// let trajectory = Trajectory::new(vec![frame(0.0, 0.0, 0.0), frame(2.0, 4.0, 1.0)]).unwrap();
    /// let pose = trajectory.pose(1.0).unwrap();
    /// assert!((pose.translation.x - 2.0).abs() < 1e-12);
    /// assert!((pose.rotation.angle() - 0.5).abs() < 1e-12);
    /// assert!(trajectory.pose(2.1).is_none());
    /// ```
    pub fn pose(&self, time: f64) -> Option<Isometry3<f64>> {
        let after = self.frames.partition_point(|frame| frame.time <= time);
        let before = self.frames.get(after.checked_sub(1)?)?;
        let Some(next) = self.frames.get(after) else {
            return (before.time == time).then_some(before.pose);
        };
        let share = (time - before.time) / (next.time - before.time);
        let pose = before.pose.try_lerp_slerp(&next.pose, share, 1e-9);
        Some(pose.unwrap_or(before.pose))
    }

    /// The pose at `time` (s), the first before the key frames and the last after them.
    pub fn pose_or_end(&self, time: f64) -> Isometry3<f64> {
        let [from, to] = self.span();
        self.pose(time.clamp(from, to))
            .unwrap_or(self.frames[0].pose)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector3;

    fn frame(time: f64, x: f64) -> KeyFrame {
        KeyFrame {
            time,
            pose: Isometry3::translation(x, 0.0, 0.0),
        }
    }

    #[test]
    fn key_frames_that_cannot_be_are_refused_by_number() {
        let error = |frames| Trajectory::new(frames).expect_err("refused");
        assert_eq!(error(vec![]), TrajectoryError::Empty);
        assert_eq!(
            error(vec![frame(0.0, 0.0), frame(0.0, 1.0)]).frame(),
            Some(1)
        );
        assert_eq!(
            error(vec![frame(1.0, 0.0), frame(0.5, 1.0)]).frame(),
            Some(1)
        );
        assert_eq!(
            error(vec![frame(0.0, 0.0), frame(f64::NAN, 1.0)]).frame(),
            Some(1)
        );
        assert_eq!(error(vec![frame(0.0, f64::INFINITY)]).frame(), Some(0));
    }

    #[test]
    fn a_run_longer_than_the_trajectory_is_refused() {
        let trajectory = Trajectory::new(vec![frame(0.0, 0.0), frame(1.0, 1.0)]).expect("fine");
        assert!(trajectory.check_span(0.0, 1.0).is_ok());
        assert!(trajectory.check_span(0.0, 1.1).is_err());
    }

    /// Between opposite orientations slerp has no unique way: the earlier pose stands.
    #[test]
    fn half_turns_do_not_panic() {
        let turned = |time, angle| KeyFrame {
            time,
            pose: Isometry3::rotation(Vector3::x() * angle),
        };
        let half = std::f64::consts::PI;
        let trajectory = Trajectory::new(vec![turned(0.0, 0.0), turned(1.0, half)]).expect("fine");
        assert!(trajectory.pose(0.5).is_some());
    }
}
