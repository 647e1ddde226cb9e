//! How robots move: motions that are known beforehand, and dynamics that are driven by commands.
//!
//! A [`Path`] tells the whole state of motion at any time, accelerations included: [`Still`],
//! [`Circle`], [`SplineMotion`] through recorded poses, any function in [`Scripted`], and [`Track`],
//! which is what [`Dynamics`] left behind. [`Dynamics`] is the interface of everything that is
//! stepped: [`Bicycle`] here, a physics engine, or somebody else's simulator.

mod bicycle;
mod scripted;
mod spline;
mod track;

pub use bicycle::{Bicycle, DriveCommand, Steering};
pub use scripted::{Circle, Scripted, Still};
pub use spline::SplineMotion;
pub use track::Track;

use etendue_physics::inertial::MotionState;

/// A motion that is known.
pub trait Path: Sync {
    /// How the robot's base moves at a time (s from the start of the run).
    fn state(&self, time: f64) -> MotionState;
}

/// Something that moves as it is told, a step at a time.
pub trait Dynamics {
    /// What it is told.
    type Command;

    /// How the robot's base moves now.
    fn state(&self) -> MotionState;

    /// Lets `dt` seconds pass under a command.
    fn step(&mut self, command: &Self::Command, dt: f64);
}
