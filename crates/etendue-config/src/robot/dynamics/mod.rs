//! Robots that are moved by commands: the `[dynamics]` table.

mod commands;
mod loading;
mod mover;
mod table;

pub use commands::{Orders, Schedule};
pub use mover::{Ground, Mover, MoverModel};
pub use table::{
    DriveTable, DynamicsTable, GroundName, JointCommandTable, ModelName, VehicleTable,
};

use etendue_sensors::rig::ControlPlan;

/// Dynamics of a robot, and its commands.
#[derive(Clone, Debug, PartialEq)]
pub struct Driven {
    /// What moves it.
    pub mover: Mover,
    /// Steps of the dynamics and commands a second.
    pub plan: ControlPlan,
    /// Its commands over time.
    pub schedule: Schedule,
}
