//! Driver that steers by the points of a lidar.

use etendue_sensors::dynamics::DriveCommand;
use etendue_sensors::rig::Cloud;
use nalgebra::Point2;

/// Points of the left and the right barrier, each from the car forwards.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BarrierPoints {
    /// Points to the left in the frame of the lidar, m.
    pub left: Vec<Point2<f64>>,
    /// Points to the right in the frame of the lidar, m.
    pub right: Vec<Point2<f64>>,
}

/// Distance between neighbours at which a new group begins, m.
const GAP: f64 = 0.5;
/// Look-ahead distance, m.
const LOOK_AHEAD: f64 = 1.3;
/// Smallest assumed half of the distance between the barriers if only one is visible, m.
const HALF_WIDTH: f64 = 0.6;

impl BarrierPoints {
    /// Groups the points by the distance between neighbours in azimuth, and selects on each side the
    /// group next to the car, from there forwards.
    pub fn of(cloud: &Cloud) -> Self {
        // Sort by azimuth
        let mut around: Vec<(f64, Point2<f64>)> = cloud
            .points
            .iter()
            .map(|point| Point2::new(point.position.x, point.position.y))
            .map(|point| (point.y.atan2(point.x), point))
            .collect();
        around.sort_by(|a, b| a.0.total_cmp(&b.0));
        let points: Vec<Point2<f64>> = around.into_iter().map(|(_, point)| point).collect();

        // Follow the barriers forwards: clockwise on the left, anticlockwise on the right
        let left = beside(&points, |point| point.y > 0.0).map(|start| {
            let order = points[..=start].iter().rev();
            up_to_gap(order)
        });
        let right =
            beside(&points, |point| point.y < 0.0).map(|start| up_to_gap(points[start..].iter()));
        Self {
            left: left.unwrap_or_default(),
            right: right.unwrap_or_default(),
        }
    }

    /// Target point: the middle between the points of both sides at the look-ahead distance. If one
    /// side ends before it, the point of the other side, offset by half of the width next to the car.
    pub fn target(&self) -> Option<Point2<f64>> {
        // Half of the width of the course
        let room = |side: &[Point2<f64>]| {
            side.first()
                .map_or(HALF_WIDTH, |nearest| nearest.coords.norm())
        };
        let half = HALF_WIDTH.max(0.5 * (room(&self.left) + room(&self.right)).min(1.0));

        // Middle of both sides, or an offset from one
        let [left, right] = [&self.left, &self.right].map(|side| at_distance(side, LOOK_AHEAD));
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

/// Nearest point of one side that is not behind the car.
fn beside(points: &[Point2<f64>], side: impl Fn(&Point2<f64>) -> bool) -> Option<usize> {
    let candidates = points
        .iter()
        .enumerate()
        .filter(|(_, p)| side(p) && p.x > -0.1);
    let nearest = candidates.min_by(|a, b| a.1.coords.norm().total_cmp(&b.1.coords.norm()));
    nearest.map(|(index, _)| index)
}

/// Points up to the first gap.
fn up_to_gap<'a>(points: impl Iterator<Item = &'a Point2<f64>>) -> Vec<Point2<f64>> {
    let mut group: Vec<Point2<f64>> = Vec::new();
    for point in points {
        if group.last().is_some_and(|last| (point - last).norm() > GAP) {
            break;
        }
        group.push(*point);
    }
    group
}

/// First point of a side at a distance and `true`, else its last point and `false`.
fn at_distance(side: &[Point2<f64>], distance: f64) -> Option<(Point2<f64>, bool)> {
    let found = side
        .iter()
        .find(|point| point.x > 0.0 && point.coords.norm() >= distance);
    found
        .map(|point| (*point, true))
        .or(side.last().map(|point| (*point, false)))
}

/// Point perpendicular to a side at its end, at a distance of `half`; to the left of its direction if
/// `sign` is 1.
fn inwards(side: &[Point2<f64>], end: &Point2<f64>, half: f64, sign: f64) -> Point2<f64> {
    let index = side.iter().position(|point| point == end).unwrap_or(0);
    let before = side[index.saturating_sub(8)];
    let along = end - before;
    if along.norm() < 1e-6 {
        return Point2::new(end.x, end.y + sign * half);
    }
    let along = along.normalize();
    end + nalgebra::Vector2::new(-along.y, along.x) * (sign * half)
}

/// Driver that steers to the middle between the barriers by a PID controller on the bearing of the
/// target point.
#[derive(Clone, Debug, PartialEq)]
pub struct CourseDriver {
    /// Largest steering angle, rad.
    largest: f64,
    /// Integral of the bearing, rad s.
    integral: f64,
    /// Last bearing, rad.
    last: Option<f64>,
    /// Time of the last point of the previous cloud, s.
    newest: f64,
    command: DriveCommand,
}

/// Speed on a straight, m/s.
const SPEED: f64 = 1.6;
/// Fraction of that speed at the largest steering angle.
const SLOWEST: f64 = 0.6;
/// Gain on the bearing.
const PROPORTIONAL: f64 = 1.1;
/// Gain on its integral, 1/s.
const INTEGRAL: f64 = 0.1;
/// Gain on its derivative, s.
const DERIVATIVE: f64 = 0.05;

impl CourseDriver {
    /// Driver of a car with a largest steering angle, rad.
    pub fn new(largest: f64) -> Self {
        Self {
            largest,
            integral: 0.0,
            last: None,
            newest: f64::NEG_INFINITY,
            command: DriveCommand::default(),
        }
    }

    /// Command for the latest cloud: the previous one until there is a new cloud, and a stop without a
    /// target point.
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
        self.command = match BarrierPoints::of(cloud).target() {
            Some(target) => self.steer(target.y.atan2(target.x), dt.min(1.0)),
            None => DriveCommand::default(),
        };
        self.command
    }

    /// Command towards a bearing, rad, a time after the last one, s.
    fn steer(&mut self, bearing: f64, dt: f64) -> DriveCommand {
        let derivative = self.last.map_or(0.0, |last| (bearing - last) / dt);
        self.last = Some(bearing);
        // The integral is bounded against wind-up in long curves
        self.integral = (self.integral + bearing * dt).clamp(-0.5, 0.5);
        let steering = PROPORTIONAL * bearing + INTEGRAL * self.integral + DERIVATIVE * derivative;
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
    fn the_target_is_in_the_middle_between_the_two_walls() {
        let sides = BarrierPoints::of(&corridor(0.9, 0.4));
        assert!(sides.left.iter().all(|point| point.y == 0.9));
        assert!(sides.right.iter().all(|point| point.y == -0.4));
        assert!(sides.left.len() > 30 && sides.right.len() > 30);
        let target = sides.target().expect("a target");
        assert!((target.y - 0.25).abs() < 1e-12, "{target}");
        let command = CourseDriver::new(0.5).command(&corridor(0.9, 0.4));
        assert!(command.steering > 0.1 && command.speed > 0.9);
    }

    #[test]
    fn without_points_the_car_stops() {
        let mut driver = CourseDriver::new(0.5);
        let mut cloud = corridor(0.5, 0.5);
        assert!(driver.command(&cloud).speed > 1.0);
        cloud.points.clear();
        assert_eq!(BarrierPoints::of(&cloud).target(), None);
    }
}
