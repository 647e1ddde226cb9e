//! Recordings of standing sensors, arranged by channel and azimuth.

use etendue_physics::angle::wrap_to_pi;
use etendue_physics::statistics::{mean, median, root_mean_square};
use etendue_sensors::Scan;
use nalgebra::Vector3;
use std::collections::BTreeMap;
use std::f64::consts::TAU;
use std::ops::Range;

/// A measured range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StandingBeam {
    /// Channel, numbered from 0: 0 for planar scanners.
    pub channel: u16,
    /// Unit vector in the sensor frame.
    pub direction: Vector3<f64>,
    /// Reported range, m.
    pub range: f64,
}

/// Ranges of a standing sensor by scan and direction.
///
/// Directions are cells of one channel and of the width of the sensor's azimuth step. The ranges of sensors whose
/// azimuths differ between scans are corrected to the centre of the cell by the slope between the neighbouring
/// cells. Where the directions drift slowly, the estimates are those of blocks of scans with nearly the same directions, with
/// the beams at the centres of the cells: each cell then has the fixed-pattern error of one beam.
#[derive(Clone, Debug, PartialEq)]
pub struct StandingRecording {
    /// Number of scans.
    pub scans: usize,
    /// Number of channels.
    pub channels: usize,
    /// Number of columns: azimuth steps.
    pub columns: usize,
    /// Azimuth step, rad.
    pub step: f64,
    /// Step of which the ranges are multiples, m; 0 if there is none.
    pub range_step: f64,
    /// Median over the directions of the standard deviation of the elevation, rad: zero unless the pattern does not repeat.
    pub elevation_spread: f64,
    /// Median shift of the directions from scan to scan, columns, from 0 to 0.5: zero where a turn is a whole number of firing
    /// periods.
    pub drift: f64,
    /// Cells by channel, then column.
    pub(super) cells: Vec<Cell>,
    /// Recordings of consecutive scans with nearly the same directions, if those of all scans differ and drift slowly.
    blocks: Vec<StandingRecording>,
}

/// A direction: the ranges of all scans.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Cell {
    /// Mean unit vector.
    pub direction: Vector3<f64>,
    /// Range of each scan, m; `None` without a return.
    pub ranges: Vec<Option<f64>>,
    /// Slope of the range over the azimuth, m/rad; `None` next to an edge or without neighbours.
    pub slope: Option<f64>,
}

/// Change of the slope between neighbouring cells, relative to the range and per cell, at an edge.
const EDGE: f64 = 0.02;

/// Greatest difference of the directions of the scans of a block, columns.
const MOST_DRIFT: f64 = 0.1;

/// Least number of scans of a block.
const LEAST_SCANS: usize = 3;

/// Least mean resultant length of the shifts of the beams between two scans that have a common shift.
const COMMON: f64 = 0.8;

impl StandingRecording {
    /// Recording from planar scans.
    pub fn from_scans(scans: &[Scan]) -> Self {
        let beams = |scan: &Scan| -> Vec<StandingBeam> {
            let pairs = scan.azimuths.iter().zip(&scan.readings);
            let beam = |(azimuth, reading): (&f64, &etendue_sensors::RangeReading)| {
                let range = reading.range().filter(|range| *range > 0.0)?;
                Some(StandingBeam {
                    channel: 0,
                    direction: Vector3::new(azimuth.cos(), azimuth.sin(), 0.0),
                    range,
                })
            };
            pairs.filter_map(beam).collect()
        };
        let scans: Vec<_> = scans.iter().map(beams).collect();
        Self::from_beams(&scans)
    }

