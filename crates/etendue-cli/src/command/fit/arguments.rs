//! Fit problem from arguments.

use crate::failure::Failure;
use crate::pose::Pose;
use crate::source;
use clap::Args;
use etendue::config::fit::{
    self, FitTask, FreeTask, Motion, ScanTask, Setting, SolverTable, begin_wide,
};
use etendue::config::toml_file::{Document, FileKind};
use etendue::estimate::model::planar;
use etendue::estimate::solve::{Loss, Solver};
use std::path::PathBuf;
use std::str::FromStr;

/// Fit problem: a file, or scene, scans and unknowns.
#[derive(Debug, Args)]
pub struct ProblemArguments {
    /// Problem file (.toml); with --scan a scene file or the name of a built-in scene
    #[arg(value_name = "PROBLEM|SCENE")]
    subject: PathBuf,
    /// Measured scan: a scan log or a point cloud; FILE#N for scan N (from 0) of
    /// several
    #[arg(long, value_name = "FILE[#N]", requires = "free")]
    scan: Vec<String>,
    /// Topic of the scans in bags; required if a bag has points of several sensors
    #[arg(long, value_name = "NAME", requires = "scan")]
    topic: Option<String>,
    /// Pose of the sensor during a scan: x,y,z,yaw[,pitch,roll] in metres and degrees; one for all scans, or one for
    /// every --scan [default: the pose in the scene file]
    #[arg(
        long,
        allow_hyphen_values = true,
        value_name = "POSE",
        requires = "scan"
    )]
    pose: Vec<Pose>,
    /// Path of an unknown parameter
    #[arg(long, value_name = "PATH", requires = "scan")]
    free: Vec<String>,
    /// Start value [default: the value of the scene]
    #[arg(
        long,
        allow_hyphen_values = true,
        value_name = "VALUE",
        requires = "free"
    )]
    start: Vec<SettingArgument>,
    /// True value, if known; the error of the estimate is then printed
    #[arg(
        long,
        allow_hyphen_values = true,
        value_name = "VALUE",
        requires = "free"
    )]
    truth: Vec<SettingArgument>,
    /// Loss of a residual: squared, huber:M, cauchy:M or geman-mcclure:M, with the scale in m
    /// [default: cauchy:0.05]; the scale of robust losses is reduced from 16 times this value
    #[arg(long, value_name = "LOSS", requires = "free")]
    loss: Option<LossArgument>,
    /// Approximate number of poses of an initial search over the scene, for the first unknown pose
    /// in the plane; the minima that the scans do not exclude are printed
    #[arg(
        long,
        value_name = "POSES",
        requires = "free",
        num_args = 0..=1,
        default_missing_value = "10000"
    )]
    search: Option<usize>,
    /// Number of random light paths per ray, for light that several rough surfaces reflect; without it, ray trees,
    /// which are faster and only follow mirrors and glass. Few paths bias ranges: the result is doubtful
    #[arg(long, value_name = "N", requires = "free", value_parser = clap::value_parser!(u32).range(1..))]
    paths: Option<u32>,
    /// Name of a preset or a sensor file [default: the sensor of the scene, else hokuyo-urg-04lx]
    #[arg(long, value_name = "PRESET|FILE", requires = "free")]
    sensor: Option<String>,
}

/// Start or true value of an unknown.
#[derive(Clone, Copy, Debug)]
pub struct SettingArgument {
    setting: Setting,
    motion: Motion,
}

/// Loss with its scale: `cauchy:0.05`.
#[derive(Clone, Copy, Debug)]
pub struct LossArgument(Loss);

impl FromStr for SettingArgument {
    type Err = crate::pose::PoseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let count = text.split(',').count();
        let motion = if count == 6 {
            Motion::Spatial
        } else {
            Motion::Planar
        };
        let setting = match (count, text.trim().parse::<f64>()) {
            (1, Ok(number)) if number.is_finite() => Setting::Number(number),
            _ => {
                let pose = text.parse::<crate::pose::Motion>()?.0;
                if count == 3 {
                    Setting::Planar(planar(&pose))
                } else {
                    Setting::Pose(pose)
                }
            }
        };
        Ok(Self { setting, motion })
    }
}

