//! Minimisation of the loss with validation.

use super::curve::BiasCurve;
use super::settings::{DepthOptimiser, PoseUncertainty, TrainingSettings};
use super::validation::ValidationMap;
use super::{adam, gauss_newton, lbfgs, pose_variance};
use crate::depth::error::DepthError;
use crate::depth::loss::{DepthObjective, DepthUnknowns, PoseFreedom, PosePrior};
use crate::depth::map::{DepthMap, DepthMapOptions};
use crate::depth::model::DepthModel;
use etendue_estimate::solve::NormalEquations;
use etendue_physics::statistics::nearest_quantile;
use nalgebra::{DVector, Isometry3};

/// One accepted iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrainingProgress {
    /// Loss on the training map.
    pub loss: f64,
    /// Loss on the validation map, if there is one.
    pub validation: Option<f64>,
}

/// Result of a training.
#[derive(Clone, Debug)]
pub struct TrainingResult {
    /// The model with the least validation loss, or the last one without validation.
    pub model: DepthModel,
    /// The poses with their corrections, world from lidar.
    pub world_from_lidar: Vec<Isometry3<f64>>,
    /// Losses of all iterations.
    pub progress: Vec<TrainingProgress>,
    /// Bias over incidence with its uncertainty.
    pub curve: BiasCurve,
    /// The poses: their uncertainty and their corrections; `None` if they are fixed.
    pub poses: Option<PoseChange>,
    /// Whether the last minimisation reached a minimum.
    pub converged: bool,
}

/// Uncertainty and corrections of the poses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoseChange {
    /// Standard deviations of the prior, stated or estimated.
    pub prior: PosePrior,
    /// Greatest displacement of a pose, m.
    pub displacement: f64,
    /// Index of the pose with the greatest correction relative to the prior.
    pub farthest: usize,
    /// Its greatest component, in standard deviations of the prior.
    pub deviation: f64,
}

/// Least span of the incidences (5th to 95th percentile), rad.
const LEAST_SPREAD: f64 = 0.1;
/// Predicted decrease of the objective by another step, relative to its value, below which the minimisation
/// has converged.
const CONVERGED: f64 = 1e-4;

/// Estimates a model from a map. The iteration with the least loss on the map `validation`, if any, is
/// selected; its poses are optimised for each model if the poses of the training are free. `options` are
/// those of the maps, used for refreshes.
///
/// # Errors
/// If all points are at one incidence, the freedom does not match the poses, a rate or a standard deviation is
/// not above zero, or the optimiser fails.
pub fn train(
    map: &DepthMap,
    validation: Option<&DepthMap>,
    start: &DepthModel,
    training: &TrainingSettings,
    options: &DepthMapOptions,
) -> Result<TrainingResult, DepthError> {
    // Prepare the start and the selection by validation
    check(map, training)?;
    let poses = map.world_from_lidar().len();
    let mut log = IterationLog::new(validation, training, options)?;
    let mut reached = DepthUnknowns::start(start.clone(), &training.freedom, poses);
    let mut current = map.clone();
    let mut prior = first_prior(training);
    log.record(&reached, objective(&current, training)?.data_loss(&reached));

    // Minimise the loss, with refreshes of the neighbourhoods in between
    for round in 0..=training.refreshes {
        reached = minimise(&current, reached, training, &mut prior, &mut log)?;
        if round < training.refreshes {
            let points = objective(&current, training)?.points(&reached);
            current = current.refreshed(&points, options)?;
        }
    }

    // Select an iteration and evaluate its uncertainty
    let objective = with_prior(objective(&current, training)?, prior, &reached);
    let converged = is_minimum(&objective, &reached);
    let selected = log.select(reached);
    Ok(TrainingResult {
        world_from_lidar: objective.poses(&selected),
        curve: BiasCurve::new(&objective, &selected, &current.incidences_used()),
        poses: prior.map(|prior| pose_change(&selected, &training.freedom, prior, poses)),
        model: selected.model,
        progress: log.progress,
        converged,
    })
}

/// Minimises the objective on fixed neighbourhoods, and estimates the uncertainty of the poses unless it is
/// stated.
fn minimise(
    map: &DepthMap,
    start: DepthUnknowns,
    training: &TrainingSettings,
    prior: &mut Option<PosePrior>,
    log: &mut IterationLog<'_>,
) -> Result<DepthUnknowns, DepthError> {
    let mut reached = start;
    let is_estimated = prior.is_some() && training.pose_uncertainty == PoseUncertainty::Estimated;
    let updates = if is_estimated {
        pose_variance::UPDATES
    } else {
        0
    };
    let of_update = TrainingSettings {
        iterations: training.iterations.min(pose_variance::ITERATIONS),
        ..training.clone()
    };
    for update in 0..=updates {
        let objective = with_prior(objective(map, training)?, *prior, &reached);
        let mut observe = |unknowns: &DepthUnknowns, value| {
            log.record(unknowns, value - objective.penalty_value(unknowns));
        };
        if update == updates {
            return descend(&objective, reached, training, &mut observe);
        }
        reached = descend(&objective, reached, &of_update, &mut observe)?;
        *prior = pose_variance::updated(&objective, &reached).or(*prior);
    }
    Ok(reached)
}

/// First prior of the pose corrections; `None` if the poses are fixed.
pub(super) fn first_prior(training: &TrainingSettings) -> Option<PosePrior> {
    match (&training.freedom, training.pose_uncertainty) {
        (PoseFreedom::Fixed, _) => None,
        (_, PoseUncertainty::Stated(prior)) => Some(prior),
        (_, PoseUncertainty::Estimated) => Some(pose_variance::FIRST),
    }
}

