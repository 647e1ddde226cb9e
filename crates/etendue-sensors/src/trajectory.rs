//! Poses of a sensor as functions of time.
//!
//! The pipelines take any `Fn(f64) -> Isometry3<S>` from seconds to `world_from_sensor`. This module has
//! the common ones.

use etendue_physics::Scalar;
use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion, Vector3};

/// A constant pose.
pub fn stationary<S: Scalar>(world_from_sensor: Isometry3<S>) -> impl Fn(f64) -> Isometry3<S> {
    move |_| world_from_sensor
}

/// A pose of constant velocity: `start` at time zero, with `velocity` (m/s) and `angular_velocity` (rad/s)
/// in the world frame.
///
/// ```
/// use etendue_sensors::trajectory::constant_velocity;
/// use nalgebra::{Isometry3, Vector3};
/// let pose = constant_velocity(
///     Isometry3::translation(0.0, 0.0, 0.5),
///     Vector3::new(1.0, 0.0, 0.0),
///     Vector3::new(0.0, 0.0, 0.1),
/// )(2.0);
/// assert!((pose.translation.x - 2.0).abs() < 1e-15);
/// assert!((pose.rotation.scaled_axis().z - 0.2_f64).abs() < 1e-12);
/// ```
pub fn constant_velocity<S: Scalar>(
    start: Isometry3<S>,
    velocity: Vector3<S>,
    angular_velocity: Vector3<S>,
) -> impl Fn(f64) -> Isometry3<S> {
    move |time| {
        Isometry3::from_parts(
            Translation3::from(start.translation.vector + velocity.map(|v| v * time)),
            exponential_map(angular_velocity.map(|w| w * time)) * start.rotation,
        )
    }
}

/// Exponential map of SO(3): the rotation by a rotation vector (rad), differentiable at zero.
fn exponential_map<S: Scalar>(rotation: Vector3<S>) -> UnitQuaternion<S> {
    let square = rotation.dot(&rotation);
    let (cos, sinc) = if square.value() < 1e-8 {
        // Taylor series to fourth order: the square root has no derivative at zero.
        (
            square * square / 384.0 - square / 8.0 + 1.0,
            square * square / 3840.0 - square / 48.0 + 0.5,
        )
    } else {
        let angle = square.sqrt();
        let (sin, cos) = (angle * 0.5).sin_cos();
        (cos, sin / angle)
    };
    let imaginary = rotation.map(|r| r * sinc);
    UnitQuaternion::new_unchecked(Quaternion::from_parts(cos, imaginary))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Measured: 1e-16, on both sides of the switch to the series.
    #[test]
    fn the_exponential_map_equals_that_of_nalgebra() {
        for size in [1e-6, 0.9e-4, 1.1e-4, 0.3, 3.0] {
            let rotation = Vector3::new(0.6, -0.64, 0.48) * size;
            let difference =
                exponential_map(rotation).angle_to(&UnitQuaternion::from_scaled_axis(rotation));
            assert!(difference < 1e-7, "{size}: {difference}");
            assert!((exponential_map(rotation).norm() - 1.0).abs() < 1e-15);
        }
    }
}