    /// Recording from the returns of each scan. Of several returns in a cell, the first counts. Scans with less than
    /// 90 % of the median number of returns, such as the first and the last rotation of a capture, are left out.
    pub fn from_beams(scans: &[Vec<StandingBeam>]) -> Self {
        let mut counts: Vec<f64> = scans.iter().map(|beams| beams.len() as f64).collect();
        let least = 0.9 * median(&mut counts).unwrap_or(0.0);
        let whole_scans = scans.iter().filter(|beams| beams.len() as f64 >= least);
        let scans: &[&Vec<StandingBeam>] = &whole_scans.collect::<Vec<_>>();
        // Find the azimuth step, the channels and the shifts of the directions.
        let step = azimuth_step(scans).unwrap_or(0.01);
        let all = || scans.iter().copied().flatten();
        let channels = all().map(|beam| usize::from(beam.channel) + 1).max();
        let channels = channels.unwrap_or(0);
        let shifts = shifts(scans, channels, step);
        let mut sizes: Vec<f64> = shifts.iter().map(|shift| shift.abs()).collect();
        // Arrange all scans, and those of each block.
        let range_step = range_step(scans);
        let arranged = |scans: &[&Vec<StandingBeam>], centres: &[f64]| Self {
            range_step,
            ..Self::arranged(scans, channels, step, centres)
        };
        let mut recording = arranged(scans, &vec![0.0; channels]);
        recording.drift = median(&mut sizes).unwrap_or(0.0);
        let block = |scans: &[&Vec<StandingBeam>]| arranged(scans, &centres(scans, channels, step));
        let own = |range: Range<usize>| block(&scans[range]);
        recording.blocks = blocks(&shifts).into_iter().map(own).collect();
        recording
    }

    /// The scans in cells of one channel and one step. Column $n$ is about the azimuth $n$ minus `centres` of the channel, in
    /// steps from the least one.
    fn arranged(scans: &[&Vec<StandingBeam>], channels: usize, step: f64, centres: &[f64]) -> Self {
        let all = || scans.iter().copied().flatten();
        let column = |beam: &StandingBeam| {
            ((azimuth(beam) - FIRST) / step + centres[usize::from(beam.channel)]).round()
        };
        let columns = whole(all().map(column).fold(-1.0, f64::max) + 1.0);
        let empty = Cell {
            ranges: vec![None; scans.len()],
            ..Cell::default()
        };
        let mut cells = vec![empty; channels * columns];
        // Sort the beams into cells, with their azimuths relative to the centre.
        let mut offsets = vec![vec![0.0; scans.len()]; cells.len()];
        let mut elevations = vec![Vec::new(); cells.len()];
        for (scan, beams) in scans.iter().enumerate() {
            for beam in *beams {
                let place = column(beam);
                let channel = usize::from(beam.channel);
                let index = channel * columns + whole(place);
                let cell = &mut cells[index];
                if cell.ranges[scan].is_none() {
                    cell.ranges[scan] = Some(beam.range);
                    cell.direction += beam.direction;
                    elevations[index].push(beam.direction.z.asin());
                    offsets[index][scan] =
                        azimuth(beam) - FIRST - (place - centres[channel]) * step;
                }
            }
        }
        for cell in &mut cells {
            cell.direction = cell.direction.try_normalize(0.0).unwrap_or_default();
        }
        let mut recording = Self {
            scans: scans.len(),
            channels,
            columns,
            step,
            range_step: 0.0,
            elevation_spread: median_spread(&elevations),
            drift: 0.0,
            cells,
            blocks: Vec::new(),
        };
        recording.correct(&offsets);
        recording
    }

    /// The recordings of scans with nearly the same directions: this one, or its blocks where the directions drift slowly.
    pub(super) fn repeated(&self) -> &[Self] {
        if self.blocks.is_empty() {
            std::slice::from_ref(self)
        } else {
            &self.blocks
        }
    }

    /// Whether the directions drift so fast that few consecutive scans have the same.
    pub fn drifts_fast(&self) -> bool {
        self.blocks.is_empty() && self.drift > MOST_DRIFT / LEAST_SCANS as f64
    }

