//! Fits of unknowns to a recorded scan, iteration by iteration.

use super::RecordedScan;
use crate::refusal::Refusal;
use crate::session::pose::{PoseNumbers, to_numbers};
use crate::session::{Inputs, Loaded};
use etendue::estimate::fit::{
    FitProblem, FitReport, Verdict, WeightedFit, refine_weighted, report, solve_from_start,
};
use etendue::estimate::manifold::{Variable, VariableValue};
use etendue::estimate::model::{Freedom, Model, planar, upright};
use etendue::estimate::solve::{Continuation, Iteration, Loss, Solver};
use etendue::estimate::uncertainty::Gauge;
use etendue::estimate::visibility::EdgeSettings;
use nalgebra::Isometry3;
use serde::{Deserialize, Serialize};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Residual of a count of intensity, m: the default of `etendue fit`.
const INTENSITY_M: f64 = 0.01;

/// An unknown of a fit.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct UnknownRequest {
    /// Path, such as `sensor.pose`.
    pub path: String,
    /// Whether a pose has six degrees of freedom; otherwise it moves in the plane.
    #[serde(default)]
    pub is_spatial: bool,
}

/// An event of a fit.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum FitEvent {
    /// An iteration.
    Iteration {
        /// Number, from 1.
        number: usize,
        /// Cost under the loss of its stage.
        cost: f64,
        /// Number of measurements without a prediction.
        missing: usize,
        /// Values of the unknowns.
        estimate: Vec<Estimate>,
    },
    /// The result.
    Done(Box<FitOutcome>),
    /// The fit was stopped.
    Stopped,
    /// The fit failed.
    Failed(Refusal),
}

/// Value of an unknown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// Path.
    path: String,
    /// Number, in the unit of the parameter.
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<f64>,
    /// Position, yaw, pitch and roll (m, degrees) of a pose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pose: Option<PoseNumbers>,
}

/// Result of a fit.
#[derive(Clone, Debug, Serialize)]
pub struct FitOutcome {
    estimate: Vec<Estimate>,
    /// Name, unit and standard deviation of each component.
    components: Vec<(String, String, f64)>,
    /// Covariance of the first two components of the first pose, and its position, m: an ellipse.
    ellipse: Option<Ellipse>,
    /// Directions that the scan does not determine.
    null_directions: Vec<String>,
    verdict: &'static str,
    reasons: Vec<String>,
    rms_mm: f64,
    iterations: usize,
}

/// Uncertainty of a position in the plane.
#[derive(Clone, Copy, Debug, Serialize)]
struct Ellipse {
    /// Position, m.
    center: [f64; 3],
    /// Directions of the axes in the world, rad.
    angle: f64,
    /// Standard deviations along the axes, m.
    semi_axes: [f64; 2],
}

/// A fit that is set up.
pub struct Fit {
    problem: FitProblem,
    solver: Solver,
    start: Vec<Variable>,
    paths: Vec<String>,
    /// Pose of each unknown pose at the start: planar ones keep its height and tilt.
    before: Vec<Isometry3<f64>>,
}

/// Paths that can be unknown: the pose of the sensor, poses of objects, materials and the air.
///
/// # Errors
/// If the scene has no model.
pub fn paths(loaded: &Loaded) -> Result<Vec<String>, Refusal> {
    let model = model(loaded)?;
    let shown = |path: &String| {
        let is_scan = path.starts_with("scans.");
        is_pose(path) && !is_scan
            || path.starts_with("materials.")
            || path.starts_with("atmosphere.")
    };
    Ok(model.paths().into_iter().filter(shown).collect())
}

/// Whether a path is that of a pose.
fn is_pose(path: &str) -> bool {
    path.rsplit_once('.')
        .is_some_and(|(_, last)| last == "pose")
}

fn model(loaded: &Loaded) -> Result<Model, Refusal> {
    let parts = loaded.scene.scene.parts().clone();
    let poses = vec![loaded.world_from_sensor];
    Model::new(parts, loaded.lidar(), poses).map_err(|error| refused(&error))
}

fn refused(error: &dyn std::error::Error) -> Refusal {
    Refusal::new(error.to_string(), "choose other unknowns, or another start")
}

impl Fit {
    /// Sets a fit up, from the present scene and pose.
    ///
    /// # Errors
    /// If an unknown does not exist, or the scan does not have a measurement for each beam of the sensor.
    pub fn new(
        inputs: &Inputs,
        loaded: &Loaded,
        scan: &RecordedScan,
        unknowns: &[UnknownRequest],
    ) -> Result<Self, Refusal> {
        if scan.beams.is_empty() {
            let remedy = "drop a scan log, or keep a simulated sweep";
            return Err(Refusal::new(
                "this recording is a cloud: its points are not assigned to beams",
                remedy,
            ));
        }
        // Model with its unknowns
        let air = inputs.weather.air(&loaded.scene.air);
        let mut model = model(loaded)?.in_air(air);
        for unknown in unknowns {
            let freedom = if is_pose(&unknown.path) && !unknown.is_spatial {
                Freedom::Planar
            } else {
                Freedom::Whole
            };
            model
                .free(&unknown.path, freedom)
                .map_err(|error| refused(&error))?;
        }
        let moves_objects = unknowns
            .iter()
            .any(|unknown| unknown.path.starts_with("objects."));
        model.edges = moves_objects.then(EdgeSettings::default);
        let paths: Vec<String> = model
            .unknowns()
            .iter()
            .map(|known| known.path.clone())
            .collect();
        let before = paths.iter().map(|path| pose_before(path, loaded)).collect();
        let start = model.start();

        // Problem, with the defaults of `etendue fit`
        let mut problem = FitProblem::measured_by(model, std::slice::from_ref(&scan.beams))
            .map_err(|error| refused(&error))?;
        problem.intensity_sigma = INTENSITY_M.recip();
        let solver = Solver {
            loss: Loss::Cauchy { scale: 0.05 },
            continuation: Some(Continuation {
                widest: 16.0,
                factor: 2.0,
            }),
            ..Solver::default()
        };
        Ok(Self {
            problem,
            solver,
            start,
            paths,
            before,
        })
    }

