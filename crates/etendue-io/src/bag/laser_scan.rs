//! `sensor_msgs/LaserScan`, of ROS 1 and ROS 2.

use crate::ros2::CdrReader;
use etendue_sensors::{RangeReading, Scan};

/// Fields of both versions after the header.
pub(super) struct LaserScan {
    pub time: f64,
    pub first: f64,
    pub step: f64,
    pub limits: [f64; 2],
    pub ranges: Vec<f32>,
    pub intensities: Vec<f32>,
}

pub(super) fn of_ros2(data: &[u8]) -> Option<Scan> {
    let mut message = CdrReader::new(data)?;
    let time = message.stamp()?;
    message.text()?;
    let mut numbers = [0.0; 7];
    for number in &mut numbers {
        *number = f64::from(message.f32()?);
    }
    let [first, _, step, _, _, near, far] = numbers;
    Some(
        LaserScan {
            time,
            first,
            step,
            limits: [near, far],
            ranges: message.floats()?,
            intensities: message.floats()?,
        }
        .scan(),
    )
}

impl LaserScan {
    /// Converts the message to a scan; a range outside the limits is no return (REP 117).
    pub fn scan(self) -> Scan {
        let [near, far] = self.limits;
        // Classify every range by the conventions of REP 117
        let reading = |range: &f32| {
            let range = f64::from(*range);
            if range.is_nan() {
                RangeReading::Error(0)
            } else if range == f64::NEG_INFINITY || range < near && range != 0.0 {
                RangeReading::TooNear
            } else if range == 0.0 || range > far && far > 0.0 {
                RangeReading::NoReturn
            } else {
                RangeReading::Range(range)
            }
        };
        let readings: Vec<RangeReading> = self.ranges.iter().map(reading).collect();
        // Keep intensities only if every beam has one
        let intensities = if self.intensities.len() == readings.len() {
            self.intensities
        } else {
            Vec::new()
        };
        Scan {
            time: self.time,
            azimuths: (0..readings.len())
                .map(|beam| self.first + self.step * beam as f64)
                .collect(),
            readings,
            intensities,
            odom_from_robot: None,
        }
    }
}
