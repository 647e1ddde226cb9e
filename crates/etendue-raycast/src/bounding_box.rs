//! Axis-aligned bounding boxes.

use nalgebra::{Isometry3, Point3, Vector3};

/// An axis-aligned bounding box, m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundingBox {
    /// Least coordinates.
    pub low: Point3<f64>,
    /// Greatest coordinates.
    pub high: Point3<f64>,
}

impl BoundingBox {
    /// The box of a point.
    pub fn point(point: Point3<f64>) -> Self {
        Self {
            low: point,
            high: point,
        }
    }

    /// The box around points; `None` without any.
    pub fn around(points: impl IntoIterator<Item = Point3<f64>>) -> Option<Self> {
        points.into_iter().fold(None, |bounds, point| {
            let own = Self::point(point);
            Some(bounds.map_or(own, |bounds: Self| bounds.union(&own)))
        })
    }

    /// The box around this box after a rigid transform.
    #[must_use]
    pub fn transformed(&self, pose: &Isometry3<f64>) -> Self {
        let middle = pose * nalgebra::center(&self.low, &self.high);
        let rotation = pose.rotation.to_rotation_matrix().matrix().abs();
        let half = rotation * ((self.high - self.low) * 0.5);
        Self {
            low: middle - half,
            high: middle + half,
        }
    }

    /// The box around two boxes.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self {
            low: self.low.inf(&other.low),
            high: self.high.sup(&other.high),
        }
    }

    /// The box enlarged by a margin (m) on every side.
    #[must_use]
    pub fn grown(&self, margin: f64) -> Self {
        let margin = Vector3::repeat(margin);
        Self {
            low: self.low - margin,
            high: self.high + margin,
        }
    }

    /// An upper bound on the distance from the origin to any point of the box, m.
    pub fn reach(&self) -> f64 {
        self.low.coords.abs().sup(&self.high.coords.abs()).norm()
    }
}
