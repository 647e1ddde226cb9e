//! Residual bias after a correction.

use super::drive::Drive;
use super::settings::unbiased_polynomial;
use etendue_calibrate::depth::{CorrectedScan, DepthModel, correct_scan};
use etendue_estimate::geometry::{CellOptions, ReferenceMesh};
use etendue_physics::statistics::{mean, root_mean_square};

/// Greatest bias of readings of one surface, m.
pub(super) const REACH: f64 = 0.2;
/// Step between the evaluated points of a scan.
const EVERY: usize = 5;

fn corrected(drive: &Drive, scan: usize, model: Option<&DepthModel>) -> CorrectedScan {
    let nothing = unbiased_polynomial();
    let cells = CellOptions::default();
    correct_scan(&drive.scans[scan], model.unwrap_or(&nothing), &cells)
}

/// Distances of the corrected points of some stops, put at the true poses, from the true surfaces, m.
pub(super) fn held_out(
    mesh: &ReferenceMesh,
    drive: &Drive,
    stops: &[usize],
    model: Option<&DepthModel>,
) -> Vec<f64> {
    let of_scan = |&i: &usize| {
        let corrected = corrected(drive, i, model);
        let both = corrected.points.iter().zip(&corrected.incidences);
        let on_planes = both.filter(|(_, incidence)| incidence.is_some());
        let placed: Vec<_> = on_planes
            .step_by(EVERY)
            .map(|(point, _)| drive.truth[i] * point)
            .collect();
        mesh.distances(&placed)
    };
    stops.iter().flat_map(of_scan).flatten().collect()
}

/// A reading on a plane: its true incidence (rad) and bias (m), and the correction by a model, m.
struct BiasSample {
    incidence: f64,
    bias: f64,
    taken_off: f64,
}

fn bias_samples(drive: &Drive, stop: usize, model: Option<&DepthModel>) -> Vec<BiasSample> {
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
                taken_off: point.coords.norm() - moved.coords.norm(),
            })
        })
        .collect()
}

/// Rms of the true bias of the readings of some stops that a model leaves, m.
pub(super) fn bias_left(drive: &Drive, stops: &[usize], model: Option<&DepthModel>) -> f64 {
    let all = stops
        .iter()
        .flat_map(|&stop| bias_samples(drive, stop, model));
    let left: Vec<f64> = all.map(|j| j.bias - j.taken_off).collect();
    root_mean_square(&left)
}

/// The readings of some incidences.
#[derive(Clone, Debug, PartialEq)]
pub struct BiasBin {
    /// Middle of the incidences, rad.
    pub incidence: f64,
    /// How many readings.
    pub readings: usize,
    /// Mean of their true biases, m; NaN of none.
    pub truth: f64,
    /// Means of what each model takes off them, m.
    pub taken_off: Vec<f64>,
}

/// Incidences in one bin of [`bias_by_incidence`], degrees.
const BIN_DEG: f64 = 2.5;

/// The true bias over true incidences beside what models take off, in bins of 2.5 degrees up to 90:
/// readings on planes of some stops.
pub fn bias_by_incidence(drive: &Drive, stops: &[usize], models: &[&DepthModel]) -> Vec<BiasBin> {
    let of_model = |model| -> Vec<BiasSample> {
        let all = stops
            .iter()
            .flat_map(|&stop| bias_samples(drive, stop, model));
        all.collect()
    };
    let untouched = of_model(None);
    let by_model: Vec<_> = models.iter().map(|model| of_model(Some(model))).collect();
    (0..36)
        .map(|bin| {
            let low = (BIN_DEG * f64::from(bin)).to_radians();
            let width = BIN_DEG.to_radians();
            let within = |j: &&BiasSample| (low..low + width).contains(&j.incidence);
            let mean_of = |all: &[BiasSample], of: fn(&BiasSample) -> f64| {
                mean(&all.iter().filter(within).map(of).collect::<Vec<_>>())
            };
            let taken = by_model.iter().map(|all| mean_of(all, |j| j.taken_off));
            BiasBin {
                incidence: low + 0.5 * width,
                readings: untouched.iter().filter(within).count(),
                truth: mean_of(&untouched, |j| j.bias),
                taken_off: taken.collect(),
            }
        })
        .collect()
}
