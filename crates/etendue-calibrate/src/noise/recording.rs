//! Recordings, direction by direction.

use super::NoiseError;
use super::statistics::detect_steps;
use etendue_physics::angle::wrap_to_pi;
use etendue_physics::profile::Steps;
use etendue_physics::statistics::median;
use etendue_sensors::{RangeReading, Scan};
use nalgebra::{Point3, Vector3};
use std::collections::BTreeMap;
use std::f64::consts::{PI, TAU};
use std::sync::Arc;

/// What a sensor saw from one place, direction by direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// What to call it in messages.
    pub name: String,
    /// How many scans.
    pub scans: usize,
    /// Whether all directions lie in the sensor's x-y plane.
    pub planar: bool,
    /// Whether the device gives intensities.
    pub has_intensity: bool,
    /// The directions; of a planar sensor by ascending azimuth.
    pub cells: Vec<DirectionCell>,
}

/// One direction and everything seen there.
#[derive(Clone, Debug, PartialEq)]
pub struct DirectionCell {
    /// Unit vector in the sensor's frame.
    pub direction: Vector3<f64>,
    /// One a beam, by scan.
    pub samples: Vec<BeamSample>,
}

/// One beam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BeamSample {
    /// Number of the scan.
    pub scan: u32,
    /// How far its azimuth lies anticlockwise of the cell's direction, rad.
    pub turn: f32,
    /// Reported range, m; none where it dropped.
    pub range: Option<f64>,
    /// Reported intensity; 0 where the device gives none.
    pub intensity: f32,
}

impl Recording {
    /// From planar scans. Scans of the same azimuths are taken direction by direction; where
    /// azimuths wander from scan to scan, directions are bins of the mean step, and each beam keeps
    /// its own azimuth.
    ///
    /// # Errors
    /// Where there is no scan.
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

