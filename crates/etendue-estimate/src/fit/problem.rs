//! Least-squares problem of a model and measured scans.

use super::correlation::RangeCorrelation;
use crate::manifold::{Manifold, Variable};
use crate::model::{BeamMeasurement, Model, ModelError, QUANTITIES, Rows};
use crate::solve::{LeastSquares, Linearization, Loss, Residuals, SolveError};
use etendue_physics::normal;
use etendue_sensors::RangeReading;
use etendue_sensors::lidar::{MeasurementNoise, PointingMargin};
use nalgebra::Isometry3;
use std::sync::Arc;
use thiserror::Error;

/// Least-squares problem of fitting a model to measured scans.
#[derive(Clone, Debug)]
pub struct FitProblem {
    /// The model.
    pub model: Model,
    /// Measured range and intensity of every beam, by scan; `None` where the sensor reported none.
    measured: Vec<Option<f64>>,
    /// Divisor of the range residuals, m: 1 for residuals in metres, the standard deviation of a range
    /// for normalised residuals.
    pub sigma: f64,
    /// Divisor of the intensity residuals, counts: their standard deviation, or infinity to ignore
    /// intensities.
    pub intensity_sigma: f64,
    /// Standard deviation of every quantity from the noise of the sensor, which replaces the divisors
    /// above; `None` without weights.
    deviations: Option<Arc<Vec<f64>>>,
    /// Correlation of the range errors of a weighted problem; `None` for independent errors.
    pub(super) correlation: Option<Arc<RangeCorrelation>>,
    /// Half of the rounding step of every range, by scan and beam, in units of its standard deviation, where residuals are
    /// [deviance residuals](deviance_residual) of rounded ranges; `None` where rounding is part of the standard deviations.
    half_steps: Option<Arc<Vec<f64>>>,
}

/// Smallest standard deviation of a range by the noise of the sensor, m, for lidars without noise.
const MIN_DEVIATION: f64 = 1e-6;

/// Reason why a fit problem is not valid or has no solution.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FitError {
    /// The number of scans differs from the number of sensor poses.
    #[error("there are {scans} scans, but the model has {poses} sensor poses")]
    Scans {
        /// Number of scans.
        scans: usize,
        /// Number of sensor poses of the model.
        poses: usize,
    },
    /// The number of beams of a scan differs from that of its sweep of the sensor.
    #[error("scan {scan} has {readings} beams, the sensor has {beams}: use scans of this sensor")]
    Beams {
        /// Number of the scan.
        scan: usize,
        /// Its beams.
        readings: usize,
        /// Number of beams of the sweep.
        beams: usize,
    },
    /// A scan has no valid range.
    #[error("scan {scan} has no valid range among {readings} beams")]
    NoRange {
        /// Number of the scan.
        scan: usize,
        /// Its beams.
        readings: usize,
    },
    /// The model has no free parameter.
    #[error("no parameter is free: free at least one")]
    NothingFree,
    /// The model is not valid.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The solver failed.
    #[error(transparent)]
    Solve(#[from] SolveError),
}

impl FitProblem {
    /// Problem of a model and scans of ranges; residuals are in metres.
    ///
    /// # Errors
    /// Where the numbers of scans or beams differ, a scan has no valid range, or no parameter is free.
    pub fn new(model: Model, scans: &[Vec<RangeReading>]) -> Result<Self, FitError> {
        let measured =
            |scan: &Vec<RangeReading>| scan.iter().copied().map(BeamMeasurement::from).collect();
        let scans: Vec<Vec<BeamMeasurement>> = scans.iter().map(measured).collect();
        Self::measured_by(model, &scans)
    }

    /// Problem of a model and scans of ranges and intensities; residuals are in metres and in units of
    /// 100 counts.
    ///
    /// # Errors
    /// As [`FitProblem::new`].
    pub fn measured_by(model: Model, scans: &[Vec<BeamMeasurement>]) -> Result<Self, FitError> {
        if scans.len() != model.scans() {
            return Err(FitError::Scans {
                scans: scans.len(),
                poses: model.scans(),
            });
        }
        if model.unknowns().is_empty() {
            return Err(FitError::NothingFree);
        }
        for (number, scan) in scans.iter().enumerate() {
            check(number, scan, model.beams(number))?;
        }
        let beams = scans.iter().flatten();
        Ok(Self {
            measured: beams.flat_map(BeamMeasurement::quantities).collect(),
            model,
            sigma: 1.0,
            intensity_sigma: 100.0,
            deviations: None,
            correlation: None,
            half_steps: None,
        })
    }