impl FromStr for LossArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, scale) = text.split_once(':').unwrap_or((text, ""));
        let scale = scale
            .parse::<f64>()
            .ok()
            .filter(|scale| *scale > 0.0 && scale.is_finite());
        Ok(Self(match (name, scale) {
            ("squared", None) if text == name => Loss::Squared,
            ("huber", Some(scale)) => Loss::Huber { scale },
            ("cauchy", Some(scale)) => Loss::Cauchy { scale },
            ("geman-mcclure", Some(scale)) => Loss::GemanMcClure { scale },
            _ => {
                return Err(
                    "expected squared, or huber, cauchy or geman-mcclure with a scale in m above \
                     zero, as in cauchy:0.05"
                        .into(),
                );
            }
        }))
    }
}

impl ProblemArguments {
    /// Error if a scene is given without a scan.
    fn check_problem_file(&self) -> Result<(), Failure> {
        let document = Document::read(&self.subject);
        let is_scene_file = document.is_ok_and(|file| FileKind::of(&file) == Some(FileKind::Scene));
        if is_scene_file || source::is_scene(&self.subject) {
            let scene = self.subject.display();
            return Err(Failure::argument(
                format!("--scan and --free are missing: {scene} is a scene, not a fit problem"),
                format!(
                    "`etendue fit {scene} --scan beams.csv --free sensor.pose`, or give a problem file"
                ),
            ));
        }
        Ok(())
    }

    /// Problem of the file or of the arguments.
    pub fn task(&self) -> Result<FitTask, Failure> {
        if self.scan.is_empty() {
            self.check_problem_file()?;
            return Ok(fit::load(&self.subject)?);
        }

        // Check the number of starts and true values
        for (option, given) in [("--start", &self.start), ("--truth", &self.truth)] {
            if !given.is_empty() && given.len() != self.free.len() {
                return Err(Failure::argument(
                    format!(
                        "there are {} {option} for {} --free",
                        given.len(),
                        self.free.len()
                    ),
                    format!("give one {option} for every --free, in the same order"),
                ));
            }
        }

        // Check the number of poses
        if self.pose.len() > 1 && self.pose.len() != self.scan.len() {
            return Err(Failure::argument(
                format!(
                    "there are {} --pose for {} --scan",
                    self.pose.len(),
                    self.scan.len()
                ),
                "give one --pose for all scans, or one for every --scan, in the same order",
            ));
        }

        // Task with the settings of a problem file
        Ok(FitTask {
            scene: self.subject.clone(),
            sensor: self.sensor.clone(),
            scans: self
                .scan
                .iter()
                .enumerate()
                .map(|(index, argument)| self.scan_task(index, argument))
                .collect(),
            free: self.unknowns(),
            solver: self.solver(),
            intensity: SolverTable::default().intensity_weight(&self.free),
            beam_widths: SolverTable::default().beam_widths,
            edges: None,
            paths: self.paths,
            search_poses: self.search,
        })
    }

    /// Default solver of problem files with the given loss.
    fn solver(&self) -> Solver {
        let default = SolverTable::default();
        let loss = self.loss.map_or(default.loss.into(), |argument| argument.0);
        Solver {
            loss,
            continuation: begin_wide(loss, default.widest),
            ..Solver::default()
        }
    }

    /// The scan of an argument `FILE[#N]` with an index, and its pose if it is given.
    fn scan_task(&self, index: usize, argument: &str) -> ScanTask {
        let pose = self.pose.get(index).or(self.pose.first());
        let (file, number) = match source::numbered(argument) {
            Some((file, number)) => (file, Some(number)),
            None => (argument, None),
        };
        ScanTask {
            file: file.into(),
            number,
            topic: self.topic.clone(),
            world_from_sensor: pose.map(|pose| pose.world_from_sensor),
        }
    }

    /// The unknowns with their starts and true values.
    fn unknowns(&self) -> Vec<FreeTask> {
        let unknown = |(number, path): (usize, &String)| {
            let start = self.start.get(number);
            FreeTask {
                path: path.clone(),
                start: start.map(|argument| argument.setting),
                truth: self.truth.get(number).map(|argument| argument.setting),
                motion: start.map_or(Motion::Planar, |argument| argument.motion),
                spot: None,
                start_spot: None,
            }
        };
        self.free.iter().enumerate().map(unknown).collect()
    }
}
