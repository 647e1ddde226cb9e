//! Poses of a sensor over time by key frames: the scene's own trajectories.

pub use etendue_scene::{Interpolation, KeyFrame, Trajectory, TrajectoryError};
