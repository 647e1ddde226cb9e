//! Rendered frames.

use etendue::sensors::camera::{CameraFrame, FrameTruth};
use nalgebra::Isometry3;
use serde_json::{Value, json};

/// Frame with its ground truth.
pub struct Shot {
    /// Frame.
    pub frame: CameraFrame,
    /// Ground truth of each pixel.
    pub truth: FrameTruth,
    /// Pose of the camera in the middle of the exposure.
    pub world_from_camera: Isometry3<f64>,
}

/// Exposure and pose of a frame.
#[derive(Clone, Copy)]
pub struct FramePose {
    start: f64,
    exposure: f64,
    world_from_camera: Isometry3<f64>,
}

impl Shot {
    /// Exposure and pose.
    pub const fn pose(&self) -> FramePose {
        FramePose {
            start: self.frame.start,
            exposure: self.frame.exposure,
            world_from_camera: self.world_from_camera,
        }
    }
}

impl FramePose {
    /// The exposure and the pose as JSON.
    pub fn json(&self) -> Value {
        let position: [f64; 3] = self.world_from_camera.translation.vector.into();
        let rotation = self.world_from_camera.rotation.quaternion();
        json!({
            "start_s": self.start,
            "exposure_s": self.exposure,
            "position_m": position,
            "rotation_wxyz": [rotation.w, rotation.i, rotation.j, rotation.k],
        })
    }
}
