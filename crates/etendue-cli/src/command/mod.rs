//! The verbs, one a file.

mod calibrate;
mod compare;
mod convert;
mod correct;
mod demo;
mod experiment;
mod fit;
mod inspect;
mod materials;
mod register;
mod render;
mod run;
mod schema;
mod sensors;
mod simulate;
mod slam;

use crate::failure::Failure;
use clap::Subcommand;

/// What is to be done.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Simulate a sensor in a scene and write what it measures, with a picture
    Simulate(simulate::Simulate),
    /// Render what a camera sees: picture, depth, normals, segmentation, optical flow
    Render(render::Render),
    /// Run a robot with all its sensors, and record what they give
    Run(run::Run),
    /// Watch a robot at work: a car that finds its way by lidar, a drive through a town
    Demo(demo::Demo),
    /// Say how alike two point clouds are: a real and a simulated one, say
    Compare(compare::Compare),
    /// Turn points into another format: PCD, PLY, LAS, E57, NPZ, CSV, KITTI, MCAP, from captures too
    Convert(convert::Convert),
    /// Make a sensor's noise profiles from recordings of known panels, and look at them
    Calibrate(calibrate::Calibrate),
    /// Find poses, mirrors, materials or the receiver from scans, and how sure that is
    Fit(fit::Fit),
    /// Run an experiment of the differentiable-lidar paper beside registration baselines
    Experiment(experiment::Experiment),
    /// Learn a lidar's depth bias from its own maps, take it off scans, and judge it
    Correct(correct::Correct),
    /// Map a sequence of scans by ICP, and say how far the trajectory drifts
    Slam(slam::Slam),
    /// Move one point cloud or scan onto another: ICP, point-to-plane, GICP, NDT
    Register(register::Register),
    /// Say what is in a scene, a mesh, a point cloud, a sensor file or a scan log
    Inspect(inspect::Inspect),
    /// List the sensors that come with etendue, or print one as a file to start from
    Sensors(sensors::Sensors),
    /// List the materials that come with etendue, or say where one's numbers come from
    Materials(materials::Materials),
    /// Print the JSON schema of a file format, for editors
    Schema(schema::Schema),
}

impl Command {
    /// Does it.
    pub fn run(self) -> Result<(), Failure> {
        match self {
            Self::Simulate(verb) => verb.run(),
            Self::Render(verb) => verb.run(),
            Self::Run(verb) => verb.run(),
            Self::Demo(verb) => verb.run(),
            Self::Compare(verb) => verb.run(),
            Self::Convert(verb) => verb.run(),
            Self::Calibrate(verb) => verb.run(),
            Self::Fit(verb) => verb.run(),
            Self::Experiment(verb) => verb.run(),
            Self::Correct(verb) => verb.run(),
            Self::Slam(verb) => verb.run(),
            Self::Register(verb) => verb.run(),
            Self::Inspect(verb) => verb.run(),
            Self::Sensors(verb) => verb.run(),
            Self::Materials(verb) => verb.run(),
            Self::Schema(verb) => verb.run(),
        }
    }
}
