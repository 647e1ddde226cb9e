//! Who drives.

use super::{Heard, Route, Whereabouts};
use etendue_sensors::dynamics::{Bicycle, DriveCommand, Steering};
use nalgebra::Rotation2;

/// What the vehicle can do.
const SEDAN: Steering = Steering {
    wheelbase: 2.8,
    angle: 0.55,
    rate: 0.9,
    acceleration: 2.0,
};
/// How far ahead of the rear axle the driver looks, m.
const AHEAD: f64 = 6.0;
/// Speeds on straights and in corners, m/s.
const SPEEDS: [f64; 2] = [9.0, 4.0];
/// How long the vehicle stands at first, to learn its gyroscope's bias, ns.
const STANDS: i64 = 1_000_000_000;

/// The vehicle of the street, at rest at the beginning of a way.
pub fn sedan(route: &Route) -> Bicycle {
    let (place, yaw) = route.start();
    Bicycle::new(SEDAN, place, yaw)
}

/// Drives along a way by what it hears: pure pursuit of the point so far ahead on it, slower before
/// corners (Coulter 1992, "Implementation of the pure pursuit path tracking algorithm",
/// CMU-RI-TR-92-01), from where its filter says that it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Driver {
    route: Route,
    whereabouts: Whereabouts,
    /// The point of the way that is nearest to the vehicle.
    nearest: usize,
}

impl Driver {
    /// A driver at the beginning of a way.
    pub fn new(route: Route, whereabouts: Whereabouts) -> Self {
        Self {
            route,
            whereabouts,
            nearest: 0,
        }
    }

    /// Takes a message in.
    pub fn hear(&mut self, heard: &Heard) {
        self.whereabouts.hear(heard);
    }

    /// Where it thinks it is.
    pub fn whereabouts(&self) -> &Whereabouts {
        &self.whereabouts
    }

    /// What to do at a time, ns.
    pub fn decide(&mut self, now: i64) -> DriveCommand {
        if now < STANDS {
            return DriveCommand::default();
        }
        let place = self.whereabouts.place();
        self.nearest = self.route.follow(self.nearest, &place);
        let aim = self.route.ahead(self.nearest, AHEAD) - place;
        let in_vehicle = Rotation2::new(-self.whereabouts.yaw()) * aim;
        let bearing = in_vehicle.y.atan2(in_vehicle.x);
        let steering = (2.0 * SEDAN.wheelbase * bearing.sin() / in_vehicle.norm()).atan();
        let bend = |distance| self.route.bend(self.nearest, distance);
        let corner = [4.0, 12.0, 20.0].iter().any(|d| bend(*d) > 0.05);
        DriveCommand {
            speed: SPEEDS[usize::from(corner)],
            steering,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::street::{Antenna, What};
    use etendue_physics::gnss::{Geodetic, LocalFrame};
    use etendue_sensors::dynamics::Dynamics;
    use etendue_sensors::rig::{nanoseconds, seconds};
    use nalgebra::Point3;

    /// Sensors without noise but a gyroscope that is off by 0.3 degrees a second, and positions
    /// 0.1 s late, good to 2 cm, that stop for 10 s: it keeps to its lane in round corners of 8 m at
    /// 4 m/s, and is 0.05 m off its place at most.
    #[test]
    fn the_vehicle_keeps_to_its_lane_and_comes_round() {
        let route = Route::round_the_middle();
        let mut vehicle = sedan(&route);
        let frame = LocalFrame::new(Geodetic::from_degrees(48.0, 11.0, 500.0));
        let (start, yaw) = route.start();
        let antenna = Antenna {
            place: [0.2, 0.0],
            frame,
        };
        let whereabouts = Whereabouts::new(antenna, 0.3, 0.005, start, yaw);
        let mut driver = Driver::new(route.clone(), whereabouts);
        let mut command = DriveCommand::default();
        let mut late = std::collections::VecDeque::new();
        let (mut angle, mut lap, mut lost) = (0.0, 0.0_f64, 0.0_f64);
        for step in 0..60_000_i64 {
            let now = step * 1_000_000;
            let state = vehicle.state();
            let at = state.world_from_body;
            angle += vehicle.speed() * 1e-3 / 0.3;
            let mut hear = |stamp, what| driver.hear(&Heard { stamp, what });
            if step % 10 == 0 {
                hear(now, What::Wheel(0, angle));
                hear(now, What::Wheel(1, angle));
            }
            if step % 5 == 0 {
                hear(now, What::Turning(state.angular_velocity.z + 0.0052));
            }
            if step % 200 == 0 && !(20.0..30.0).contains(&seconds(now)) {
                late.push_back((now, at * Point3::new(0.2, 0.0, 0.0)));
            }
            if let Some((then, place)) = late.front()
                && then + nanoseconds(0.1) <= now
            {
                let place = frame.geodetic(place);
                let what = What::Fix {
                    degrees: [place.latitude, place.longitude].map(f64::to_degrees),
                    height: place.height,
                    variance: [4e-4; 2],
                };
                hear(*then, what);
                late.pop_front();
            }
            if step % 20 == 0 {
                command = driver.decide(now);
                let place = at.translation.vector.xy();
                let off = route.distance(place.into());
                assert!(off < 0.8, "{off} m at step {step}");
                assert!(state.acceleration.norm() < 3.5, "{}", state.acceleration);
                lost = lost.max((driver.whereabouts().place().coords - place).norm());
                lap = lap.max(place.y);
            }
            vehicle.step(&command, 1e-3);
        }
        assert!(lost < 0.5, "{lost} m off its place");
        assert!(lap > 25.0, "{lap}");
    }
}
