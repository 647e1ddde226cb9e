//! Poses at times, and the errors in a list of them.

use nalgebra::Isometry3;
use thiserror::Error;

/// A pose at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeyFrame {
    /// Time, s from the scene's epoch, which is the start of the run.
    pub time: f64,
    /// Pose: `world_from_object` or `world_from_sensor`.
    pub pose: Isometry3<f64>,
}

/// Interpolation between key frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interpolation {
    /// Positions on straight lines, orientations by spherical linear interpolation (Shoemake 1985,
    /// doi:10.1145/325165.325242): constant speed between key frames, with jumps at them.
    #[default]
    Linear,
    /// Cubic curves with continuous velocity and angular velocity; those at a key frame are of the
    /// parabola through it and its neighbours.
    Cubic,
}

/// An error in key frames, or a run that they do not cover.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum TrajectoryError {
    /// There is no key frame.
    #[error("the trajectory has no pose")]
    Empty,
    /// A key frame's time or pose is not finite.
    #[error("pose {frame} is not finite (time {time})")]
    NotFinite {
        /// The key frame's index.
        frame: usize,
        /// The key frame's time, s.
        time: f64,
    },
    /// A key frame is not later than the one before.
    #[error("pose {frame} (time {time} s) is not later than the one before ({before} s)")]
    NotAscending {
        /// The key frame's index.
        frame: usize,
        /// The key frame's time, s.
        time: f64,
        /// Time of the key frame before it, s.
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
        /// First time covered, s.
        from: f64,
        /// Last time covered, s.
        to: f64,
    },
}

impl TrajectoryError {
    /// The index of the invalid key frame, if there is one.
    pub fn frame(&self) -> Option<usize> {
        match self {
            Self::NotFinite { frame, .. } | Self::NotAscending { frame, .. } => Some(*frame),
            Self::Empty | Self::TooShort { .. } => None,
        }
    }
}
