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
    which: Which,
}

#[derive(Debug, Subcommand)]
enum Which {
    /// A scaled car finds its way round a closed course that it has never seen, by lidar alone
    Course(course::Course),
    /// A vehicle drives through a built-up area and records its lidar, IMU and GNSS
    Street(street::Street),
}

impl Demo {
    /// Runs it.
    pub fn run(self) -> Result<(), Failure> {
        match self.which {
            Which::Course(demo) => demo.run(),
            Which::Street(demo) => demo.run(),
        }
    }
}

/// The scene of a demonstration, with the library's materials.
fn build(parts: &[Part]) -> Result<Scene, Failure> {
    let scene = scene(parts, library_material);
    scene.map_err(|error| inner(&error.to_string()))
}

fn library_material(name: &str) -> Material<Spectrum> {
    let found = find(name).expect("demonstrations name materials of the library");
    found.material.clone()
}

/// A demonstration's own world cannot be used, which the tests rule out.
fn inner(message: &str) -> Failure {
    Failure::Usage {
        message: message.into(),
        remedy: "give another --seed".into(),
    }
}
