//! Recordings of panels from point clouds.
//!
//! Clouds contain beams without a return as placeholders (a grid), show them as gaps between directions that repeat from
//! scan to scan, or do not contain them.

use super::error::NoiseError;
use super::recording::{
    BeamSample, DirectionCell, PanelRecording, angles, azimuth, direction_at, sample,
};
use etendue_physics::angle::wrap_to_pi;
use etendue_physics::statistics::median;
use etendue_sensors::RangeReading;
use nalgebra::{Point3, Vector3};
use std::collections::BTreeMap;

/// Points in the sensor frame and their intensities, possibly empty.
type Cloud = (Vec<Point3<f64>>, Vec<f32>);

impl PanelRecording {
    /// Recording from point clouds in the sensor frame, one per scan: points (not finite or at the origin: beams without a
    /// return) and their intensities, possibly empty. The recording is planar if all points are in the x-y plane of the sensor.
    ///
    /// - If all clouds have the same number of points, some of them are placeholders, and each index has one direction within a
    ///   degree, the indices are directions (the grid of a spinning lidar).
    /// - If the points form directions that repeat from scan to scan within 0.1 degrees, a scan without a point
    ///   in a direction has a beam without a return there.
    /// - Otherwise the beams without a return are unknown, and [`has_drop_outs`](PanelRecording::has_drop_outs) is false.
    ///   Directions are bins of 0.2 degrees or of the step between successive points of a planar scan.
    ///
    /// # Errors
    /// If there is no cloud.
    pub fn from_clouds(name: &str, clouds: &[Cloud]) -> Result<Self, NoiseError> {
        let Some((first, _)) = clouds.first() else {
            return Err(NoiseError::Empty {
                recording: name.into(),
            });
        };
        let returns = returns(clouds);
        let has_placeholders = returns.len() < clouds.len() * first.len();
        let is_grid = clouds.iter().all(|(points, _)| points.len() == first.len())
            && has_placeholders
            && has_directions(clouds, returns.len());
        let planar = !returns.is_empty() && returns.iter().all(|one| one.angles[1].abs() < LEVEL);

        // Group the points by their index in a grid, by repeated directions, or by bins.
        let repeated = if is_grid { None } else { repeated(&returns) };
        let has_drop_outs = is_grid || repeated.is_some();
        let mut cells = match repeated {
            Some(directions) => of_directions(&directions, clouds.len()),
            None if is_grid => grid(clouds),
            None => bins(&returns, bin_width(&returns, planar)),
        };

        // Order the directions of a planar scanner by azimuth.
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
            has_drop_outs,
            cells,
        })
    }
}

/// Greatest elevation of a direction in the x-y plane, rad.
const LEVEL: f64 = 1e-5;

/// Largest root mean square angle between the points of an index of a grid and their mean direction, rad (1 degree). The azimuths of a
/// spinning lidar differ from sweep to sweep by up to the step between columns.
const GRID_SPREAD: f64 = std::f64::consts::PI / 180.0;

/// Least width of the bins of directions, rad.
const WIDTH: f64 = 0.2 * std::f64::consts::PI / 180.0;

/// Widest extent of the points of one beam in azimuth or elevation, rad.
const ONE_DIRECTION: f64 = 0.5 * WIDTH;

/// Least gap between the points of two beams, rad.
const GAP: f64 = 0.25 * WIDTH;

/// Directions per point of the fullest scan, above which the directions do not repeat. At a drop-out of 50 % a fixed pattern
/// has two.
const DIRECTIONS_PER_POINT: usize = 2;

/// A point that returned.
#[derive(Clone, Copy)]
struct Return {
    scan: usize,
    /// Azimuth and elevation, rad.
    angles: [f64; 2],
    range: f64,
    intensity: Option<f32>,
}

impl Return {
    /// The beam of this point in a cell with a direction (azimuth and elevation, rad).
    fn in_cell(&self, [azimuth, elevation]: [f64; 2]) -> BeamSample {
        let offset = [
            wrap_to_pi(self.angles[0] - azimuth),
            self.angles[1] - elevation,
        ];
        let reading = RangeReading::Range(self.range);
        sample(self.scan, offset, reading, self.intensity.as_ref())
    }
}

/// Whether a point is a return, not a placeholder of a beam without one.
fn is_return(point: &Point3<f64>) -> bool {
    let distance = point.coords.norm();
    distance > 0.0 && distance.is_finite()
}

/// All points that returned, scan by scan.
fn returns(clouds: &[Cloud]) -> Vec<Return> {
    let of_cloud = |(scan, (points, intensities)): (usize, &Cloud)| {
        let returned = points
            .iter()
            .enumerate()
            .filter(|(_, point)| is_return(point));
        let one = |(number, point): (usize, &Point3<f64>)| Return {
            scan,
            angles: angles(&point.coords),
            range: point.coords.norm(),
            intensity: intensities.get(number).copied(),
        };
        returned.map(one).collect::<Vec<_>>()
    };
    clouds.iter().enumerate().flat_map(of_cloud).collect()
}

