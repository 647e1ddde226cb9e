//! Residual bias after a correction.

use super::drive::CorridorDrive;
use super::settings::unbiased_polynomial;
use etendue_calibrate::depth::{CorrectedScan, DepthModel, correct_scan};
use etendue_estimate::geometry::{CellOptions, ReferenceMesh};
use etendue_physics::statistics::{mean, root_mean_square};

/// Largest bias of a reading; larger differences are readings of another surface, m.
pub(super) const REACH: f64 = 0.2;
/// Step between the evaluated points of a scan.
const EVERY: usize = 5;

fn corrected(drive: &CorridorDrive, scan: usize, model: Option<&DepthModel>) -> CorrectedScan {
    let unbiased = unbiased_polynomial();
    let cells = CellOptions::default();
    correct_scan(&drive.scans[scan], model.unwrap_or(&unbiased), &cells)
}

/// Distances of the corrected points of some stops, at the true poses, from the true surfaces, m.
pub(super) fn held_out(
    mesh: &ReferenceMesh,
    drive: &CorridorDrive,
    stops: &[usize],
    model: Option<&DepthModel>,
) -> Vec<f64> {
    let of_scan = |&i: &usize| {
        let corrected = corrected(drive, i, model);
        let both = corrected.points.iter().zip(&corrected.incidences);
        let on_planes = both.filter(|(_, incidence)| incidence.is_some());
        let in_world: Vec<_> = on_planes
            .step_by(EVERY)
            .map(|(point, _)| drive.truth[i] * point)
            .collect();
        mesh.distances(&in_world)
    };
    stops.iter().flat_map(of_scan).flatten().collect()
}

/// Reading on a plane: its true incidence (rad) and bias (m), and the correction by a model, m.
struct BiasSample {
    incidence: f64,
    bias: f64,
    correction: f64,
}

fn bias_samples(drive: &CorridorDrive, stop: usize, model: Option<&DepthModel>) -> Vec<BiasSample> {
    let corrected = corrected(drive, stop, model);
    let points = drive.scans[stop].iter().zip(&drive.readings[stop]);
    let both = points.zip(corrected.points.iter().zip(&corrected.incidences));
    both.step_by(EVERY)
        .filter_map(|((point, reading), (moved, seen))| {
            let reading = reading.as_ref().filter(|r| r.bias.abs() < REACH)?;
            seen.as_ref()?;
            Some(BiasSample {
                incidence: reading.incidence,
                bias: reading.bias,
                correction: point.coords.norm() - moved.coords.norm(),
            })
        })
        .collect()
}

/// Rms of the bias that remains in the readings of some stops after a correction, m.
pub(super) fn residual_bias(
    drive: &CorridorDrive,
    stops: &[usize],
    model: Option<&DepthModel>,
) -> f64 {
    let all = stops
        .iter()
        .flat_map(|&stop| bias_samples(drive, stop, model));
    let residuals: Vec<f64> = all.map(|sample| sample.bias - sample.correction).collect();
    root_mean_square(&residuals)
}

/// Readings in an interval of incidence.
#[derive(Clone, Debug, PartialEq)]
pub struct BiasBin {
    /// Centre of the interval, rad.
    pub incidence: f64,
    /// Number of readings.
    pub readings: usize,
    /// Mean true bias, m; NaN without readings.
    pub truth: f64,
    /// Mean correction by each model, m.
    pub corrections: Vec<f64>,
}

/// Incidences in one bin of [`bias_by_incidence`], degrees.
const BIN_DEG: f64 = 2.5;

/// True bias and correction by each model over the true incidence, in bins of 2.5 degrees up to 90
/// degrees, from the readings on planes of some stops.
pub fn bias_by_incidence(
    drive: &CorridorDrive,
    stops: &[usize],
    models: &[&DepthModel],
) -> Vec<BiasBin> {
    // Samples without correction and with each model
    let samples = |model| -> Vec<BiasSample> {
        let stops = stops.iter();
        stops
            .flat_map(|&stop| bias_samples(drive, stop, model))
            .collect()
    };
    let uncorrected = samples(None);
    let by_model: Vec<_> = models.iter().map(|model| samples(Some(model))).collect();

    // Means in bins
    (0..36)
        .map(|bin| {
            let low = (BIN_DEG * f64::from(bin)).to_radians();
            let width = BIN_DEG.to_radians();
            let within = |sample: &&BiasSample| (low..low + width).contains(&sample.incidence);
            let mean_of = |samples: &[BiasSample], value: fn(&BiasSample) -> f64| {
                let values: Vec<f64> = samples.iter().filter(within).map(value).collect();
                mean(&values)
            };
            let corrections = by_model
                .iter()
                .map(|samples| mean_of(samples, |sample| sample.correction));
            BiasBin {
                incidence: low + 0.5 * width,
                readings: uncorrected.iter().filter(within).count(),
                truth: mean_of(&uncorrected, |sample| sample.bias),
                corrections: corrections.collect(),
            }
        })
        .collect()
}
