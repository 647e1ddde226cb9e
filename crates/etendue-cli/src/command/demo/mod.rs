//! `etendue demo`.

mod course;
mod street;
mod world;

use crate::failure::Failure;
use clap::{Args, Subcommand};

/// Arguments of `etendue demo`.
#[derive(Debug, Args)]
pub struct Demo {
    #[command(subcommand)]
    demonstration: Demonstration,
}

#[derive(Debug, Subcommand)]
enum Demonstration {
    /// A scaled car drives an unknown closed course by lidar only
    Course(course::Course),
    /// A vehicle drives through a procedural town and records its camera, lidar, IMU and GNSS
    Street(street::Street),
}

impl Demo {
    /// Runs the command.
    pub fn run(self) -> Result<(), Failure> {
        match self.demonstration {
            Demonstration::Course(demo) => demo.run(),
            Demonstration::Street(demo) => demo.run(),
        }
    }
}
