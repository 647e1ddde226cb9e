//! A driver with nothing but points.

use etendue_sensors::dynamics::DriveCommand;
use etendue_sensors::rig::Cloud;
use nalgebra::Point2;

/// The barriers as the lidar sees them: points to the left and to the right, each from the car
/// forwards.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sides {
    /// To the left, m, in the lidar's frame.
    pub left: Vec<Point2<f64>>,
    /// To the right, m.
    pub right: Vec<Point2<f64>>,
}

/// Points farther than this from their neighbour begin another group, m.
const GAP: f64 = 0.5;
/// How far ahead the driver aims, m.
const AHEAD: f64 = 1.3;
/// Half of the distance between barriers where only one is seen, m: never less than this.
const HALF_WIDTH: f64 = 0.6;

impl Sides {
    /// Groups points by their distance to the next in azimuth, and follows the group beside the
    /// car on either side forwards.
    pub fn of(cloud: &Cloud) -> Self {
        let mut around: Vec<(f64, Point2<f64>)> = cloud
            .points
            .iter()
            .map(|point| Point2::new(point.position.x, point.position.y))
            .map(|point| (point.y.atan2(point.x), point))
            .collect();
        around.sort_by(|a, b| a.0.total_cmp(&b.0));
        let points: Vec<Point2<f64>> = around.into_iter().map(|(_, point)| point).collect();
        // To the left the way forwards is clockwise, to the right anticlockwise.
        let left = beside(&points, |point| point.y > 0.0).map(|start| {
            let order = points[..=start].iter().rev();
            chain(order)
        });
        let right =
            beside(&points, |point| point.y < 0.0).map(|start| chain(points[start..].iter()));
        Self {
            left: left.unwrap_or_default(),
            right: right.unwrap_or_default(),
        }
    }

    /// Where to go: the middle between the points of both sides that are so far ahead. Where one
    /// side ends before, the other's with the room that there is beside the car.
    pub fn aim(&self) -> Option<Point2<f64>> {
        let [left, right] = [&self.left, &self.right].map(|side| at_distance(side, AHEAD));
        let room = |side: &[Point2<f64>]| {
            side.first()
                .map_or(HALF_WIDTH, |nearest| nearest.coords.norm())
        };
        let half = HALF_WIDTH.max(0.5 * (room(&self.left) + room(&self.right)).min(1.0));
        let ends = |found: Option<(Point2<f64>, bool)>| found.map(|(point, _)| point);
        let reaches = |found: Option<(Point2<f64>, bool)>| found.is_some_and(|(_, far)| far);
        match (ends(left), ends(right)) {
            (Some(l), Some(r)) if reaches(left) == reaches(right) => Some(nalgebra::center(&l, &r)),
            (Some(l), Some(_)) if reaches(left) => Some(inwards(&self.left, &l, half, -1.0)),
            (_, Some(r)) => Some(inwards(&self.right, &r, half, 1.0)),
            (Some(l), None) => Some(inwards(&self.left, &l, half, -1.0)),
            (None, None) => None,
        }
    }
}

/// The nearest point of one side that is not behind the car.
fn beside(points: &[Point2<f64>], side: impl Fn(&Point2<f64>) -> bool) -> Option<usize> {
    let there = points
        .iter()
        .enumerate()
        .filter(|(_, p)| side(p) && p.x > -0.1);
    let nearest = there.min_by(|a, b| a.1.coords.norm().total_cmp(&b.1.coords.norm()));
    nearest.map(|(index, _)| index)
}

/// Points up to the first gap.
fn chain<'a>(points: impl Iterator<Item = &'a Point2<f64>>) -> Vec<Point2<f64>> {
    let mut chain: Vec<Point2<f64>> = Vec::new();
    for point in points {
        if chain.last().is_some_and(|last| (point - last).norm() > GAP) {
            break;
        }
        chain.push(*point);
    }
    chain
}

/// The first point of a side at a distance, and true; else its last, and false.
fn at_distance(side: &[Point2<f64>], distance: f64) -> Option<(Point2<f64>, bool)> {
    let found = side
        .iter()
        .find(|point| point.x > 0.0 && point.coords.norm() >= distance);
    found
        .map(|point| (*point, true))
        .or(side.last().map(|point| (*point, false)))
}

