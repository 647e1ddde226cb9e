//! Statistics of recorded and simulated planar scans.

use super::recording::Scan;
use crate::measurement::{BeamSweep, RangeReading};
use etendue_physics::statistics::quantile;
use nalgebra::{Isometry2, Vector2};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Options of [`ScanStatistics::of`].
#[derive(Clone, Debug, PartialEq)]
pub struct StatisticsOptions {
    /// Edges of the range histogram, m, ascending.
    pub histogram_edges: Vec<f64>,
    /// Edges of the range bands of [`StationaryWindow::spread`], m, ascending.
    pub band_edges: Vec<f64>,
    /// Least number of scans in a stationary window.
    pub least_scans: usize,
    /// Largest median change of the ranges, as a fraction of the range, of a sensor without
    /// odometry that counts as stationary.
    pub still_change: f64,
}

impl Default for StatisticsOptions {
    /// Bins from 0.02 to 100 m, bands to 50 m, windows of at least 8 scans, ranges that change by
    /// less than 1 %.
    fn default() -> Self {
        Self {
            histogram_edges: vec![
                0.02, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 10.0, 20.0, 50.0, 100.0,
            ],
            band_edges: vec![0.02, 0.5, 1.0, 2.0, 3.0, 4.0, 5.7, 10.0, 20.0, 50.0],
            least_scans: 8,
            still_change: 0.01,
        }
    }
}

/// Counts and spreads of a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct ScanStatistics {
    /// Number of scans.
    pub scans: usize,
    /// Number of beams in all scans.
    pub beams: usize,
    /// Fewest and most beams in a scan.
    pub beams_in_scan: (usize, usize),
    /// Beams with a range.
    pub valid: usize,
    /// Beams without a return.
    pub no_returns: usize,
    /// Beams with a target nearer than the minimum range.
    pub too_near: usize,
    /// Beams with an error code, by code.
    pub errors: BTreeMap<u8, usize>,
    /// Time from the first to the last scan, s.
    pub duration: f64,
    /// Median time between scans, s; zero for a single scan.
    pub period: f64,
    /// Length of the odometry's trajectory, m, if there is odometry.
    pub path: Option<f64>,
    /// Percentiles 1, 50, 99 and 100 of the ranges, m, if there is a range.
    pub ranges: Option<[f64; 4]>,
    /// Number of ranges in each bin (from, to), m.
    pub histogram: Vec<(Range<f64>, usize)>,
    /// Stationary windows, longest first.
    pub stationary: Vec<StationaryWindow>,
}

/// Consecutive scans between which the sensor did not move.
#[derive(Clone, Debug, PartialEq)]
pub struct StationaryWindow {
    /// The scans.
    pub scans: Range<usize>,
    /// Beams with a range in some of the scans only.
    pub flickering: usize,
    /// The beams with a range in every scan.
    pub steady: Vec<SteadyBeam>,
    /// Spread of the ranges by range band; bands without a steady beam are left out.
    pub spread: Vec<Spread>,
}

/// A beam with a range in every scan of a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadyBeam {
    /// Median range, m.
    pub range: f64,
    /// Standard deviation of the range over time, m.
    pub deviation: f64,
}

/// Spread of the ranges over time, of the steady beams in a range band.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// The band of the beams' median range, m.
    pub band: Range<f64>,
    /// Number of beams.
    pub beams: usize,
    /// Median over the beams of their median range, m.
    pub centre: f64,
    /// Median over the beams of the standard deviation over time, m.
    pub median: f64,
    /// 90th percentile over the beams of the standard deviation over time, m.
    pub high: f64,
}

