//! Recordings of panels, arranged by direction.

use super::error::NoiseError;
use super::quantisation::detect_steps;
use etendue_physics::angle::wrap_to_pi;
use etendue_physics::profile::Steps;
use etendue_physics::statistics::median;
use etendue_sensors::{RangeReading, Scan};
use nalgebra::{Point3, Vector3};
use std::collections::BTreeMap;
use std::f64::consts::{PI, TAU};
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
    /// Azimuth relative to the direction of the cell, anticlockwise, rad.
    pub azimuth_offset: f32,
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
            cells,
        })
    }

    /// Recording from point clouds in the sensor frame, one per scan: points (not finite: dropped) and
    /// their intensities, possibly empty. If all clouds have the same number of points, each index is a
    /// direction (the grid of a spinning lidar); otherwise directions are bins of 0.2 degrees, and a scan
    /// without a point in a bin counts as a drop-out. The recording is planar if all points are in the
    /// x-y plane of the sensor.
    ///
    /// # Errors
    /// If there is no cloud.
    pub fn from_clouds(
        name: &str,
        clouds: &[(Vec<Point3<f64>>, Vec<f32>)],
    ) -> Result<Self, NoiseError> {
        let Some((first, _)) = clouds.first() else {
            return Err(NoiseError::Empty {
                recording: name.into(),
            });
        };
        // Group the points by their index in a grid, otherwise by direction.
        let is_grid = clouds.iter().all(|(points, _)| points.len() == first.len())
            && clouds
                .iter()
                .any(|(points, _)| points.iter().any(|point| !is_return(point)));
        let mut cells = if is_grid {
            grid(clouds)
        } else {
            directions(clouds)
        };
        // Order the directions of a planar scanner by azimuth.
        let is_level = |cell: &DirectionCell| cell.direction.z.abs() < LEVEL;
        let planar = !cells.is_empty() && cells.iter().all(is_level);
        if planar {
            cells.sort_by(|a, b| azimuth(&a.direction).total_cmp(&azimuth(&b.direction)));
        }
        Ok(Self {
            name: name.into(),
            scans: clouds.len(),
            planar,
            has_intensity: clouds
                .iter()
                .any(|(_, intensities)| !intensities.is_empty()),
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
        if sample.azimuth_offset == 0.0 {
            return self.direction;
        }
        planar(azimuth(&self.direction) + f64::from(sample.azimuth_offset))
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

/// Greatest elevation of a direction in the x-y plane, rad.
const LEVEL: f64 = 1e-5;

/// Azimuth of a direction, rad, in (-pi, pi].
pub(super) fn azimuth(direction: &Vector3<f64>) -> f64 {
    direction.y.atan2(direction.x)
}

/// The direction of an azimuth in the x-y plane.
pub(super) fn planar(azimuth: f64) -> Vector3<f64> {
    Vector3::new(azimuth.cos(), azimuth.sin(), 0.0)
}

/// Whether an azimuth is between two others, anticlockwise from the first to the second.
pub(super) fn is_between(azimuth: f64, [from, to]: [f64; 2]) -> bool {
    (azimuth - from).rem_euclid(TAU) <= (to - from).rem_euclid(TAU)
}

/// Sample of a scan at an azimuth offset (rad).
#[expect(
    clippy::cast_possible_truncation,
    reason = "scans are fewer than 2^32, and an offset within a cell is small"
)]
fn sample(
    scan: usize,
    azimuth_offset: f64,
    reading: RangeReading,
    intensity: Option<&f32>,
) -> BeamSample {
    BeamSample {
        scan: scan as u32,
        azimuth_offset: azimuth_offset as f32,
        range: reading.range().filter(|r| *r > 0.0 && r.is_finite()),
        intensity: intensity.copied().unwrap_or(0.0),
    }
}

/// Directions of scans with the same azimuths.
fn fixed(scans: &[Scan], azimuths: &[f64]) -> Vec<DirectionCell> {
    let cell = |(beam, azimuth): (usize, &f64)| {
        let samples = scans.iter().enumerate().map(|(number, scan)| {
            sample(number, 0.0, scan.readings[beam], scan.intensities.get(beam))
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
                offset,
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

/// Whether a point is a return, not a placeholder of a drop-out.
fn is_return(point: &Point3<f64>) -> bool {
    let distance = point.coords.norm();
    distance > 0.0 && distance.is_finite()
}

/// Sample of a point of a cloud.
fn point_sample(scan: usize, point: Option<&Point3<f64>>, intensity: Option<&f32>) -> BeamSample {
    let range = point.filter(|p| is_return(p)).map(|p| p.coords.norm());
    let reading = range.map_or(RangeReading::NoReturn, RangeReading::Range);
    sample(scan, 0.0, reading, intensity)
}

/// Directions of clouds with the same number of points; indices that never returned have no
/// direction and are omitted.
fn grid(clouds: &[(Vec<Point3<f64>>, Vec<f32>)]) -> Vec<DirectionCell> {
    let cell = |number: usize| {
        let points = clouds.iter().map(|(points, _)| &points[number]);
        let sum: Vector3<f64> = points
            .filter(|p| is_return(p))
            .map(|p| p.coords.normalize())
            .sum();
        let samples = clouds
            .iter()
            .enumerate()
            .map(|(scan, (points, intensities))| {
                point_sample(scan, points.get(number), intensities.get(number))
            });
        DirectionCell {
            direction: sum.try_normalize(1e-9).unwrap_or(Vector3::zeros()),
            samples: samples.collect(),
        }
    };
    (0..clouds[0].0.len())
        .map(cell)
        .filter(|cell| cell.direction != Vector3::zeros())
        .collect()
}

/// A bin of directions.
#[derive(Default)]
struct DirectionBin {
    /// Sum of the unit directions of its points.
    sum: Vector3<f64>,
    /// Its samples by scan.
    samples: BTreeMap<usize, BeamSample>,
}

/// Directions of unordered clouds: bins of 0.2 degrees of elevation and azimuth.
fn directions(clouds: &[(Vec<Point3<f64>>, Vec<f32>)]) -> Vec<DirectionCell> {
    const WIDTH: f64 = 0.2 * PI / 180.0;
    #[expect(clippy::cast_possible_truncation, reason = "a sphere has few bins")]
    let bin = |angle: f64| (angle / WIDTH).floor() as i64;
    // Sort the points into bins; each bin keeps one sample per scan
    let mut bins: BTreeMap<(i64, i64), DirectionBin> = BTreeMap::new();
    for (scan, (points, intensities)) in clouds.iter().enumerate() {
        for (number, point) in points.iter().enumerate().filter(|(_, p)| is_return(p)) {
            let direction = point.coords.normalize();
            // Elevations of zero plus or minus rounding share a bin
            let elevation = direction.z.asin() + 0.5 * LEVEL;
            let key = (bin(elevation), bin(azimuth(&direction)));
            let found = bins.entry(key).or_default();
            found.sum += direction;
            let sample = point_sample(scan, Some(point), intensities.get(number));
            found.samples.entry(scan).or_insert(sample);
        }
    }

    // Fill missing scans with drop-outs
    bins.into_values()
        .map(|bin| {
            let sample = |scan| {
                let sample = bin.samples.get(&scan).copied();
                sample.unwrap_or_else(|| point_sample(scan, None, None))
            };
            DirectionCell {
                direction: bin.sum.normalize(),
                samples: (0..clouds.len()).map(sample).collect(),
            }
        })
        .collect()
}