/// A point beside the end of a side, square to it: `sign` 1 to the left of the way along it.
fn inwards(side: &[Point2<f64>], end: &Point2<f64>, half: f64, sign: f64) -> Point2<f64> {
    let place = side.iter().position(|point| point == end).unwrap_or(0);
    let before = side[place.saturating_sub(8)];
    let along = end - before;
    if along.norm() < 1e-6 {
        return Point2::new(end.x, end.y + sign * half);
    }
    let along = along.normalize();
    end + nalgebra::Vector2::new(-along.y, along.x) * (sign * half)
}

/// Steers to the middle between the barriers with a PID controller on the bearing of its aim.
#[derive(Clone, Debug, PartialEq)]
pub struct Driver {
    largest: f64,
    sum: f64,
    last: Option<f64>,
    change: f64,
    /// Time of the newest point of the cloud before, s.
    newest: f64,
    command: DriveCommand,
}

/// Speed on a straight, m/s, and the share of it that the sharpest steering leaves.
const SPEED: f64 = 1.6;
const SLOWEST: f64 = 0.6;
/// Gains on the bearing (1), its integral (1/s) and its change (s).
const PROPORTIONAL: f64 = 1.1;
const INTEGRAL: f64 = 0.1;
const DERIVATIVE: f64 = 0.05;

impl Driver {
    /// A driver who can steer so far, rad.
    pub fn new(largest: f64) -> Self {
        Self {
            largest,
            sum: 0.0,
            last: None,
            change: 0.0,
            newest: f64::NEG_INFINITY,
            command: DriveCommand::default(),
        }
    }

    /// What to do about the latest cloud; the same as before until there is a new one. Without
    /// an aim the car stops.
    pub fn command(&mut self, cloud: &Cloud) -> DriveCommand {
        let newest = cloud
            .points
            .iter()
            .map(|point| point.time)
            .fold(0.0, f64::max);
        let dt = newest - self.newest;
        if dt <= 0.0 {
            return self.command;
        }
        self.newest = newest;
        self.command = match Sides::of(cloud).aim() {
            Some(aim) => self.towards(aim.y.atan2(aim.x), dt.min(1.0)),
            None => DriveCommand::default(),
        };
        self.command
    }

    fn towards(&mut self, bearing: f64, dt: f64) -> DriveCommand {
        self.change = self.last.map_or(0.0, |last| (bearing - last) / dt);
        self.last = Some(bearing);
        // The sum is bounded, so that a long curve does not wind it up.
        self.sum = (self.sum + bearing * dt).clamp(-0.5, 0.5);
        let steering = PROPORTIONAL * bearing + INTEGRAL * self.sum + DERIVATIVE * self.change;
        let steering = steering.clamp(-self.largest, self.largest);
        let sharpness = steering.abs() / self.largest;
        DriveCommand {
            speed: SPEED * (1.0 - (1.0 - SLOWEST) * sharpness),
            steering,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use etendue_sensors::rig::CloudPoint;
    use nalgebra::Point3;

    /// Two straight walls, and one point behind a gap.
    fn corridor(left: f64, right: f64) -> Cloud {
        let wall = |y: f64| (-20..40).map(move |i| Point3::new(0.05 * f64::from(i), y, 0.0));
        let far = std::iter::once(Point3::new(9.0, 0.0, 0.0));
        let positions = wall(left).chain(wall(-right)).chain(far);
        let points = positions.map(|position| CloudPoint {
            position,
            intensity: 1.0,
            time: 0.1,
            ring: 0,
        });
        Cloud {
            points: points.collect(),
        }
    }

    #[test]
    fn walls_are_told_apart_and_the_middle_is_aimed_at() {
        let sides = Sides::of(&corridor(0.9, 0.4));
        assert!(sides.left.iter().all(|point| point.y == 0.9));
        assert!(sides.right.iter().all(|point| point.y == -0.4));
        assert!(sides.left.len() > 30 && sides.right.len() > 30);
        let aim = sides.aim().expect("an aim");
        assert!((aim.y - 0.25).abs() < 1e-12, "{aim}");
        let command = Driver::new(0.5).command(&corridor(0.9, 0.4));
        assert!(command.steering > 0.1 && command.speed > 0.9);
    }

    #[test]
    fn without_points_the_car_stops() {
        let mut driver = Driver::new(0.5);
        let mut cloud = corridor(0.5, 0.5);
        assert!(driver.command(&cloud).speed > 1.0);
        cloud.points.clear();
        assert_eq!(Sides::of(&cloud).aim(), None);
    }
}
