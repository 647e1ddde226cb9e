//! Whether the sensor of a recording is stationary.

use super::motion::PanelMotion;
use super::panel_struct::Panel;
use super::region::{Region, regions};
use crate::noise::error::NoiseError;
use crate::noise::recording::{DirectionCell, PanelRecording};
use etendue_physics::statistics::median;
use std::collections::BTreeSet;

/// Change of the ranges of a recording over time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RangeChange {
    /// Fraction of the directions whose range changed.
    pub changed: f64,
    /// Number of directions that were compared.
    pub directions: usize,
    /// Median change of these directions, relative to the range.
    pub median: f64,
}

/// Number of blocks of successive scans that are compared.
const BLOCKS: usize = 8;

/// Least number of scans.
const LEAST_SCANS: usize = 4;

/// Least number of directions.
const LEAST_DIRECTIONS: usize = 20;

/// Change of a range that counts: relative to the range, and in m.
const CHANGE: [f64; 2] = [0.03, 0.01];

/// The same, in robust standard deviations of the median of a block.
const CHANGE_OVER_NOISE: f64 = 6.0;

/// Greatest standard deviation of the median of a block that is attributed to noise, relative to the range.
const LARGEST_NOISE: f64 = 0.01;

/// Greatest standard deviation of the ranges of a block at rest, relative to the range.
const STEADY: f64 = 0.05;

/// The same, in standard deviations of the ranges within a scan.
const STEADY_OVER_NOISE: f64 = 3.0;

/// Greatest standard deviation of the ranges within a scan that is attributed to the sensor, m.
const LARGEST_SENSOR_NOISE: f64 = 0.03;

/// Fraction of the blocks of a direction that agree where its range is unchanged.
const AGREEING: f64 = 0.6;

/// Fraction of changed directions from which the sensor moves: people and other clutter change fewer.
const MOST_CHANGED: f64 = 0.5;

impl RangeChange {
    /// Compares the medians of up to eight blocks of successive scans in each direction; `None` with too few
    /// scans or directions. A direction changed if fewer than 60 % of its blocks agree: within 3 % of the range
    /// and 10 mm, and within the noise of a block (at most 1 % of the range). Blocks without returns agree with no
    /// other, nor do those whose ranges have a standard deviation above 5 % of the range and 10 mm: a sensor that
    /// turns by degrees from scan to scan sees another range in each of them. Where a person walks past, most
    /// blocks agree.
    ///
    /// Directions of a pattern that does not repeat have no beam in most scans. There, regions of 0.5 to 8 degrees
    /// without edges are compared, their ranges corrected by the slope of a plane. The noise of a block is then also
    /// that of ranges within a scan (at most 30 mm), which motion between scans does not increase.
    pub fn of(recording: &PanelRecording) -> Option<Self> {
        if recording.scans < LEAST_SCANS {
            return None;
        }
        let blocks = Blocks::of(recording);
        let repeats = recording.has_drop_outs || recording.planar;
        let changes: Vec<[f64; 2]> = if repeats {
            let cells = recording.cells.iter();
            cells.filter_map(|cell| blocks.change(cell, 0.0)).collect()
        } else {
            let regions = regions(recording).into_iter();
            let change = |region: Region| {
                let noise = region.noise.min(LARGEST_SENSOR_NOISE);
                blocks.change(&region.cell, noise)
            };
            regions.filter_map(change).collect()
        };
        if changes.len() < LEAST_DIRECTIONS {
            return None;
        }
        let changed = changes.iter().filter(|[_, agreeing]| *agreeing < AGREEING);
        let changed = changed.count() as f64 / changes.len() as f64;
        let mut relative: Vec<f64> = changes.iter().map(|[change, _]| *change).collect();
        Some(Self {
            changed,
            directions: changes.len(),
            median: median(&mut relative).unwrap_or(0.0),
        })
    }

    /// Whether the ranges are those of a moving sensor: more than half of the directions changed.
    pub fn is_motion(&self) -> bool {
        self.changed > MOST_CHANGED
    }
}

/// Ranges of one direction in a block of scans.
struct Block {
    /// Median, m.
    median: f64,
    /// Robust standard deviation of one range, m.
    deviation: f64,
    /// Number of ranges.
    count: usize,
}

impl Block {
    /// `None` without ranges.
    fn of(mut ranges: Vec<f64>) -> Option<Self> {
        let middle = median(&mut ranges)?;
        let mut deviations: Vec<f64> = ranges.iter().map(|r| (r - middle).abs()).collect();
        Some(Self {
            median: middle,
            deviation: 1.4826 * median(&mut deviations)?,
            count: ranges.len(),
        })
    }

    /// Standard deviation of the median that is attributed to noise, m. `known` is the noise of a range, m.
    fn noise(&self, known: f64) -> f64 {
        let of_median = |deviation: f64| deviation / (self.count as f64).sqrt();
        let largest = (LARGEST_NOISE * self.median).max(of_median(known));
        of_median(self.deviation).min(largest)
    }

