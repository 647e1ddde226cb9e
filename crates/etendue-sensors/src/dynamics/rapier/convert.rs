//! Conversions between the types of nalgebra and of the physics engine.

use nalgebra::{Isometry3, Point3, Vector3};
use rapier3d_f64::math::{Pose, Vector};

/// Vector of the engine.
pub(super) fn engine_vector(from: &Vector3<f64>) -> Vector {
    Vector::new(from.x, from.y, from.z)
}

/// Point of the engine.
pub(super) fn engine_point(from: &Point3<f64>) -> Vector {
    engine_vector(&from.coords)
}

/// Pose of the engine.
pub(super) fn engine_pose(from: &Isometry3<f64>) -> Pose {
    Pose::from(*from)
}

/// Vector of nalgebra.
pub(super) fn to_vector(from: Vector) -> Vector3<f64> {
    Vector3::new(from.x, from.y, from.z)
}

/// Pose of nalgebra.
pub(super) fn to_isometry(from: &Pose) -> Isometry3<f64> {
    Isometry3::from(*from)
}
