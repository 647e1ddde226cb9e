//! Messages of sensors that the driver uses.

use etendue_sensors::rig::{Data, Event};
use std::f64::consts::TAU;

/// Message of a sensor, in the representation of a recording: live and recorded messages are equal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SensorMessage {
    /// Stamp: start of the capture, ns.
    pub stamp: i64,
    /// Measurement.
    pub data: MessageData,
}

/// Measurement of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MessageData {
    /// Mean angular velocity about the vehicle's z axis over the capture, rad/s.
    YawRate(f64),
    /// Angle of a wheel since switch-on, rad: the left (0) or the right (1).
    WheelAngle(usize, f64),
    /// GNSS fix: latitude and longitude in degrees, and variances to the east and to the north, m².
    Fix {
        /// Latitude and longitude, degrees.
        degrees: [f64; 2],
        /// Height above the ellipsoid, m.
        height: f64,
        /// Variances to the east and to the north, m².
        variance: [f64; 2],
    },
}

impl SensorMessage {
    /// Message of an event of a rig, if the driver uses its data. `wheel` returns the wheel of an
    /// encoder (0 left, 1 right) and its counts per revolution.
    pub fn of(event: &Event, wheel: impl Fn(usize) -> (usize, u32)) -> Option<Self> {
        let data = match &event.data {
            Data::Imu(reading) => MessageData::YawRate(reading.angular_velocity.z),
            Data::WheelCounts(counts) => {
                let (side, counts_per_turn) = wheel(event.sensor);
                MessageData::WheelAngle(side, *counts as f64 / f64::from(counts_per_turn) * TAU)
            }
            Data::Fix(fix) => {
                let solution = fix.solution?;
                let position = solution.position;
                MessageData::Fix {
                    degrees: [position.latitude, position.longitude].map(f64::to_degrees),
                    height: position.height,
                    variance: [solution.variance.x, solution.variance.y],
                }
            }
            _ => return None,
        };
        let stamp = event.capture.start;
        Some(Self { stamp, data })
    }
}
