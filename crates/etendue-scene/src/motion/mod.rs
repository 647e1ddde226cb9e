//! Poses over time, of objects and of sensors.

mod cubic;
mod key_frame;
mod key_frames;
mod linear;
mod trajectory;
mod twist;

pub use key_frame::{Interpolation, KeyFrame, TrajectoryError};
pub use key_frames::KeyFrameTrajectory;
pub use trajectory::Trajectory;
pub use twist::Twist;
