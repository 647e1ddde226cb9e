//! What part of the plane a picture shows.

use crate::{Axis, Plot, Point};

/// No plot is smaller than this, page units.
const SMALLEST_PLOT: Point = [380.0, 300.0];

/// A level rectangle, m.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Smallest x and y.
    pub min: Point,
    /// Largest x and y.
    pub max: Point,
}

impl Extent {
    /// What just holds all points.
    pub fn of(points: impl Iterator<Item = Point>) -> Self {
        let nothing = Self {
            min: [f64::INFINITY; 2],
            max: [f64::NEG_INFINITY; 2],
        };
        points.fold(nothing, |extent, [x, y]| Self {
            min: [extent.min[0].min(x), extent.min[1].min(y)],
            max: [extent.max[0].max(x), extent.max[1].max(y)],
        })
    }

    /// Its sides, m.
    pub fn size(&self) -> [f64; 2] {
        [self.max[0] - self.min[0], self.max[1] - self.min[1]]
    }

    /// With all of `whole` if that is little more than this.
    pub fn widened_to(self, whole: &Self) -> Self {
        let both = Self::of([self.min, self.max, whole.min, whole.max].into_iter());
        let ([x, y], [wide, high]) = (self.size(), both.size());
        let longest = x.max(y);
        if both.min.iter().chain(&both.max).all(|v| v.is_finite())
            && wide.max(high) <= 2.5 * longest
        {
            both
        } else {
            self
        }
    }

    /// With a margin on every side.
    pub fn padded(self) -> Self {
        let [x, y] = self.size();
        let pad = 0.04 * x.max(y).max(0.1);
        Self {
            min: self.min.map(|v| v - pad),
            max: self.max.map(|v| v + pad),
        }
    }

    /// A plot that shows it all with its left upper corner at `corner`, to scale, no larger than
    /// `largest` (page units).
    pub fn plot(self, corner: Point, largest: Point) -> Plot {
        let [wide, high] = self.size();
        let scale = (largest[0] / wide).min(largest[1] / high);
        let frame = [
            (wide * scale).max(SMALLEST_PLOT[0].min(largest[0])),
            (high * scale).max(SMALLEST_PLOT[1].min(largest[1])),
        ];
        let axis = |axis: usize, label: &str| {
            let middle = f64::midpoint(self.min[axis], self.max[axis]);
            let half = frame[axis] / scale / 2.0;
            Axis {
                limits: [middle - half, middle + half],
                label: label.into(),
            }
        };
        let [left, top] = corner;
        Plot {
            frame: [left, top, left + frame[0], top + frame[1]],
            x: axis(0, "x, m"),
            y: axis(1, "y, m"),
        }
    }
}