    /// Whether the ranges are those of a sensor at rest. `known` is the noise of a range, m.
    fn is_steady(&self, known: f64) -> bool {
        let most = (STEADY * self.median).max(CHANGE[1]);
        self.deviation < most.max(STEADY_OVER_NOISE * known)
    }
}

/// Division of the scans of a recording into blocks.
struct Blocks {
    /// Numbers of the scans, ascending: those of a part of a recording have gaps.
    scans: Vec<u32>,
    /// Number of scans of a block.
    length: usize,
}

impl Blocks {
    fn of(recording: &PanelRecording) -> Self {
        let samples = recording.cells.iter().flat_map(|cell| &cell.samples);
        let scans: BTreeSet<u32> = samples.map(|sample| sample.scan).collect();
        Self {
            length: scans.len().div_ceil(BLOCKS).max(2),
            scans: scans.into_iter().collect(),
        }
    }

    /// Greatest difference of the medians of blocks relative to the range, and the fraction of the blocks that
    /// agree; `None` unless half of the blocks have returns. `known` is the noise of a range, m.
    fn change(&self, cell: &DirectionCell, known: f64) -> Option<[f64; 2]> {
        // Blocks with at least two returns, and blocks without returns
        let mut ranges = vec![Vec::new(); self.scans.len().div_ceil(self.length)];
        for sample in &cell.samples {
            let order = self.scans.partition_point(|scan| *scan < sample.scan);
            ranges[order / self.length].extend(sample.range);
        }
        let all = ranges.len();
        let empty = ranges.iter().filter(|block| block.is_empty()).count();
        let several = ranges.into_iter().filter(|block| block.len() >= 2);
        let blocks: Vec<Block> = several.filter_map(Block::of).collect();
        if 2 * blocks.len() < all || blocks.len() < 2 {
            return None;
        }

        // Fraction of the blocks that agree with the block that most agree with
        let medians = blocks.iter().map(|block| block.median);
        let least = medians.clone().fold(f64::INFINITY, f64::min);
        let most = medians.fold(0.0, f64::max);
        let noise = blocks.iter().map(|block| block.noise(known));
        let noise = noise.fold(0.0, f64::max);
        let limit = (CHANGE[0] * least)
            .max(CHANGE[1])
            .max(CHANGE_OVER_NOISE * noise);
        let steady = || blocks.iter().filter(|block| block.is_steady(known));
        let agreeing = |one: &Block| {
            let near = steady().filter(|other| (other.median - one.median).abs() < limit);
            near.count()
        };
        let most_agreeing = steady().map(agreeing).max().unwrap_or(0);
        let fraction = most_agreeing as f64 / (blocks.len() + empty) as f64;
        Some([(most - least) / least, fraction])
    }
}

/// Rejects the recording of a moving sensor.
///
/// # Errors
/// If the ranges of more than half of the directions changed.
pub(super) fn check_stationary(recording: &PanelRecording) -> Result<(), NoiseError> {
    match RangeChange::of(recording) {
        Some(found) if found.is_motion() => Err(NoiseError::Moving {
            recording: recording.name.clone(),
            changed: found.changed,
            directions: found.directions,
            median: found.median,
        }),
        _ => Ok(()),
    }
}

/// Largest rotation of a panel that is tracked, degrees.
const LARGEST_TURN_DEG: f64 = 10.0;

/// Largest change of the distance that is tracked, relative to the distance.
const LARGEST_SHIFT: f64 = 0.1;

/// Least fraction of the scans in which a panel that moves is near its median pose.
const IN_PLACE: f64 = 0.7;

/// Least number of directions of a panel whose pose in each scan is known.
const LEAST_TRACKED: usize = 24;

/// Rejects a panel that moves too far relative to the sensor.
///
/// # Errors
/// If it turned by more than 10 degrees, moved by more than 10 % of its distance, or is away from its median
/// pose in more than 30 % of the scans.
pub(super) fn check_in_place(recording: &PanelRecording, panel: &Panel) -> Result<(), NoiseError> {
    if panel.directions < LEAST_TRACKED {
        return Ok(());
    }
    let motion = PanelMotion::tracked(recording, &panel.plane, &panel.sector);
    let is_away = (motion.scans() as f64) < IN_PLACE * recording.scans as f64;
    if panel.motion.is_none() && !is_away {
        return Ok(());
    }
    let [turn, shift] = if motion.scans() > 0 {
        let [turn, distance] = motion.extent(&panel.plane).map(|[low, high]| high - low);
        [turn.to_degrees(), distance / panel.plane.distance]
    } else {
        [0.0; 2]
    };
    if turn > LARGEST_TURN_DEG || shift > LARGEST_SHIFT || is_away {
        return Err(NoiseError::PanelMoves {
            recording: recording.name.clone(),
            turn_deg: turn,
            shift_percent: 1e2 * shift,
            scans: motion.scans(),
            all: recording.scans,
        });
    }
    Ok(())
}
