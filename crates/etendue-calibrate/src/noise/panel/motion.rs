//! Motion of a panel during a recording.

use super::plane::{PanelPlane, RangedDirection};
use super::sector::PanelSector;
use crate::noise::recording::{DirectionCell, PanelRecording, azimuth};
use etendue_physics::angle::wrap_to_pi;
use std::collections::BTreeMap;

/// Plane of a panel in each scan, in the sensor frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PanelMotion {
    planes: BTreeMap<u32, PanelPlane>,
}

/// Least number of scans for the detection of motion.
const LEAST_SCANS: usize = 12;

/// Least number of directions for the plane of a scan.
const LEAST_DIRECTIONS: usize = 12;

/// Number of steps of the fit to one scan.
const STEPS: usize = 4;

/// Greatest relative difference of a range from the plane, or from the median of its direction.
const NEAR: f64 = 0.08;

/// Greatest von Neumann ratio of a motion: the mean squared difference of successive scans over the
/// variance, which is 2 for independent scans.
const LARGEST_RATIO: f64 = 0.67;

/// Least deviation of the ratio from 2 for a motion, in its standard deviations.
const LEAST_EXCESS: f64 = 4.0;

impl PanelMotion {
    /// Motion of a panel during a recording; `None` for a stationary panel.
    ///
    /// The plane is fitted to each scan. Motion is detected by the ratio of von Neumann (1941,
    /// doi:10.1214/aoms/1177731677) of bearing and distance: a drift differs less between successive
    /// scans than over all scans. Differences without drift are noise.
    pub fn of(
        recording: &PanelRecording,
        plane: &PanelPlane,
        sector: &PanelSector,
    ) -> Option<Self> {
        let motion = Self::tracked(recording, plane, sector);
        let bearing = azimuth(&plane.normal);
        let planes = || motion.planes.values();
        let turns: Vec<f64> = planes()
            .map(|plane| wrap_to_pi(azimuth(&plane.normal) - bearing))
            .collect();
        let distances: Vec<f64> = planes().map(|plane| plane.distance).collect();
        (drifts(&turns) || drifts(&distances)).then_some(motion)
    }

    /// The plane fitted to every scan, whether the panel moves or not.
    pub(super) fn tracked(
        recording: &PanelRecording,
        plane: &PanelPlane,
        sector: &PanelSector,
    ) -> Self {
        let fit = |points: Vec<RangedDirection>| {
            let mut plane = *plane;
            for _ in 0..STEPS {
                plane.step(&points, recording.planar);
            }
            plane
        };
        let points = points_by_scan(recording, plane, sector).into_iter();
        Self {
            planes: points
                .filter(|(_, points)| points.len() >= LEAST_DIRECTIONS)
                .map(|(scan, points)| (scan, fit(points)))
                .collect(),
        }
    }

    /// Number of scans in which the panel is near its median pose.
    pub fn scans(&self) -> usize {
        self.planes.len()
    }

    /// Plane in a scan, or in the nearest scan with enough directions.
    pub fn plane(&self, scan: u32) -> Option<&PanelPlane> {
        let before = self.planes.range(..=scan).next_back();
        let after = self.planes.range(scan..).next();
        match (before, after) {
            (Some(a), Some(b)) if b.0 - scan < scan - a.0 => Some(b.1),
            (Some(near), _) | (None, Some(near)) => Some(near.1),
            (None, None) => None,
        }
    }

    /// Least and greatest bearing of the normal relative to that of `plane` (rad), and least and greatest
    /// distance (m).
    pub fn extent(&self, plane: &PanelPlane) -> [[f64; 2]; 2] {
        let bearing = azimuth(&plane.normal);
        let planes = || self.planes.values();
        [
            range(planes().map(|plane| wrap_to_pi(azimuth(&plane.normal) - bearing))),
            range(planes().map(|plane| plane.distance)),
        ]
    }
}

/// Least and greatest value.
fn range(values: impl Iterator<Item = f64> + Clone) -> [f64; 2] {
    [
        values.clone().fold(f64::INFINITY, f64::min),
        values.fold(f64::NEG_INFINITY, f64::max),
    ]
}

/// Ranges of the panel in each scan, less the mean deviation of their direction from the plane.
fn points_by_scan(
    recording: &PanelRecording,
    plane: &PanelPlane,
    sector: &PanelSector,
) -> BTreeMap<u32, Vec<RangedDirection>> {
    let mut scans: BTreeMap<u32, Vec<RangedDirection>> = BTreeMap::new();
    for cell in sector.cells.iter().map(|cell| &recording.cells[*cell]) {
        let expected = plane.range(&cell.direction);
        let Some(median) = panel_median(cell, expected) else {
            continue;
        };
        for sample in &cell.samples {
            let Some(range) = sample.range.filter(|r| (r / median - 1.0).abs() < NEAR) else {
                continue;
            };
            scans.entry(sample.scan).or_default().push(RangedDirection {
                direction: cell.direction_of(sample),
                range: range - (median - expected),
            });
        }
    }
    scans
}

/// Median range of the panel in a direction, m, if most of its beams return and it is near the expected
/// range.
fn panel_median(cell: &DirectionCell, expected: f64) -> Option<f64> {
    let median = cell.mode_near(expected)?.median;
    let is_panel = cell.returned() >= 0.5 && (median / expected - 1.0).abs() <= NEAR;
    is_panel.then_some(median)
}

/// Whether values drift over time instead of being independent.
fn drifts(values: &[f64]) -> bool {
    let n = values.len() as f64;
    if values.len() < LEAST_SCANS {
        return false;
    }
    let mean = values.iter().sum::<f64>() / n;
    let square: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    let successive: f64 = values.windows(2).map(|two| (two[1] - two[0]).powi(2)).sum();
    if square <= 1e-24 {
        return false;
    }
    let ratio = successive / square;
    let sd = (4.0 * (n - 2.0) / (n * n - 1.0)).sqrt();
    ratio < LARGEST_RATIO && (2.0 - ratio) / sd > LEAST_EXCESS
}

#[cfg(test)]
mod tests {
    use super::*;
    use etendue_physics::{Purpose, Stream};

    /// No drift is detected in 2000 random series of 40 values; a slope of 0.25 standard deviations per
    /// value is detected in all of 200.
    #[test]
    fn a_drift_is_detected_and_chance_is_not() {
        let mut stream = Stream::new(5, 0, 0, 0, Purpose::Search);
        let mut series = |slope: f64| -> Vec<f64> {
            (0..40)
                .map(|i| slope * f64::from(i) + stream.normal())
                .collect()
        };
        assert_eq!((0..2000).filter(|_| drifts(&series(0.0))).count(), 0);
        assert_eq!((0..200).filter(|_| drifts(&series(0.25))).count(), 200);
    }
}
