//! Messages and commands of a driver, read from a recording.

use super::cdr::CdrReader;
use crate::foreign::{ReaderPanic, guarded};
use crate::mcap_chunks::{CHUNK, chunk_records};
use crate::{FileLocation, FormatError};
use mcap::read::ChunkReader;
use mcap::records::Record;
use mcap::sans_io::{LinearReadEvent, LinearReader, LinearReaderOptions};
use nalgebra::Vector3;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};
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

    // Open the file
    let file = File::open(path).map_err(|source| FormatError::cannot_read(path, source))?;
    let size = file
        .metadata()
        .map_err(|source| FormatError::cannot_read(path, source))?
        .len();
    let mut file = BufReader::new(file);
    // A record is not longer than its file
    let options = LinearReaderOptions::default()
        .with_emit_chunks(true)
        .with_record_length_limit(usize::try_from(size).unwrap_or(usize::MAX));
    let mut reader = LinearReader::new_with_options(options);
    let mut topics = LidarTopics::default();

    // Read the records inside and outside of chunks
    let panicked = |panic: ReaderPanic| malformed(panic.to_string());
    while let Some(event) = guarded(|| reader.next_event()).map_err(panicked)? {
        match event.map_err(|error| malformed(error.to_string()))? {
            LinearReadEvent::ReadRequest(count) => {
                let read = file.read(reader.insert(count));
                let read = read.map_err(|source| FormatError::cannot_read(path, source))?;
                reader.notify_read(read);
            }
            LinearReadEvent::Record {
                data,
                opcode: CHUNK,
            } => {
                let chunk = chunk_records(data).map_err(|error| malformed(error.to_string()))?;
                let records = ChunkReader::new(chunk.0, &chunk.1);
                for record in records.map_err(|error| malformed(error.to_string()))? {
                    let record = record.map_err(|error| malformed(error.to_string()))?;
                    if let Some(message) = topics.message(record).map_err(malformed)? {
                        visit(message);
                    }
                }
            }
            LinearReadEvent::Record { data, opcode } => {
                let record = mcap::parse_record(opcode, data);
                let record = record.map_err(|error| malformed(error.to_string()))?;
                if let Some(message) = topics.message(record).map_err(malformed)? {
                    visit(message);
                }
            }
        }
    }
    Ok(())
}

#[derive(Default)]
struct LidarTopics {
    schemas: BTreeMap<u16, Kind>,
    channels: BTreeMap<u16, (String, Kind)>,
}

impl LidarTopics {
    /// Decodes a record if it is a message of a driver. Registers schemas and channels of other
    /// records.
    fn message(&mut self, record: Record) -> Result<Option<LoggedMessage>, String> {
        match record {
            // Store the kinds of the schemas.
            Record::Schema { header, .. } => {
                if let Some(kind) = kind(&header.name) {
                    self.schemas.insert(header.id, kind);
                }
            }
            // Store the topics of the channels.
            Record::Channel(channel) => {
                if let Some(kind) = self.schemas.get(&channel.schema_id) {
                    self.channels.insert(channel.id, (channel.topic, *kind));
                }
            }
            // Decode the messages of known channels.
            Record::Message { header, data } => {
                let Some((topic, kind)) = self.channels.get(&header.channel_id) else {
                    return Ok(None);
                };
                let data = logged_data(*kind, &data)
                    .ok_or_else(|| format!("message {} of {topic} is damaged", header.sequence))?;
                return Ok(data.map(|data| LoggedMessage {
                    time: i64::try_from(header.log_time).unwrap_or(i64::MAX),
                    topic: topic.clone(),
                    data,
                }));
            }
            _ => {}
        }
        Ok(None)
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
