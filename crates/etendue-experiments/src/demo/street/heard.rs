//! What the driver hears of the sensors.

use etendue_sensors::rig::{Data, Event};
use std::f64::consts::TAU;

/// A message of a sensor, in the numbers that a recording keeps: so the driver of a recording hears
/// the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Heard {
    /// Stamp: when the capture began, ns.
    pub stamp: i64,
    /// What it says.
    pub what: What,
}

/// What a message says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum What {
    /// Mean angular velocity about the vehicle's z axis over the capture, rad/s.
    Turning(f64),
    /// How far a wheel has turned since switch-on, rad: the left (0) or the right (1).
    Wheel(usize, f64),
    /// A position by satellites: latitude and longitude in degrees, and variances to the east and
    /// to the north, m².
    Fix {
        /// Latitude, longitude, degrees.
        degrees: [f64; 2],
        /// Height above the ellipsoid, m.
        height: f64,
        /// East, north, m².
        variance: [f64; 2],
    },
}

impl Heard {
    /// What an event of a rig says, if that is of interest to a driver; `wheel` says which wheel an
    /// encoder is on (0 left, 1 right), and how many counts are a turn.
    pub fn of(event: &Event, wheel: impl Fn(usize) -> (usize, u32)) -> Option<Self> {
        let what = match &event.data {
            Data::Imu(reading) => What::Turning(reading.angular_velocity.z),
            Data::WheelCounts(counts) => {
                let (side, turn) = wheel(event.sensor);
                What::Wheel(side, *counts as f64 / f64::from(turn) * TAU)
            }
            Data::Fix(fix) => {
                let solution = fix.solution?;
                let place = solution.position;
                What::Fix {
                    degrees: [place.latitude, place.longitude].map(f64::to_degrees),
                    height: place.height,
                    variance: [solution.variance.x, solution.variance.y],
                }
            }
            _ => return None,
        };
        let stamp = event.capture.start;
        Some(Self { stamp, what })
    }
}
