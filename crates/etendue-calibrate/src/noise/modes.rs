//! Surfaces in one direction: clusters of its ranges.

use super::recording::DirectionCell;
use etendue_physics::statistics::nearest_quantile;

/// A cluster of the ranges of one direction: one surface that the direction sees, always or for a part of
/// the time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RangeMode {
    /// Median range, m.
    pub median: f64,
    /// Robust standard deviation of one range, m.
    pub spread: f64,
    /// Number of ranges.
    pub count: usize,
    /// Ranges half-way to the adjacent clusters, m.
    pub limits: [f64; 2],
}

/// Gap between two clusters in robust standard deviations of one range.
const GAP_OVER_SPREAD: f64 = 6.0;

/// Least gap between two clusters: relative to the range, and in m.
const LEAST_GAP: [f64; 2] = [0.01, 0.005];

/// Ratio of the length of the shorter half of a normal sample to its standard deviation.
const SHORTER_HALF: f64 = 1.349;

/// Ratio of the standard deviation of a normal sample to its interquartile range.
const OVER_QUARTILES: f64 = 1.0 / 1.349;

impl DirectionCell {
    /// The clusters of the ranges of this direction, the nearest first.
    ///
    /// The sorted ranges are divided at gaps of more than six robust standard deviations of one range, at
    /// least 1 % of the range and 5 mm. The standard deviation is that of the shorter half (the shortest
    /// interval with 50 % of them; Rousseeuw and Leroy 1988, doi:10.1111/j.1467-9574.1988.tb01224.x),
    /// which a second surface with fewer ranges does not change.
    pub fn modes(&self) -> Vec<RangeMode> {
        let samples = self.samples.iter();
        let mut ranges: Vec<f64> = samples.filter_map(|sample| sample.range).collect();
        ranges.sort_by(f64::total_cmp);
        let spread = shorter_half(&ranges) / SHORTER_HALF;
        let is_gap = |a: &f64, b: &f64| {
            let least = LEAST_GAP[0] * a + LEAST_GAP[1];
            b - a > least.max(GAP_OVER_SPREAD * spread)
        };
        let clusters: Vec<&[f64]> = ranges.chunk_by(|a, b| !is_gap(a, b)).collect();
        let between = |left: usize| match (clusters[left].last(), clusters[left + 1].first()) {
            (Some(a), Some(b)) => 0.5 * (a + b),
            _ => f64::NAN,
        };
        let mode = |number: usize| RangeMode {
            median: quantile(clusters[number], 0.5),
            spread: OVER_QUARTILES
                * (quantile(clusters[number], 0.75) - quantile(clusters[number], 0.25)),
            count: clusters[number].len(),
            limits: [
                number.checked_sub(1).map_or(0.0, between),
                if number + 1 < clusters.len() {
                    between(number)
                } else {
                    f64::INFINITY
                },
            ],
        };
        (0..clusters.len()).map(mode).collect()
    }

    /// The cluster nearest to an expected range (m) among those with at least a tenth of the beams.
    pub fn mode_near(&self, expected: f64) -> Option<RangeMode> {
        let modes = self.modes().into_iter();
        nearest_mode(modes, self.samples.len(), expected)
    }
}

/// Least fraction of the beams of a direction for a surface.
const LEAST_FRACTION: f64 = 0.1;

/// The cluster nearest to an expected range (m) among those with at least a tenth of `samples`.
pub(super) fn nearest_mode(
    modes: impl Iterator<Item = RangeMode>,
    samples: usize,
    expected: f64,
) -> Option<RangeMode> {
    let least = LEAST_FRACTION * samples as f64;
    let distance = |mode: &RangeMode| (mode.median - expected).abs();
    modes
        .filter(|mode| mode.count as f64 >= least)
        .min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

/// Length of the shortest interval with half of the ascending values.
fn shorter_half(sorted: &[f64]) -> f64 {
    let half = sorted.len().div_ceil(2);
    if half < 2 {
        return 0.0;
    }
    let lengths = sorted.windows(half).map(|w| w[half - 1] - w[0]);
    lengths.fold(f64::INFINITY, f64::min)
}

/// Quantile of ascending values; zero without values.
fn quantile(sorted: &[f64], probability: f64) -> f64 {
    let middle = etendue_physics::statistics::quantile(sorted, probability);
    middle
        .or_else(|| nearest_quantile(sorted, probability))
        .unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::BeamSample;
    use etendue_physics::{Purpose, Stream};
    use nalgebra::Vector3;

    fn cell(ranges: impl Iterator<Item = f64>) -> DirectionCell {
        let sample = |(scan, range)| BeamSample {
            scan,
            offset: [0.0; 2],
            range: Some(range),
            intensity: 0.0,
        };
        DirectionCell {
            direction: Vector3::x(),
            samples: (0..).zip(ranges).map(sample).collect(),
        }
    }

    /// A pole at 1.2 m hides a wall at 1.5 m for a part of the time: both are found for parts of 20 to 80 %,
    /// the wall within a millimetre, with noise of 3 mm.
    #[test]
    fn a_pole_and_a_wall_are_two_surfaces_of_one_direction() {
        for hidden in [0.2, 0.5, 0.8] {
            let mut stream = Stream::new(1, 0, 0, 0, Purpose::Search);
            let ranges = (0..200).map(|scan| {
                let middle = if f64::from(scan) < 200.0 * hidden {
                    1.2
                } else {
                    1.5
                };
                middle + 3e-3 * stream.normal()
            });
            let cell = cell(ranges);
            assert_eq!(cell.modes().len(), 2, "{hidden}");
            let wall = cell.mode_near(1.49).expect("the wall is seen");
            assert!((wall.median - 1.5).abs() < 1e-3, "{wall:?}");
            assert!((wall.limits[0] - 1.35).abs() < 0.01, "{wall:?}");
        }
    }

    /// Normal noise alone is one surface, in 400 samples of 50 ranges.
    #[test]
    fn noise_is_one_surface() {
        let mut stream = Stream::new(2, 0, 0, 0, Purpose::Search);
        let divided = (0..400).filter(|_| {
            let ranges: Vec<f64> = (0..50).map(|_| 0.5 + 5e-3 * stream.normal()).collect();
            cell(ranges.into_iter()).modes().len() > 1
        });
        assert_eq!(divided.count(), 0);
    }
}