    /// Sets the slopes, and corrects the ranges to the mean azimuth of their cell.
    fn correct(&mut self, offsets: &[Vec<f64>]) {
        let medians: Vec<Option<f64>> = self.cells.iter().map(Cell::median).collect();
        for (index, own) in offsets.iter().enumerate() {
            let column = index % self.columns;
            if column == 0 || column + 1 == self.columns {
                continue;
            }
            let [before, here, after] = [index - 1, index, index + 1].map(|near| medians[near]);
            let (Some(before), Some(here), Some(after)) = (before, here, after) else {
                continue;
            };
            if (before - 2.0 * here + after).abs() > EDGE * here {
                continue;
            }
            let slope = 0.5 * (after - before) / self.step;
            let cell = &mut self.cells[index];
            cell.slope = Some(slope);
            let used: Vec<f64> = (cell.ranges.iter().zip(own))
                .filter_map(|(range, offset)| range.map(|_| *offset))
                .collect();
            let mean = used.iter().sum::<f64>() / used.len().max(1) as f64;
            for (range, offset) in cell.ranges.iter_mut().zip(own) {
                *range = range.map(|range| range - slope * (offset - mean));
            }
        }
    }
}

impl Cell {
    /// Median of the ranges, m.
    fn median(&self) -> Option<f64> {
        let mut ranges: Vec<f64> = self.ranges.iter().flatten().copied().collect();
        median(&mut ranges)
    }
}

/// Number of a column.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "azimuths are at least -pi, and steps above 1e-5"
)]
fn whole(column: f64) -> usize {
    column as usize
}

/// Step of which nearly all ranges are multiples, m: their least difference; 0 if there is none.
fn range_step(scans: &[&Vec<StandingBeam>]) -> f64 {
    let mut ranges: Vec<f64> = (scans.iter().copied().flatten())
        .map(|beam| beam.range)
        .collect();
    ranges.sort_by(f64::total_cmp);
    let differences = ranges.windows(2).map(|two| two[1] - two[0]);
    let step = differences
        .filter(|step| *step > SAME)
        .fold(f64::INFINITY, f64::min);
    // Differences of ranges in single precision: round to 0.01 mm.
    let step = (step * 1e5).round() * 1e-5;
    let is_multiple = |range: &&f64| (*range / step - (*range / step).round()).abs() * step < SAME;
    let multiples = ranges.iter().filter(is_multiple).count();
    if step.is_finite() && 100 * multiples > 99 * ranges.len() {
        step
    } else {
        0.0
    }
}

/// Median of the standard deviations of several samples; 0 without a sample of two values.
fn median_spread(samples: &[Vec<f64>]) -> f64 {
    let deviation = |values: &Vec<f64>| {
        let middle = mean(values);
        let deviations: Vec<f64> = values.iter().map(|value| value - middle).collect();
        root_mean_square(&deviations)
    };
    let several = samples.iter().filter(|values| values.len() > 1);
    let mut spreads: Vec<f64> = several.map(deviation).collect();
    median(&mut spreads).unwrap_or(0.0)
}

/// Difference below which two ranges are equal, m: that of single precision at 200 m.
const SAME: f64 = 2e-5;

/// Least azimuth, rad.
const FIRST: f64 = -std::f64::consts::PI;

/// Azimuth of a beam, rad, in (-pi, pi].
fn azimuth(beam: &StandingBeam) -> f64 {
    wrap_to_pi(beam.direction.y.atan2(beam.direction.x))
}

