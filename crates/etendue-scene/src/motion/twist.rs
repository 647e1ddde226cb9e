//! Motion of constant velocity and angular velocity.

use etendue_raycast::BoundingBox;
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};

/// A motion of constant velocity and angular velocity **in the moving frame**: a straight line, an
/// arc or a screw, as a vehicle that holds its speed and its steering wheel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Twist {
    /// Pose at time zero.
    pub start: Isometry3<f64>,
    /// Velocity of the frame's origin, in the frame itself, m/s.
    pub velocity: Vector3<f64>,
    /// Angular velocity, in the frame itself, rad/s.
    pub angular_velocity: Vector3<f64>,
}

impl Twist {
    /// The pose at a time, s: $T(t) = T_0 \exp(t\\,\xi)$ with the twist $\xi = (v, \omega)$
    /// (Lynch, Park 2017, "Modern Robotics", eq. 3.88).
    ///
    /// ```
    /// use etendue_scene::Twist;
    /// use nalgebra::{Isometry3, Vector3};
    /// // A circle of 1 m radius in 2 pi seconds: after half of it, the frame is on the other side.
    /// let twist = Twist {
    ///     start: Isometry3::identity(),
    ///     velocity: Vector3::x(),
    ///     angular_velocity: Vector3::z(),
    /// };
    /// let half = twist.at(std::f64::consts::PI).translation.vector;
    /// assert!((half - Vector3::new(0.0, 2.0, 0.0)).norm() < 1e-12);
    /// ```
    pub fn at(&self, time: f64) -> Isometry3<f64> {
        let turn = self.angular_velocity * time;
        let displacement = self.velocity * time;
        let angle = turn.norm();
        let (first, second) = if angle < 1e-4 {
            // Series: the quotients lose precision at small angles.
            (
                0.5 - angle * angle / 24.0,
                1.0 / 6.0 - angle * angle / 120.0,
            )
        } else {
            (
                (1.0 - angle.cos()) / angle.powi(2),
                (angle - angle.sin()) / angle.powi(3),
            )
        };
        let across = turn.cross(&displacement);
        let moved = displacement + across * first + turn.cross(&across) * second;
        let rotation = UnitQuaternion::from_scaled_axis(turn);
        self.start * Isometry3::from_parts(Translation3::from(moved), rotation)
    }

    /// A point at radius $r$ deviates from the straight line between its end points by at most
    /// $\frac{h^2}{8}\omega(v + \omega r)$, with $h$ the time between.
    pub(super) fn bounds(&self, local: &BoundingBox, [start, end]: [f64; 2]) -> BoundingBox {
        let speed = self.velocity.norm();
        let turn = self.angular_velocity.norm();
        let bulge = (end - start).powi(2) / 8.0 * turn * (speed + turn * local.reach());
        let ends = local
            .transformed(&self.at(start))
            .union(&local.transformed(&self.at(end)));
        ends.grown(bulge)
    }
}
