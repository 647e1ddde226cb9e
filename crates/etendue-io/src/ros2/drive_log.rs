//! Messages and commands of a driver, read from a recording.

use super::cdr::CdrReader;
use crate::input::Content;
use crate::interrupt::Interrupt;
use crate::mcap_messages::{for_each_message, schema_name};
use crate::{FileLocation, FormatError};
use nalgebra::Vector3;
use std::path::Path;

/// Message of a recorded drive.
#[derive(Clone, Debug, PartialEq)]
pub struct LoggedMessage {
    /// Time of the log, ns.
    pub time: i64,
    /// Topic.
    pub topic: String,
    /// Content.
    pub data: LoggedData,
}

/// Data of the message types that a driver uses.
#[derive(Clone, Debug, PartialEq)]
pub enum LoggedData {
    /// `sensor_msgs/msg/Imu`.
    Imu {
        /// Stamp, ns.
        stamp: i64,
        /// Angular velocity, rad/s.
        angular_velocity: Vector3<f64>,
    },
    /// `sensor_msgs/msg/JointState` of one joint.
    Joint {
        /// Stamp, ns.
        stamp: i64,
        /// Position of the joint, rad or m.
        position: f64,
    },
    /// `sensor_msgs/msg/NavSatFix` with a position.
    Fix {
        /// Stamp, ns.
        stamp: i64,
        /// Latitude and longitude, degrees.
        degrees: [f64; 2],
        /// Height above the ellipsoid, m.
        height: f64,
        /// Variance to the east and to the north, m².
        variance: [f64; 2],
    },
    /// Serialised `ackermann_msgs/msg/AckermannDriveStamped`.
    Command(Vec<u8>),
}

/// Message types that the reader decodes.
#[derive(Clone, Copy)]
enum Kind {
    Imu,
    Joint,
    Fix,
    Command,
}

/// Calls `visit` for each message of a driver in an MCAP recording, in file order. Skips other
/// messages and GNSS messages without a fix. Holds one chunk in memory at a time.
///
/// # Errors
/// If the file cannot be read, is not an MCAP file, or contains a damaged message.
pub fn read_drive(path: &Path, mut visit: impl FnMut(LoggedMessage)) -> Result<(), FormatError> {
    let malformed = |message: String| {
        FormatError::malformed(
            path,
            FileLocation::File,
            message,
            "give a complete MCAP recording",
        )
    };

    let content = Content::open(path)?;
    let mut warnings = Vec::new();
    let visited = for_each_message(path, &content, &mut warnings, |message| {
        let Some(kind) = kind(schema_name(message)) else {
            return Ok(());
        };
        let topic = &message.channel.topic;
        let data = logged_data(kind, &message.data).ok_or_else(|| {
            malformed(format!(
                "message {} of {topic} is damaged",
                message.sequence
            ))
        })?;
        if let Some(data) = data {
            visit(LoggedMessage {
                time: i64::try_from(message.log_time).unwrap_or(i64::MAX),
                topic: topic.clone(),
                data,
            });
        }
        Ok(())
    });
    Interrupt::result(visited)?;
    match warnings.pop() {
        Some(damage) => Err(malformed(damage)),
        None => Ok(()),
    }
}

fn kind(schema: &str) -> Option<Kind> {
    Some(match schema {
        "sensor_msgs/msg/Imu" => Kind::Imu,
        "sensor_msgs/msg/JointState" => Kind::Joint,
        "sensor_msgs/msg/NavSatFix" => Kind::Fix,
        "ackermann_msgs/msg/AckermannDriveStamped" => Kind::Command,
        _ => return None,
    })
}

/// Data of a serialised message. The outer option is `None` if the message is damaged. The inner
/// option is `None` if the message contains no usable value.
#[expect(clippy::option_option, reason = "damaged and empty messages differ")]
fn logged_data(kind: Kind, bytes: &[u8]) -> Option<Option<LoggedData>> {
    if matches!(kind, Kind::Command) {
        return Some(Some(LoggedData::Command(bytes.to_vec())));
    }

    // Header
    let mut message = CdrReader::new(bytes)?;
    let stamp = i64::from(message.u32()?) * 1_000_000_000 + i64::from(message.u32()?);
    message.text()?;

    // Fields of the type
    let skip = |count: usize, message: &mut CdrReader| -> Option<()> {
        (0..count).try_for_each(|_| message.f64().map(|_| ()))
    };
    Some(match kind {
        Kind::Imu => {
            // Orientation and its covariance
            skip(4 + 9, &mut message)?;
            let x = message.f64()?;
            let y = message.f64()?;
            let z = message.f64()?;
            Some(LoggedData::Imu {
                stamp,
                angular_velocity: Vector3::new(x, y, z),
            })
        }
        Kind::Joint => {
            for _ in 0..message.u32()? {
                message.text()?;
            }
            let positions = message.u32()?;
            let position = message.f64()?;
            (positions == 1).then_some(LoggedData::Joint { stamp, position })
        }
        Kind::Fix => {
            let status = i8::from_le_bytes([message.u8()?]);
            message.u16()?;
            let degrees = [message.f64()?, message.f64()?];
            let height = message.f64()?;
            let east = message.f64()?;
            skip(3, &mut message)?;
            let variance = [east, message.f64()?];
            (status >= 0).then_some(LoggedData::Fix {
                stamp,
                degrees,
                height,
                variance,
            })
        }
        Kind::Command => None,
    })
}
