//! `etendue schema`.

use crate::failure::Failure;
use crate::output::print_json;
use clap::{Args, ValueEnum};
use etendue::config::camera::CameraFile;
use etendue::config::depth_model::DepthModelFile;
use etendue::config::fit::FitFile;
use etendue::config::material::MaterialFile;
use etendue::config::pose_uncertainty::PoseUncertaintyFile;
use etendue::config::profile::{CalibrationSetupFile, ProfileFile};
use etendue::config::robot::RobotFile;
use etendue::config::scene::SceneFile;
use etendue::config::sensor::SensorFile;
use etendue::config::toml_file::file_schema;

/// Arguments of `etendue schema`.
#[derive(Debug, Args)]
#[command(after_help = "Example: etendue schema scene > scene.schema.json\n  \
    writes a JSON schema for the TOML support of an editor.")]
pub struct Schema {
    /// Kind of file
    #[arg(value_enum, default_value = "scene")]
    kind: FileKind,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FileKind {
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
    /// Uncertainty of the poses of a sequence
    PoseUncertainty,
    /// A material in a scene file
    Material,
    /// Noise profiles
    Profile,
    /// Calibration setups: recordings of panels
    CalibrationSetup,
}

impl Schema {
    /// Prints the schema.
    pub fn run(self) -> Result<(), Failure> {
        print_json(&match self.kind {
            FileKind::Scene => file_schema::<SceneFile>(),
            FileKind::Sensor => file_schema::<SensorFile>(),
            FileKind::Camera => file_schema::<CameraFile>(),
            FileKind::Robot => file_schema::<RobotFile>(),
            FileKind::Fit => file_schema::<FitFile>(),
            FileKind::DepthModel => file_schema::<DepthModelFile>(),
            FileKind::PoseUncertainty => file_schema::<PoseUncertaintyFile>(),
            FileKind::Material => file_schema::<MaterialFile>(),
            FileKind::Profile => file_schema::<ProfileFile>(),
            FileKind::CalibrationSetup => file_schema::<CalibrationSetupFile>(),
        })
    }
}