    /// The problem restricted to every `every`-th beam, with one ray per beam, for coarse searches.
    #[must_use]
    pub fn thinned(&self, every: usize) -> Self {
        let thin = self.measured_by_scan().flat_map(|scan| {
            let beams = scan.chunks(QUANTITIES).step_by(every.max(1));
            beams.flatten().copied()
        });
        Self {
            measured: thin.collect(),
            model: self.model.thinned(every),
            deviations: None,
            correlation: None,
            half_steps: None,
            ..*self
        }
    }

    /// The problem with the divergence of the beams of the model multiplied by `factor`.
    #[must_use]
    pub fn widened(&self, factor: f64) -> Self {
        Self {
            model: self.model.widened(factor),
            measured: self.measured.clone(),
            deviations: self.deviations.clone(),
            correlation: self.correlation.clone(),
            half_steps: self.half_steps.clone(),
            ..*self
        }
    }

    /// The problem with predictions by integration over the cross-section of the beams, where the model
    /// has edges.
    #[must_use]
    pub(super) fn integrated(&self) -> Self {
        let mut integrated = self.clone();
        if let Some(edges) = &mut integrated.model.edges {
            edges.integral = true;
        }
        integrated
    }

    /// The problem without edges: predictions and derivatives by rays only.
    #[must_use]
    pub(super) fn by_rays(&self) -> Self {
        let mut by_rays = self.clone();
        by_rays.model.edges = None;
        by_rays
    }

    /// The problem with residuals in units of their standard deviations by the noise of the sensor
    /// ([`measurement_noise`](etendue_sensors::lidar::measurement_noise)), predicted at `state`.
    ///
    /// The standard deviations are those of single ranges; the problem stores the correlation of their errors.
    /// Quantities without noise keep their divisors. `pointing_sd` (rad) is the standard deviation of the direction of
    /// a beam by the uncertainty of the pose of the sensor.
    ///
    /// Beams at an edge, where the range is not predictable, and beams without a prediction at `state` have no weight:
    /// their standard deviation is infinite, and a state without a prediction for them costs nothing. Otherwise few
    /// such beams would keep the solver where they have a prediction. Only where edges have derivatives, because they
    /// determine the pose of an object, do such beams have a finite standard deviation: by the hops, or the median of
    /// the others without a prediction.
    #[must_use]
    pub fn weighted(&self, state: &[Variable], pointing_sd: f64) -> Self {
        // Predict the variances; zero without noise, infinite without weight.
        let noise = self.model.measurement_noise(state, pointing_sd);
        let has_edges = self.model.edges.is_some();
        let variances = noise.iter().map(|noise| match noise {
            Some(noise) if has_edges || noise.has_predictable_range() => {
                [Some(noise.range()), Some(noise.intensity)]
            }
            None if has_edges => [None, None],
            _ => [Some(f64::INFINITY); QUANTITIES],
        });
        let deviations = self.deviations_of(&variances.collect::<Vec<_>>());
        let correlation = RangeCorrelation::new(&self.model.lidar().noise, &noise);
        Self {
            deviations: Some(Arc::new(deviations)),
            correlation: correlation.map(Arc::new),
            ..self.clone()
        }
    }

    /// The problem by rays with the likelihood of single measurements, at the noise that is predicted at `state`:
    /// half of the squared residual is the negative logarithm of the probability of the reported range, up to a constant.
    /// `averaged` has the beams, by scan and beam, whose likelihood is averaged over the jitter of their azimuth.
    ///
    /// Different from [`weighted`](Self::weighted), beams near edges have no variance beyond that of the jitter of the lidar,
    /// those that are averaged over it have none by the jitter either, and rounded ranges have the probability of their
    /// rounding cell.
    #[must_use]
    pub(super) fn with_likelihood(&self, state: &[Variable], averaged: &[bool]) -> Self {
        let noise = self
            .model
            .measurement_noise_within(state, PointingMargin::default());
        let variance = |(noise, averaged): (&Option<MeasurementNoise>, &bool)| {
            let Some(noise) = noise else {
                return [None, None];
            };
            let by_jitter = if *averaged {
                noise.edges + noise.pointing * noise.pointing
            } else {
                0.0
            };
            let range = noise.range() - noise.rounding - by_jitter;
            [Some(range), Some(noise.intensity)]
        };
        let variances = noise.iter().zip(averaged).map(variance);
        let deviations = self.deviations_of(&variances.collect::<Vec<_>>());
        let half_step = |(beam, noise): (usize, &Option<MeasurementNoise>)| {
            let step = noise.map_or(0.0, |noise| (12.0 * noise.rounding).sqrt());
            0.5 * step / deviations[beam * QUANTITIES]
        };
        let half_steps = noise.iter().enumerate().map(half_step).collect();
        Self {
            deviations: Some(Arc::new(deviations)),
            half_steps: Some(Arc::new(half_steps)),
            ..self.by_rays()
        }
    }

