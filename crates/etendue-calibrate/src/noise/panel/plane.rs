//! The plane of a panel.

use nalgebra::{Matrix3, Vector3};

/// Beams below this incidence define the plane: beyond it, a range error over incidence would tilt
/// and shift it.
pub(super) const CORE: f64 = 40.0;

/// A plane $n\cdot x = d$ in the sensor's frame, $n$ pointing away from the sensor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// Unit normal.
    pub normal: Vector3<f64>,
    /// Distance of the sensor, m.
    pub distance: f64,
}

/// A seen point with its weight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub direction: Vector3<f64>,
    pub range: f64,
}

/// What a fit leaves.
pub(super) struct Fit {
    pub plane: Plane,
    pub rms: f64,
    pub distance_error: f64,
    pub bearing_error: f64,
    pub points: usize,
}

impl Plane {
    /// Cosine of the incidence of a direction.
    pub fn cos_incidence(&self, direction: &Vector3<f64>) -> f64 {
        self.normal.dot(direction).clamp(-1.0, 1.0)
    }

    /// Incidence of a direction, rad.
    pub fn incidence(&self, direction: &Vector3<f64>) -> f64 {
        self.cos_incidence(direction).acos()
    }

    /// Range of the plane in a direction, m; infinite where it is not met.
    pub fn range(&self, direction: &Vector3<f64>) -> f64 {
        let cos = self.cos_incidence(direction);
        if cos > 1e-6 {
            self.distance / cos
        } else {
            f64::INFINITY
        }
    }

    /// Through points: two of a planar sensor, three else.
    pub(super) fn through(points: &[Vector3<f64>], planar: bool) -> Option<Self> {
        let normal = if planar {
            let along = points[1] - points[0];
            Vector3::new(-along.y, along.x, 0.0)
        } else {
            (points[1] - points[0]).cross(&(points[2] - points[0]))
        };
        let normal = normal.try_normalize(1e-9)?;
        let distance = normal.dot(&points[0]);
        let sign = distance.signum();
        Some(Self {
            normal: normal * sign,
            distance: distance * sign,
        })
    }

    /// Two directions across the normal; the second vanishes for planar sensors.
    fn tangents(&self, planar: bool) -> [Vector3<f64>; 2] {
        let up = Vector3::z();
        let left = up.cross(&self.normal);
        let left = left.try_normalize(1e-6).unwrap_or(Vector3::y());
        let second = if planar {
            Vector3::zeros()
        } else {
            self.normal.cross(&left)
        };
        [left, second]
    }

    /// The robust fit of the plane to range residuals of the points below [`CORE`] degrees:
    /// Gauss-Newton with Huber's weights (1964, doi:10.1214/aoms/1177703732) at 1.345 robust
    /// standard deviations.
    pub(super) fn refined(self, points: &[Seen], planar: bool) -> Fit {
        let mut plane = self;
        let mut left = (0.0, Matrix3::identity(), 0);
        for _ in 0..30 {
            left = plane.step(points, planar);
            if left.0 < 1e-10 {
                break;
            }
        }
        let residuals = plane.core_residuals(points);
        let n = residuals.len();
        let square = residuals.iter().map(|r| r * r).sum::<f64>();
        let variance = square / (n as f64 - 2.0).max(1.0);
        Fit {
            plane,
            rms: (square / n.max(1) as f64).sqrt(),
            distance_error: (left.1[(0, 0)] * variance).max(0.0).sqrt(),
            bearing_error: (left.1[(1, 1)] * variance).max(0.0).sqrt(),
            points: n,
        }
    }

    fn core_residuals(&self, points: &[Seen]) -> Vec<f64> {
        { points.iter() }
            .filter(|point| self.cos_incidence(&point.direction) > CORE.to_radians().cos())
            .map(|point| point.range - self.range(&point.direction))
            .collect()
    }

    /// One step: how far it went, the inverse of the normal matrix, and the points used.
    pub(super) fn step(&mut self, points: &[Seen], planar: bool) -> (f64, Matrix3<f64>, usize) {
        let mut residuals = self.core_residuals(points);
        for residual in &mut residuals {
            *residual = residual.abs();
        }
        let scale = 1.4826 * super::super::recording::median(&mut residuals).unwrap_or(0.0);
        let limit = (1.345 * scale).max(1e-5);
        let tangents = self.tangents(planar);
        let (mut matrix, mut vector, mut used) = (Matrix3::zeros(), Vector3::zeros(), 0);
        for point in points {
            let cos = self.cos_incidence(&point.direction);
            if cos <= CORE.to_radians().cos() {
                continue;
            }
            let predicted = self.distance / cos;
            let residual = point.range - predicted;
            let weight = (limit / residual.abs().max(1e-12)).min(1.0);
            let turn = |tangent: &Vector3<f64>| -predicted / cos * tangent.dot(&point.direction);
            let row = Vector3::new(1.0 / cos, turn(&tangents[0]), turn(&tangents[1]));
            matrix += weight * row * row.transpose();
            vector += weight * residual * row;
            used += 1;
        }
        if planar {
            matrix[(2, 2)] = 1.0;
        }
        let Some(inverse) = matrix.try_inverse() else {
            return (0.0, Matrix3::identity(), used);
        };
        let step = inverse * vector;
        self.distance += step[0];
        self.normal = (self.normal + tangents[0] * step[1] + tangents[1] * step[2]).normalize();
        (step.norm(), inverse, used)
    }
}
