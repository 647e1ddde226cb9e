//! Statistics of the beams of a panel in narrow bins of incidence.

use super::censored::{CensoredSample, NormalEstimate, censored_normal, fixed_pattern_share};
use super::wilson::{effective_sample_size, wilson};
use crate::noise::beams::{BeamOutcome, PanelBeam, PanelBeams};
use etendue_physics::profile::Steps;
use std::collections::BTreeMap;

/// Statistics of a narrow bin of incidence on one side of the normal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IncidenceBin {
    /// Mean incidence of its beams, rad.
    pub incidence: f64,
    /// Whether it is to the left of the normal.
    pub left: bool,
    /// Number of beams towards the panel.
    pub beams: f64,
    /// Number of beams that returned.
    pub returned: f64,
    /// Number of valid ranges: of returned beams that are not next to an edge.
    pub ranges: f64,
    /// Number of directions.
    pub directions: f64,
    /// Mean and standard deviation of the range error before rounding, m; `None` for fewer than three
    /// ranges.
    pub error: Option<NormalEstimate>,
    /// Standard deviation between directions below which it is hidden by the quantisation, m.
    pub quantisation_floor: f64,
    /// Fixed-pattern fraction of the variance of the error, or of the quantisation floor where that
    /// is larger.
    pub fixed_pattern: f64,
    /// Correlation of the drop-outs of one direction in successive scans, if some but not all beams
    /// dropped.
    pub drop_correlation: Option<f64>,
    /// Mean and standard deviation of the intensity of returned beams.
    pub intensity: [f64; 2],
    /// Highest intensity.
    pub max_intensity: f64,
}

/// Quantisation floor over half a step: with this standard deviation, a dozen directions all round to
/// the same step in one recording of five, and the most likely estimate is zero.
const FLOOR_OVER_HALF_STEP: f64 = 0.3;

/// Width of the blocks of the cross-validation folds, degrees.
const FOLD_BLOCK_DEG: f64 = 5.0;

impl IncidenceBin {
    /// Fraction of beams that dropped.
    pub fn drop_out(&self) -> f64 {
        1.0 - self.returned / self.beams.max(1.0)
    }

    /// Effective number of independent samples of the drop-out. `default_correlation` is the correlation
    /// within a direction if all or none of the beams dropped.
    pub fn effective_samples(&self, default_correlation: f64) -> f64 {
        let group = self.beams / self.directions.max(1.0);
        let correlation = self.drop_correlation.unwrap_or(default_correlation);
        effective_sample_size(self.beams, group, correlation)
    }

    /// Effective number of independent samples of the range.
    pub fn effective_ranges(&self) -> f64 {
        let group = self.ranges / self.directions.max(1.0);
        effective_sample_size(self.ranges, group, self.fixed_pattern)
    }

    /// Mean range error and its standard error, m; `None` for fewer than three ranges.
    pub fn bias(&self) -> Option<[f64; 2]> {
        let error = self.error?;
        Some([
            error.mean,
            error.sd / self.effective_ranges().max(1.0).sqrt(),
        ])
    }

    /// Standard deviation of the range error before rounding and its standard error, m; `None` for fewer than
    /// three ranges.
    pub fn spread(&self) -> Option<[f64; 2]> {
        let sd = self.error?.sd;
        Some([sd, sd / (2.0 * self.effective_ranges().max(1.0)).sqrt()])
    }

    /// Variance of the mean error due to the noise of the bin, m², if it is known.
    pub fn mean_variance(&self) -> Option<f64> {
        let sd = self.error?.sd.max(1e-5);
        Some(sd * sd / self.effective_ranges().max(1.0))
    }

    /// 95 % confidence interval of the drop-out, from the effective number of independent samples.
    pub fn drop_out_interval(&self, default_correlation: f64) -> [f64; 2] {
        let samples = self.effective_samples(default_correlation);
        wilson(self.drop_out() * samples, samples)
    }

    /// Number of the bin's cross-validation fold, 0 to 3: the side of the normal, and alternating blocks
    /// of five degrees.
    pub(in crate::noise) fn cross_validation_fold(&self) -> usize {
        let block = (self.incidence.to_degrees() / FOLD_BLOCK_DEG).floor() % 2.0;
        2 * usize::from(self.left) + usize::from(block > 0.5)
    }
}

/// Bins of the beams of a panel, `width` (rad) wide, separate for the two sides of the normal.
pub fn bins(beams: &PanelBeams, steps: &Steps, width: f64) -> Vec<IncidenceBin> {
    grouped(beams, steps, width, true)
}

/// Bins with both sides of the normal together: their standard deviation includes differences
/// between positions on the panel.
pub fn wide_bins(beams: &PanelBeams, steps: &Steps, width: f64) -> Vec<IncidenceBin> {
    grouped(beams, steps, width, false)
}

