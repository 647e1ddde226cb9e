//! The vehicle's way.

use super::{BLOCK, PAVEMENT, ROADWAY};
use nalgebra::{Point2, Vector2};

/// Radius of the way's corners, m, and distance of its points, m.
const CORNER: f64 = 8.0;
const POINT_DISTANCE: f64 = 0.5;

/// A closed line driven anticlockwise, as points 0.5 m apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    points: Vec<Point2<f64>>,
}

impl Route {
    /// The right lane round the middle block, between the cars that are parked on both sides, with
    /// round corners.
    pub fn round_the_middle() -> Self {
        let half = BLOCK.map(|side| 0.5 * side + PAVEMENT + 0.58 * ROADWAY);
        let mut points = Vec::new();
        for corner in 0..4 {
            let quarter = std::f64::consts::FRAC_PI_2;
            // The straight that leads to this corner, then its arc.
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
                let way = -straight + 2.0 * straight * f64::from(i) / f64::from(steps);
                Point2::from(along * way + outwards * off)
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

    /// The points.
    pub fn points(&self) -> &[Point2<f64>] {
        &self.points
    }

    /// Where the way begins, and its heading there, rad.
    pub fn start(&self) -> ([f64; 2], f64) {
        let along = self.points[1] - self.points[0];
        let start = self.points[0];
        ([start.x, start.y], along.y.atan2(along.x))
    }

    /// Distance of a place from the nearest point of the way, m.
    pub fn distance(&self, place: [f64; 2]) -> f64 {
        let place = Point2::from(place);
        let distances = self.points.iter().map(|point| (point - place).norm());
        distances.fold(f64::INFINITY, f64::min)
    }

    /// The point that is nearest to a place, from one that was nearest before.
    pub(super) fn follow(&self, nearest: usize, place: &Point2<f64>) -> usize {
        let distance = |number: usize| (self.points[number] - place).norm();
        let mut nearest = nearest;
        loop {
            let next = (nearest + 1) % self.points.len();
            if distance(next) >= distance(nearest) {
                return nearest;
            }
            nearest = next;
        }
    }

    /// The way's point so many metres ahead of one.
    pub(super) fn ahead(&self, of: usize, distance: f64) -> Point2<f64> {
        let steps = whole(distance / POINT_DISTANCE) as usize;
        self.points[(of + steps) % self.points.len()]
    }

    /// How far the way turns over the next metres, rad.
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
