//! Fit problem from arguments.

use super::Fit;
use crate::failure::Failure;
use crate::source;
use etendue::config::fit::{
    self, FitTask, FreeTask, Motion, ScanTask, Setting, SolverTable, begin_wide,
};
use etendue::estimate::model::planar;
use etendue::estimate::solve::{Loss, Solver};
use std::str::FromStr;

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

impl Fit {
    /// Problem of the file or of the arguments.
    pub(super) fn task(&self) -> Result<FitTask, Failure> {
        if self.scan.is_empty() {
            return Ok(fit::load(&self.subject)?);
        }
        for (option, given) in [("--start", &self.start), ("--truth", &self.truth)] {
            if !given.is_empty() && given.len() != self.free.len() {
                return Err(Failure::usage(
                    format!(
                        "there are {} {option} for {} --free",
                        given.len(),
                        self.free.len()
                    ),
                    format!("give one {option} for every --free, in the same order"),
                ));
            }
        }
        Ok(FitTask {
            scene: self.subject.clone(),
            sensor: self.sensor.clone(),
            scans: self.scan.iter().map(|argument| scan(argument)).collect(),
            free: self.unknowns(),
            solver: self.solver(),
            intensity: SolverTable::default().intensity_m,
            beam_widths: SolverTable::default().beam_widths,
            edges: None,
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

fn scan(argument: &str) -> ScanTask {
    let (file, number) = match source::numbered(argument) {
        Some((file, number)) => (file, Some(number)),
        None => (argument, None),
    };
    ScanTask {
        file: file.into(),
        number,
        world_from_sensor: None,
    }
}
