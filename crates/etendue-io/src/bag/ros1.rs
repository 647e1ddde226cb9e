//! ROS 1 bags, version 2.0 (<http://wiki.ros.org/Bags/Format/2.0>).

use super::laser_scan::LaserScan;
use super::message::{Body, CloudScan, Message};
use super::point_cloud::{self, Field};
use crate::foreign::most_content;
use crate::input::read_limited;
use crate::{FileLocation, FormatError};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// Opcodes of records.
const MESSAGE: u8 = 2;
const CHUNK: u8 = 5;
const CONNECTION: u8 = 7;

/// Reads every message of a bag, chunk by chunk. A truncated bag gives its complete messages and a
/// warning.
pub(crate) fn messages(
    path: &Path,
    bytes: &[u8],
    warnings: &mut Vec<String>,
) -> Result<Vec<Message>, FormatError> {
    // Check the version line
    let start = bytes
        .iter()
        .position(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    if !bytes.starts_with(b"#ROSBAG V2.0") {
        return Err(FormatError::Unsupported {
            path: path.to_owned(),
            message: "the version of the bag is not 2.0".into(),
            remedy: "convert it with `rosbag fix`".into(),
        });
    }
    // Read the records after it
    let mut bag = Bag {
        path,
        connections: BTreeMap::new(),
        messages: Vec::new(),
        left: most_content(bytes.len()),
    };
    if !bag.walk(&bytes[start..], true)? {
        warnings.push("the bag is truncated: records up to the last complete one were read".into());
    }
    Ok(bag.messages)
}

struct Bag<'a> {
    path: &'a Path,
    /// Topic and type of each connection.
    connections: BTreeMap<Vec<u8>, (String, String)>,
    messages: Vec<Message>,
    /// Bytes of decompressed chunks that the size of the file allows.
    left: u64,
}

/// A header's fields.
type Header<'a> = BTreeMap<&'a [u8], &'a [u8]>;

impl Bag<'_> {
    /// Reads records, of a file or of a chunk; a chunk contains no chunks. Returns whether the last
    /// one is complete.
    fn walk(&mut self, bytes: &[u8], is_file: bool) -> Result<bool, FormatError> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let Some((header, data, after)) = record(rest) else {
                return Ok(false);
            };
            rest = after;
            let kind = header.get(b"op".as_slice()).and_then(|op| op.first());
            match kind {
                Some(&CHUNK) if is_file => {
                    let chunk = self.unpacked(&header, data)?;
                    self.left = self.left.checked_sub(chunk.len() as u64).ok_or_else(|| {
                        self.damaged("its chunks are out of proportion to the file")
                    })?;
                    self.walk(&chunk, false)?;
                }
                Some(&CONNECTION) => self.connect(&header, data),
                Some(&MESSAGE) => self.take(&header, data)?,
                _ => {}
            }
        }
        Ok(true)
    }

    fn unpacked(&self, header: &Header, data: &[u8]) -> Result<Vec<u8>, FormatError> {
        let packing = header
            .get(b"compression".as_slice())
            .copied()
            .unwrap_or(b"none");
        match packing {
            b"none" => Ok(data.to_vec()),
            b"bz2" => self.read_all(bzip2::read::BzDecoder::new(data), data.len()),
            b"lz4" => self.read_all(lz4_flex::frame::FrameDecoder::new(data), data.len()),
            other => Err(FormatError::Unsupported {
                path: self.path.to_owned(),
                message: format!(
                    "chunks with the compression {} are not supported",
                    String::from_utf8_lossy(other)
                ),
                remedy: "decompress the bag with `rosbag decompress`".into(),
            }),
        }
    }

    fn read_all(&self, packed: impl Read, size: usize) -> Result<Vec<u8>, FormatError> {
        read_limited(packed, size)
            .map_err(|error| self.damaged(format!("a chunk cannot be decompressed: {error}")))
    }

    fn damaged(&self, message: impl Into<String>) -> FormatError {
        FormatError::malformed(self.path, FileLocation::File, message, "copy the bag again")
    }

    fn connect(&mut self, header: &Header, data: &[u8]) {
        let text = |bytes: Option<&&[u8]>| {
            bytes.map_or(String::new(), |b| String::from_utf8_lossy(b).into_owned())
        };
        let inner = fields(data).unwrap_or_default();
        let topic = text(header.get(b"topic".as_slice()));
        let kind = text(inner.get(b"type".as_slice()));
        if let Some(number) = header.get(b"conn".as_slice()) {
            self.connections.insert(number.to_vec(), (topic, kind));
        }
    }

    fn take(&mut self, header: &Header, data: &[u8]) -> Result<(), FormatError> {
        let number = header.get(b"conn".as_slice()).copied().unwrap_or_default();
        let Some((topic, kind)) = self.connections.get(number).cloned() else {
            return Ok(());
        };
        let damaged = || {
            let text = format!("a message of {topic} is damaged");
            FormatError::malformed(self.path, FileLocation::File, text, "record it again")
        };
        let body = match kind.as_str() {
            "sensor_msgs/LaserScan" => Body::Scan(laser_scan(data).ok_or_else(damaged)?.scan()),
            "sensor_msgs/PointCloud2" => Body::Cloud(cloud(data).ok_or_else(damaged)?),
            _ => Body::Other,
        };
        self.messages.push(Message { kind, topic, body });
        Ok(())
    }
}

