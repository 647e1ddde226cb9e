//! Recordings of panels, arranged by direction.

use super::error::NoiseError;
use super::quantisation::detect_steps;
use etendue_physics::angle::wrap_to_pi;
use etendue_physics::profile::Steps;
use etendue_physics::statistics::median;
use etendue_sensors::{RangeReading, Scan};
use nalgebra::Vector3;
use std::collections::BTreeMap;
use std::f64::consts::TAU;
use std::sync::Arc;

/// Recording of a stationary sensor, arranged by direction.
#[derive(Clone, Debug, PartialEq)]
pub struct PanelRecording {
    /// Name in messages.
    pub name: String,
    /// Number of scans.
    pub scans: usize,
    /// Whether all directions are in the x-y plane of the sensor.
    pub planar: bool,
    /// Whether the device reports intensities.
    pub has_intensity: bool,
    /// Whether the beams without a return are in the recording, so that it determines the drop-out.
    pub has_drop_outs: bool,
    /// The directions; of a planar sensor by ascending azimuth.
    pub cells: Vec<DirectionCell>,
}

/// One direction and its beams.
#[derive(Clone, Debug, PartialEq)]
pub struct DirectionCell {
    /// Unit vector in the sensor frame.
    pub direction: Vector3<f64>,
    /// Its beams, ordered by scan.
    pub samples: Vec<BeamSample>,
}

/// One beam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BeamSample {
    /// Index of the scan.
    pub scan: u32,
    /// Azimuth and elevation relative to the direction of the cell, rad.
    pub offset: [f32; 2],
    /// Reported range, m; `None` for a drop-out.
    pub range: Option<f64>,
    /// Reported intensity; 0 if the device reports none.
    pub intensity: f32,
}

impl PanelRecording {
    /// Recording from planar scans. If all scans have the same azimuths, each azimuth is a direction;
    /// otherwise directions are bins of the mean azimuth step, and each beam keeps its azimuth.
    ///
    /// # Errors
    /// If there is no scan.
    pub fn from_scans(name: &str, scans: &[Scan]) -> Result<Self, NoiseError> {
        let Some(first) = scans.first() else {
            return Err(NoiseError::Empty {
                recording: name.into(),
            });
        };
        let same = |scan: &Scan| {
            Arc::ptr_eq(&scan.azimuths, &first.azimuths) || scan.azimuths == first.azimuths
        };
        let mut cells = if scans.iter().all(same) {
            fixed(scans, &first.azimuths)
        } else {
            binned(scans)
        };
        cells.sort_by(|a, b| azimuth(&a.direction).total_cmp(&azimuth(&b.direction)));
        Ok(Self {
            name: name.into(),
            scans: scans.len(),
            planar: true,
            has_intensity: scans.iter().any(|scan| !scan.intensities.is_empty()),
            has_drop_outs: true,
            cells,
        })
    }

    /// Number of beams.
    pub fn beams(&self) -> usize {
        self.cells.iter().map(|cell| cell.samples.len()).sum()
    }

    /// The part of the recording with the scans that `keep` selects.
    #[must_use]
    pub fn of_scans(&self, keep: impl Fn(u32) -> bool) -> Self {
        let cells = self.cells.iter().map(|cell| {
            let samples = cell.samples.iter().filter(|sample| keep(sample.scan));
            DirectionCell {
                direction: cell.direction,
                samples: samples.copied().collect(),
            }
        });
        let kept = (0..self.scans).filter(|scan| keep(u32::try_from(*scan).unwrap_or(u32::MAX)));
        Self {
            name: self.name.clone(),
            scans: kept.count(),
            cells: cells.collect(),
            ..*self
        }
    }

    /// Checks that there are returns, and that all ranges have the same unit.
    ///
    /// # Errors
    /// If no beam returned, or ranges of one direction differ by a factor of about a thousand.
    pub fn check(&self) -> Result<(), NoiseError> {
        // Check that a beam returned.
        let returning = self.cells.iter().filter(|cell| cell.median().is_some());
        if returning.clone().next().is_none() {
            return Err(NoiseError::AllDropped {
                recording: self.name.clone(),
                beams: self.beams(),
                scans: self.scans,
            });
        }
        // Check that the ranges of a direction have one unit: ratios of about a thousand are metres and mm.
        for cell in returning {
            let median = cell.median().unwrap_or(1.0);
            let is_other_unit = |ratio: f64| (600.0..1600.0).contains(&ratio.max(1.0 / ratio));
            let outlier = cell.samples.iter().find_map(|sample| {
                let range = sample.range.filter(|r| is_other_unit(r / median));
                range.map(|range| (sample.scan, range))
            });
            if let Some((scan, range)) = outlier {
                return Err(NoiseError::MixedUnits {
                    recording: self.name.clone(),
                    scan,
                    range,
                    median,
                });
            }
        }
        Ok(())
    }

