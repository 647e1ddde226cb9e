//! Degrees of freedom of the lidar.

use nalgebra::{Isometry3, Matrix6, UnitQuaternion, Vector3, Vector6};

/// Motions of the lidar that a [`Mapper`](super::Mapper) estimates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MotionFreedom {
    /// Translation and rotation in space.
    #[default]
    Space,
    /// Translation in a plane z = constant of the world, and rotation about its normal: a level planar lidar on a level floor. Its
    /// scans are taken as sections of vertical walls.
    Plane,
}

impl MotionFreedom {
    /// Projection of motions (translation, rotation; axes of the world, or of a lidar with the same z axis) onto those
    /// that are free.
    pub(super) fn projection(self) -> Matrix6<f64> {
        Matrix6::from_diagonal(&match self {
            Self::Space => Vector6::repeat(1.0),
            Self::Plane => Vector6::new(1.0, 1.0, 0.0, 0.0, 0.0, 1.0),
        })
    }

    /// The nearest pose that the lidar can have at a height (m), such as that of an earlier pose: in the plane, that of a
    /// level lidar with the same heading.
    pub(super) fn nearest(self, pose: &Isometry3<f64>, height: f64) -> Isometry3<f64> {
        match self {
            Self::Space => *pose,
            Self::Plane => {
                let forward = pose.rotation * Vector3::x();
                let heading = forward.y.atan2(forward.x);
                let position = Vector3::new(pose.translation.x, pose.translation.y, height);
                let rotation = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), heading);
                Isometry3::from_parts(position.into(), rotation)
            }
        }
    }

    /// Number of degrees of freedom.
    pub(super) fn count(self) -> usize {
        match self {
            Self::Space => 6,
            Self::Plane => 3,
        }
    }

    /// Covariance of motions without the directions that are not free.
    pub(super) fn of(self, covariance: &Matrix6<f64>) -> Matrix6<f64> {
        let free = self.projection();
        free * covariance * free
    }
}
