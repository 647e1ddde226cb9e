//! The optical frame of a camera.

use nalgebra::{Matrix3, Rotation3, UnitQuaternion};

/// Rotation from the optical frame (x right, y down, z forward) to the camera's body frame (x
/// forward, y left, z up; REP 103).
///
/// ```
/// use etendue_physics::camera::body_from_optical;
/// use nalgebra::Vector3;
/// assert!((body_from_optical() * Vector3::z() - Vector3::x()).norm() < 1e-15);
/// assert!((body_from_optical() * Vector3::x() + Vector3::y()).norm() < 1e-15);
/// ```
pub fn body_from_optical() -> UnitQuaternion<f64> {
    let axes = Matrix3::new(0.0, 0.0, 1.0, -1.0, 0.0, 0.0, 0.0, -1.0, 0.0);
    UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(axes))
}