/// Common shift of the directions from each scan to the next, columns, from -0.5 to 0.5; 0 where the beams have none in common.
fn shifts(scans: &[&Vec<StandingBeam>], channels: usize, step: f64) -> Vec<f64> {
    // Azimuths of each scan by channel
    let sorted = |beams: &&Vec<StandingBeam>| {
        let mut azimuths = vec![Vec::new(); channels];
        for beam in *beams {
            azimuths[usize::from(beam.channel)].push(azimuth(beam));
        }
        for own in &mut azimuths {
            own.sort_by(f64::total_cmp);
        }
        azimuths
    };
    let azimuths: Vec<Vec<Vec<f64>>> = scans.iter().map(sorted).collect();
    // Differences from the next azimuth of the other scan, as angles of a turn per column
    let shift = |two: &[Vec<Vec<f64>>]| {
        let channels = two[0].iter().zip(&two[1]);
        let differences = channels.flat_map(|(before, after)| {
            let next = |azimuth: &f64| before.partition_point(|other| other < azimuth);
            after
                .iter()
                .filter_map(move |azimuth| Some((azimuth - before.get(next(azimuth))?) / step))
        });
        let [shift, length] = circular_mean(differences);
        if length > COMMON { shift } else { 0.0 }
    };
    azimuths.windows(2).map(shift).collect()
}

/// Circular mean of numbers with the period 1, from -0.5 to 0.5, and its resultant length.
fn circular_mean(numbers: impl Iterator<Item = f64>) -> [f64; 2] {
    let mut sum = [0.0; 3];
    for number in numbers {
        let (sin, cos) = (TAU * number).sin_cos();
        sum = [sum[0] + cos, sum[1] + sin, sum[2] + 1.0];
    }
    let [cos, sin, count] = sum;
    [sin.atan2(cos) / TAU, cos.hypot(sin) / count.max(1.0)]
}

/// Ranges of consecutive scans whose directions differ by at most [`MOST_DRIFT`], if those of all scans differ by more, and
/// half of them are in ranges of [`LEAST_SCANS`] or more; others are left out.
fn blocks(shifts: &[f64]) -> Vec<Range<usize>> {
    let (mut blocks, mut first, mut drift) = (Vec::new(), 0, [0.0_f64; 3]);
    for (scan, shift) in (1..).zip(shifts) {
        let [now, least, most] = drift;
        let now = now + shift;
        drift = [now, least.min(now), most.max(now)];
        if drift[2] - drift[1] > MOST_DRIFT {
            blocks.push(first..scan);
            (first, drift) = (scan, [0.0; 3]);
        }
    }
    blocks.push(first..shifts.len() + 1);
    if blocks.len() == 1 {
        return Vec::new();
    }
    blocks.retain(|block| block.len() >= LEAST_SCANS);
    let used: usize = blocks.iter().map(Range::len).sum();
    if 2 * used > shifts.len() {
        blocks
    } else {
        Vec::new()
    }
}

/// Shifts of the columns of each channel, so that its beams are at their centres.
fn centres(scans: &[&Vec<StandingBeam>], channels: usize, step: f64) -> Vec<f64> {
    let of_channel = |channel: usize| {
        let all = scans.iter().copied().flatten();
        let own = all.filter(|beam| usize::from(beam.channel) == channel);
        let [phase, _] = circular_mean(own.map(|beam| (azimuth(beam) - FIRST) / step));
        // Columns are numbered from 0.
        if phase > 0.0 { 1.0 - phase } else { -phase }
    };
    (0..channels).map(of_channel).collect()
}

/// Median difference of the azimuths of successive beams of a channel, rad.
fn azimuth_step(scans: &[&Vec<StandingBeam>]) -> Option<f64> {
    let mut steps = Vec::new();
    for beams in scans.iter().take(10) {
        let mut by_channel: BTreeMap<u16, Vec<f64>> = BTreeMap::new();
        for beam in *beams {
            by_channel
                .entry(beam.channel)
                .or_default()
                .push(azimuth(beam));
        }
        for azimuths in by_channel.values_mut() {
            azimuths.sort_by(f64::total_cmp);
            let differences = azimuths.windows(2).map(|two| two[1] - two[0]);
            steps.extend(differences.filter(|step| *step > 1e-5));
        }
    }
    median(&mut steps)
}
