//! Route of the vehicle.

use super::{BLOCK, PAVEMENT, ROADWAY};
use nalgebra::{Point2, Vector2};

/// Radius of the corners, m.
const CORNER: f64 = 8.0;
/// Distance between points, m.
const POINT_DISTANCE: f64 = 0.5;

/// Closed line driven anticlockwise, as points 0.5 m apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    points: Vec<Point2<f64>>,
}

impl Route {
    /// Right lane around the central block, between the cars parked on both sides, with rounded
    /// corners.
    pub fn around_central_block() -> Self {
        let half = BLOCK.map(|side| 0.5 * side + PAVEMENT + 0.58 * ROADWAY);
        let mut points = Vec::new();
        for corner in 0..4 {
            let quarter = std::f64::consts::FRAC_PI_2;
            // The straight before this corner, then its arc
            let heading = quarter * f64::from(corner);
            let (sin, cos) = heading.sin_cos();
            let along = Vector2::new(cos, sin);
            let outwards = Vector2::new(sin, -cos);
            let [length, off] = if corner % 2 == 0 {
                half
            } else {
                [half[1], half[0]]
            };
            let straight = length - CORNER;
            let steps = whole(2.0 * straight / POINT_DISTANCE);
            points.extend((0..steps).map(|i| {
                let distance = -straight + 2.0 * straight * f64::from(i) / f64::from(steps);
                Point2::from(along * distance + outwards * off)
            }));
            let centre = along * straight + outwards * (off - CORNER);
            let steps = whole(quarter * CORNER / POINT_DISTANCE);
            points.extend((0..steps).map(|i| {
                let (sin, cos) = (quarter * f64::from(i) / f64::from(steps)).sin_cos();
                Point2::from(centre + (along * sin + outwards * cos) * CORNER)
            }));
        }
        Self { points }
    }

    /// Points in their order, m.
    pub fn points(&self) -> &[Point2<f64>] {
        &self.points
    }

    /// Start of the route (m) and its heading there (rad).
    pub fn start(&self) -> ([f64; 2], f64) {
        let along = self.points[1] - self.points[0];
        let start = self.points[0];
        ([start.x, start.y], along.y.atan2(along.x))
    }

    /// Distance of a position from the nearest point, m.
    pub fn distance(&self, position: [f64; 2]) -> f64 {
        let position = Point2::from(position);
        let distances = self.points.iter().map(|point| (point - position).norm());
        distances.fold(f64::INFINITY, f64::min)
    }

    /// Index of the point nearest to a position, searched forwards from the previous one.
    pub(super) fn follow(&self, nearest: usize, position: &Point2<f64>) -> usize {
        let distance = |number: usize| (self.points[number] - position).norm();
        let mut nearest = nearest;
        loop {
            let next = (nearest + 1) % self.points.len();
            if distance(next) >= distance(nearest) {
                return nearest;
            }
            nearest = next;
        }
    }

    /// Point at a distance (m) ahead of another.
    pub(super) fn ahead(&self, of: usize, distance: f64) -> Point2<f64> {
        let steps = whole(distance / POINT_DISTANCE) as usize;
        self.points[(of + steps) % self.points.len()]
    }

    /// Absolute change of heading over a distance (m), rad.
    pub(super) fn bend(&self, from: usize, distance: f64) -> f64 {
        let [a, b] = [0.0, distance].map(|d| self.ahead(from, d + 1.0) - self.ahead(from, d));
        a.perp(&b).atan2(a.dot(&b)).abs()
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of points, and saturating"
)]
pub(super) fn whole(number: f64) -> u32 {
    number.round() as u32
}