    /// Solves, passing every event to `send`, until `stop` is set.
    pub fn run(&self, stop: &Arc<AtomicBool>, send: &dyn Fn(FitEvent)) {
        let mut number = 0;
        let mut observe = |iteration: &Iteration<Vec<Variable>>| {
            if stop.load(Ordering::Relaxed) {
                // Unwinds to below, without a message: the solver has no other way to end early
                resume_unwind(Box::new(StoppedFit));
            }
            number += 1;
            send(FitEvent::Iteration {
                number,
                cost: iteration.cost,
                missing: iteration.missing,
                estimate: self.estimate(&iteration.state),
            });
        };
        let solve = || {
            let solution = solve_from_start(
                &self.problem,
                &self.solver,
                &[1.0],
                &self.start,
                &mut observe,
            )?;
            refine_weighted(&self.problem, &self.solver, solution)
        };
        let event = match catch_unwind(AssertUnwindSafe(solve)) {
            Ok(Ok(weighted)) => FitEvent::Done(Box::new(self.outcome(weighted))),
            Ok(Err(error)) => FitEvent::Failed(refused(&error)),
            Err(cause) if cause.is::<StoppedFit>() => FitEvent::Stopped,
            Err(cause) => resume_unwind(cause),
        };
        send(event);
    }

    fn estimate(&self, state: &[Variable]) -> Vec<Estimate> {
        let named = self.paths.iter().zip(&self.before).zip(state);
        let one = |((path, before), variable): ((&String, &Isometry3<f64>), &Variable)| {
            let path = path.clone();
            let posed = |pose| Some(to_numbers(&pose));
            match variable.value() {
                VariableValue::Number(number) => Estimate {
                    path,
                    number: Some(number),
                    pose: None,
                },
                VariableValue::Planar(pose) => {
                    let rest = upright(&planar(before)).inverse() * before;
                    Estimate {
                        path,
                        number: None,
                        pose: posed(upright(&pose) * rest),
                    }
                }
                VariableValue::Spatial(pose) => Estimate {
                    path,
                    number: None,
                    pose: posed(pose),
                },
            }
        };
        named.map(one).collect()
    }

    fn outcome(&self, weighted: WeightedFit) -> FitOutcome {
        let WeightedFit {
            problem,
            solver,
            solution,
        } = weighted;
        let found: FitReport = report(&problem, &solver, solution, &Gauge::Free);
        let uncertainty = &found.uncertainty;
        let deviations = uncertainty.standard_deviations();
        let components = uncertainty.components.iter().zip(&deviations);
        let components = components.map(|(component, deviation)| {
            (component.name.clone(), component.unit.clone(), *deviation)
        });
        let verdict = &found.goodness.verdict;
        let estimate = self.estimate(&found.solution.state);
        FitOutcome {
            components: components.collect(),
            ellipse: ellipse(&found, &estimate),
            null_directions: uncertainty
                .null_directions
                .iter()
                .map(|null| null.description.clone())
                .collect(),
            verdict: verdict.name(),
            reasons: match verdict {
                Verdict::Good => Vec::new(),
                other => other.reasons().to_vec(),
            },
            rms_mm: 1e3 * found.rms,
            iterations: found.solution.log.len(),
            estimate,
        }
    }
}

/// The payload with which a stopped fit unwinds.
struct StoppedFit;

/// Pose at the start of the sensor or of an object.
fn pose_before(path: &str, loaded: &Loaded) -> Isometry3<f64> {
    let name = path
        .strip_prefix("objects.")
        .and_then(|rest| rest.strip_suffix(".pose"));
    let objects = loaded.scene.scene.objects();
    let object = name.and_then(|name| objects.iter().find(|object| object.name == name));
    object.map_or(loaded.world_from_sensor, |object| object.world_from_object)
}

/// Ellipse of one standard deviation of the position of the first pose, from its body-fixed covariance.
fn ellipse(found: &FitReport, estimate: &[Estimate]) -> Option<Ellipse> {
    let is_pose = |one: &&Estimate| one.pose.is_some();
    let first = estimate.iter().find(is_pose)?;
    let pose = first.pose?;
    let components = &found.uncertainty.components;
    let at = components
        .iter()
        .position(|component| component.name.starts_with(&first.path))?;
    // Eigenvectors of the covariance of the first two components
    let covariance = found
        .uncertainty
        .covariance
        .view((at, at), (2, 2))
        .into_owned();
    let covariance =
        nalgebra::Matrix2::new(covariance[0], covariance[1], covariance[1], covariance[3]);
    let eigen = covariance.symmetric_eigen();
    let axis = eigen.eigenvectors.column(0);
    Some(Ellipse {
        center: [pose[0], pose[1], pose[2]],
        angle: axis[1].atan2(axis[0]) + pose[3].to_radians(),
        semi_axes: [0, 1].map(|k| eigen.eigenvalues[k].max(0.0).sqrt()),
    })
}
