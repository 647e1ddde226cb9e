//! Boxes around things that move.

use nalgebra::{Isometry3, Point3, Vector3};

/// An axis-aligned box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bounds {
    pub low: Point3<f64>,
    pub high: Point3<f64>,
}

impl Bounds {
    /// The box around this one in another frame.
    pub fn moved(&self, pose: &Isometry3<f64>) -> Self {
        let middle = pose * nalgebra::center(&self.low, &self.high);
        let turn = pose.rotation.to_rotation_matrix().matrix().abs();
        let half = turn * ((self.high - self.low) * 0.5);
        Self {
            low: middle - half,
            high: middle + half,
        }
    }

    /// The box of a point.
    pub fn point(point: Point3<f64>) -> Self {
        Self {
            low: point,
            high: point,
        }
    }

    /// The box around both.
    pub fn and(&self, other: &Self) -> Self {
        Self {
            low: self.low.inf(&other.low),
            high: self.high.sup(&other.high),
        }
    }

    /// Wider by so much on every side.
    pub fn grown(&self, by: f64) -> Self {
        let by = Vector3::repeat(by);
        Self {
            low: self.low - by,
            high: self.high + by,
        }
    }

    /// The distance of its farthest corner from the origin, at least.
    pub fn reach(&self) -> f64 {
        self.low.coords.abs().sup(&self.high.coords.abs()).norm()
    }
}