    /// The problem with the given beams of each scan, each turned by an azimuth (rad); `None` where beams have unknowns of their
    /// own.
    pub(super) fn turned_beams(&self, beams: &[Vec<(usize, f64)>]) -> Option<Self> {
        let scans = self.model.beams_of_scans().zip(beams);
        let kept: Vec<usize> = scans
            .flat_map(|(all, kept)| kept.iter().map(move |(beam, _)| all.start + beam))
            .collect();
        let quantities = |values: &[f64]| {
            let of_beam =
                |beam: &usize| [0, 1].map(|quantity| values[beam * QUANTITIES + quantity]);
            Arc::new(kept.iter().flat_map(of_beam).collect::<Vec<_>>())
        };
        let measured =
            |beam: &usize| [0, 1].map(|quantity| self.measured[beam * QUANTITIES + quantity]);
        let half_steps =
            |values: &Arc<Vec<f64>>| Arc::new(kept.iter().map(|b| values[*b]).collect());
        Some(Self {
            model: self.model.turned_beams(beams)?,
            measured: kept.iter().flat_map(measured).collect(),
            deviations: self.deviations.as_ref().map(|values| quantities(values)),
            correlation: None,
            half_steps: self.half_steps.as_ref().map(half_steps),
            ..*self
        })
    }

    /// Residuals of range and intensity at a state, by scan and beam, with the residual `gate` for a missing range; `None` without
    /// a measurement, a prediction of the intensity, or weight.
    pub(super) fn residuals_by_beam(
        &self,
        state: &[Variable],
        gate: f64,
    ) -> Vec<[Option<f64>; QUANTITIES]> {
        let scans = self.model.predict(state);
        let beams = scans.iter().flatten().map(BeamMeasurement::quantities);
        let residual = |number: usize, predicted: Option<f64>| {
            let measured = self.measured[number].filter(|_| self.unit(number).is_finite())?;
            match predicted {
                Some(predicted) => Some(self.residual(number, predicted - measured)),
                None => number.is_multiple_of(QUANTITIES).then_some(gate),
            }
        };
        let of_beam = |(beam, predicted): (usize, [Option<f64>; QUANTITIES])| {
            [0, 1].map(|quantity| residual(beam * QUANTITIES + quantity, predicted[quantity]))
        };
        beams.enumerate().map(of_beam).collect()
    }

    /// Residual of a difference of predicted and measured quantity, in units of its standard deviation.
    fn residual(&self, number: usize, difference: f64) -> f64 {
        let residual = difference / self.unit(number);
        match &self.half_steps {
            Some(half_steps) if number.is_multiple_of(QUANTITIES) => {
                deviance_residual(residual, half_steps[number / QUANTITIES])
            }
            _ => residual,
        }
    }

    /// Standard deviation of every quantity (m, counts) from the variances of range and intensity of every beam; the
    /// median of the others where there is no prediction.
    fn deviations_of(&self, variances: &[[Option<f64>; QUANTITIES]]) -> Vec<f64> {
        let medians = [0, 1].map(|quantity| {
            let own = variances.iter().filter_map(|of| of[quantity]);
            let mut known: Vec<f64> = own.collect();
            known.sort_by(f64::total_cmp);
            known.get(known.len() / 2).copied().unwrap_or(0.0)
        });
        let deviation = |(number, variance): (usize, Option<f64>)| {
            let is_range = number.is_multiple_of(QUANTITIES);
            let variance = variance.unwrap_or(medians[number % QUANTITIES]);
            match (variance > 0.0, is_range) {
                (true, true) => variance.sqrt().max(MIN_DEVIATION),
                (true, false) if self.intensity_sigma.is_finite() => variance.sqrt(),
                (false, true) => self.sigma.min(MIN_DEVIATION),
                (_, false) => self.intensity_sigma,
            }
        };
        let quantities = variances.iter().flatten().copied().enumerate();
        quantities.map(deviation).collect()
    }

