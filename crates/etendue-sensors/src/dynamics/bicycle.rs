//! The kinematic bicycle model.

use super::model::Dynamics;
use etendue_physics::inertial::MotionState;
use nalgebra::{Isometry3, Vector3};

/// Drive command: set points of speed and steering.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DriveCommand {
    /// Speed, m/s.
    pub speed: f64,
    /// Steering angle at the centre of the front axle, positive to the left, rad.
    pub steering: f64,
}

/// Geometry and limits of a car.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steering {
    /// Distance between the axles, m.
    pub wheelbase: f64,
    /// Largest steering angle, rad.
    pub angle: f64,
    /// Largest change of the steering angle, rad/s.
    pub rate: f64,
    /// Largest acceleration and deceleration, m/s².
    pub acceleration: f64,
}

/// The kinematic bicycle model: a car on level ground whose wheels roll without slipping, with the
/// centre of its rear axle as the reference point (Rajamani 2012, "Vehicle Dynamics and Control", section 2.2):
/// $\dot\psi = v\tan\delta/L$. Speed and steering follow the command within the limits.
///
/// Valid for lateral accelerations below about 3 m/s², without tyre slip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bicycle {
    limits: Steering,
    /// Centre of the rear axle, m.
    position: [f64; 2],
    /// rad.
    yaw: f64,
    /// m/s.
    speed: f64,
    /// rad.
    steering: f64,
    /// Over the last step, m/s².
    acceleration: f64,
    /// Over the last step, rad/s.
    steering_rate: f64,
}

impl Bicycle {
    /// Car at rest with the centre of its rear axle on the ground at x, y (m), and a yaw angle
    /// (rad).
    pub fn new(limits: Steering, position: [f64; 2], yaw: f64) -> Self {
        Self {
            limits,
            position,
            yaw,
            speed: 0.0,
            steering: 0.0,
            acceleration: 0.0,
            steering_rate: 0.0,
        }
    }

    /// Speed, m/s.
    pub fn speed(&self) -> f64 {
        self.speed
    }

    /// Steering angle, rad.
    pub fn steering(&self) -> f64 {
        self.steering
    }

    /// Curvature of the path, 1/m.
    fn curvature(&self) -> f64 {
        self.steering.tan() / self.limits.wheelbase
    }
}

impl Dynamics for Bicycle {
    type Command = DriveCommand;

    fn state(&self) -> MotionState {
        let (sin, cos) = self.yaw.sin_cos();
        let heading = Vector3::new(cos, sin, 0.0);
        let left = Vector3::new(-sin, cos, 0.0);
        let yaw_rate = self.speed * self.curvature();
        let curvature_rate =
            self.steering_rate / (self.steering.cos().powi(2) * self.limits.wheelbase);
        let yaw_acceleration = self.acceleration * self.curvature() + self.speed * curvature_rate;
        MotionState {
            world_from_body: Isometry3::new(
                Vector3::new(self.position[0], self.position[1], 0.0),
                Vector3::z() * self.yaw,
            ),
            velocity: heading * self.speed,
            acceleration: heading * self.acceleration + left * (self.speed * yaw_rate),
            angular_velocity: Vector3::z() * yaw_rate,
            angular_acceleration: Vector3::z() * yaw_acceleration,
        }
    }

    fn step(&mut self, command: &DriveCommand, dt: f64) {
        let Steering {
            angle,
            rate,
            acceleration,
            ..
        } = self.limits;

        // Limit the rates of steering and speed.
        let set_point = command.steering.clamp(-angle, angle);
        self.steering_rate = ((set_point - self.steering) / dt).clamp(-rate, rate);
        self.acceleration = ((command.speed - self.speed) / dt).clamp(-acceleration, acceleration);
        let speed = self.speed;
        let curvature = self.curvature();
        self.steering += self.steering_rate * dt;
        self.speed += self.acceleration * dt;

        // Move along the chord of the arc.
        let distance = f64::midpoint(speed, self.speed) * dt;
        let yaw_change = distance * f64::midpoint(curvature, self.curvature());
        let (sin, cos) = (self.yaw + 0.5 * yaw_change).sin_cos();
        self.position[0] += distance * cos;
        self.position[1] += distance * sin;
        self.yaw += yaw_change;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn car() -> Bicycle {
        let limits = Steering {
            wheelbase: 2.5,
            angle: 0.6,
            rate: 0.5,
            acceleration: 2.0,
        };
        Bicycle::new(limits, [0.0, 0.0], 0.0)
    }

    /// The radius is L/tan δ; measured deviation: 1e-5 m after one circle.
    #[test]
    fn a_constant_steering_angle_gives_a_circle_of_radius_l_over_tan_delta() {
        let mut car = car();
        let radius = 2.5 / 0.3_f64.tan();
        let command = DriveCommand {
            speed: 2.0,
            steering: 0.3,
        };
        (0..5000).for_each(|_| car.step(&command, 1e-3));
        let start = car.state().world_from_body;
        let centre = start * nalgebra::Point3::new(0.0, radius, 0.0);
        (0..9000).for_each(|_| {
            car.step(&command, 1e-3);
            let at = car.state().world_from_body.translation.vector;
            assert!(((at - centre.coords).norm() - radius).abs() < 1e-4);
        });
        let state = car.state();
        assert!((state.acceleration.norm() - 4.0 / radius).abs() < 1e-9);
    }

    #[test]
    fn speed_and_steering_change_within_their_limits() {
        let mut car = car();
        let command = DriveCommand {
            speed: 10.0,
            steering: -2.0,
        };
        (0..1000).for_each(|_| car.step(&command, 1e-3));
        assert!((car.speed() - 2.0).abs() < 1e-9);
        assert!((car.steering() + 0.5).abs() < 1e-9);
        (0..1000).for_each(|_| car.step(&command, 1e-3));
        assert!((car.steering() + 0.6).abs() < 1e-9);
    }
}