impl ScanStatistics {
    /// Counts, histogram and spread over time of a recording.
    ///
    /// The standard deviation of a beam is the population standard deviation over the window.
    ///
    /// # Example
    /// ```
    /// use etendue_sensors::{RangeReading, Scan, ScanStatistics, StatisticsOptions};
    /// let scan = |range| Scan {
    ///     time: 0.0,
    ///     beam_interval: 0.0,
    ///     azimuths: [0.0, 0.1].into(),
    ///     elevations: [].into(),
    ///     readings: vec![RangeReading::Range(range), RangeReading::Error(7)],
    ///     intensities: vec![],
    ///     odom_from_robot: Some(nalgebra::Isometry2::identity()),
    /// };
    /// let options = StatisticsOptions { least_scans: 2, ..StatisticsOptions::default() };
    /// let statistics = ScanStatistics::of(&[scan(1.2), scan(1.4)], &options);
    /// assert_eq!(statistics.valid_fraction(), 0.5);
    /// assert_eq!(statistics.errors[&7], 2);
    /// assert!((statistics.stationary[0].spread[0].median - 0.1).abs() < 1e-12);
    /// ```
    pub fn of(scans: &[Scan], options: &StatisticsOptions) -> Self {
        let mut ranges = ranges_of(scans);
        ranges.sort_by(f64::total_cmp);
        let readings = || scans.iter().flat_map(|scan| &scan.readings);
        let count = |kind: RangeReading| readings().filter(|reading| **reading == kind).count();
        let sizes = || scans.iter().map(|scan| scan.readings.len());
        Self {
            scans: scans.len(),
            beams: sizes().sum(),
            beams_in_scan: (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0)),
            valid: ranges.len(),
            no_returns: count(RangeReading::NoReturn),
            too_near: count(RangeReading::TooNear),
            errors: errors(readings()),
            duration: scans.last().map_or(0.0, |last| last.time - scans[0].time),
            period: period(scans),
            path: path_length(scans),
            ranges: quantile(&ranges, 0.01).map(|first| {
                let at = |probability| quantile(&ranges, probability).unwrap_or(first);
                [first, at(0.5), at(0.99), at(1.0)]
            }),
            histogram: histogram(&ranges, &options.histogram_edges),
            stationary: stationary_windows(scans, options),
        }
    }

    /// Beams with a range over all beams; zero where there are none.
    pub fn valid_fraction(&self) -> f64 {
        self.valid as f64 / self.beams.max(1) as f64
    }
}

impl Scan {
    /// A simulated sweep as a recorded scan, without ground truth, with the planar pose of the sensor as
    /// odometry.
    pub fn of_sweep(sweep: &BeamSweep) -> Self {
        let pose = &sweep.world_from_sensor;
        let forward = pose.rotation * nalgebra::Vector3::x();
        let position = Vector2::new(pose.translation.x, pose.translation.y);
        let beams = &sweep.measurements;
        Self {
            time: sweep.start,
            beam_interval: 0.0,
            azimuths: beams
                .iter()
                .map(|beam| beam.azimuth)
                .collect::<Arc<[f64]>>(),
            elevations: if beams.iter().all(|beam| beam.elevation == 0.0) {
                [].into()
            } else {
                beams.iter().map(|beam| beam.elevation).collect()
            },
            readings: beams.iter().map(|beam| beam.reading).collect(),
            intensities: beams.iter().map(|beam| single(beam.power)).collect(),
            odom_from_robot: Some(Isometry2::new(position, forward.y.atan2(forward.x))),
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "recordings hold intensities in single precision"
)]
fn single(value: f64) -> f32 {
    value as f32
}

/// All ranges, m.
fn ranges_of(scans: &[Scan]) -> Vec<f64> {
    let readings = scans.iter().flat_map(|scan| &scan.readings);
    readings.filter_map(|reading| reading.range()).collect()
}

/// Counts of error codes.
fn errors<'a>(readings: impl Iterator<Item = &'a RangeReading>) -> BTreeMap<u8, usize> {
    let mut counts = BTreeMap::new();
    for reading in readings {
        if let RangeReading::Error(code) = reading {
            *counts.entry(*code).or_insert(0) += 1;
        }
    }
    counts
}

