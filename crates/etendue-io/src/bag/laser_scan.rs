//! `sensor_msgs/LaserScan`, of ROS 1 and ROS 2.

use super::message_reader::MessageReader;
use etendue_sensors::{RangeReading, Scan};

/// A `LaserScan` message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RecordedScan {
    /// Its frame.
    pub frame: String,
    /// Its content.
    pub scan: Scan,
}

/// Decodes a message; a range outside the limits is no return (REP 117). `None` if the message is
/// damaged.
pub(super) fn decode<'a>(message: &mut impl MessageReader<'a>) -> Option<RecordedScan> {
    let (time, frame) = message.header()?;
    let mut numbers = [0.0; 7];
    for number in &mut numbers {
        *number = f64::from(message.f32()?);
    }
    let [first_azimuth, _, step, beam_interval, _, near, far] = numbers;
    let ranges = message.floats()?;
    let intensities = message.floats()?;

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
    let readings: Vec<RangeReading> = ranges.iter().map(reading).collect();
    let azimuths = (0..readings.len()).map(|beam| first_azimuth + step * beam as f64);
    let scan = Scan {
        time,
        beam_interval: if beam_interval.is_finite() {
            beam_interval
        } else {
            0.0
        },
        azimuths: azimuths.collect(),
        elevations: [].into(),
        // Keep intensities only if every beam has one
        intensities: if intensities.len() == readings.len() {
            intensities
        } else {
            Vec::new()
        },
        readings,
        odom_from_robot: None,
    };
    Some(RecordedScan { frame, scan })
}
