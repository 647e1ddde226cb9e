//! The trait of known motions.

use etendue_physics::inertial::MotionState;

/// The state of motion of a robot's bodies as a function of time: poses with their first and second
/// derivatives.
///
/// Any `Fn(f64) -> MotionState + Sync` is one, of a robot that is a single rigid body.
pub trait StateTrajectory: Sync {
    /// State of motion of the robot's base at a time (s from the start of the run).
    fn state(&self, time: f64) -> MotionState;

    /// State of motion of one of the robot's bodies; number 0 is the base. A robot that is one
    /// rigid body has no other.
    fn state_of(&self, _body: usize, time: f64) -> MotionState {
        self.state(time)
    }
}

impl<F: Fn(f64) -> MotionState + Sync> StateTrajectory for F {
    fn state(&self, time: f64) -> MotionState {
        self(time)
    }
}