    /// Quantisation steps of the ranges.
    pub fn steps(&self) -> Steps {
        let samples = self.cells.iter().flat_map(|cell| &cell.samples);
        detect_steps(samples.filter_map(|sample| sample.range))
    }
}

impl DirectionCell {
    /// Direction of one of the beams.
    pub(super) fn direction_of(&self, sample: &BeamSample) -> Vector3<f64> {
        if sample.offset == [0.0; 2] {
            return self.direction;
        }
        let [of_azimuth, of_elevation] = sample.offset.map(f64::from);
        let [azimuth, elevation] = angles(&self.direction);
        direction_at([azimuth + of_azimuth, elevation + of_elevation])
    }

    /// Median of the ranges, m, if any beam returned.
    pub fn median(&self) -> Option<f64> {
        let mut ranges: Vec<f64> = self
            .samples
            .iter()
            .filter_map(|sample| sample.range)
            .collect();
        median(&mut ranges)
    }

    /// Fraction of beams that returned.
    pub fn returned(&self) -> f64 {
        let returned = self.samples.iter().filter(|sample| sample.range.is_some());
        returned.count() as f64 / self.samples.len().max(1) as f64
    }
}

/// Azimuth of a direction, rad, in (-pi, pi].
pub(super) fn azimuth(direction: &Vector3<f64>) -> f64 {
    direction.y.atan2(direction.x)
}

/// Azimuth and elevation of a direction, rad.
pub(super) fn angles(direction: &Vector3<f64>) -> [f64; 2] {
    let level = direction.x.hypot(direction.y);
    [azimuth(direction), direction.z.atan2(level)]
}

/// The direction of an azimuth and an elevation, rad.
pub(super) fn direction_at([azimuth, elevation]: [f64; 2]) -> Vector3<f64> {
    let level = elevation.cos();
    Vector3::new(
        level * azimuth.cos(),
        level * azimuth.sin(),
        elevation.sin(),
    )
}

/// The direction of an azimuth in the x-y plane.
pub(super) fn planar(azimuth: f64) -> Vector3<f64> {
    Vector3::new(azimuth.cos(), azimuth.sin(), 0.0)
}

/// Whether an azimuth is between two others, anticlockwise from the first to the second.
pub(super) fn is_between(azimuth: f64, [from, to]: [f64; 2]) -> bool {
    (azimuth - from).rem_euclid(TAU) <= (to - from).rem_euclid(TAU)
}

/// Sample of a scan at offsets of azimuth and elevation (rad).
#[expect(
    clippy::cast_possible_truncation,
    reason = "scans are fewer than 2^32, and an offset within a cell is small"
)]
pub(super) fn sample(
    scan: usize,
    offset: [f64; 2],
    reading: RangeReading,
    intensity: Option<&f32>,
) -> BeamSample {
    BeamSample {
        scan: scan as u32,
        offset: offset.map(|angle| angle as f32),
        range: reading.range().filter(|r| *r > 0.0 && r.is_finite()),
        intensity: intensity.copied().unwrap_or(0.0),
    }
}

/// Directions of scans with the same azimuths.
fn fixed(scans: &[Scan], azimuths: &[f64]) -> Vec<DirectionCell> {
    let cell = |(beam, azimuth): (usize, &f64)| {
        let samples = scans.iter().enumerate().map(|(number, scan)| {
            sample(
                number,
                [0.0; 2],
                scan.readings[beam],
                scan.intensities.get(beam),
            )
        });
        DirectionCell {
            direction: planar(*azimuth),
            samples: samples.collect(),
        }
    };
    azimuths.iter().enumerate().map(cell).collect()
}

/// Directions of scans with varying azimuths: bins of the mean azimuth step.
fn binned(scans: &[Scan]) -> Vec<DirectionCell> {
    // Assign the samples to bins of azimuth, as wide as the mean step between beams.
    let beams: usize = scans.iter().map(|scan| scan.readings.len()).sum();
    let width = TAU / (beams as f64 / scans.len() as f64).max(1.0);
    let mut cells: BTreeMap<i64, Vec<BeamSample>> = BTreeMap::new();
    for (number, scan) in scans.iter().enumerate() {
        for (beam, azimuth) in scan.azimuths.iter().enumerate() {
            let azimuth = wrap_to_pi(*azimuth);
            #[expect(clippy::cast_possible_truncation, reason = "a turn has few bins")]
            let bin = (azimuth / width).floor() as i64;
            let offset = azimuth - (bin as f64 + 0.5) * width;
            let sample = sample(
                number,
                [offset, 0.0],
                scan.readings[beam],
                scan.intensities.get(beam),
            );
            cells.entry(bin).or_default().push(sample);
        }
    }
    // One cell for each bin, in the order of azimuth.
    cells
        .into_iter()
        .map(|(bin, samples)| DirectionCell {
            direction: planar((bin as f64 + 0.5) * width),
            samples,
        })
        .collect()
}