/// The points by directions, if the directions repeat from scan to scan; `None` if they do not.
fn repeated(returns: &[Return]) -> Option<Vec<Vec<Return>>> {
    // Divide the points into rows of one elevation, and each row into directions of one azimuth.
    let rows = clusters(returns.to_vec(), 1);
    let directions: Vec<Vec<Return>> = rows.into_iter().flat_map(|row| clusters(row, 0)).collect();

    // Test that the directions are narrow, and about as many as the beams of a scan.
    let is_narrow = |direction: &Vec<Return>| {
        (0..2).all(|axis| {
            let angles = direction.iter().map(|one| one.angles[axis]);
            let [least, most] = angles.fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], angle| {
                [a.min(angle), b.max(angle)]
            });
            most - least < ONE_DIRECTION
        })
    };
    let most_points = returns
        .chunk_by(|a, b| a.scan == b.scan)
        .map(<[Return]>::len)
        .max()?;
    let is_fixed = directions.len() <= DIRECTIONS_PER_POINT * most_points;
    (is_fixed && directions.iter().all(is_narrow)).then_some(directions)
}

/// Points divided at gaps of an angle (0: azimuth, 1: elevation), in ascending order of it.
fn clusters(mut returns: Vec<Return>, axis: usize) -> Vec<Vec<Return>> {
    returns.sort_by(|a, b| a.angles[axis].total_cmp(&b.angles[axis]));
    let parts = returns.chunk_by(|a, b| b.angles[axis] - a.angles[axis] < GAP);
    parts.map(<[Return]>::to_vec).collect()
}

/// Cells of directions that repeat: a scan without a point in a direction has a beam without a return.
fn of_directions(directions: &[Vec<Return>], scans: usize) -> Vec<DirectionCell> {
    let cell = |returns: &Vec<Return>| {
        let sum: Vector3<f64> = returns.iter().map(|one| direction_at(one.angles)).sum();
        let direction = sum.normalize();
        let mut by_scan: Vec<BeamSample> = (0..scans)
            .map(|scan| sample(scan, [0.0; 2], RangeReading::NoReturn, None))
            .collect();
        for one in returns {
            by_scan[one.scan] = one.in_cell(angles(&direction));
        }
        DirectionCell {
            direction,
            samples: by_scan,
        }
    };
    directions.iter().map(cell).collect()
}

/// Sum of the unit vectors towards the points of an index.
fn sum_of_directions(clouds: &[Cloud], number: usize) -> Vector3<f64> {
    let points = clouds.iter().map(|(points, _)| &points[number]);
    let returned = points.filter(|point| is_return(point));
    returned.map(|point| point.coords.normalize()).sum()
}

/// Whether each index has one direction in all clouds, within [`GRID_SPREAD`]. The sum of $n$ unit vectors whose angles from their mean
/// have the root mean square $s$ has the length $n (1 - s^2/2)$.
fn has_directions(clouds: &[Cloud], returns: usize) -> bool {
    let lengths = (0..clouds[0].0.len()).map(|number| sum_of_directions(clouds, number).norm());
    lengths.sum::<f64>() >= returns as f64 * (1.0 - 0.5 * GRID_SPREAD * GRID_SPREAD)
}

/// Directions of a grid: indices that never returned have no direction and are omitted.
fn grid(clouds: &[Cloud]) -> Vec<DirectionCell> {
    let cell = |number: usize| {
        let sum = sum_of_directions(clouds, number);
        let samples = clouds
            .iter()
            .enumerate()
            .map(|(scan, (points, intensities))| {
                let point = Some(&points[number]).filter(|point| is_return(point));
                let range = point.map(|point| point.coords.norm());
                let reading = range.map_or(RangeReading::NoReturn, RangeReading::Range);
                sample(scan, [0.0; 2], reading, intensities.get(number))
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

/// Width of the bins of directions, rad: the median step between successive points of a planar scan, at least 0.2 degrees.
fn bin_width(returns: &[Return], planar: bool) -> f64 {
    if !planar {
        return WIDTH;
    }
    let pairs = returns.windows(2).filter(|two| two[0].scan == two[1].scan);
    let mut steps: Vec<f64> = pairs
        .map(|two| wrap_to_pi(two[1].angles[0] - two[0].angles[0]).abs())
        .collect();
    median(&mut steps).unwrap_or(0.0).max(WIDTH)
}

/// Directions of unordered points: bins of azimuth and elevation. Each beam keeps its direction.
fn bins(returns: &[Return], width: f64) -> Vec<DirectionCell> {
    #[expect(clippy::cast_possible_truncation, reason = "a sphere has few bins")]
    let bin = |angle: f64| (angle / width).floor() as i64;
    let mut bins: BTreeMap<[i64; 2], Vec<&Return>> = BTreeMap::new();
    for one in returns {
        // Elevations of zero plus or minus rounding share a bin.
        let [azimuth, elevation] = one.angles;
        let key = [bin(elevation + 0.5 * LEVEL), bin(azimuth)];
        bins.entry(key).or_default().push(one);
    }
    let cell = |returns: Vec<&Return>| {
        let sum: Vector3<f64> = returns.iter().map(|one| direction_at(one.angles)).sum();
        let direction = sum.normalize();
        let samples = returns
            .into_iter()
            .map(|one| one.in_cell(angles(&direction)));
        DirectionCell {
            direction,
            samples: samples.collect(),
        }
    };
    bins.into_values().map(cell).collect()
}
