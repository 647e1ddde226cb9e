//! Conditional statistics of narrow bins of incidence.

use super::censored::{Sample, Spread, censored_normal, fixed_pattern_share};
use super::{independent_looks, wilson};
use crate::noise::{BeamOutcome, PanelBeam, PanelBeams};
use etendue_physics::profile::Steps;
use std::collections::BTreeMap;

/// What was seen in a narrow bin of incidence on one side of the normal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bin {
    /// Mean incidence of its beams, rad.
    pub incidence: f64,
    /// Whether it lies left of the normal.
    pub left: bool,
    /// Beams towards the panel.
    pub beams: f64,
    /// Those that returned.
    pub returned: f64,
    /// Those of them whose ranges count: not beside edges.
    pub ranges: f64,
    /// Directions.
    pub directions: f64,
    /// Mean and standard deviation of the ranges' error, before rounding, m; none of fewer than three.
    pub error: Option<Spread>,
    /// Standard deviation from place to place below which the device's steps hide it, m.
    pub hidden: f64,
    /// Fixed-pattern share of the variance of the error, at least of the hidden variance.
    pub standing: f64,
    /// Correlation of the drop-outs of one direction in successive scans, if some but not all dropped.
    pub drop_correlation: Option<f64>,
    /// Mean and standard deviation of the intensity of returned beams.
    pub intensity: [f64; 2],
    /// Highest intensity seen.
    pub brightest: f64,
}

/// What the steps hide, as a share of half of one: of a dozen directions, spread by so much, none
/// rounds otherwise in one recording of five, and a likelihood says 0.
const HIDDEN: f64 = 0.3;

impl Bin {
    /// Share of beams that dropped.
    pub fn drop_out(&self) -> f64 {
        1.0 - self.returned / self.beams.max(1.0)
    }

    /// How many independent samples the bin's beams are worth for the drop-out. Where all or none
    /// dropped, samples of one direction are taken for as alike as `usual`.
    pub fn effective_samples(&self, usual: f64) -> f64 {
        let group = self.beams / self.directions.max(1.0);
        independent_looks(self.beams, group, self.drop_correlation.unwrap_or(usual))
    }

    /// The same for the range.
    pub fn effective_ranges(&self) -> f64 {
        let group = self.ranges / self.directions.max(1.0);
        independent_looks(self.ranges, group, self.standing)
    }

    /// Variance of the mean error by the bin's own noise, m², if it is known.
    pub fn mean_variance(&self) -> Option<f64> {
        let sd = self.error?.sd.max(1e-5);
        Some(sd * sd / self.effective_ranges().max(1.0))
    }

    /// The 95 % interval of the drop-out, by independent samples.
    pub fn drop_out_interval(&self, usual: f64) -> [f64; 2] {
        let samples = self.effective_samples(usual);
        wilson(self.drop_out() * samples, samples)
    }
}

/// Bins of the beams of a panel, `width` (rad) wide, separate for both sides of the normal.
pub fn bins(beams: &PanelBeams, steps: &Steps, width: f64) -> Vec<Bin> {
    grouped(beams, steps, width, true)
}

/// The same with both sides of the normal in one bin: their standard deviation holds what differs
/// from place to place on the panel, too.
pub fn wide_bins(beams: &PanelBeams, steps: &Steps, width: f64) -> Vec<Bin> {
    grouped(beams, steps, width, false)
}

fn grouped(beams: &PanelBeams, steps: &Steps, width: f64, by_side: bool) -> Vec<Bin> {
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
    let mut bins: Vec<Bin> = { by_bin.into_iter() }
        .map(|((left, _), beams)| bin(&beams, steps, left))
        .collect();
    bins.sort_by(|a, b| a.incidence.total_cmp(&b.incidence));
    bins
}

fn bin(beams: &[&PanelBeam], steps: &Steps, left: bool) -> Bin {
    let samples = samples(beams, steps);
    let ranges: f64 = samples.iter().map(|s| s.count).sum();
    let hidden = HIDDEN * samples.iter().map(|s| s.half).fold(0.0, f64::max);
    let error = (ranges >= 3.0).then(|| censored_normal(&samples));
    let mut cells: Vec<u32> = beams.iter().map(|beam| beam.cell).collect();
    cells.sort_unstable();
    cells.dedup();
    Bin {
        incidence: beams.iter().map(|beam| beam.incidence).sum::<f64>() / beams.len() as f64,
        left,
        beams: beams.len() as f64,
        returned: beams.iter().filter(|beam| beam.returned()).count() as f64,
        ranges,
        directions: cells.len() as f64,
        hidden,
        standing: error.map_or(0.0, |error| {
            fixed_pattern_share(&samples, error.sd.max(hidden))
        }),
        error,
        drop_correlation: drop_correlation(beams),
        intensity: intensity(beams),
        brightest: { beams.iter().map(|beam| f64::from(beam.intensity)) }.fold(0.0, f64::max),
    }
}

/// Equal errors of one direction, counted.
fn samples(beams: &[&PanelBeam], steps: &Steps) -> Vec<Sample> {
    let mut counted: BTreeMap<(u32, u64, u64), Sample> = BTreeMap::new();
    for beam in beams {
        let (BeamOutcome::Range(range), Some(error)) = (beam.outcome, beam.error()) else {
            continue;
        };
        let key = (beam.cell, range.to_bits(), beam.expected.to_bits());
        let sample = counted.entry(key).or_insert(Sample {
            error,
            half: 0.5 * steps.at(range),
            count: 0.0,
            cell: beam.cell,
        });
        sample.count += 1.0;
    }
    counted.into_values().collect()
}

/// Correlation of drop-outs of one direction, by analysis of variance; none where all or none
/// dropped, or no direction was looked at twice.
fn drop_correlation(beams: &[&PanelBeam]) -> Option<f64> {
    let mut by_cell: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for beam in beams {
        let (dropped, total) = by_cell.entry(beam.cell).or_default();
        *dropped += f64::from(u8::from(beam.outcome == BeamOutcome::Dropped));
        *total += 1.0;
    }
    let groups = by_cell.len() as f64;
    let total: f64 = by_cell.values().map(|(_, total)| total).sum();
    let share = by_cell.values().map(|(dropped, _)| dropped).sum::<f64>() / total;
    if share <= 0.0 || share >= 1.0 || groups < 2.0 || total <= groups {
        return None;
    }
    let between: f64 = { by_cell.values() }
        .map(|(dropped, n)| n * (dropped / n - share).powi(2))
        .sum();
    let within: f64 = { by_cell.values() }
        .map(|(dropped, n)| dropped * (1.0 - dropped / n))
        .sum();
    let size = total / groups;
    let between = between / (groups - 1.0);
    let within = within / (total - groups);
    Some(((between - within) / (between + (size - 1.0) * within)).clamp(0.0, 1.0))
}

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