/// Splits the first record off: header, data and the remaining bytes.
fn record(bytes: &[u8]) -> Option<(Header<'_>, &[u8], &[u8])> {
    let (header, rest) = block(bytes)?;
    let (data, rest) = block(rest)?;
    Some((fields(header)?, data, rest))
}

/// Splits a length-prefixed field off; returns its content and the remaining bytes.
fn block(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = u32::from_le_bytes(*bytes.first_chunk()?) as usize;
    bytes.get(4..)?.split_at_checked(length)
}

fn fields(mut bytes: &[u8]) -> Option<Header<'_>> {
    let mut fields = BTreeMap::new();
    while !bytes.is_empty() {
        let (field, rest) = block(bytes)?;
        let at = field.iter().position(|byte| *byte == b'=')?;
        fields.insert(&field[..at], &field[at + 1..]);
        bytes = rest;
    }
    Some(fields)
}

/// Reader of unaligned little-endian numbers.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn u8(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn u32(&mut self) -> Option<u32> {
        let value = u32::from_le_bytes(*self.0.first_chunk()?);
        self.0 = &self.0[4..];
        Some(value)
    }

    fn f32(&mut self) -> Option<f32> {
        self.u32().map(f32::from_bits)
    }

    fn blob(&mut self) -> Option<&'a [u8]> {
        let (blob, rest) = block(self.0)?;
        self.0 = rest;
        Some(blob)
    }

    fn floats(&mut self) -> Option<Vec<f32>> {
        let count = self.u32()? as usize;
        let bytes = self.0.get(..count.checked_mul(4)?)?;
        self.0 = &self.0[count * 4..];
        let float = |b: &[u8]| Some(f32::from_le_bytes(*b.first_chunk()?));
        bytes.chunks_exact(4).map(float).collect()
    }

    /// Reads a message header (sequence number, stamp, frame) and returns its stamp, s.
    fn header(&mut self) -> Option<f64> {
        self.u32()?;
        let seconds = self.u32()?;
        let nanoseconds = self.u32()?;
        self.blob()?;
        Some(f64::from(seconds) + 1e-9 * f64::from(nanoseconds))
    }
}

fn laser_scan(data: &[u8]) -> Option<LaserScan> {
    let mut message = Reader(data);
    let time = message.header()?;
    let mut numbers = [0.0; 7];
    for number in &mut numbers {
        *number = f64::from(message.f32()?);
    }
    let [first, _, step, _, _, near, far] = numbers;
    Some(LaserScan {
        time,
        first,
        step,
        limits: [near, far],
        ranges: message.floats()?,
        intensities: message.floats()?,
    })
}

fn cloud(data: &[u8]) -> Option<CloudScan> {
    let mut message = Reader(data);
    message.header()?;
    let _size = [message.u32()?, message.u32()?];
    let count = message.u32()?;
    let mut fields: Vec<Field> = Vec::new();
    for _ in 0..count {
        let name = String::from_utf8_lossy(message.blob()?).into_owned();
        fields.push((name, message.u32()? as usize, message.u8()?));
        message.u32()?;
    }
    message.u8()?;
    let step = message.u32()? as usize;
    message.u32()?;
    point_cloud::points(message.blob()?, step, &fields)
}
