//! Motion of a panel during a recording.

use super::plane::RangedDirection;
use super::{Panel, Plane};
use crate::noise::Recording;
use crate::noise::recording::{azimuth, planar};
use etendue_physics::angle::wrap_to_pi;
use std::collections::BTreeMap;

/// Plane of a panel in each scan, in the sensor frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Motion {
    planes: BTreeMap<u32, Plane>,
}

/// Least number of scans for the detection of motion.
const LEAST_SCANS: usize = 12;

/// Least number of directions for the plane of a scan.
const LEAST_DIRECTIONS: usize = 12;

/// Steps of the fit to one scan.
const STEPS: usize = 4;

/// A motion is one where the mean squared difference of successive scans is below this share of
/// the variance (2 where scans differ by chance alone) ...
const LARGEST_RATIO: f64 = 0.67;

/// ... by this many standard deviations of von Neumann's ratio.
const LEAST_EXCESS: f64 = 4.0;

impl Motion {
    /// The motion of a panel over a recording; `None` for a stationary panel.
    ///
    /// The plane is fitted to each scan. Motion is detected by the ratio of von Neumann (1941,
    /// doi:10.1214/aoms/1177731677) of bearing and distance: a drift differs less between successive
    /// scans than over all scans. Differences without drift are noise.
    pub fn of(recording: &Recording, panel: &Panel) -> Option<Self> {
        let motion = Self::followed(recording, panel);
        let bearing = azimuth(&panel.plane.normal);
        let planes = || motion.planes.values();
        let turns: Vec<f64> = planes()
            .map(|plane| wrap_to_pi(azimuth(&plane.normal) - bearing))
            .collect();
        let distances: Vec<f64> = planes().map(|plane| plane.distance).collect();
        (wanders(&turns) || wanders(&distances)).then_some(motion)
    }

    /// The plane in every scan, moving or not.
    pub(super) fn followed(recording: &Recording, panel: &Panel) -> Self {
        let fit = |points: Vec<RangedDirection>| {
            let mut plane = panel.plane;
            for _ in 0..STEPS {
                plane.step(&points, recording.planar);
            }
            plane
        };
        Self {
            planes: { seen_by_scan(recording, panel).into_iter() }
                .filter(|(_, points)| points.len() >= LEAST_DIRECTIONS)
                .map(|(scan, points)| (scan, fit(points)))
                .collect(),
        }
    }

    /// Where the panel stood in a scan; of one that saw too little of it, where it stood in the
    /// nearest that did.
    pub fn plane(&self, scan: u32) -> Option<&Plane> {
        let before = self.planes.range(..=scan).next_back();
        let after = self.planes.range(scan..).next();
        match (before, after) {
            (Some(a), Some(b)) if b.0 - scan < scan - a.0 => Some(b.1),
            (Some(near), _) | (None, Some(near)) => Some(near.1),
            (None, None) => None,
        }
    }

    /// Between which angles its normal turned about `plane`'s, and between which distances it
    /// stood, rad and m.
    pub fn extent(&self, plane: &Plane) -> [[f64; 2]; 2] {
        let bearing = azimuth(&plane.normal);
        let planes = || self.planes.values();
        [
            range(planes().map(|plane| wrap_to_pi(azimuth(&plane.normal) - bearing))),
            range(planes().map(|plane| plane.distance)),
        ]
    }
}

fn range(values: impl Iterator<Item = f64> + Clone) -> [f64; 2] {
    [
        values.clone().fold(f64::INFINITY, f64::min),
        values.fold(f64::NEG_INFINITY, f64::max),
    ]
}

/// What each scan saw of the panel, less what its directions always differ from the plane by.
fn seen_by_scan(recording: &Recording, panel: &Panel) -> BTreeMap<u32, Vec<RangedDirection>> {
    let mut scans: BTreeMap<u32, Vec<RangedDirection>> = BTreeMap::new();
    for cell in panel
        .sector
        .cells
        .iter()
        .map(|cell| &recording.cells[*cell])
    {
        let expected = panel.plane.range(&cell.direction);
        let Some(median) = cell.median() else {
            continue;
        };
        if cell.returned() < 0.5 || (median / expected - 1.0).abs() > 0.08 {
            continue;
        }
        for sample in &cell.samples {
            let Some(range) = sample.range.filter(|r| (r / median - 1.0).abs() < 0.08) else {
                continue;
            };
            let direction = if sample.turn == 0.0 {
                cell.direction
            } else {
                planar(azimuth(&cell.direction) + f64::from(sample.turn))
            };
            scans.entry(sample.scan).or_default().push(RangedDirection {
                direction,
                range: range - (median - expected),
            });
        }
    }
    scans
}

/// Whether values wander over time instead of differing by chance.
fn wanders(values: &[f64]) -> bool {
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
    fn chance_does_not_wander_and_a_drift_does() {
        let mut stream = Stream::new(5, 0, 0, 0, Purpose::Search);
        let mut series = |slope: f64| -> Vec<f64> {
            (0..40)
                .map(|i| slope * f64::from(i) + stream.normal())
                .collect()
        };
        assert_eq!((0..2000).filter(|_| wanders(&series(0.0))).count(), 0);
        assert_eq!((0..200).filter(|_| wanders(&series(0.25))).count(), 200);
    }
}
