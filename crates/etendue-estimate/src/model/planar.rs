//! Conversions between planar and spatial poses.

use nalgebra::{Isometry2, Isometry3, UnitQuaternion, Vector2, Vector3};

/// Planar part of a spatial pose: position along x and y (m), and yaw of the x axis (rad).
pub fn planar(pose: &Isometry3<f64>) -> Isometry2<f64> {
    let forward = pose.rotation * Vector3::x();
    Isometry2::new(
        Vector2::new(pose.translation.x, pose.translation.y),
        forward.y.atan2(forward.x),
    )
}

/// Spatial pose of a planar pose, at height zero and without tilt.
pub fn upright(pose: &Isometry2<f64>) -> Isometry3<f64> {
    let at = pose.translation.vector;
    Isometry3::from_parts(
        Vector3::new(at.x, at.y, 0.0).into(),
        UnitQuaternion::from_axis_angle(&Vector3::z_axis(), pose.rotation.angle()),
    )
}
