//! Fitting a model to scans.
//!
//! The residual of a beam is the predicted less the measured range. A beam that was measured but is
//! not predicted is missing and pays the gate; one that is predicted but was not measured pays
//! nothing (real sensors lose beams for reasons that no model has), and is counted.

mod coarse;
mod grid;
mod report;
mod twins;

pub use coarse::{Coarse, coarse_search, scatter};
pub use grid::planar_grid;
pub use report::{Report, report};
pub use twins::{Twins, chance, find_twins};

use crate::manifold::{Manifold, Variable};
use crate::model::{Model, ModelError};
use crate::solve::{Linearization, Loss, Problem, Residuals};
use etendue_sensors::Reading;
use thiserror::Error;

/// A model and the scans that it is to explain.
#[derive(Clone, Debug)]
pub struct FitProblem {
    /// The model.
    pub model: Model,
    /// Measured ranges, scan after scan, beam by beam, m; none where the sensor gave none.
    measured: Vec<Option<f64>>,
    /// What residuals are divided by, m: 1 leaves them in metres, the standard deviation of a range
    /// makes them multiples of it.
    pub sigma: f64,
}

/// Why scans and model do not fit together.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FitError {
    /// Another number of scans than of poses.
    #[error("there are {scans} scans, but the model has {poses} sensor poses")]
    Scans {
        /// Scans given.
        scans: usize,
        /// Poses of the model.
        poses: usize,
    },
    /// Another number of beams than the sensor has.
    #[error("scan {scan} has {readings} beams, the sensor has {beams}: is it this sensor's scan?")]
    Beams {
        /// Number of the scan.
        scan: usize,
        /// Its beams.
        readings: usize,
        /// The sensor's beams.
        beams: usize,
    },
    /// A scan without any range.
    #[error("scan {scan} has not one valid range among {readings} beams")]
    NoRange {
        /// Number of the scan.
        scan: usize,
        /// Its beams.
        readings: usize,
    },
    /// Nothing is unknown.
    #[error("nothing is free: name what is unknown")]
    NothingFree,
    /// The model cannot be made.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The solver cannot go on.
    #[error(transparent)]
    Solve(#[from] crate::solve::SolveError),
}

impl FitProblem {
    /// Puts a model and its scans together.
    ///
    /// # Errors
    /// Where the numbers of scans or beams differ, a scan has no valid range, or nothing is free.
    pub fn new(model: Model, scans: &[Vec<Reading>]) -> Result<Self, FitError> {
        if scans.len() != model.scans() {
            return Err(FitError::Scans {
                scans: scans.len(),
                poses: model.scans(),
            });
        }
        if model.unknowns().is_empty() {
            return Err(FitError::NothingFree);
        }
        let beams = model.lidar().beams.len();
        for (scan, readings) in scans.iter().enumerate() {
            check(scan, readings, beams)?;
        }
        Ok(Self {
            model,
            measured: scans.iter().flatten().map(|r| r.range()).collect(),
            sigma: 1.0,
        })
    }

    /// The same problem with every `every`-th beam alone and one ray a beam: for coarse searches.
    #[must_use]
    pub fn thinned(&self, every: usize) -> Self {
        let beams = self.model.lidar().beams.len();
        let scans = self.measured.chunks(beams);
        let thin = scans.flat_map(|scan| scan.iter().copied().step_by(every.max(1)));
        Self {
            measured: thin.collect(),
            model: self.model.thinned(every),
            sigma: self.sigma,
        }
    }

    /// The same problem with beams `factor` times as wide in the model.
    #[must_use]
    pub fn widened(&self, factor: f64) -> Self {
        Self {
            model: self.model.widened(factor),
            ..self.clone()
        }
    }

    /// How many beams were measured.
    pub fn measured(&self) -> usize {
        self.measured.iter().flatten().count()
    }

    /// Residuals, with the index of the beam of each.
    fn compare(&self, ranges: impl Iterator<Item = Option<f64>>) -> (Residuals, Vec<usize>) {
        let mut residuals = Residuals::of(Vec::with_capacity(self.measured.len()));
        let mut beams = Vec::with_capacity(self.measured.len());
        for (beam, (measured, predicted)) in self.measured.iter().zip(ranges).enumerate() {
            match (measured, predicted) {
                (Some(measured), Some(predicted)) => {
                    residuals.values.push((predicted - measured) / self.sigma);
                    beams.push(beam);
                }
                (Some(_), None) => residuals.missing += 1,
                (None, Some(_)) => residuals.unexpected += 1,
                (None, None) => {}
            }
        }
        (residuals, beams)
    }
}

fn check(scan: usize, readings: &[Reading], beams: usize) -> Result<(), FitError> {
    if readings.len() != beams {
        return Err(FitError::Beams {
            scan,
            readings: readings.len(),
            beams,
        });
    }
    if readings.iter().all(|reading| reading.range().is_none()) {
        return Err(FitError::NoRange {
            scan,
            readings: readings.len(),
        });
    }
    Ok(())
}

impl Problem for FitProblem {
    type State = Vec<Variable>;

    fn residuals(&self, state: &Self::State) -> Residuals {
        let shots = self.model.predict(state);
        self.compare(shots.iter().flatten().map(etendue_sensors::cw::Shot::range))
            .0
    }

    fn linearize(&self, state: &Self::State) -> Linearization {
        let rows = self.model.rows(state);
        let (residuals, beams) = self.compare(rows.ranges.iter().copied());
        let unknowns = state.dimension();
        let per_scan = self.model.lidar().beams.len();
        let mut jacobian = vec![0.0; beams.len() * unknowns];
        let mut row_of = vec![None; self.measured.len()];
        for (row, &beam) in beams.iter().enumerate() {
            row_of[beam] = Some(row);
            let shared = rows
                .jacobian
                .chunks_exact(rows.shared.len().max(1))
                .nth(beam);
            for (&component, slope) in rows.shared.iter().zip(shared.unwrap_or_default()) {
                jacobian[row * unknowns + component] = slope / self.sigma;
            }
        }
        for single in &rows.single {
            for (scan, slope) in single.slopes.iter().enumerate() {
                if let Some(row) = row_of[scan * per_scan + single.beam] {
                    jacobian[row * unknowns + single.component] = slope / self.sigma;
                }
            }
        }
        Linearization::new(residuals, unknowns, jacobian)
    }

    /// $J^\top W r$ scattered from each beam's own few derivatives: the Jacobian by thousands of
    /// single beams' offsets is never formed.
    fn gradient(&self, state: &Self::State, loss: Loss, gate: f64) -> (f64, Vec<f64>) {
        let rows = self.model.rows(state);
        let (residuals, beams) = self.compare(rows.ranges.iter().copied());
        let weights = residuals.weights(loss);
        let mut pull = vec![0.0; self.measured.len()];
        for ((&beam, r), weight) in beams.iter().zip(&residuals.values).zip(weights) {
            pull[beam] = weight * r / self.sigma;
        }
        let mut gradient = vec![0.0; state.dimension()];
        let shared = rows.jacobian.chunks_exact(rows.shared.len().max(1));
        for (row, pull) in shared.zip(&pull) {
            for (&component, slope) in rows.shared.iter().zip(row) {
                gradient[component] += pull * slope;
            }
        }
        let per_scan = self.model.lidar().beams.len();
        for single in &rows.single {
            for (scan, slope) in single.slopes.iter().enumerate() {
                gradient[single.component] += pull[scan * per_scan + single.beam] * slope;
            }
        }
        (residuals.cost(loss, gate), gradient)
    }
}