    /// The problem with range residuals in metres.
    #[must_use]
    pub(super) fn in_metres(&self) -> Self {
        Self {
            sigma: 1.0,
            deviations: None,
            correlation: None,
            half_steps: None,
            ..self.clone()
        }
    }

    /// Residuals of all ranges at a state, by scan and beam; `None` for beams without a measurement, without a
    /// prediction or without weight.
    pub(super) fn range_residuals_by_beam(&self, state: &[Variable]) -> Vec<Option<f64>> {
        let scans = self.model.predict(state);
        let predicted = scans.iter().flatten().map(BeamMeasurement::range);
        let measured = self.measured.iter().step_by(QUANTITIES);
        let residual = |(beam, (measured, predicted)): (usize, (&Option<f64>, Option<f64>))| {
            let unit = self.unit(beam * QUANTITIES);
            unit.is_finite()
                .then_some((predicted? - (*measured)?) / unit)
        };
        measured.zip(predicted).enumerate().map(residual).collect()
    }

    /// Median of the measured ranges, m.
    pub(super) fn median_range(&self) -> f64 {
        let ranges = self.measured.iter().step_by(QUANTITIES);
        let mut ranges: Vec<f64> = ranges.copied().flatten().collect();
        ranges.sort_by(f64::total_cmp);
        ranges.get(ranges.len() / 2).copied().unwrap_or(1.0)
    }

    /// Measured range of every beam (m), by scan; `None` where the sensor reported none.
    pub(super) fn ranges(&self) -> impl Iterator<Item = Option<f64>> {
        self.measured.iter().copied().step_by(QUANTITIES)
    }

    /// Measured range and intensity of every beam of each scan.
    fn measured_by_scan(&self) -> impl Iterator<Item = &[Option<f64>]> {
        let scans = self.model.beams_of_scans();
        scans.map(|beams| &self.measured[beams.start * QUANTITIES..beams.end * QUANTITIES])
    }

    /// Number of measured ranges.
    pub fn measured(&self) -> usize {
        let ranges = self.measured.iter().step_by(QUANTITIES);
        ranges.flatten().count()
    }

    /// Root mean squares of the range residuals (m) and the intensity residuals (counts); `None` where
    /// there are none.
    pub fn root_mean_squares(&self, state: &[Variable]) -> [Option<f64>; 2] {
        let scans = self.model.predict(state);
        let beams = scans.iter().flatten();
        let quantities = beams.flat_map(BeamMeasurement::quantities);
        let mut sums = [(0.0, 0_u32); 2];
        for (number, (measured, predicted)) in self.measured.iter().zip(quantities).enumerate() {
            if let (Some(measured), Some(predicted)) = (measured, predicted) {
                let sum = &mut sums[number % QUANTITIES];
                *sum = (sum.0 + (predicted - measured).powi(2), sum.1 + 1);
            }
        }
        sums.map(|(sum, count)| (count > 0).then(|| (sum / f64::from(count)).sqrt()))
    }

    /// Range residuals of the beams with a measured and a predicted range, m.
    pub fn range_residuals(&self, state: &[Variable]) -> Vec<f64> {
        let scans = self.model.predict(state);
        let predicted = scans.iter().flatten().map(BeamMeasurement::range);
        let measured = self.measured.iter().step_by(QUANTITIES);
        let pairs = measured.zip(predicted);
        pairs.filter_map(|(m, p)| Some(p? - (*m)?)).collect()
    }

    /// Measured points in the plane of the floor with the sensor at a pose per scan, m.
    pub fn points(&self, world_from_sensor: &[Isometry3<f64>]) -> Vec<[f64; 2]> {
        let mut points = Vec::new();
        let scans = self.measured_by_scan().zip(world_from_sensor).enumerate();
        for (number, (scan, pose)) in scans {
            let sensor = self.model.sensor(number);
            let ranges = scan.iter().step_by(QUANTITIES).enumerate();
            for (beam, range) in ranges.filter_map(|(beam, range)| Some((beam, (*range)?))) {
                let point = pose * sensor.direction(beam).point(range);
                points.push([point.x, point.y]);
            }
        }
        points
    }

    /// Divisor of the residual of a quantity (m or counts), by the index of the quantity.
    pub(super) fn unit(&self, quantity: usize) -> f64 {
        if let Some(deviations) = &self.deviations {
            deviations[quantity]
        } else if quantity.is_multiple_of(QUANTITIES) {
            self.sigma
        } else {
            self.intensity_sigma
        }
    }

