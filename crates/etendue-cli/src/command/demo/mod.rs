//! `etendue demo`.

mod course;
mod street;

use crate::failure::Failure;
use clap::{Args, Subcommand};
use etendue::config::material::find;
use etendue::physics::Spectrum;
use etendue::physics::surface::Material;
use etendue::scene::Scene;
use etendue_experiments::demo::{Part, scene};

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

/// Scene of a demonstration, with materials of the library.
fn build(parts: &[Part]) -> Result<Scene, Failure> {
    let scene = scene(parts, library_material);
    scene.map_err(|error| invalid_world(&error))
}

fn library_material(name: &str) -> Material<Spectrum> {
    let found = find(name).expect("demonstrations name materials of the library");
    found.material.clone()
}

/// Error of an invalid procedural world.
fn invalid_world(error: &impl ToString) -> Failure {
    Failure::usage(error.to_string(), "give another --seed")
}