/// Median and 90th percentile of a sample that is not empty.
fn median_and_high(mut values: Vec<f64>) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    let at = |probability| quantile(&values, probability).expect("a sample that is not empty");
    (at(0.5), at(0.9))
}

/// Median time between scans, s.
fn period(scans: &[Scan]) -> f64 {
    let steps: Vec<f64> = scans
        .windows(2)
        .map(|two| two[1].time - two[0].time)
        .collect();
    if steps.is_empty() {
        0.0
    } else {
        median_and_high(steps).0
    }
}

/// Length of the odometry's trajectory, m.
fn path_length(scans: &[Scan]) -> Option<f64> {
    let poses: Vec<_> = scans
        .iter()
        .filter_map(|scan| scan.odom_from_robot)
        .collect();
    let step =
        |two: &[Isometry2<f64>]| (two[1].translation.vector - two[0].translation.vector).norm();
    // An empty sum of floating-point numbers is -0.
    (!poses.is_empty()).then(|| 0.0 + poses.windows(2).map(step).sum::<f64>())
}

/// Intervals between successive edges.
fn bins(edges: &[f64]) -> impl Iterator<Item = Range<f64>> {
    edges.windows(2).map(|two| two[0]..two[1])
}

/// Number of sorted ranges in each bin.
fn histogram(sorted: &[f64], edges: &[f64]) -> Vec<(Range<f64>, usize)> {
    let below = |edge: f64| sorted.partition_point(|range| *range < edge);
    bins(edges)
        .map(|bin| {
            let count = below(bin.end).saturating_sub(below(bin.start));
            (bin, count)
        })
        .collect()
}

/// Maximal windows without motion, longest first.
fn stationary_windows(scans: &[Scan], options: &StatisticsOptions) -> Vec<StationaryWindow> {
    let mut windows = Vec::new();
    let mut first = 0;
    for next in 1..=scans.len() {
        let continues = next < scans.len() && is_stationary(&scans[first], &scans[next], options);
        if continues {
            continue;
        }
        if next - first >= options.least_scans.max(2) {
            windows.push(window(scans, first..next, options));
        }
        first = next;
    }
    windows.sort_by_key(|window| std::cmp::Reverse(window.scans.len()));
    windows
}

/// Whether two scans are from one pose: by odometry, or because most ranges are nearly equal.
fn is_stationary(before: &Scan, after: &Scan, options: &StatisticsOptions) -> bool {
    let same_pose = match (&before.odom_from_robot, &after.odom_from_robot) {
        (Some(before), Some(after)) => before == after,
        (None, None) => changes(before, after) <= options.still_change,
        _ => false,
    };
    same_pose && before.azimuths == after.azimuths && before.elevations == after.elevations
}

/// Median change of the ranges between two scans, as a fraction of the range; 0 without a beam that
/// has a range in both.
fn changes(before: &Scan, after: &Scan) -> f64 {
    let pairs = before.readings.iter().zip(&after.readings);
    let change = |(before, after): (&RangeReading, &RangeReading)| {
        let (before, after) = (before.range()?, after.range()?);
        Some((after - before).abs() / before.max(after))
    };
    let changes: Vec<f64> = pairs.filter_map(change).collect();
    if changes.is_empty() {
        return 0.0;
    }
    median_and_high(changes).0
}

/// Statistics of a stationary window.
fn window(scans: &[Scan], range: Range<usize>, options: &StatisticsOptions) -> StationaryWindow {
    let scans = &scans[range.clone()];
    let mut flickering = 0;
    let mut steady = Vec::new();
    for beam in 0..scans[0].readings.len() {
        let readings = scans
            .iter()
            .filter_map(|scan| scan.readings.get(beam)?.range());
        let ranges: Vec<f64> = readings.collect();
        if ranges.len() == scans.len() {
            steady.push(SteadyBeam::of(ranges));
        } else if !ranges.is_empty() {
            flickering += 1;
        }
    }
    StationaryWindow {
        scans: range,
        flickering,
        spread: bins(&options.band_edges)
            .filter_map(|band| spread(band, &steady))
            .collect(),
        steady,
    }
}

