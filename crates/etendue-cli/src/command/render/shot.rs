//! Rendered frames.

use etendue::sensors::camera::{CameraFrame, FrameTruth};
use nalgebra::Isometry3;

/// Frame with its ground truth.
pub struct Shot {
    /// Frame.
    pub frame: CameraFrame,
    /// Ground truth of each pixel.
    pub truth: FrameTruth,
    /// Pose of the camera in the middle of the exposure.
    pub world_from_camera: Isometry3<f64>,
}