/// An objective with the prior, if any, and the noise of the loss at some unknowns.
pub(super) fn with_prior<'a>(
    objective: DepthObjective<'a>,
    prior: Option<PosePrior>,
    at: &DepthUnknowns,
) -> DepthObjective<'a> {
    let Some(prior) = prior else {
        return objective;
    };
    let noise = objective.data_loss(at);
    objective.with_prior(prior, noise)
}

/// Whether another step would not decrease the objective.
fn is_minimum(objective: &DepthObjective<'_>, at: &DepthUnknowns) -> bool {
    let curvature = objective.curvature(at);
    let normal = NormalEquations {
        matrix: curvature.matrix,
        gradient: DVector::from_vec(curvature.gradient),
    };
    let step = normal.step(CHECK_DAMPING);
    step.is_some_and(|step| normal.predicted_decrease(&step) <= CONVERGED * curvature.value)
}

/// Damping of the step that tests the convergence, relative to the diagonal.
const CHECK_DAMPING: f64 = 1e-6;

/// The corrections of the poses relative to their prior.
fn pose_change(
    at: &DepthUnknowns,
    freedom: &PoseFreedom,
    prior: PosePrior,
    poses: usize,
) -> PoseChange {
    let mut change = PoseChange {
        prior,
        displacement: 0.0,
        farthest: 0,
        deviation: 0.0,
    };
    for pose in 0..poses {
        let Some(correction) = freedom.correction(pose).map(|c| at.corrections[c]) else {
            continue;
        };
        let displacement = correction.translation.vector.norm();
        let deviation = prior.largest_deviation(&correction);
        change.displacement = change.displacement.max(displacement);
        if deviation > change.deviation {
            change.farthest = pose;
            change.deviation = deviation;
        }
    }
    change
}

/// The objective of a training on a map.
pub(super) fn objective<'a>(
    map: &'a DepthMap,
    training: &TrainingSettings,
) -> Result<DepthObjective<'a>, DepthError> {
    DepthObjective::new(
        map,
        training.loss,
        training.robust,
        training.freedom.clone(),
    )
}

/// Minimises the objective with the optimiser of the training.
fn descend(
    objective: &DepthObjective<'_>,
    start: DepthUnknowns,
    training: &TrainingSettings,
    observe: &mut dyn FnMut(&DepthUnknowns, f64),
) -> Result<DepthUnknowns, DepthError> {
    match training.optimiser {
        DepthOptimiser::GaussNewton => Ok(gauss_newton::descend(
            objective,
            start,
            training.iterations,
            observe,
        )),
        DepthOptimiser::Lbfgs(memory) => {
            lbfgs::descend(objective, start, memory, training.iterations, observe)
        }
        DepthOptimiser::Adam(rate) => Ok(adam::descend(
            objective,
            start,
            rate,
            training.iterations,
            observe,
        )),
    }
}

/// Checks the span of incidence and the parameters of the optimiser.
fn check(map: &DepthMap, training: &TrainingSettings) -> Result<(), DepthError> {
    // Check the span of the central 90 % of the incidences.
    let seen = map.incidences_used();
    let low = nearest_quantile(&seen, 0.05).unwrap_or(0.0);
    let high = nearest_quantile(&seen, 0.95).unwrap_or(0.0);
    if high - low < LEAST_SPREAD {
        return Err(DepthError::OneIncidence {
            least_deg: low.to_degrees(),
            greatest_deg: high.to_degrees(),
        });
    }
    // Check the uncertainty of the poses.
    if let PoseUncertainty::Stated(prior) = training.pose_uncertainty {
        for (name, value) in [
            ("pose uncertainty, position", prior.position),
            ("pose uncertainty, rotation", prior.rotation),
        ] {
            if !(value > 0.0 && value.is_finite()) {
                let domain = "above zero";
                return Err(DepthError::Setting {
                    name,
                    value,
                    domain,
                });
            }
        }
    }
    // Check the parameters of the optimiser.
    match training.optimiser {
        DepthOptimiser::Adam(rate) if !(rate > 0.0 && rate.is_finite()) => {
            Err(DepthError::Setting {
                name: "rate",
                value: rate,
                domain: "above zero",
            })
        }
        DepthOptimiser::Lbfgs(0) => Err(DepthError::Setting {
            name: "memory",
            value: 0.0,
            domain: "at least 1",
        }),
        _ => Ok(()),
    }
}

/// Log of the iterations, with the one of the least validation loss.
struct IterationLog<'a> {
    validation: Option<ValidationMap<'a>>,
    least: Option<(f64, DepthUnknowns)>,
    progress: Vec<TrainingProgress>,
}

impl<'a> IterationLog<'a> {
    fn new(
        map: Option<&DepthMap>,
        training: &'a TrainingSettings,
        options: &DepthMapOptions,
    ) -> Result<Self, DepthError> {
        Ok(Self {
            validation: map
                .map(|map| ValidationMap::new(map, training, options))
                .transpose()?,
            least: None,
            progress: Vec::new(),
        })
    }

    /// Records an iteration with its training loss.
    fn record(&mut self, unknowns: &DepthUnknowns, loss: f64) {
        let validation = self
            .validation
            .as_mut()
            .and_then(|map| map.loss(&unknowns.model));
        self.progress.push(TrainingProgress { loss, validation });
        if let Some(loss) = validation
            && self.least.as_ref().is_none_or(|(least, _)| loss < *least)
        {
            self.least = Some((loss, unknowns.clone()));
        }
    }

    /// The iteration with the least validation loss, or the last.
    fn select(&mut self, last: DepthUnknowns) -> DepthUnknowns {
        self.least.take().map_or(last, |(_, unknowns)| unknowns)
    }
}
