//! Whether the sensor of a recording is stationary.

use super::motion::PanelMotion;
use super::panel_struct::Panel;
use crate::noise::error::NoiseError;
use crate::noise::recording::{DirectionCell, PanelRecording};
use etendue_physics::statistics::median;

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

/// Fraction of the blocks of a direction that agree where its range is unchanged.
const AGREEING: f64 = 0.6;

/// Fraction of changed directions from which the sensor moves: people and other clutter change fewer.
const MOST_CHANGED: f64 = 0.5;

impl RangeChange {
    /// Compares the medians of up to eight blocks of successive scans in each direction; `None` with too few
    /// scans or directions. A direction changed if fewer than 60 % of its blocks agree: within 3 % of the range
    /// and 10 mm, and within the noise of a block. Where a person walks past, most blocks agree.
    pub fn of(recording: &PanelRecording) -> Option<Self> {
        if recording.scans < LEAST_SCANS {
            return None;
        }
        let cells = recording.cells.iter();
        let changes: Vec<[f64; 2]> = cells
            .filter_map(|cell| change(cell, recording.scans))
            .collect();
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

/// Greatest difference of the medians of blocks relative to the range, and the fraction of the blocks that
/// agree; `None` unless half of the blocks have returns.
fn change(cell: &DirectionCell, scans: usize) -> Option<[f64; 2]> {
    // Median and deviation of each block
    let length = scans.div_ceil(BLOCKS).max(2);
    let blocks = scans.div_ceil(length);
    let mut ranges = vec![Vec::new(); blocks];
    for sample in &cell.samples {
        if let Some(block) = ranges.get_mut(sample.scan as usize / length) {
            block.extend(sample.range);
        }
    }
    let mut medians = Vec::new();
    let mut noise: f64 = 0.0;
    for block in ranges.iter_mut().filter(|block| block.len() >= 2) {
        let count = block.len() as f64;
        let middle = median(block)?;
        let mut deviations: Vec<f64> = block.iter().map(|r| (r - middle).abs()).collect();
        noise = noise.max(1.4826 * median(&mut deviations)? / count.sqrt());
        medians.push(middle);
    }
    if 2 * medians.len() < blocks || medians.len() < 2 {
        return None;
    }

    // Compare them
    let least = medians.iter().copied().fold(f64::INFINITY, f64::min);
    let most = medians.iter().copied().fold(0.0, f64::max);
    let limit = (CHANGE[0] * least)
        .max(CHANGE[1])
        .max(CHANGE_OVER_NOISE * noise);
    let agreeing = |middle: &f64| {
        medians
            .iter()
            .filter(|m| (*m - middle).abs() < limit)
            .count()
    };
    let most_agreeing = medians.iter().map(agreeing).max()?;
    Some([
        (most - least) / least,
        most_agreeing as f64 / medians.len() as f64,
    ])
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
    let [turn, distance] = motion.extent(&panel.plane);
    let turn = (turn[1] - turn[0]).to_degrees();
    let shift = (distance[1] - distance[0]) / panel.plane.distance;
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
