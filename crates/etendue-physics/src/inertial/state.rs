//! Motion of a rigid body.

use nalgebra::{Isometry3, Vector3};

/// Motion of a rigid body at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MotionState {
    /// Pose in the world.
    pub world_from_body: Isometry3<f64>,
    /// Velocity of the body's origin, in the world, m/s.
    pub velocity: Vector3<f64>,
    /// Acceleration of the body's origin, in the world, m/s².
    pub acceleration: Vector3<f64>,
    /// Angular velocity, in the body's frame, rad/s.
    pub angular_velocity: Vector3<f64>,
    /// Angular acceleration, in the body's frame, rad/s².
    pub angular_acceleration: Vector3<f64>,
}

impl MotionState {
    /// A body at rest.
    pub fn at_rest(world_from_body: Isometry3<f64>) -> Self {
        Self {
            world_from_body,
            velocity: Vector3::zeros(),
            acceleration: Vector3::zeros(),
            angular_velocity: Vector3::zeros(),
            angular_acceleration: Vector3::zeros(),
        }
    }

    /// Motion of a frame fixed to the body: with $r$ the position of its origin on the body, $v' =
    /// v + \omega\times r$ and $a' = a + \dot\omega\times r + \omega\times(\omega\times r)$.
    ///
    /// ```
    /// use etendue_physics::inertial::MotionState;
    /// use nalgebra::{Isometry3, Vector3};
    /// let table = MotionState {
    ///     angular_velocity: Vector3::z() * 3.0,
    ///     ..MotionState::at_rest(Isometry3::identity())
    /// };
    /// let arm = table.mounted(&Isometry3::translation(0.5, 0.0, 0.0));
    /// // Towards the axis, with the angular rate squared times the arm.
    /// assert_eq!(arm.acceleration, Vector3::new(-9.0 * 0.5, 0.0, 0.0));
    /// assert_eq!(arm.velocity, Vector3::new(0.0, 1.5, 0.0));
    /// ```
    #[must_use]
    pub fn mounted(&self, body_from_mount: &Isometry3<f64>) -> Self {
        let arm = body_from_mount.translation.vector;
        let rate = self.angular_velocity;
        let change = self.angular_acceleration;
        let turn = self.world_from_body.rotation;
        let into_mount = body_from_mount.rotation.inverse();
        Self {
            world_from_body: self.world_from_body * body_from_mount,
            velocity: self.velocity + turn * rate.cross(&arm),
            acceleration: self.acceleration
                + turn * (change.cross(&arm) + rate.cross(&rate.cross(&arm))),
            angular_velocity: into_mount * rate,
            angular_acceleration: into_mount * change,
        }
    }

    /// Specific force in the body's frame, as measured by an ideal accelerometer, m/s²: $f =
    /// R^\top(a - g)$, with the gravity **vector** $g$ of the world. At rest and level it is $+g$
    /// upwards.
    ///
    /// ```
    /// use etendue_physics::inertial::{MotionState, STANDARD_GRAVITY};
    /// use nalgebra::{Isometry3, Vector3};
    /// let down = Vector3::z() * -STANDARD_GRAVITY;
    /// // Pitched by 90 degrees, nose down: x looks down, so it reads minus g.
    /// let nose_down = Isometry3::rotation(Vector3::y() * std::f64::consts::FRAC_PI_2);
    /// let force = MotionState::at_rest(nose_down).specific_force(&down);
    /// assert!((force + Vector3::x() * STANDARD_GRAVITY).norm() < 1e-12);
    /// ```
    pub fn specific_force(&self, gravity: &Vector3<f64>) -> Vector3<f64> {
        let turn = self.world_from_body.rotation;
        turn.inverse_transform_vector(&(self.acceleration - gravity))
    }
}
