//! Parameters of a car for physics engines.

use super::bicycle::Steering;

/// A car with four wheels. The origin is the centre of the rear axle on the ground, x forward, z up; the
/// centre of mass is midway between the axles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vehicle {
    /// Wheelbase and limits of speed and steering.
    pub steering: Steering,
    /// Distance between left and right wheels, m.
    pub track: f64,
    /// Length, width and height of the body, m.
    pub size: [f64; 3],
    /// Mass, kg.
    pub mass: f64,
    /// Height of the centre of mass, m.
    pub centre_height: f64,
    /// Radius of the wheels, m.
    pub wheel_radius: f64,
    /// Natural frequency of the suspension, Hz.
    pub suspension_frequency: f64,
    /// Damping ratio of the suspension.
    pub suspension_damping: f64,
    /// Friction coefficient of the tyres.
    pub friction: f64,
}

impl Vehicle {
    /// First invalid parameter, if there is one.
    pub fn problem(&self) -> Option<String> {
        // Numbers above zero.
        let numbers = [
            ("wheelbase", self.steering.wheelbase),
            ("largest steering angle", self.steering.angle),
            ("largest change of the steering angle", self.steering.rate),
            ("largest acceleration", self.steering.acceleration),
            ("track", self.track),
            ("length", self.size[0]),
            ("width", self.size[1]),
            ("height", self.size[2]),
            ("mass", self.mass),
            ("height of the centre of mass", self.centre_height),
            ("radius of the wheels", self.wheel_radius),
            ("frequency of the suspension", self.suspension_frequency),
            ("damping of the suspension", self.suspension_damping),
            ("friction", self.friction),
        ];
        let invalid = numbers
            .iter()
            .find(|(_, value)| !(*value > 0.0 && value.is_finite()));
        if let Some((name, value)) = invalid {
            return Some(format!(
                "the vehicle's {name} is {value}, it must be above zero"
            ));
        }
        // Steering angle below a right angle.
        (self.steering.angle >= 1.5)
            .then(|| "the vehicle's largest steering angle is 86 degrees or more".into())
    }
}
