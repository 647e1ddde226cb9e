//! `etendue schema`.

use crate::failure::Failure;
use crate::output::print_json;
use clap::{Args, ValueEnum};
use etendue::config::camera::CameraFile;
use etendue::config::depth_model::DepthModelFile;
use etendue::config::fit::FitFile;
use etendue::config::material::MaterialFile;
use etendue::config::profile::{CalibrationSetupFile, ProfileFile};
use etendue::config::robot::RobotFile;
use etendue::config::scene::SceneFile;
use etendue::config::sensor::SensorFile;
use schemars::schema_for;

/// Arguments of `etendue schema`.
#[derive(Debug, Args)]
#[command(after_help = "Example: etendue schema scene > scene.schema.json\n  \
    writes a JSON schema for the TOML support of an editor.")]
pub struct Schema {
    /// Kind of file
    #[arg(value_enum, default_value = "scene")]
    kind: Kind,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Kind {
    /// Scene files
    Scene,
    /// Sensor files
    Sensor,
    /// Camera files
    Camera,
    /// Robot files
    Robot,
    /// Fit problems
    Fit,
    /// Depth corrections
    DepthModel,
    /// A material in a scene file
    Material,
    /// Noise profiles
    Profile,
    /// Calibration setups: recordings of panels
    Bench,
}

impl Schema {
    /// Prints the schema.
    pub fn run(self) -> Result<(), Failure> {
        print_json(&match self.kind {
            Kind::Scene => schema_for!(SceneFile),
            Kind::Sensor => schema_for!(SensorFile),
            Kind::Camera => schema_for!(CameraFile),
            Kind::Robot => schema_for!(RobotFile),
            Kind::Fit => schema_for!(FitFile),
            Kind::DepthModel => schema_for!(DepthModelFile),
            Kind::Material => schema_for!(MaterialFile),
            Kind::Profile => schema_for!(ProfileFile),
            Kind::Bench => schema_for!(CalibrationSetupFile),
        })
    }
}
