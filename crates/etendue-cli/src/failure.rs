//! Errors of commands, with their remedies.

use crate::output::counted;
use etendue::calibrate::depth::DepthError;
use etendue::calibrate::noise::NoiseError;
use etendue::calibrate::standing::StandingError;
use etendue::config::ConfigError;
use etendue::config::toml_file::{Document, FileKind, UnknownName, nearest_file};
use etendue::estimate::fit::FitError;
use etendue::estimate::odometry::{MappingError, TrajectoryComparisonError, TrajectoryVerdict};
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
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Exit code of a process that Ctrl-C ended: 128 plus the number of SIGINT.
pub const INTERRUPTED_EXIT_CODE: u8 = 130;

/// Exit code of invalid arguments: of errors that the words of the command line alone show, before the content of any
/// input is known. An unknown name of a preset and the ending of an output are such errors; a missing file and an option
/// that the content of a file excludes are not.
pub const INVALID_ARGUMENTS_EXIT_CODE: u8 = 2;

/// Exit code of a doubtful result.
pub const DOUBTFUL_EXIT_CODE: u8 = 3;

/// Exit code of a refused result: a wrong model, a failed trajectory, a panel that is none.
pub const REFUSED_EXIT_CODE: u8 = 4;

/// Error of a command.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Failure {
    /// A file has an error at a known position.
    #[error("{}", .0.message)]
    InFile(Box<Mistake>),
    /// A file does not exist.
    #[error("{} does not exist", .0.display())]
    Missing(PathBuf),
    /// A file cannot be read or written.
    #[error("{0}")]
    File(ConfigError),
    /// No scene, sensor, camera or material has the name.
    #[error(transparent)]
    UnknownName(#[from] UnknownName),
    /// The scene cannot be rendered for a camera.
    #[error(transparent)]
    CameraWorld(#[from] CameraWorldError),
    /// A cloud has no finite point.
    #[error("{} has no finite point to compare", path.display())]
    NothingToCompare {
        /// File of the cloud.
        path: PathBuf,
    },
    /// The trajectory does not cover the run.
    #[error(transparent)]
    Trajectory(#[from] TrajectoryError),
    /// A rig cannot run.
    #[error(transparent)]
    Rig(#[from] RigError),
    /// A GPU cannot be used, or failed.
    #[cfg(feature = "gpu")]
    #[error(transparent)]
    Gpu(#[from] etendue_gpu::GpuError),
    /// No course can be generated from the seed.
    #[error(transparent)]
    Course(#[from] NoCourse),
    /// The ring or the column of a waveform does not exist.
    #[error(
        "there is no waveform of ring {ring}, column {column}: the sensor has {rings} rings of {columns} columns"
    )]
    NoWaveform {
        /// Requested ring.
        ring: u32,
        /// Requested column.
        column: u32,
        /// Number of rings.
        rings: usize,
        /// Number of columns.
        columns: u32,
    },
    /// An option does not apply to the kind of the sensor.
    #[error("{option} does not apply to {kind} (sensor \"{sensor}\")")]
    OtherSensor {
        /// Option.
        option: &'static str,
        /// Kind of the sensor.
        kind: &'static str,
        /// Name of the sensor.
        sensor: String,
    },
    /// A mesh cannot be used.
    #[error("{}: {source}", path.display())]
    Mesh {
        /// File of the mesh.
        path: PathBuf,
        /// Error of the mesh.
        source: MeshError,
    },
    /// A mesh was given where a scene is needed.
    #[error("{} is a mesh, not a scene: it has no materials", path.display())]
    MeshIsNoScene {
        /// File of the mesh.
        path: PathBuf,
    },
    /// Neither the scene nor the arguments give the pose of the sensor.
    #[error("the scene \"{scene}\" has no pose of the sensor")]
    NoPose {
        /// Name of the scene.
        scene: String,
    },
    /// The materials of the scene have no data at the wavelength of the sensor.
    #[error(transparent)]
    Wavelength(#[from] WorldError),
    /// No beam hit a surface.
    #[error("there is nothing in front of the sensor: none of {beams} beams hit a surface")]
    NothingInFront {
        /// Number of beams.
        beams: usize,
        /// Position of the sensor, m.
        position: [f64; 3],
    },
    /// No scan log has a stationary window.
    #[error(
        "no scan log has a window with a stationary sensor: the range noise cannot be measured"
    )]
    NoStationaryWindow,
    /// The ending of an output file is not that of a supported format.
    #[error("cannot write {}: its extension is not one of {endings}", path.display())]
    Ending {
        /// The file.
        path: PathBuf,
        /// Supported endings.
        endings: String,
    },
    /// A log has several scans, and none is selected.
    #[error("{} has {scans} scans", path.display())]
    WhichScan {
        /// File of the log.
        path: PathBuf,
        /// Number of its scans.
        scans: usize,
    },
    /// The selected scan does not exist.
    #[error("{} has no scan {number}: it has {}", path.display(), counted(*scans, "scan"))]
    NoSuchScan {
        /// File of the log.
        path: PathBuf,
        /// Requested scan.
        number: usize,
        /// Number of its scans.
        scans: usize,
    },
    /// The words of the command line are invalid, whatever the inputs contain.
    #[error("{message}")]
    Argument {
        /// Description of the error.
        message: String,
        /// Remedy.
        remedy: String,
    },
    /// Inputs cannot be used, alone or with the arguments.
    #[error("{message}")]
    Usage {
        /// Description of the error.
        message: String,
        /// Remedy.
        remedy: String,
    },
    /// A profile of `calibrate` is doubtful or refused, and was not written.
    #[error("{message}")]
    ProfileNotWritten {
        /// Reasons.
        message: String,
        /// Remedy.
        remedy: String,
        /// Exit code.
        code: u8,
    },
    /// The trajectory of `slam` cannot be trusted.
    #[error("verdict of the trajectory: {verdict}: {reason}")]
    TrajectoryUntrusted {
        /// Verdict.
        verdict: TrajectoryVerdict,
        /// Whether the motions of odometry were the predictions.
        has_odometry: bool,
        /// First reason.
        reason: String,
    },
    /// A model cannot be fitted.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// The points of a cloud are not in the frame of the sensor.
    #[error("{}: the points are not at the distances of their ranges: they are not in the frame of the sensor", path.display())]
    OtherFrame {
        /// File.
        path: PathBuf,
    },
    /// Most points of a cloud belong to no shot of the sensor.
    #[error("{}: {lost} of {points} points belong to no shot of the sensor {sensor}", path.display())]
    OtherShots {
        /// File of the cloud.
        path: PathBuf,
        /// Number of points without a shot.
        lost: usize,
        /// Number of points.
        points: usize,
        /// Name of the sensor.
        sensor: String,
    },
    /// The scans contradict the answer of a fit, which is written.
    #[error("verdict of the fit: {verdict}: {reasons}")]
    Verdict {
        /// Verdict: doubtful, or of a wrong model.
        verdict: &'static str,
        /// Reasons.
        reasons: String,
        /// Exit code.
        code: u8,
    },
    /// The result of a registration, which is written, is doubtful.
    #[error("the registration is doubtful: {reasons}")]
    DoubtfulRegistration {
        /// Reasons, separated by semicolons.
        reasons: String,
    },
    /// Two clouds cannot be registered.
    #[error(transparent)]
    Register(#[from] RegisterError),
    /// A depth bias cannot be learnt.
    #[error(transparent)]
    Depth(#[from] DepthError),
    /// The scans do not determine the trained model.
    #[error("the model is not determined: {reasons}")]
    ModelNotDetermined {
        /// Reasons, separated by semicolons.
        reasons: String,
    },
    /// An experiment of depth correction cannot be run.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// A sequence cannot be mapped.
    #[error(transparent)]
    Mapping(#[from] MappingError),
    /// Two trajectories cannot be compared.
    #[error(transparent)]
    TrajectoryComparison(#[from] TrajectoryComparisonError),
    /// A noise profile cannot be calibrated.
    #[error(transparent)]
    Noise(#[from] NoiseError),
    /// The noise of a standing sensor cannot be estimated.
    #[error(transparent)]
    Standing(#[from] StandingError),
    /// A picture cannot be rendered.
    #[error(transparent)]
    Picture(#[from] RenderError),
    /// The worker threads cannot be started.
    #[error("cannot start the worker threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// The results cannot be printed.
    #[error("cannot print the results: {0}")]
    Print(#[from] std::io::Error),
    /// Stopped by Ctrl-C.
    #[error("stopped; {}", if *has_written { "files that were written before remain" } else { "nothing was written" })]
    Interrupted {
        /// Whether a file was written.
        has_written: bool,
    },
    /// Ctrl-C ended a recording.
    #[error("stopped; {} is complete up to {until:.3} s", path.display())]
    StoppedRecording {
        /// The recording.
        path: PathBuf,
        /// Time of the run up to which it has all data, s.
        until: f64,
    },
}

/// Error at a position of a file.
#[derive(Debug)]
pub struct Mistake {
    message: String,
    remedy: String,
    text: NamedSource<String>,
    label: LabeledSpan,
}

impl Failure {
    /// Error of the words of the command line alone, with its remedy.
    pub fn argument(message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Argument {
            message: message.into(),
            remedy: remedy.into(),
        }
    }

    /// Error of inputs, or of arguments for these inputs, with its remedy.
    pub fn usage(message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Usage {
            message: message.into(),
            remedy: remedy.into(),
        }
    }

    /// Name of the error enum of the library that it comes from; "CommandError" for errors of the command itself.
    pub fn error_name(&self) -> &'static str {
        match self {
            Self::Missing(_) | Self::File(ConfigError::Format(_)) => "FormatError",
            Self::InFile(_) | Self::File(_) => "ConfigError",
            Self::UnknownName(_) => "UnknownNameError",
            Self::CameraWorld(_) | Self::Wavelength(_) => "WorldError",
            Self::Trajectory(_) => "TrajectoryError",
            Self::Mesh { .. } => "SceneError",
            Self::Rig(_) => "RigError",
            Self::Fit(_) => "FitError",
            Self::Register(_) => "RegisterError",
            Self::Mapping(_) | Self::TrajectoryComparison(_) => "MappingError",
            Self::Depth(_) => "DepthError",
            Self::Noise(_) => "NoiseError",
            _ => "CommandError",
        }
    }

    /// Exit code of the process.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Interrupted { .. } | Self::StoppedRecording { .. } => INTERRUPTED_EXIT_CODE,
            Self::Argument { .. } | Self::Ending { .. } | Self::UnknownName(_) => {
                INVALID_ARGUMENTS_EXIT_CODE
            }
            Self::Verdict { code, .. } | Self::ProfileNotWritten { code, .. } => *code,
            Self::TrajectoryUntrusted {
                verdict: TrajectoryVerdict::Failed,
                ..
            } => REFUSED_EXIT_CODE,
            Self::TrajectoryUntrusted { .. }
            | Self::DoubtfulRegistration { .. }
            | Self::ModelNotDetermined { .. } => DOUBTFUL_EXIT_CODE,
            _ => 1,
        }
    }

    fn remedy(&self) -> Option<String> {
        Some(match self {
            // Errors with a remedy of their own
            Self::InFile(mistake) => mistake.remedy.clone(),
            Self::Argument { remedy, .. }
            | Self::Usage { remedy, .. }
            | Self::ProfileNotWritten { remedy, .. } => remedy.clone(),
            Self::Missing(path) => missing_remedy(path),
            Self::File(error) => error.remedy(),
            Self::Noise(error) => error.remedy().into(),
            #[cfg(feature = "gpu")]
            Self::Gpu(error) => error.remedy().into(),
            Self::Standing(StandingError::Pattern { .. }) => {
                "record a flat panel: `etendue calibrate --recording FILE --material NAME` also measures the \
                 spread of such a sensor"
                    .into()
            }
            Self::Standing(_) => {
                "record some seconds with the sensor at rest in a room without motion".into()
            }
            Self::UnknownName(unknown) => unknown_name_remedy(unknown),

            // Trajectories
            Self::TrajectoryUntrusted {
                verdict,
                has_odometry,
                ..
            } => trajectory_remedy(*verdict, *has_odometry),

            // Scenes and sensors
            Self::CameraWorld(_) => {
                "materials and lights need values from 460 to 610 nm for a colour camera: extend \
                 their tables, or choose others"
                    .into()
            }
            Self::OtherSensor { .. } => {
                "omit the option, or choose another --sensor: `etendue sensors` lists them".into()
            }
            Self::Mesh { .. } => "repair the mesh in the program that wrote it".into(),
            Self::MeshIsNoScene { path } => format!(
                "write a scene file with the mesh and a material:\nversion = 1\n[[objects]]\nname = \"mesh\"\n\
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
                "the sensor is at ({x}, {y}, {z}) m: give another --pose; \
                 `etendue inspect` prints the extent of the scene"
            ),

            // Files and scans
            Self::Ending { path, .. } => format!(
                "give a file with one of these extensions; a folder with this name has a slash at its end: {}/",
                path.display()
            ),
            Self::Fit(FitError::Beams { .. }) | Self::OtherShots { .. } => {
                "give the sensor of the scan with --sensor or in the problem file".into()
            }
            Self::OtherFrame { .. } => {
                "give a cloud in the frame of the sensor, such as of `etendue simulate --frame sensor`"
                    .into()
            }
            Self::Verdict { .. } => {
                "compare residuals.csv with the scene; check the scene, the sensor and the start, search \
                 with --search, or free what differs from the scene"
                    .into()
            }
            Self::DoubtfulRegistration { .. } => {
                "give --start near the motion, or another --method, and look at the picture of -o".into()
            }
            Self::Fit(FitError::Solve(_)) => {
                "give another --start, search with --search, or check the scene and the sensor".into()
            }
            Self::Fit(FitError::NoRange { .. }) => "select another scan of the log".into(),
            Self::WhichScan { path, .. } => {
                format!("select one: {}#0 is the first", path.display())
            }
            Self::NoSuchScan { path, scans, .. } => {
                let path = path.display();
                match scans.saturating_sub(1) {
                    0 => format!("give {path}#0, its only scan, or no number"),
                    last => format!("give {path}#0 to #{last}"),
                }
            }
            Self::NoStationaryWindow => {
                "use a log with 8 or more scans from one pose in a room without motion, for example of \
                 `etendue simulate arena --sweeps 20`; its beams need the same azimuths in every scan"
                    .into()
            }
            Self::NoWaveform { .. } => "rings and columns are counted from 0".into(),

            // Depth correction
            Self::ModelNotDetermined { .. } => {
                "record more scans from several viewpoints, give better poses or their uncertainty \
                 (--pose-sd), or try another --model; the file was written, and `correct apply` refuses \
                 it without --force"
                    .into()
            }

            // Process
            Self::Threads(_) => "give fewer --threads".into(),
            _ => return None,
        })
    }
}

/// Remedy for a trajectory that cannot be trusted.
fn trajectory_remedy(verdict: TrajectoryVerdict, has_odometry: bool) -> String {
    let odometry = if has_odometry {
        "give odometry of smaller errors"
    } else {
        "give odometry with --poses and --prior poses"
    };
    let accept = match verdict {
        TrajectoryVerdict::Failed => "",
        _ => ", or accept it with --accept-doubtful",
    };
    format!(
        "see the report; record with shorter steps or more structure in view, or {odometry}{accept}"
    )
}

/// Remedy with the most similar file, or else with the part of the path that does not exist.
fn missing_remedy(path: &Path) -> String {
    // FILE#N is a scan of a log
    let text = path.to_string_lossy();
    if let Some((file, _)) = text.rsplit_once('#')
        && Path::new(file).exists()
    {
        return format!("give {file}: only `fit --scan FILE#N` selects a scan of a file");
    }
    if let Some(near) = nearest_file(path) {
        return format!("did you mean {}?", near.display());
    }
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.exists() => {
            format!(
                "check the path: the folder {} does not exist",
                folder.display()
            )
        }
        _ => "check the path; paths within a file are relative to its folder".into(),
    }
}

/// Remedy with the most similar name and a list of the names of that kind.
fn unknown_name_remedy(unknown: &UnknownName) -> String {
    let listed = match unknown.kind.as_str() {
        "sensor preset" => "`etendue sensors` lists them; a sensor file ends in .toml",
        "camera preset" => "`etendue cameras` lists them; a camera file ends in .toml",
        "scene" => "`etendue scenes` lists them; a scene file ends in .toml",
        "profile" => "`etendue profiles` lists them; a profile file ends in .toml",
        "device preset" => "`etendue devices` lists them",
        "material" => "`etendue materials` lists them",
        "file or built-in name" => "`etendue scenes` and `etendue sensors` list names",
        _ => "a file ends in .toml",
    };
    format!("{} ({listed})", unknown.remedy())
}

impl From<FormatError> for Failure {
    fn from(error: FormatError) -> Self {
        match error {
            FormatError::Io {
                path,
                action: "read",
                source,
                ..
            } if source.kind() == ErrorKind::NotFound => Self::Missing(path),
            FormatError::Unsupported { ref path, .. } => match toml_kind(path) {
                Some(kind) => Self::usage(
                    format!(
                        "{} is {}, where points or scans are expected",
                        path.display(),
                        kind.name()
                    ),
                    kind.usage(),
                ),
                None => Self::File(error.into()),
            },
            error => Self::File(error.into()),
        }
    }
}

/// Kind of a TOML file of etendue; `None` for other files.
fn toml_kind(path: &Path) -> Option<FileKind> {
    let is_toml = path.extension().is_some_and(|ending| ending == "toml");
    let document = is_toml.then(|| Document::read(path).ok())??;
    FileKind::of(&document)
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        let error = match error {
            ConfigError::Format(error) => return error.into(),
            error => error,
        };
        let Some(document) = error.document() else {
            return Self::File(error);
        };
        let name = document.path().display().to_string();
        Self::InFile(Box::new(Mistake {
            message: document.to_string(),
            remedy: document.remedy(),
            text: NamedSource::new(name, document.text().to_owned()),
            label: LabeledSpan::at(document.span(), "here"),
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
            Self::InFile(mistake) => Some(Box::new(std::iter::once(mistake.label.clone()))),
            _ => None,
        }
    }
}
