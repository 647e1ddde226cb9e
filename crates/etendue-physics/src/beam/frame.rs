//! Axes of a beam and directions of its sub-rays.

use super::SubRay;
use crate::Scalar;
use nalgebra::Vector3;

/// The three unit axes of a beam in its sensor's frame (x forward, y left, z up).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BeamFrame {
    /// Along the beam.
    pub axis: Vector3<f64>,
    /// Horizontal, to the left of the beam.
    pub left: Vector3<f64>,
    /// Perpendicular to both, upwards.
    pub up: Vector3<f64>,
}

impl BeamFrame {
    /// Beam axes for an `azimuth` (anticlockwise from x, rad) and an `elevation` (above the x-y
    /// plane, rad).
    pub fn new(azimuth: f64, elevation: f64) -> Self {
        let (sin_azimuth, cos_azimuth) = azimuth.sin_cos();
        let (sin_elevation, cos_elevation) = elevation.sin_cos();
        let axis = Vector3::new(
            cos_elevation * cos_azimuth,
            cos_elevation * sin_azimuth,
            sin_elevation,
        );
        let left = Vector3::new(-sin_azimuth, cos_azimuth, 0.0);
        Self {
            axis,
            left,
            up: axis.cross(&left),
        }
    }

    /// Beam axes for a unit vector along the beam: to its left is $(-y, x, 0) / \\sqrt{x^2 + y^2}$, or y if the beam is exactly
    /// vertical.
    ///
    /// ```
    /// use etendue_physics::beam::BeamFrame;
    /// let frame = BeamFrame::new(2.0, 0.3);
    /// let own = BeamFrame::along(&frame.axis);
    /// assert!((own.left - frame.left).amax() < 1e-15 && (own.up - frame.up).amax() < 1e-15);
    /// ```
    #[inline]
    pub fn along(axis: &Vector3<f64>) -> Self {
        let level = (axis.x * axis.x + axis.y * axis.y).sqrt();
        let left = if level > 0.0 {
            Vector3::new(-axis.y / level, axis.x / level, 0.0)
        } else {
            Vector3::y()
        };
        Self {
            axis: *axis,
            left,
            up: axis.cross(&left),
        }
    }

    /// Unit direction of a sub-ray: the normalised $c + h\\,(l\\,e_\text{left} + u\\,e_\text{up})$.
    ///
    /// `half_tangent` is the tangent of half the divergence; its derivatives carry over to the
    /// result.
    ///
    /// ```
    /// use etendue_physics::beam::{BeamFrame, SubRay};
    /// let up = SubRay { left: 0.0, up: 1.0, weight: 1.0 };
    /// let direction = BeamFrame::new(0.0, 0.0).direction(0.005, &up);
    /// assert!((direction.z / direction.x - 0.005).abs() < 1e-15);
    /// ```
    pub fn direction<S: Scalar>(&self, half_tangent: S, sub_ray: &SubRay) -> Vector3<S> {
        let offset = self.left * sub_ray.left + self.up * sub_ray.up;
        let direction = Vector3::new(
            half_tangent * offset.x + self.axis.x,
            half_tangent * offset.y + self.axis.y,
            half_tangent * offset.z + self.axis.z,
        );
        direction / direction.dot(&direction).sqrt()
    }
}
