//! Commands, one module each.

mod calibrate;
mod compare;
mod convert;
mod correct;
mod demo;
mod experiment;
mod fit;
mod inspect;
mod materials;
mod presets;
mod register;
mod render;
mod repair;
mod run;
mod schema;
mod sensors;
mod shell;
mod simulate;
mod slam;
#[cfg(feature = "studio")]
mod studio;
mod view;

use crate::failure::Failure;
use clap::Subcommand;
use etendue::config::presets::{CAMERAS, DEVICES, PROFILES, SCENES};

/// Commands of `etendue`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Simulate a sensor in a scene and write its measurements with a picture
    Simulate(simulate::Simulate),
    /// Open a local page that shows a scene and its scan, and edits them
    #[cfg(feature = "studio")]
    Studio(studio::Studio),
    /// Render a camera: picture, depth, normals, segmentation, optical flow
    Render(render::Render),
    /// Run a robot with all its sensors and record their data
    Run(run::Run),
    /// Run a demonstration: a car racing by lidar, a drive through a procedural town
    Demo(demo::Demo),
    /// Compare two point clouds, such as a real and a simulated one
    Compare(compare::Compare),
    /// Convert points, recordings and packet captures between formats
    Convert(convert::Convert),
    /// Complete a recording (MCAP) that a killed run left
    Repair(repair::Repair),
    /// Calibrate the noise profiles of a sensor from recordings of known panels
    Calibrate(calibrate::Calibrate),
    /// Fit poses, mirrors, materials or the receiver to scans, with their uncertainty
    Fit(fit::Fit),
    /// Run a published experiment on fits or depth correction, with baselines
    Experiment(experiment::Experiment),
    /// Learn the depth bias of a lidar from its maps, correct scans, and evaluate the result
    Correct(correct::Correct),
    /// Map a sequence of scans by ICP and measure the drift of the trajectory
    Slam(slam::Slam),
    /// Register one point cloud or scan with another: ICP, point-to-plane, GICP, NDT
    Register(register::Register),
    /// Describe the content of a scene, mesh, point cloud, sensor file or scan log
    Inspect(inspect::Inspect),
    /// Draw a picture of a scene, a sensor, points or a recording, and open it
    View(view::View),
    /// List the built-in sensors, or print one as a sensor file
    Sensors(sensors::Sensors),
    /// List the built-in scenes, or print one as a scene file
    #[command(after_help = "Example: etendue scenes glass-door > mine.toml")]
    Scenes(presets::List),
    /// List the built-in cameras, or print one as a camera file
    #[command(after_help = "Example: etendue cameras raspberry-pi-v2 > mine.toml")]
    Cameras(presets::List),
    /// List the built-in devices of robots (inertial units, GNSS receivers, barometers), or print one
    #[command(after_help = "Example: etendue devices bosch-bmi088")]
    Devices(presets::List),
    /// List the built-in noise profiles, or print one
    #[command(after_help = "Example: etendue profiles")]
    Profiles(presets::List),
    /// List the built-in materials, or print the sources of one
    Materials(materials::Materials),
    /// Print the JSON schema of a file format, for editors
    Schema(schema::Schema),
    /// Print the completion script of a shell
    Completions(shell::Completions),
    /// Write the manual pages
    Man(shell::ManPages),
}

impl Command {
    /// Runs the command.
    pub fn run(self) -> Result<(), Failure> {
        match self {
            Self::Simulate(command) => command.run(),
            #[cfg(feature = "studio")]
            Self::Studio(command) => command.run(),
            Self::Render(command) => command.run(),
            Self::Run(command) => command.run(),
            Self::Demo(command) => command.run(),
            Self::Compare(command) => command.run(),
            Self::Convert(command) => command.run(),
            Self::Repair(command) => command.run(),
            Self::Calibrate(command) => command.run(),
            Self::Fit(command) => command.run(),
            Self::Experiment(command) => command.run(),
            Self::Correct(command) => command.run(),
            Self::Slam(command) => command.run(),
            Self::Register(command) => command.run(),
            Self::Inspect(command) => command.run(),
            Self::View(command) => command.run(),
            Self::Sensors(command) => command.run(),
            Self::Scenes(command) => command.run(SCENES),
            Self::Cameras(command) => command.run(CAMERAS),
            Self::Devices(command) => command.run(DEVICES),
            Self::Profiles(command) => command.run(PROFILES),
            Self::Materials(command) => command.run(),
            Self::Schema(command) => command.run(),
            Self::Completions(command) => command.run(),
            Self::Man(command) => command.run(),
        }
    }
}
