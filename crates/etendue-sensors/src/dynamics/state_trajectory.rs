//! Interface of trajectories with velocities and accelerations.

use etendue_physics::inertial::MotionState;

/// State of motion of the bodies of a robot as a function of time: poses with first and second
/// derivatives.
///
/// Every `Fn(f64) -> MotionState + Sync` is the trajectory of a single rigid body.
pub trait StateTrajectory: Sync {
    /// State of motion of the robot's base at a time (s from the start of the run).
    fn state(&self, time: f64) -> MotionState;

    /// State of motion of a body of the robot by its index; index 0 is the base, the only body of a single
    /// rigid body.
    fn state_of(&self, _body: usize, time: f64) -> MotionState {
        self.state(time)
    }
}

impl<F: Fn(f64) -> MotionState + Sync> StateTrajectory for F {
    fn state(&self, time: f64) -> MotionState {
        self(time)
    }
}