fn grouped(beams: &PanelBeams, steps: &Steps, width: f64, by_side: bool) -> Vec<IncidenceBin> {
    let mut by_bin: BTreeMap<(bool, i64), Vec<&PanelBeam>> = BTreeMap::new();
    for beam in &beams.beams {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a quarter turn has few bins"
        )]
        let number = (beam.incidence / width).floor() as i64;
        by_bin
            .entry((by_side && beam.left(), number))
            .or_default()
            .push(beam);
    }
    let mut bins: Vec<IncidenceBin> = by_bin
        .into_iter()
        .map(|((left, _), beams)| bin(&beams, steps, left))
        .collect();
    bins.sort_by(|a, b| a.incidence.total_cmp(&b.incidence));
    bins
}

fn bin(beams: &[&PanelBeam], steps: &Steps, left: bool) -> IncidenceBin {
    // Mean and spread of the ranges, which are rounded to the steps of the device.
    let samples = samples(beams, steps);
    let ranges: f64 = samples.iter().map(|s| s.count).sum();
    let half_step = samples.iter().map(|s| s.half).fold(0.0, f64::max);
    let quantisation_floor = FLOOR_OVER_HALF_STEP * half_step;
    let error = (ranges >= 3.0).then(|| censored_normal(&samples));
    // Number of directions.
    let mut cells: Vec<u32> = beams.iter().map(|beam| beam.cell).collect();
    cells.sort_unstable();
    cells.dedup();
    // Statistics of the bin.
    IncidenceBin {
        incidence: beams.iter().map(|beam| beam.incidence).sum::<f64>() / beams.len() as f64,
        left,
        beams: beams.len() as f64,
        returned: beams.iter().filter(|beam| beam.returned()).count() as f64,
        ranges,
        directions: cells.len() as f64,
        quantisation_floor,
        fixed_pattern: error.map_or(0.0, |error| {
            fixed_pattern_share(&samples, error.sd.max(quantisation_floor))
        }),
        error,
        drop_correlation: drop_correlation(beams),
        intensity: intensity(beams),
        max_intensity: beams
            .iter()
            .map(|beam| f64::from(beam.intensity))
            .fold(0.0, f64::max),
    }
}

/// Distinct errors of each direction with their counts.
fn samples(beams: &[&PanelBeam], steps: &Steps) -> Vec<CensoredSample> {
    let mut counted: BTreeMap<(u32, u64, u64), CensoredSample> = BTreeMap::new();
    for beam in beams {
        let (BeamOutcome::Range(range), Some(error)) = (beam.outcome, beam.error()) else {
            continue;
        };
        let key = (beam.cell, range.to_bits(), beam.expected.to_bits());
        let sample = counted.entry(key).or_insert(CensoredSample {
            error,
            half: 0.5 * steps.at(range),
            count: 0.0,
            cell: beam.cell,
        });
        sample.count += 1.0;
    }
    counted.into_values().collect()
}

/// Correlation of the drop-outs of one direction: the intraclass correlation by analysis of variance.
/// `None` if all or none of the beams dropped, or no direction has two beams.
fn drop_correlation(beams: &[&PanelBeam]) -> Option<f64> {
    // Count dropped and all beams of each direction
    let mut by_cell: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for beam in beams {
        let (dropped, total) = by_cell.entry(beam.cell).or_default();
        *dropped += f64::from(u8::from(beam.outcome == BeamOutcome::Dropped));
        *total += 1.0;
    }
    let groups = by_cell.len() as f64;
    let total: f64 = by_cell.values().map(|(_, total)| total).sum();
    let dropped_fraction = by_cell.values().map(|(dropped, _)| dropped).sum::<f64>() / total;
    if dropped_fraction <= 0.0 || dropped_fraction >= 1.0 || groups < 2.0 || total <= groups {
        return None;
    }
    // Compare the mean squares between and within directions
    let between: f64 = by_cell
        .values()
        .map(|(dropped, n)| n * (dropped / n - dropped_fraction).powi(2))
        .sum();
    let within: f64 = by_cell
        .values()
        .map(|(dropped, n)| dropped * (1.0 - dropped / n))
        .sum();
    let size = total / groups;
    let between = between / (groups - 1.0);
    let within = within / (total - groups);
    Some(((between - within) / (between + (size - 1.0) * within)).clamp(0.0, 1.0))
}

/// Mean and standard deviation of the intensity of returned beams.
fn intensity(beams: &[&PanelBeam]) -> [f64; 2] {
    let returned = beams
        .iter()
        .filter(|beam| beam.outcome != BeamOutcome::Dropped);
    let values: Vec<f64> = returned.map(|beam| f64::from(beam.intensity)).collect();
    let n = (values.len() as f64).max(1.0);
    let mean = values.iter().sum::<f64>() / n;
    let square = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
    [mean, square.sqrt()]
}
