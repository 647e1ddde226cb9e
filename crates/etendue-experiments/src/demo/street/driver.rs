//! Driver of the vehicle: pure pursuit of a route.

use super::{Localisation, Route, SensorMessage};
use etendue_sensors::dynamics::{Bicycle, DriveCommand, Steering};
use nalgebra::Rotation2;

/// Steering of the vehicle.
const SEDAN: Steering = Steering {
    wheelbase: 2.8,
    angle: 0.55,
    rate: 0.9,
    acceleration: 2.0,
};
/// Look-ahead distance from the rear axle, m.
const LOOK_AHEAD: f64 = 6.0;
/// Speeds on straights and in corners, m/s.
const SPEEDS: [f64; 2] = [9.0, 4.0];
/// Standstill at the start, in which the gyroscope bias is observed, ns.
const STANDSTILL: i64 = 1_000_000_000;

/// Vehicle at rest at the start of a route.
pub fn sedan(route: &Route) -> Bicycle {
    let (position, yaw) = route.start();
    Bicycle::new(SEDAN, position, yaw)
}

/// Driver that follows a route by the messages of the sensors: pure pursuit of a point ahead on the
/// route from the estimated position, slower before corners (Coulter 1992, "Implementation of the
/// pure pursuit path tracking algorithm", CMU-RI-TR-92-01).
#[derive(Clone, Debug, PartialEq)]
pub struct RouteDriver {
    route: Route,
    localisation: Localisation,
    /// Index of the route point nearest to the vehicle.
    nearest: usize,
}

impl RouteDriver {
    /// Driver at the start of a route.
    pub fn new(route: Route, localisation: Localisation) -> Self {
        Self {
            route,
            localisation,
            nearest: 0,
        }
    }

    /// Updates the estimated position by a message.
    pub fn receive(&mut self, message: &SensorMessage) {
        self.localisation.receive(message);
    }

    /// Estimated position.
    pub fn localisation(&self) -> &Localisation {
        &self.localisation
    }

    /// Command at a time, ns.
    pub fn command(&mut self, now: i64) -> DriveCommand {
        if now < STANDSTILL {
            return DriveCommand::default();
        }
        // Point ahead on the route, in the frame of the vehicle
        let position = self.localisation.position();
        self.nearest = self.route.follow(self.nearest, &position);
        let aim = self.route.ahead(self.nearest, LOOK_AHEAD) - position;
        let in_vehicle = Rotation2::new(-self.localisation.yaw()) * aim;

        // Steering angle and speed
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
    use crate::demo::street::{Antenna, MessageData};
    use etendue_physics::gnss::{Geodetic, LocalFrame};
    use etendue_sensors::dynamics::Dynamics;
    use etendue_sensors::rig::{nanoseconds, seconds};
    use nalgebra::Point3;
    use std::collections::VecDeque;

    /// Sensors without noise, but with a gyroscope bias of 0.3 degrees per second, fixes that are 0.1 s
    /// late, have a standard deviation of 2 cm and are missing for 10 s: the vehicle keeps to its lane
    /// in corners of 8 m radius at 4 m/s, with position errors of at most 0.05 m.
    #[test]
    fn the_vehicle_keeps_to_its_lane_for_a_lap() {
        // Vehicle and driver at the start
        let route = Route::around_central_block();
        let mut vehicle = sedan(&route);
        let frame = LocalFrame::new(Geodetic::from_degrees(48.0, 11.0, 500.0));
        let (start, yaw) = route.start();
        let antenna = Antenna {
            position: [0.2, 0.0],
            frame,
        };
        let localisation = Localisation::new(antenna, 0.3, 0.005, start, yaw);
        let mut driver = RouteDriver::new(route.clone(), localisation);
        let mut command = DriveCommand::default();
        let mut delayed_fixes = VecDeque::new();
        let mut wheel_angle = 0.0;
        let mut farthest_north = 0.0_f64;
        let mut largest_error = 0.0_f64;
        for step in 0..60_000_i64 {
            let now = step * 1_000_000;
            let state = vehicle.state();
            let pose = state.world_from_body;

            // Wheels and gyroscope
            wheel_angle += vehicle.speed() * 1e-3 / 0.3;
            let mut receive = |stamp, data| driver.receive(&SensorMessage { stamp, data });
            if step % 10 == 0 {
                receive(now, MessageData::WheelAngle(0, wheel_angle));
                receive(now, MessageData::WheelAngle(1, wheel_angle));
            }
            if step % 5 == 0 {
                receive(now, MessageData::YawRate(state.angular_velocity.z + 0.0052));
            }

            // GNSS fixes, 0.1 s late
            if step % 200 == 0 && !(20.0..30.0).contains(&seconds(now)) {
                delayed_fixes.push_back((now, pose * Point3::new(0.2, 0.0, 0.0)));
            }
            if let Some((then, position)) = delayed_fixes.front()
                && then + nanoseconds(0.1) <= now
            {
                let geodetic = frame.geodetic(position);
                let fix = MessageData::Fix {
                    degrees: [geodetic.latitude, geodetic.longitude].map(f64::to_degrees),
                    height: geodetic.height,
                    variance: [4e-4; 2],
                };
                receive(*then, fix);
                delayed_fixes.pop_front();
            }

            // Command, and distance from the route
            if step % 20 == 0 {
                command = driver.command(now);
                let position = pose.translation.vector.xy();
                let distance = route.distance(position.into());
                assert!(distance < 0.8, "{distance} m at step {step}");
                assert!(state.acceleration.norm() < 3.5, "{}", state.acceleration);
                let error = (driver.localisation().position().coords - position).norm();
                largest_error = largest_error.max(error);
                farthest_north = farthest_north.max(position.y);
            }
            vehicle.step(&command, 1e-3);
        }
        assert!(largest_error < 0.5, "{largest_error} m");
        assert!(farthest_north > 25.0, "{farthest_north}");
    }
}
