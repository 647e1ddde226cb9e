//! Trajectories in closed form.

use super::state_trajectory::StateTrajectory;
use etendue_physics::inertial::MotionState;
use nalgebra::{Isometry3, Vector3};

/// A constant pose, at rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stationary(pub Isometry3<f64>);

impl StateTrajectory for Stationary {
    fn state(&self, _time: f64) -> MotionState {
        MotionState::at_rest(self.0)
    }
}

/// Anticlockwise circle at constant speed, with x along the tangent and the centre to the left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CircularTrajectory {
    /// Pose at time zero.
    pub start: Isometry3<f64>,
    /// Radius, m.
    pub radius: f64,
    /// Speed, m/s.
    pub speed: f64,
}

impl StateTrajectory for CircularTrajectory {
    fn state(&self, time: f64) -> MotionState {
        let rate = self.speed / self.radius;
        let (sin, cos) = (rate * time).sin_cos();
        let moved = Isometry3::new(
            Vector3::new(sin, 1.0 - cos, 0.0) * self.radius,
            Vector3::z() * (rate * time),
        );
        let rotation = self.start.rotation;
        MotionState {
            world_from_body: self.start * moved,
            velocity: rotation * Vector3::new(cos, sin, 0.0) * self.speed,
            acceleration: rotation * Vector3::new(-sin, cos, 0.0) * (self.speed * rate),
            angular_velocity: Vector3::z() * rate,
            angular_acceleration: Vector3::zeros(),
        }
    }
}
