//! Interface of systems that are stepped under commands.

use etendue_physics::inertial::MotionState;

/// A dynamic system that is stepped under commands: a vehicle model, a physics engine, an external
/// simulator.
pub trait Dynamics {
    /// The input of a step.
    type Command;

    /// Current state of motion of the robot's base.
    fn state(&self) -> MotionState;

    /// Current state of motion of each body of the robot, the base first; only of the base where the robot
    /// is one rigid body.
    fn states(&self) -> Vec<MotionState> {
        vec![self.state()]
    }

    /// Advances by `dt` seconds under a command.
    fn step(&mut self, command: &Self::Command, dt: f64);
}

impl<D: Dynamics + ?Sized> Dynamics for Box<D> {
    type Command = D::Command;

    fn state(&self) -> MotionState {
        (**self).state()
    }

    fn states(&self) -> Vec<MotionState> {
        (**self).states()
    }

    fn step(&mut self, command: &Self::Command, dt: f64) {
        (**self).step(command, dt);
    }
}