    /// From clouds in the sensor's frame, one a scan: points (not finite: dropped) and their
    /// intensities, or none. Clouds of the same number of points are taken point by point (grids of
    /// a spinning lidar); others by bins of direction 0.2 degrees wide, in which a scan without a
    /// point counts as dropped. Where all points lie in the sensor's x-y plane it is a planar one.
    ///
    /// # Errors
    /// Where there is no cloud.
    pub fn from_clouds(
        name: &str,
        clouds: &[(Vec<Point3<f64>>, Vec<f32>)],
    ) -> Result<Self, NoiseError> {
        let Some((first, _)) = clouds.first() else {
            return Err(NoiseError::Empty {
                recording: name.into(),
            });
        };
        let is_grid = clouds.iter().all(|(points, _)| points.len() == first.len())
            && clouds
                .iter()
                .any(|(points, _)| points.iter().any(|point| !is_seen(point)));
        let mut cells = if is_grid {
            grid(clouds)
        } else {
            directions(clouds)
        };
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

    /// How many beams there are.
    pub fn beams(&self) -> usize {
        self.cells.iter().map(|cell| cell.samples.len()).sum()
    }

    /// The same recording with the scans that `keep` says.
    #[must_use]
    pub fn of_scans(&self, keep: impl Fn(u32) -> bool) -> Self {
        let cells = self.cells.iter().map(|cell| DirectionCell {
            direction: cell.direction,
            samples: { cell.samples.iter() }
                .filter(|sample| keep(sample.scan))
                .copied()
                .collect(),
        });
        let kept = (0..self.scans).filter(|scan| keep(u32::try_from(*scan).unwrap_or(u32::MAX)));
        Self {
            name: self.name.clone(),
            scans: kept.count(),
            cells: cells.collect(),
            ..*self
        }
    }

    /// Whether anything returned, and in one unit.
    ///
    /// # Errors
    /// Where nothing did, or ranges of one direction differ by a factor of a thousand.
    pub fn check(&self) -> Result<(), NoiseError> {
        let seen = self.cells.iter().filter(|cell| cell.median().is_some());
        if seen.clone().next().is_none() {
            return Err(NoiseError::AllDropped {
                recording: self.name.clone(),
                beams: self.beams(),
                scans: self.scans,
            });
        }
        for cell in seen {
            let median = cell.median().unwrap_or(1.0);
            let odd = |ratio: f64| (600.0..1600.0).contains(&ratio.max(1.0 / ratio));
            let stray = cell.samples.iter().find_map(|sample| {
                sample
                    .range
                    .filter(|r| odd(r / median))
                    .map(|r| (sample.scan, r))
            });
            if let Some((scan, range)) = stray {
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

    /// The steps of its ranges.
    pub fn steps(&self) -> Steps {
        let samples = self.cells.iter().flat_map(|cell| &cell.samples);
        detect_steps(samples.filter_map(|sample| sample.range))
    }
}

impl DirectionCell {
    /// Median of the ranges, m, if any returned.
    pub fn median(&self) -> Option<f64> {
        let mut ranges: Vec<f64> = self
            .samples
            .iter()
            .filter_map(|sample| sample.range)
            .collect();
        median(&mut ranges)
    }

    /// Share of beams that returned.
    pub fn returned(&self) -> f64 {
        let returned = self.samples.iter().filter(|sample| sample.range.is_some());
        returned.count() as f64 / self.samples.len().max(1) as f64
    }
}

/// A direction is in the x-y plane to this, rad.
const LEVEL: f64 = 1e-5;

/// Azimuth of a direction, rad, in (-pi, pi].
pub(super) fn azimuth(direction: &Vector3<f64>) -> f64 {
    direction.y.atan2(direction.x)
}

/// The direction of an azimuth in the x-y plane.
pub(super) fn planar(azimuth: f64) -> Vector3<f64> {
    Vector3::new(azimuth.cos(), azimuth.sin(), 0.0)
}

/// Whether an azimuth lies between two, anticlockwise from the first to the second.
pub(super) fn is_between(azimuth: f64, [from, to]: [f64; 2]) -> bool {
    (azimuth - from).rem_euclid(TAU) <= (to - from).rem_euclid(TAU)
}

fn sample(scan: usize, turn: f64, reading: RangeReading, intensity: Option<&f32>) -> BeamSample {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "scans are fewer than 2^32, and a turn within a cell is small"
    )]
    let (scan, turn) = (scan as u32, turn as f32);
    BeamSample {
        scan,
        turn,
        range: reading.range().filter(|r| *r > 0.0 && r.is_finite()),
        intensity: intensity.copied().unwrap_or(0.0),
    }
}

fn fixed(scans: &[Scan], azimuths: &[f64]) -> Vec<DirectionCell> {
    let cell = |(beam, azimuth): (usize, &f64)| DirectionCell {
        direction: planar(*azimuth),
        samples: { scans.iter().enumerate() }
            .map(|(number, scan)| {
                sample(number, 0.0, scan.readings[beam], scan.intensities.get(beam))
            })
            .collect(),
    };
    azimuths.iter().enumerate().map(cell).collect()
}

fn binned(scans: &[Scan]) -> Vec<DirectionCell> {
    let beams: usize = scans.iter().map(|scan| scan.readings.len()).sum();
    let width = TAU / (beams as f64 / scans.len() as f64).max(1.0);
    let mut cells: BTreeMap<i64, Vec<BeamSample>> = BTreeMap::new();
    for (number, scan) in scans.iter().enumerate() {
        for (beam, azimuth) in scan.azimuths.iter().enumerate() {
            let azimuth = wrap_to_pi(*azimuth);
            #[expect(clippy::cast_possible_truncation, reason = "a turn has few bins")]
            let bin = (azimuth / width).floor() as i64;
            let turn = azimuth - (bin as f64 + 0.5) * width;
            let sample = sample(
                number,
                turn,
                scan.readings[beam],
                scan.intensities.get(beam),
            );
            cells.entry(bin).or_default().push(sample);
        }
    }
    { cells.into_iter() }
        .map(|(bin, samples)| DirectionCell {
            direction: planar((bin as f64 + 0.5) * width),
            samples,
        })
        .collect()
}

fn is_seen(point: &Point3<f64>) -> bool {
    let distance = point.coords.norm();
    distance > 0.0 && distance.is_finite()
}

fn point_look(scan: usize, point: Option<&Point3<f64>>, intensity: Option<&f32>) -> BeamSample {
    let range = point.filter(|p| is_seen(p)).map(|p| p.coords.norm());
    let reading = range.map_or(RangeReading::NoReturn, RangeReading::Range);
    sample(scan, 0.0, reading, intensity)
}

fn grid(clouds: &[(Vec<Point3<f64>>, Vec<f32>)]) -> Vec<DirectionCell> {
    let cell = |number: usize| {
        let seen = clouds.iter().map(|(points, _)| &points[number]);
        let sum: Vector3<f64> = { seen.filter(|p| is_seen(p)) }
            .map(|p| p.coords.normalize())
            .sum();
        DirectionCell {
            direction: sum.try_normalize(1e-9).unwrap_or(Vector3::zeros()),
            samples: { clouds.iter().enumerate() }
                .map(|(scan, (points, intensities))| {
                    point_look(scan, points.get(number), intensities.get(number))
                })
                .collect(),
        }
    };
    // Where nothing was ever seen the direction is not known.
    { (0..clouds[0].0.len()).map(cell) }
        .filter(|cell| cell.direction != Vector3::zeros())
        .collect()
}

/// Sum of the directions seen in a bin, and its samples by scan.
type Seen = (Vector3<f64>, BTreeMap<usize, BeamSample>);

fn directions(clouds: &[(Vec<Point3<f64>>, Vec<f32>)]) -> Vec<DirectionCell> {
    const WIDTH: f64 = 0.2 * PI / 180.0;
    #[expect(clippy::cast_possible_truncation, reason = "a sphere has few bins")]
    let bin = |angle: f64| (angle / WIDTH).floor() as i64;
    let mut cells: BTreeMap<(i64, i64), Seen> = BTreeMap::new();
    for (scan, (points, intensities)) in clouds.iter().enumerate() {
        for (number, point) in points.iter().enumerate().filter(|(_, p)| is_seen(p)) {
            let direction = point.coords.normalize();
            // What rounding leaves of an elevation of zero is one bin, not two.
            let elevation = direction.z.asin() + 0.5 * LEVEL;
            let key = (bin(elevation), bin(azimuth(&direction)));
            let (sum, samples) = cells.entry(key).or_default();
            *sum += direction;
            let sample = point_look(scan, Some(point), intensities.get(number));
            samples.entry(scan).or_insert(sample);
        }
    }
    let missing = |scan| point_look(scan, None, None);
    { cells.into_values() }
        .map(|(sum, samples)| DirectionCell {
            direction: sum.normalize(),
            samples: (0..clouds.len())
                .map(|scan| samples.get(&scan).copied().unwrap_or_else(|| missing(scan)))
                .collect(),
        })
        .collect()
}
