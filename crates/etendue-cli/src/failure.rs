//! What the user is told when something goes wrong.

use etendue::calibrate::depth::DepthError;
use etendue::calibrate::noise::NoiseError;
use etendue::config::material::UnknownMaterial;
use etendue::config::scene::UnknownExample;
use etendue::config::sensor::UnknownPreset;
use etendue::config::{ConfigError, camera};
use etendue::estimate::fit::FitError;
use etendue::estimate::odometry::{MappingError, TrajectoryComparisonError};
use etendue::estimate::register::RegisterError;
use etendue::io::FormatError;
use etendue::scene::{MeshError, TrajectoryError};
use etendue::sensors::camera::CameraWorldError;
use etendue::sensors::rig::RigError;
use etendue::sensors::transport::WorldError;
use etendue_experiments::demo::course::NoCourse;
use etendue_experiments::depth::corridor::ExperimentError;
use etendue_plot::png::RenderError;
use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};
use std::fmt::Display;
use std::path::PathBuf;
use thiserror::Error;

/// Why a command failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Failure {
    /// A file is wrong, and the place in it is known.
    #[error("{}", .0.message)]
    InFile(Box<Mistake>),
    /// A file cannot be read or written.
    #[error("{0}")]
    File(ConfigError),
    /// There is no such sensor.
    #[error(transparent)]
    Preset(#[from] UnknownPreset),
    /// There is no such camera.
    #[error(transparent)]
    CameraPreset(#[from] camera::UnknownPreset),
    /// The scene cannot be photographed.
    #[error(transparent)]
    CameraWorld(#[from] CameraWorldError),
    /// There is no such scene.
    #[error(transparent)]
    Example(#[from] UnknownExample),
    /// A cloud has no point to compare.
    #[error("{} has no finite point to compare", path.display())]
    NothingToCompare {
        /// The cloud's file.
        path: PathBuf,
    },
    /// The trajectory does not fit the run.
    #[error(transparent)]
    Trajectory(#[from] TrajectoryError),
    /// A rig cannot run.
    #[error(transparent)]
    Rig(#[from] RigError),
    /// No course of a seed can be driven.
    #[error(transparent)]
    Course(#[from] NoCourse),
    /// There is no such beam, or no waveform.
    #[error(
        "there is no waveform of ring {ring}, column {column}: the sensor has {rings} rings of {columns} columns"
    )]
    NoWaveform {
        /// The ring asked for.
        ring: u32,
        /// The column asked for.
        column: u32,
        /// How many rings there are.
        rings: usize,
        /// How many columns there are.
        columns: u32,
    },
    /// An option says something of another kind of sensor.
    #[error("{option} does not apply to {kind}, which the sensor \"{sensor}\" is")]
    OtherSensor {
        /// The option.
        option: &'static str,
        /// What the sensor is.
        kind: &'static str,
        /// The sensor's name.
        sensor: String,
    },
    /// A mesh cannot be used.
    #[error("{}: {source}", path.display())]
    Mesh {
        /// The mesh's file.
        path: PathBuf,
        /// What is wrong.
        source: MeshError,
    },
    /// A mesh was given where a scene is needed.
    #[error("{} is a mesh, not a scene: it does not say what it is made of", path.display())]
    MeshIsNoScene {
        /// The mesh's file.
        path: PathBuf,
    },
    /// Neither the scene nor the user says where the sensor stands.
    #[error("the scene \"{scene}\" does not say where the sensor stands")]
    NoPose {
        /// The scene's name.
        scene: String,
    },
    /// There is no such material.
    #[error(transparent)]
    Material(#[from] UnknownMaterial),
    /// The scene's materials do not cover the sensor's wavelength.
    #[error(transparent)]
    Wavelength(#[from] WorldError),
    /// No beam met anything.
    #[error("nothing stands in front of the sensor: none of {beams} beams met a surface")]
    NothingInFront {
        /// How many beams were fired.
        beams: usize,
        /// Where the sensor stood, m.
        position: [f64; 3],
    },
    /// The scan logs tell no spread.
    #[error(
        "no scan log given has a window in which the sensor stands still: there is no spread to draw"
    )]
    NothingStands,
    /// An output file's ending is not one that is written.
    #[error("cannot write {}: its ending is not one of csv, npz, pcd, ply, json, png, svg (scanning lidars also: las, laz, e57, bin, parquet, mcap)", path.display())]
    Ending {
        /// The file.
        path: PathBuf,
    },
    /// A log has several scans, and none was chosen.
    #[error("{} holds {scans} scans", path.display())]
    WhichScan {
        /// The log.
        path: PathBuf,
        /// How many it holds.
        scans: usize,
    },
    /// A log has fewer scans than the one asked for.
    #[error("{} has no scan {number}: it holds {scans}", path.display())]
    NoSuchScan {
        /// The log.
        path: PathBuf,
        /// The scan asked for.
        number: usize,
        /// How many it holds.
        scans: usize,
    },
    /// What was asked for makes no sense.
    #[error("{message}")]
    Usage {
        /// What is wrong.
        message: String,
        /// What to do about it.
        remedy: String,
    },
    /// A model cannot be fitted.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// Two clouds cannot be registered.
    #[error(transparent)]
    Register(#[from] RegisterError),
    /// A depth bias cannot be learnt.
    #[error(transparent)]
    Depth(#[from] DepthError),
    /// An experiment of depth correction cannot be run.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// A sequence cannot be mapped.
    #[error(transparent)]
    Mapping(#[from] MappingError),
    /// Two trajectories cannot be compared.
    #[error(transparent)]
    TrajectoryComparison(#[from] TrajectoryComparisonError),
    /// A recording gives no noise profile.
    #[error(transparent)]
    Noise(#[from] NoiseError),
    /// A picture cannot be made.
    #[error(transparent)]
    Picture(#[from] RenderError),
    /// The worker threads cannot be started.
    #[error("cannot start the worker threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// The results cannot be printed.
    #[error("cannot print the results: {0}")]
    Print(#[from] std::io::Error),
    /// Stopped by Ctrl-C.
    #[error("stopped; nothing was written")]
    Interrupted,
    /// A recording that Ctrl-C ended.
    #[error("stopped; the recording holds what was simulated before")]
    StoppedRecording,
}

/// What is wrong in a file, and where.
#[derive(Debug)]
pub struct Mistake {
    message: String,
    remedy: String,
    text: NamedSource<String>,
    place: LabeledSpan,
}

impl Failure {
    /// What the process exits with.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Interrupted | Self::StoppedRecording => crate::interrupt::EXIT_CODE,
            _ => 1,
        }
    }

    fn remedy(&self) -> Option<String> {
        Some(match self {
            Self::InFile(mistake) => mistake.remedy.clone(),
            Self::Usage { remedy, .. } => remedy.clone(),
            Self::File(error) => error.remedy(),
            Self::Noise(error) => error.remedy().into(),
            Self::Preset(_) => "`etendue sensors` lists them; a sensor file ends in .toml".into(),
            Self::CameraPreset(_) => {
                "a camera file ends in .toml; docs/cameras.md describes it".into()
            }
            Self::CameraWorld(_) => {
                "materials and lights need values from 460 to 610 nm for a colour camera: extend \
                 their tables, or choose others"
                    .into()
            }
            Self::Material(_) => "`etendue materials` lists them".into(),
            Self::Example(_) => {
                let names = etendue::config::scene::examples().iter().map(|e| e.name);
                let names: Vec<_> = names.collect();
                format!("give a scene file (.toml) or one of: {}", names.join(", "))
            }
            Self::OtherSensor { .. } => {
                "leave the option out, or choose another --sensor: `etendue sensors` lists them"
                    .into()
            }
            Self::Mesh { .. } => "repair the mesh in the program that made it".into(),
            Self::MeshIsNoScene { path } => format!(
                "write a scene file that names it:\nversion = 1\n[[objects]]\nname = \"mesh\"\n\
                 shape.mesh = {{ file = \"{}\" }}\nmaterial = \"white-paint\"",
                path.display()
            ),
            Self::Course(_) => "give another --seed".into(),
            Self::Rig(RigError::World { .. }) => {
                "give the scene's material data at that wavelength, or choose another sensor".into()
            }
            Self::NoPose { .. } => {
                "give --pose x,y,z,yaw, or add a [sensor] table to the scene file".into()
            }
            Self::NothingInFront {
                position: [x, y, z],
                ..
            } => format!(
                "the sensor stands at ({x}, {y}, {z}) m: give another --pose; \
                 `etendue inspect` tells the scene's extent"
            ),
            Self::Ending { .. } => {
                "name a folder to get every format, or a file with one of these endings".into()
            }
            Self::Fit(FitError::Beams { .. }) => {
                "name the sensor that made the scan with --sensor, or in the problem file".into()
            }
            Self::Fit(FitError::NoRange { .. }) => "give another scan of the log".into(),
            Self::WhichScan { path, .. } => {
                format!("say which: {}#0 is the first", path.display())
            }
            Self::NoSuchScan { path, scans, .. } => {
                format!("give {}#0 to #{}", path.display(), scans - 1)
            }
            Self::NothingStands => {
                "give a log with 8 or more scans from one place, for example of \
                 `etendue simulate --sweeps 20`"
                    .into()
            }
            Self::NoWaveform { .. } => "rings and columns count from 0".into(),
            Self::Threads(_) => "ask for fewer --threads".into(),
            _ => return None,
        })
    }
}

impl From<FormatError> for Failure {
    fn from(error: FormatError) -> Self {
        Self::File(error.into())
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        let Some(document) = error.document() else {
            return Self::File(error);
        };
        let name = document.path().display().to_string();
        Self::InFile(Box::new(Mistake {
            message: document.to_string(),
            remedy: document.remedy(),
            text: NamedSource::new(name, document.text().to_owned()),
            place: LabeledSpan::at(document.span(), "here"),
        }))
    }
}

impl Diagnostic for Failure {
    fn help<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        self.remedy()
            .map(|remedy| Box::new(remedy) as Box<dyn Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        match self {
            Self::InFile(mistake) => Some(&mistake.text),
            _ => None,
        }
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        match self {
            Self::InFile(mistake) => Some(Box::new(std::iter::once(mistake.place.clone()))),
            _ => None,
        }
    }
}
