//! Captures of lidar packets (PCAP, PCAPNG) as points: Velodyne VLP-16, VLP-32C and HDL-32E, HDL-64E
//! and VLS-128 with their calibration, Hesai Pandar40P and PandarXT-32, Ouster OS0, OS1 and OS2 with
//! their metadata.
//!
//! Directions, offsets and firing times are those of the presets
//! ([`sensor::preset`](crate::sensor::preset)), of the Ouster's metadata or of the Velodyne's
//! calibration; points stand in the
//! sensor's frame (x forward). The azimuth of each firing is interpolated between the blocks of its
//! packet by its own time. Sweeps are whole turns; the first and last may be parts. Times count
//! from the first packet of the capture, or from the earliest shot where that is before its stamp
//! (Hesai's stamps are those of the packets' ends): none is negative.
//!
//! Left out: the status bytes of the HDL-64E (its own copy of the calibration), Ouster's IMU and zone
//! packets, positions and GPS sentences.

mod capture;
mod hesai;
mod ouster;
mod turns;
mod velodyne;

pub use capture::{Capture, Datagram};
pub use ouster::{OusterMetadata, parse_ouster_metadata, read_ouster_metadata};

pub use velodyne::{LaserCalibration, VelodyneCalibration, read_velodyne_calibration};

pub(crate) use capture::is_capture;

use crate::points::Points;
use crate::sensor::{SensorModel, preset};
use crate::{FormatError, Place};
use etendue_sensors::lidar::Lidar;
use std::path::Path;
use turns::Turns;

/// What sent the packets of a capture.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Device {
    /// What the packets say (Velodyne, Hesai), or the metadata beside the capture: a file of the
    /// same name that ends in `.json`.
    #[default]
    Unknown,
    /// An Ouster sensor.
    Ouster(Box<OusterMetadata>),
    /// A Velodyne lidar whose calibration is known.
    Velodyne(Box<VelodyneCalibration>),
}

/// A kind of packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Velodyne,
    Hesai(hesai::Model),
    Ouster,
}

/// The points of a capture's packets; `path` is named in errors.
///
/// # Errors
/// Where the capture is damaged from its beginning on, or no packet is one of a known lidar.
pub(crate) fn parse(path: &Path, bytes: &[u8], device: &Device) -> Result<Points, FormatError> {
    let capture = Capture::parse(path, bytes)?;
    let metadata = metadata(path, device)?;
    let kind = |datagram: &Datagram| Kind::of(&datagram.payload, metadata.as_ref());
    let first = capture.datagrams.iter().find_map(kind);
    let first = first.ok_or_else(|| no_lidar(path, &capture))?;
    let own: Vec<&[u8]> = { capture.datagrams.iter() }
        .filter(|datagram| kind(datagram) == Some(first))
        .map(|datagram| &datagram.payload[..])
        .collect();
    let left_out = capture.datagrams.len() - own.len();
    let mut turns = Turns::default();
    let odd = read_packets(&mut turns, &own, first, (device, metadata.as_ref()));
    let odd = odd.map_err(|message| {
        let remedy = "captures of VLP-16, VLP-32C, HDL-32E, Pandar40P, XT32 and Ouster are read, \
                      and of HDL-64E and VLS-128 with their calibration (--metadata db.xml, or \
                      ROS's YAML)";
        FormatError::malformed(path, Place::File, message, remedy)
    })?;
    let mut warnings = capture.warnings;
    warnings.extend(odd);
    if left_out > 0 {
        warnings.push(format!(
            "{left_out} packets hold no points and were left out"
        ));
    }
    Ok(Points {
        sweeps: turns.tables(),
        warnings,
    })
}

/// Appends the points of packets of one kind. What is odd comes back as warnings.
fn read_packets(
    turns: &mut Turns,
    packets: &[&[u8]],
    kind: Kind,
    (device, metadata): (&Device, Option<&OusterMetadata>),
) -> Result<Vec<String>, String> {
    let calibration = match device {
        Device::Velodyne(calibration) => Some(&**calibration),
        _ => None,
    };
    match (kind, metadata) {
        (Kind::Velodyne, _) => return velodyne::read(turns, packets, calibration),
        (Kind::Hesai(model), _) => packets
            .iter()
            .try_for_each(|bytes| hesai::read(turns, bytes, model))?,
        (Kind::Ouster, Some(metadata)) => packets
            .iter()
            .try_for_each(|bytes| ouster::read(turns, bytes, metadata))?,
        (Kind::Ouster, None) => {}
    }
    Ok(Vec::new())
}

/// The Ouster's metadata, given or beside the capture.
fn metadata(path: &Path, device: &Device) -> Result<Option<OusterMetadata>, FormatError> {
    if let Device::Ouster(metadata) = device {
        return Ok(Some(metadata.as_ref().clone()));
    }
    let beside = path.with_extension("json");
    if beside != path && beside.is_file() {
        return read_ouster_metadata(&beside).map(Some);
    }
    Ok(None)
}

impl Kind {
    fn of(payload: &[u8], metadata: Option<&OusterMetadata>) -> Option<Self> {
        if let Some(metadata) = metadata {
            return (payload.len() == metadata.packet_size()).then_some(Self::Ouster);
        }
        if velodyne::is_data(payload) {
            return Some(Self::Velodyne);
        }
        hesai::Model::of(payload).map(Self::Hesai)
    }
}

fn no_lidar(path: &Path, capture: &Capture) -> FormatError {
    let mut sizes: Vec<usize> = capture.datagrams.iter().map(|d| d.payload.len()).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let message = format!(
        "none of the {} UDP packets (of {sizes:?} bytes) is one of a known lidar",
        capture.datagrams.len()
    );
    let remedy = "for an Ouster give its metadata (JSON: --metadata of `etendue convert`, or a file of \
                  the capture's name that ends in .json); Velodyne VLP-16, VLP-32C, HDL-32E and \
                  Hesai Pandar40P, XT32 are told from their packets";
    FormatError::malformed(path, Place::File, message, remedy)
}

/// A scanning lidar that comes with the program.
fn scanner(name: &str) -> Result<Lidar, String> {
    match preset(name).map(|sensor| sensor.model) {
        Ok(SensorModel::Scanner(scanner)) => Ok(scanner),
        _ => Err(format!("there is no preset {name}")),
    }
}

/// Two bytes, the low one first.
fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Four bytes, the lowest first.
fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Eight bytes, the lowest first.
fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}
