//! Axis-parallel rectangles in the plane of the data.

use crate::drawing::Point;

/// Axis-parallel rectangle in the units of the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// Smallest x and y.
    pub min: Point,
    /// Largest x and y.
    pub max: Point,
}

impl Extent {
    /// Rectangle without points: the neutral element of [`Extent::union`].
    pub const EMPTY: Self = Self {
        min: [f64::INFINITY; 2],
        max: [f64::NEG_INFINITY; 2],
    };

    /// Bounding rectangle of points; coordinates that are not finite are ignored.
    ///
    /// ```
    /// use etendue_plot::Extent;
    /// let extent = Extent::of([[1.0, 5.0], [3.0, -2.0]]);
    /// assert_eq!(extent.size(), [2.0, 7.0]);
    /// ```
    pub fn of(points: impl IntoIterator<Item = Point>) -> Self {
        points.into_iter().fold(Self::EMPTY, |mut extent, point| {
            for (axis, value) in point.into_iter().enumerate() {
                if value.is_finite() {
                    extent.min[axis] = extent.min[axis].min(value);
                    extent.max[axis] = extent.max[axis].max(value);
                }
            }
            extent
        })
    }

    /// Rectangle of nearly all points: on each axis, half a per cent at either end is ignored, so
    /// that single outliers do not determine the scale.
    pub fn of_most(points: impl IntoIterator<Item = Point>) -> Self {
        let points: Vec<Point> = points.into_iter().collect();
        let mut extent = Self::EMPTY;
        for axis in 0..2 {
            let finite = points.iter().map(|p| p[axis]).filter(|v| v.is_finite());
            let mut values: Vec<f64> = finite.collect();
            values.sort_by(f64::total_cmp);
            let outside = values.len() / 200;
            if let Some(inner) = values.get(outside..values.len() - outside)
                && let [first, .., last] | [first @ last] = inner
            {
                extent.min[axis] = *first;
                extent.max[axis] = *last;
            }
        }
        extent
    }

    /// Width and height.
    pub fn size(&self) -> [f64; 2] {
        [self.max[0] - self.min[0], self.max[1] - self.min[1]]
    }

    /// Whether there is no point on one of the axes.
    pub fn is_empty(&self) -> bool {
        (0..2).any(|axis| self.min[axis] > self.max[axis])
    }

    /// Bounding rectangle of two.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self {
            min: [0, 1].map(|axis| self.min[axis].min(other.min[axis])),
            max: [0, 1].map(|axis| self.max[axis].max(other.max[axis])),
        }
    }

    /// Union with `surroundings` if that is at most 2.5 times as long, otherwise `self`: a sensor
    /// in a room is shown with the whole room, a sensor in a city with the nearby streets only.
    #[must_use]
    pub fn widened_to(self, surroundings: &Self) -> Self {
        let both = self.union(surroundings);
        let longest = |extent: &Self| extent.size()[0].max(extent.size()[1]);
        if !both.is_empty() && longest(&both) <= 2.5 * longest(&self) {
            both
        } else {
            self
        }
    }

    /// The same rectangle with a margin of 4 % of the longer side on every side.
    #[must_use]
    pub fn padded(self) -> Self {
        let [x, y] = self.size();
        let margin = 0.04 * x.max(y).max(0.1);
        Self {
            min: self.min.map(|v| v - margin),
            max: self.max.map(|v| v + margin),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outliers_do_not_set_the_extent_of_most_points() {
        let line = (0..1000).map(|i| [f64::from(i), 0.0]);
        let extent = Extent::of_most(line.chain([[1e9, 0.0]]));
        assert_eq!((extent.min[0], extent.max[0]), (5.0, 995.0));
        assert!(Extent::of_most([]).is_empty());
        assert_eq!(Extent::of_most([[2.0, 3.0]]).max, [2.0, 3.0]);
    }

    #[test]
    fn far_surroundings_are_left_out() {
        let room = Extent::of([[0.0, 0.0], [1.0, 1.0]]);
        let near = Extent::of([[-1.0, 0.0], [1.0, 1.0]]);
        let far = Extent::of([[-10.0, 0.0], [1.0, 1.0]]);
        assert_eq!(room.widened_to(&near), near);
        assert_eq!(room.widened_to(&far), room);
        assert_eq!(room.widened_to(&Extent::EMPTY), room);
    }
}
