//! The plane of a panel.

use etendue_estimate::solve::{Linearization, Loss, NormalEquations, Residuals};
use etendue_physics::statistics::median;
use nalgebra::{DMatrix, Vector3};

/// Greatest incidence of beams that determine the plane, degrees: at larger incidences, a range error that
/// depends on incidence would tilt and shift it.
pub(super) const CORE: f64 = 40.0;

/// Plane of a panel, $n\cdot x = d$ in the sensor frame, with $n$ pointing away from the sensor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PanelPlane {
    /// Unit normal.
    pub normal: Vector3<f64>,
    /// Distance from the sensor, m.
    pub distance: f64,
}

/// A direction with its range.
#[derive(Clone, Copy, Debug)]
pub(super) struct RangedDirection {
    /// Unit direction in the sensor frame.
    pub direction: Vector3<f64>,
    /// Range, m.
    pub range: f64,
}

/// A fitted plane with its residuals and standard errors.
pub(super) struct PlaneFit {
    pub plane: PanelPlane,
    /// Root mean square residual, m.
    pub rms: f64,
    /// Standard error of the distance, m.
    pub distance_error: f64,
    /// Standard error of the bearing, rad.
    pub bearing_error: f64,
    /// Number of points.
    pub points: usize,
}

impl PanelPlane {
    /// Cosine of the incidence of a direction.
    pub fn cos_incidence(&self, direction: &Vector3<f64>) -> f64 {
        self.normal.dot(direction).clamp(-1.0, 1.0)
    }

    /// Incidence of a direction, rad.
    pub fn incidence(&self, direction: &Vector3<f64>) -> f64 {
        self.cos_incidence(direction).acos()
    }

    /// Range of the plane in a direction, m; infinite without intersection.
    pub fn range(&self, direction: &Vector3<f64>) -> f64 {
        let cos = self.cos_incidence(direction);
        if cos > 1e-6 {
            self.distance / cos
        } else {
            f64::INFINITY
        }
    }

    /// Plane through points: two of a planar sensor, otherwise three.
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

    /// Two directions perpendicular to the normal; the second is zero for planar sensors.
    pub(in crate::noise) fn tangents(&self, planar: bool) -> [Vector3<f64>; 2] {
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

    /// Robust fit of the plane to the ranges of the points below [`CORE`] degrees of incidence:
    /// Gauss-Newton with the loss of Huber (1964, doi:10.1214/aoms/1177703732) at 1.345 robust
    /// standard deviations, which are estimated again in every step.
    pub(super) fn refined(self, points: &[RangedDirection], planar: bool) -> PlaneFit {
        let mut plane = self;
        let mut inverse = DMatrix::identity(2, 2);
        for _ in 0..30 {
            let length;
            (length, inverse) = plane.step(points, planar);
            if length < 1e-10 {
                break;
            }
        }
        let residuals = plane.core_residuals(points);
        let n = residuals.len();
        let square = residuals.iter().map(|r| r * r).sum::<f64>();
        let variance = square / (n as f64 - 2.0).max(1.0);
        PlaneFit {
            plane,
            rms: (square / n.max(1) as f64).sqrt(),
            distance_error: (inverse[(0, 0)] * variance).max(0.0).sqrt(),
            bearing_error: (inverse[(1, 1)] * variance).max(0.0).sqrt(),
            points: n,
        }
    }

    /// Residuals of the ranges below [`CORE`] degrees of incidence, m.
    fn core_residuals(&self, points: &[RangedDirection]) -> Vec<f64> {
        let core = points.iter().filter(|point| self.is_core(point));
        core.map(|point| point.range - self.range(&point.direction))
            .collect()
    }

    /// One step of iteratively reweighted least squares: the length of the step, and the inverse of the
    /// normal matrix.
    pub(super) fn step(&mut self, points: &[RangedDirection], planar: bool) -> (f64, DMatrix<f64>) {
        // Scale Huber's loss by the robust standard deviation of the residuals
        let core: Vec<&RangedDirection> =
            points.iter().filter(|point| self.is_core(point)).collect();
        let residuals = self.core_residuals(points);
        let mut deviations: Vec<f64> = residuals.iter().map(|r| r.abs()).collect();
        let deviation = 1.4826 * median(&mut deviations).unwrap_or(0.0);
        let loss = Loss::Huber {
            scale: (1.345 * deviation).max(1e-5),
        };

        // Linearise the ranges over the distance and rotations of the normal
        let tangents = self.tangents(planar);
        let used = if planar {
            &tangents[..1]
        } else {
            &tangents[..]
        };
        let mut jacobian = Vec::with_capacity(core.len() * (1 + used.len()));
        for point in core {
            let cos = self.cos_incidence(&point.direction);
            let slope = -self.distance / (cos * cos);
            jacobian.push(-1.0 / cos);
            jacobian.extend(used.iter().map(|t| -slope * t.dot(&point.direction)));
        }
        let linearization = Linearization::new(Residuals::of(residuals), 1 + used.len(), jacobian);

        // Solve the normal equations and update the plane
        let normal = NormalEquations::new(&linearization, loss);
        let solved = normal.step(0.0).zip(normal.matrix.clone().try_inverse());
        let Some((step, inverse)) = solved else {
            let unknowns = 1 + used.len();
            return (0.0, DMatrix::identity(unknowns, unknowns));
        };
        let rotations = used.iter().zip(step.iter().skip(1));
        let shift: Vector3<f64> = rotations.map(|(t, angle)| t * *angle).sum();
        self.distance += step[0];
        self.normal = (self.normal + shift).normalize();
        (step.norm(), inverse)
    }

    /// Whether a point is below [`CORE`] degrees of incidence.
    fn is_core(&self, point: &RangedDirection) -> bool {
        self.cos_incidence(&point.direction) > CORE.to_radians().cos()
    }
}
