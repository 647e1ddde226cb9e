//! Conversions between the vectors and poses of nalgebra and of the engine.

use nalgebra::{Isometry3, Point3, Vector3};
use rapier3d_f64::math::{Pose, Vector};

pub(super) fn vector(ours: &Vector3<f64>) -> Vector {
    Vector::new(ours.x, ours.y, ours.z)
}

pub(super) fn point(ours: &Point3<f64>) -> Vector {
    vector(&ours.coords)
}

pub(super) fn pose(ours: &Isometry3<f64>) -> Pose {
    Pose::from(*ours)
}

pub(super) fn our_vector(theirs: Vector) -> Vector3<f64> {
    Vector3::new(theirs.x, theirs.y, theirs.z)
}

pub(super) fn our_pose(theirs: &Pose) -> Isometry3<f64> {
    Isometry3::from(*theirs)
}
