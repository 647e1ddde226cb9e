//! Robots with command-driven motion: the `[dynamics]` table.

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
    /// Dynamics model.
    pub mover: Mover,
    /// Rates of the dynamics steps and the commands.
    pub plan: ControlPlan,
    /// Commands over time.
    pub schedule: Schedule,
}