impl SteadyBeam {
    /// Statistics of the ranges of a beam, m.
    fn of(ranges: Vec<f64>) -> Self {
        let count = ranges.len() as f64;
        let mean = ranges.iter().sum::<f64>() / count;
        let squares = ranges.iter().map(|range| (range - mean).powi(2));
        Self {
            deviation: (squares.sum::<f64>() / count).sqrt(),
            range: median_and_high(ranges).0,
        }
    }
}

/// Spread of the steady beams in a range band; none without beams.
fn spread(band: Range<f64>, steady: &[SteadyBeam]) -> Option<Spread> {
    let inside = steady.iter().filter(|beam| band.contains(&beam.range));
    let (ranges, deviations): (Vec<f64>, Vec<f64>) =
        inside.map(|beam| (beam.range, beam.deviation)).unzip();
    if deviations.is_empty() {
        return None;
    }
    let beams = deviations.len();
    let (median, high) = median_and_high(deviations);
    Some(Spread {
        band,
        beams,
        centre: median_and_high(ranges).0,
        median,
        high,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(time: f64, x: f64, readings: Vec<RangeReading>) -> Scan {
        Scan {
            time,
            beam_interval: 0.0,
            azimuths: (0..readings.len()).map(|beam| beam as f64).collect(),
            elevations: [].into(),
            readings,
            intensities: Vec::new(),
            odom_from_robot: Some(Isometry2::translation(x, 0.0)),
        }
    }

    fn options() -> StatisticsOptions {
        StatisticsOptions {
            least_scans: 3,
            ..StatisticsOptions::default()
        }
    }

    #[test]
    fn a_window_ends_where_the_robot_moves() {
        let at = |time, x| scan(time, x, vec![RangeReading::Range(1.0)]);
        let scans = [
            at(0.0, 0.0),
            at(1.0, 0.0),
            at(2.0, 0.0),
            at(3.0, 0.5),
            at(4.0, 1.0),
        ];
        let statistics = ScanStatistics::of(&scans, &options());
        assert_eq!(statistics.stationary.len(), 1);
        assert_eq!(statistics.stationary[0].scans, 0..3);
        assert_eq!(statistics.path, Some(1.0));
        assert_eq!(statistics.period, 1.0);
    }

    #[test]
    fn a_beam_without_a_range_in_some_scans_is_flickering_and_has_no_spread() {
        let scans = [
            scan(
                0.0,
                0.0,
                vec![RangeReading::Range(1.0), RangeReading::Range(2.5)],
            ),
            scan(
                1.0,
                0.0,
                vec![RangeReading::Error(6), RangeReading::Range(2.5)],
            ),
            scan(
                2.0,
                0.0,
                vec![RangeReading::Range(1.1), RangeReading::Range(2.5)],
            ),
        ];
        let window = &ScanStatistics::of(&scans, &options()).stationary[0];
        assert_eq!(window.flickering, 1);
        assert_eq!(window.spread.len(), 1);
        assert_eq!(window.spread[0].band, 2.0..3.0);
        assert_eq!(window.spread[0].median, 0.0);
    }

    #[test]
    fn every_range_within_the_edges_is_in_one_bin() {
        let readings = (1..=500)
            .map(|i| RangeReading::Range(f64::from(i) * 0.1))
            .collect();
        let statistics = ScanStatistics::of(&[scan(0.0, 0.0, readings)], &options());
        let counted: usize = statistics.histogram.iter().map(|(_, count)| count).sum();
        assert_eq!(counted, 500);
        assert_eq!(statistics.ranges.map(|r| r[3]), Some(50.0));
    }

    #[test]
    fn statistics_of_no_scans_are_zero() {
        let statistics = ScanStatistics::of(&[], &options());
        assert_eq!(statistics.valid_fraction(), 0.0);
        assert_eq!(statistics.ranges, None);
        assert!(statistics.stationary.is_empty());
    }
}