    /// Index of the quantity of each residual of the linearisation at a state.
    pub(super) fn residual_numbers(&self, state: &[Variable]) -> Vec<usize> {
        let mut numbers = Vec::with_capacity(self.measured.len());
        let rows = self.model.rows(state);
        self.compare(rows.values.iter().copied(), |number| numbers.push(number));
        numbers
    }

    /// Residuals of predicted quantities with weight; calls `each` with the index of the quantity of each residual.
    fn compare(
        &self,
        predicted: impl Iterator<Item = Option<f64>>,
        mut each: impl FnMut(usize),
    ) -> Residuals {
        let mut residuals = Residuals::of(Vec::with_capacity(self.measured.len()));
        for (number, (measured, predicted)) in self.measured.iter().zip(predicted).enumerate() {
            let is_range = number.is_multiple_of(QUANTITIES);
            let has_weight = self.unit(number).is_finite();
            match (measured, predicted) {
                (Some(measured), Some(predicted)) if has_weight => {
                    residuals
                        .values
                        .push(self.residual(number, predicted - measured));
                    each(number);
                }
                (Some(_), None) if has_weight && is_range => residuals.missing += 1,
                (None, Some(_)) if is_range => residuals.unexpected += 1,
                _ => {}
            }
        }
        residuals
    }

    /// Jacobian of the residuals of the quantities with the given indices, row-major with `unknowns`
    /// columns.
    fn jacobian(&self, rows: &Rows, numbers: &[usize], unknowns: usize) -> Vec<f64> {
        let mut jacobian = Vec::with_capacity(numbers.len() * unknowns);
        // All components are shared by all beams: scale the rows.
        let width = rows.shared.len();
        if rows.columns.is_empty() {
            for &number in numbers {
                let scale = 1.0 / self.unit(number);
                let own = &rows.jacobian[number * width..(number + 1) * width];
                jacobian.extend(own.iter().map(|slope| slope * scale));
            }
            return jacobian;
        }
        // Write the shared components to their columns.
        jacobian.resize(numbers.len() * unknowns, 0.0);
        let mut row_of = vec![None; self.measured.len()];
        for (row, &number) in numbers.iter().enumerate() {
            row_of[number] = Some(row);
            let own = &rows.jacobian[number * width..(number + 1) * width];
            for (&component, slope) in rows.shared.iter().zip(own) {
                jacobian[row * unknowns + component] = slope / self.unit(number);
            }
        }
        // Add the components of single beams, facets and vertices.
        for column in &rows.columns {
            for &(number, slope) in &column.slopes {
                if let Some(row) = row_of[number] {
                    jacobian[row * unknowns + column.component] += slope / self.unit(number);
                }
            }
        }
        jacobian
    }
}

/// Half of a rounding step, in standard deviations, below which the error of a rounded range counts as normal.
const FINE_STEP: f64 = 0.05;

/// Deviance residual of a rounded range: the square is $-2\ln(P(z)/P(0))$ with the probability
/// $P(z) = \Phi(z + h) - \Phi(z - h)$ of the reported range (Pierce and Schafer 1986, doi:10.1080/01621459.1986.10478361).
///
/// $z$ is the difference of predicted and reported range and $h$ half of the rounding step, both in standard deviations of the noise
/// before rounding. A normal residual $z$ for $h \to 0$; about zero within the cell and steep outside for $h \gg 1$.
fn deviance_residual(z: f64, half_step: f64) -> f64 {
    if half_step < FINE_STEP {
        return z / (1.0 + half_step * half_step / 3.0).sqrt();
    }
    let off = z.abs();
    let probability = normal::between(off - half_step, off + half_step);
    let log = if probability > f64::MIN_POSITIVE {
        probability.ln()
    } else {
        // The tail beyond the edge of the cell.
        let beyond = off - half_step;
        -0.5 * beyond * beyond - (beyond * std::f64::consts::TAU.sqrt()).ln()
    };
    let most = normal::between(-half_step, half_step).ln();
    (2.0 * (most - log)).max(0.0).sqrt().copysign(z)
}

/// Checks the number of beams of a scan and that it has a valid range.
fn check(scan: usize, readings: &[BeamMeasurement], beams: usize) -> Result<(), FitError> {
    if readings.len() != beams {
        return Err(FitError::Beams {
            scan,
            readings: readings.len(),
            beams,
        });
    }
    if readings.iter().all(|beam| beam.range().is_none()) {
        return Err(FitError::NoRange {
            scan,
            readings: readings.len(),
        });
    }
    Ok(())
}

