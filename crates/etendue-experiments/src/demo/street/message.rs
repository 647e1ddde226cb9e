//! Sensor messages that the driver receives.

use etendue_sensors::rig::{Data, Event};
use std::f64::consts::TAU;

/// A sensor message with the numbers of a recording, so that the driver receives the same from a
/// simulation and from its recording.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SensorMessage {
    /// Start of the capture, ns.
    pub stamp: i64,
    /// Measurement.
    pub content: MessageContent,
}

/// Measurement of a sensor message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MessageContent {
    /// Mean angular velocity about the z axis of the vehicle over the capture, rad/s.
    YawRate(f64),
    /// Angle of a wheel since switch-on, rad: left (0) or right (1).
    Wheel(usize, f64),
    /// GNSS fix.
    Fix {
        /// Latitude, longitude, degrees.
        degrees: [f64; 2],
        /// Height above the ellipsoid, m.
        height: f64,
        /// Variances of east and north, m².
        variance: [f64; 2],
    },
}

impl SensorMessage {
    /// The message of an event of a rig, if the driver uses its sensor. `wheel` gives the side of an
    /// encoder (0 left, 1 right) and its counts per turn.
    pub fn of(event: &Event, wheel: impl Fn(usize) -> (usize, u32)) -> Option<Self> {
        let content = match &event.data {
            Data::Imu(reading) => MessageContent::YawRate(reading.angular_velocity.z),
            Data::WheelCounts(counts) => {
                let (side, turn) = wheel(event.sensor);
                MessageContent::Wheel(side, *counts as f64 / f64::from(turn) * TAU)
            }
            Data::Fix(fix) => {
                let solution = fix.solution?;
                let position = solution.position;
                MessageContent::Fix {
                    degrees: [position.latitude, position.longitude].map(f64::to_degrees),
                    height: position.height,
                    variance: [solution.variance.x, solution.variance.y],
                }
            }
            _ => return None,
        };
        let stamp = event.capture.start;
        Some(Self { stamp, content })
    }
}
