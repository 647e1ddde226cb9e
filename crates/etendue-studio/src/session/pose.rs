//! Poses as numbers.

use nalgebra::{Isometry3, Translation3, UnitQuaternion};

/// Position (m), yaw, pitch and roll (degrees): the numbers of `--pose`.
pub type PoseNumbers = [f64; 6];

/// The pose of the numbers.
pub fn of_numbers([x, y, z, yaw, pitch, roll]: PoseNumbers) -> Isometry3<f64> {
    let [roll, pitch, yaw] = [roll, pitch, yaw].map(f64::to_radians);
    let rotation = UnitQuaternion::from_euler_angles(roll, pitch, yaw);
    Isometry3::from_parts(Translation3::new(x, y, z), rotation)
}

/// The numbers of a pose.
pub fn to_numbers(pose: &Isometry3<f64>) -> PoseNumbers {
    let (roll, pitch, yaw) = pose.rotation.euler_angles();
    let at = pose.translation.vector;
    let [yaw, pitch, roll] = [yaw, pitch, roll].map(f64::to_degrees);
    [at.x, at.y, at.z, yaw, pitch, roll]
}

/// Position (m) and quaternion (x, y, z, w) of a pose.
pub fn to_position_and_quaternion(pose: &Isometry3<f64>) -> [f64; 7] {
    let at = pose.translation.vector;
    let q = pose.rotation.coords;
    [at.x, at.y, at.z, q.x, q.y, q.z, q.w]
}
