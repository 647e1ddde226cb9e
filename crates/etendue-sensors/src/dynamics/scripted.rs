//! Motions by formula.

use super::Path;
use etendue_physics::inertial::MotionState;
use nalgebra::{Isometry3, Vector3};

/// A robot that stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Still(pub Isometry3<f64>);

impl Path for Still {
    fn state(&self, _time: f64) -> MotionState {
        MotionState::still(self.0)
    }
}

/// A robot that drives round a circle anticlockwise at a steady speed, looking ahead: at time zero
/// at `start`, with the centre to its left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Circle {
    /// Pose at time zero.
    pub start: Isometry3<f64>,
    /// Radius, m.
    pub radius: f64,
    /// Speed, m/s.
    pub speed: f64,
}

impl Path for Circle {
    fn state(&self, time: f64) -> MotionState {
        let rate = self.speed / self.radius;
        let (sin, cos) = (rate * time).sin_cos();
        let moved = Isometry3::new(
            Vector3::new(sin, 1.0 - cos, 0.0) * self.radius,
            Vector3::z() * (rate * time),
        );
        let turn = self.start.rotation;
        MotionState {
            world_from_body: self.start * moved,
            velocity: turn * Vector3::new(cos, sin, 0.0) * self.speed,
            acceleration: turn * Vector3::new(-sin, cos, 0.0) * (self.speed * rate),
            angular_velocity: Vector3::z() * rate,
            angular_acceleration: Vector3::zeros(),
        }
    }
}

/// Any function of time.
#[derive(Clone, Copy, Debug)]
pub struct Scripted<F>(pub F);

impl<F: Fn(f64) -> MotionState + Sync> Path for Scripted<F> {
    fn state(&self, time: f64) -> MotionState {
        self.0(time)
    }
}
