//! How robots move: motions that are known beforehand, and dynamics that are driven by commands.
//!
//! A [`Path`] tells the whole state of motion at any time, accelerations included: [`Still`],
//! [`Circle`], [`SplineMotion`] through recorded poses, any function in [`Scripted`], and [`Track`],
//! which is what [`Dynamics`] left behind. [`Dynamics`] is the interface of everything that is
//! stepped: [`Bicycle`] here, a physics engine, or somebody else's simulator. With the feature
//! `rapier`, rigid bodies, vehicles on ray-cast wheels and robots of links and joints
//! ([`jointed`]) are stepped by the engine rapier3d, in the module `rapier`.

mod bicycle;
pub mod jointed;
#[cfg(feature = "rapier")]
pub mod rapier;
mod scripted;
mod spline;
mod track;
mod vehicle;

pub use bicycle::{Bicycle, DriveCommand, Steering};
pub use scripted::{Circle, Scripted, Still};
pub use spline::SplineMotion;
pub use track::{Track, Tracks};
pub use vehicle::Vehicle;

use etendue_physics::inertial::MotionState;

/// A motion that is known.
pub trait Path: Sync {
    /// How the robot's base moves at a time (s from the start of the run).
    fn state(&self, time: f64) -> MotionState;

    /// How one of the robot's bodies moves; number 0 is the base. A robot that is one rigid body
    /// has no other.
    fn state_of(&self, _body: usize, time: f64) -> MotionState {
        self.state(time)
    }
}

/// Something that moves as it is told, a step at a time.
pub trait Dynamics {
    /// What it is told.
    type Command;

    /// How the robot's base moves now.
    fn state(&self) -> MotionState;

    /// How each of the robot's bodies moves now, the base first: the base alone, where the robot
    /// is one rigid body.
    fn states(&self) -> Vec<MotionState> {
        vec![self.state()]
    }

    /// Lets `dt` seconds pass under a command.
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
