//! Commands of robots over time.

use etendue_sensors::dynamics::DriveCommand;
use etendue_sensors::dynamics::jointed::JointCommand;

/// Commands of a robot at one time. Vehicles use `drive`, articulated robots `joints`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Orders {
    /// Drive command.
    pub drive: DriveCommand,
    /// Command of each moving joint, in the order of the joints.
    pub joints: Vec<JointCommand>,
}

/// Commands of a robot over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schedule {
    /// Drive commands with their start times (ns), ascending.
    pub drive: Vec<(i64, DriveCommand)>,
    /// Times (ns), indices of moving joints and their commands, in ascending time.
    pub joints: Vec<(i64, usize, JointCommand)>,
    /// Number of moving joints.
    pub joint_count: usize,
}

impl Schedule {
    /// The commands at a time, ns. Before its first command, a vehicle is at rest and a joint is
    /// free.
    pub fn at(&self, time: i64) -> Orders {
        let drive = self.drive.iter().rev().find(|(from, _)| *from <= time);
        let mut joints = vec![JointCommand::Free; self.joint_count];
        for (_, joint, command) in self.joints.iter().filter(|(from, ..)| *from <= time) {
            joints[*joint] = *command;
        }
        Orders {
            drive: drive.map_or_else(DriveCommand::default, |(_, command)| *command),
            joints,
        }
    }
}