impl LeastSquares for FitProblem {
    type State = Vec<Variable>;

    fn residuals(&self, state: &Self::State) -> Residuals {
        let scans = self.model.predict(state);
        let beams = scans.iter().flatten();
        let quantities = beams.flat_map(BeamMeasurement::quantities);
        self.compare(quantities, |_| {})
    }

    fn linearize(&self, state: &Self::State) -> Linearization {
        let rows = self.model.rows(state);
        let mut numbers = Vec::with_capacity(self.measured.len());
        let residuals = self.compare(rows.values.iter().copied(), |n| numbers.push(n));
        let unknowns = state.dimension();
        let mut jacobian = self.jacobian(&rows, &numbers, unknowns);
        clear_negligible_columns(&mut jacobian, unknowns);
        Linearization::new(residuals, unknowns, jacobian)
    }

    /// Cost and gradient $J^\top W r$, accumulated from the non-zero derivatives of each beam without
    /// the dense Jacobian.
    fn gradient(&self, state: &Self::State, loss: Loss, gate: f64) -> (f64, Vec<f64>) {
        // Weight the residual of each quantity.
        let rows = self.model.rows(state);
        let mut numbers = Vec::with_capacity(self.measured.len());
        let residuals = self.compare(rows.values.iter().copied(), |n| numbers.push(n));
        let weights = residuals.weights(loss);
        let mut weighted = vec![0.0; self.measured.len()];
        for ((&number, r), weight) in numbers.iter().zip(&residuals.values).zip(weights) {
            weighted[number] = weight * r / self.unit(number);
        }
        // Multiply by the derivatives by shared components, then by those of single beams and facets.
        let mut gradient = vec![0.0; state.dimension()];
        let mut squares = vec![0.0; state.dimension()];
        let mut add = |component: usize, number: usize, slope: f64| {
            gradient[component] += weighted[number] * slope;
            squares[component] += (slope / self.unit(number)).powi(2);
        };
        let shared = rows.jacobian.chunks_exact(rows.shared.len().max(1));
        let shared = shared.take(weighted.len()).enumerate();
        for (number, row) in shared.filter(|(number, _)| weighted[*number] != 0.0) {
            for (&component, &slope) in rows.shared.iter().zip(row) {
                add(component, number, slope);
            }
        }
        for column in &rows.columns {
            for &(number, slope) in &column.slopes {
                add(column.component, number, slope);
            }
        }

        // Components without influence do not move.
        for (by_component, square) in gradient.iter_mut().zip(&squares) {
            if *square < NEGLIGIBLE * NEGLIGIBLE {
                *by_component = 0.0;
            }
        }
        (residuals.cost(loss, gate), gradient)
    }
}

/// Norm of a column of the Jacobian, in residuals (m or standard deviations) per unit of its component, below which
/// the component has no influence: its derivatives are rounding errors.
const NEGLIGIBLE: f64 = 1e-10;

/// Sets the columns of components without influence to zero, so that a solver does not move them and they count as
/// undetermined.
fn clear_negligible_columns(jacobian: &mut [f64], unknowns: usize) {
    for component in 0..unknowns {
        let rows = jacobian.chunks_exact(unknowns);
        let square: f64 = rows.map(|row| row[component] * row[component]).sum();
        if square < NEGLIGIBLE * NEGLIGIBLE {
            let rows = jacobian.chunks_exact_mut(unknowns);
            rows.for_each(|row| row[component] = 0.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half of the square of the residual of a rounded range is the negative logarithm of the probability of its cell, relative
    /// to the most probable position of the cell; without rounding it is the normal residual.
    #[test]
    fn a_deviance_residual_is_the_likelihood_of_a_rounding_cell() {
        for half_step in [0.2, 1.0, 4.0] {
            for z in [-6.0, -2.0, -0.3, 0.0, 0.7, 3.0] {
                let residual: f64 = deviance_residual(z, half_step);
                let probability = |z: f64| normal::between(z - half_step, z + half_step);
                let relative = probability(z.abs()) / probability(0.0);
                let found = (-0.5 * residual * residual).exp();
                assert!(
                    (found / relative - 1.0).abs() < 1e-9,
                    "{z} {half_step}: {found} {relative}"
                );
                assert!(residual * z >= 0.0);
            }
        }
        assert!((deviance_residual(1.7, 0.0) - 1.7).abs() < 1e-12);
    }
}
