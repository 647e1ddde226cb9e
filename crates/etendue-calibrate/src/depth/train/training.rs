//! Minimisation of the loss with validation.

use super::curve::BiasCurve;
use super::held_out::HeldOut;
use super::settings::{DepthOptimiser, TrainingSettings};
use super::{adam, gauss_newton, lbfgs};
use crate::depth::error::DepthError;
use crate::depth::loss::{DepthObjective, DepthUnknowns};
use crate::depth::map::{DepthMap, DepthMapOptions};
use crate::depth::model::DepthModel;
use etendue_physics::statistics::nearest_quantile;
use nalgebra::Isometry3;

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
}

/// Least span of the incidences (5th to 95th percentile), rad.
const LEAST_SPREAD: f64 = 0.1;

/// Estimates a model from a map. The iteration with the least loss on the map `validation`, if any, is
/// selected; its poses are optimised for each model if the poses of the training are free. `options` are
/// those of the maps, used for refreshes.
///
/// # Errors
/// If all points are at one incidence, the freedom does not match the poses, a rate is not above zero, or
/// the optimiser fails.
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

    // Minimise the loss, with refreshes of the neighbourhoods in between
    for round in 0..=training.refreshes {
        let objective = objective(&current, training)?;
        if round == 0 {
            log.record(&reached, objective.value(&reached));
        }
        let mut observe = |unknowns: &DepthUnknowns, loss| log.record(unknowns, loss);
        reached = descend(&objective, reached, training, &mut observe)?;
        if round < training.refreshes {
            let points = objective.points(&reached);
            current = current.refreshed(&points, options)?;
        }
    }

    // Select an iteration and evaluate its uncertainty
    let selected = log.select(reached);
    let objective = objective(&current, training)?;
    Ok(TrainingResult {
        world_from_lidar: objective.poses(&selected),
        curve: BiasCurve::new(&objective, &selected, &current.incidences_used()),
        model: selected.model,
        progress: log.progress,
    })
}

/// The objective of a training on a map.
fn objective<'a>(
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
    validation: Option<HeldOut<'a>>,
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
                .map(|map| HeldOut::new(map, training, options))
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
            .and_then(|held_out| held_out.loss(&unknowns.model));
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
