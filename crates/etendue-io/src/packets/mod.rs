//! Captures of lidar packets (PCAP, PCAPNG) as points: Velodyne VLP-16, VLP-32C and HDL-32E, HDL-64E
//! and VLS-128 with their calibration, Hesai Pandar40P and PandarXT-32, Ouster OS0, OS1 and OS2 with
//! their metadata.
//!
//! Directions, offsets and firing times come from the lidar's [`ChannelTable`], the Ouster metadata
//! or the Velodyne calibration ([`PacketSource`]). Points are in the sensor frame (x forward). The
//! azimuth of each firing is interpolated in time between the blocks of its packet. A sweep is one
//! full rotation; the first and the last may be partial. Time zero is the first packet of the
//! capture, or the earliest shot if that precedes the packet's stamp (Hesai stamps are those of the
//! packet ends), so that no time is negative.
//!
//! Not decoded: status bytes of the HDL-64E (its own copy of the calibration), Ouster IMU and zone
//! packets, position packets and NMEA sentences.

mod capture;
mod hesai;
mod ouster;
mod sweep_assembler;
mod velodyne;

pub use capture::{Capture, Datagram};
pub use ouster::{OusterMetadata, parse_ouster_metadata, read_ouster_metadata};

pub use velodyne::{LaserCalibration, VelodyneCalibration, read_velodyne_calibration};

pub(crate) use capture::is_capture;

use crate::table::{PointSweeps, PointTable};
use crate::{FileLocation, FormatError};
use etendue_sensors::lidar::Channel;
use std::fmt;
use std::path::Path;
use sweep_assembler::SweepAssembler;

/// Description of the lidar that sent the packets of a capture, for data that packets omit.
///
/// The default has no channel tables; it decodes Ouster packets, and Velodyne packets with a
/// calibration.
#[derive(Clone, Debug, Default)]
pub struct PacketSource {
    /// Metadata or calibration of the device.
    pub metadata: PacketMetadata,
    /// Channel tables of the lidars that packets identify by a model number.
    pub tables: ChannelTables,
}

/// Metadata or calibration of the device that sent the packets of a capture.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum PacketMetadata {
    /// The model number in the packets (Velodyne, Hesai), or the Ouster metadata next to the
    /// capture: a file of the same name that ends in `.json`.
    #[default]
    InPackets,
    /// Metadata of an Ouster sensor.
    Ouster(Box<OusterMetadata>),
    /// Calibration of a Velodyne lidar.
    Velodyne(Box<VelodyneCalibration>),
}

/// Channels and firing period of a spinning lidar.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelTable {
    /// Channels in the order of the packets.
    pub channels: Vec<Channel>,
    /// Time between two firings of a channel, s.
    pub firing_period: f64,
}

/// Channel tables by the name of the sensor preset, for example `velodyne-vlp-16`.
#[derive(Clone, Copy)]
pub struct ChannelTables(pub fn(&str) -> Option<ChannelTable>);

impl ChannelTables {
    fn get(self, name: &str) -> Result<ChannelTable, String> {
        (self.0)(name).ok_or_else(|| format!("there is no channel table for {name}"))
    }
}

impl Default for ChannelTables {
    fn default() -> Self {
        Self(|_| None)
    }
}

impl fmt::Debug for ChannelTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ChannelTables")
    }
}

/// A kind of packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Velodyne,
    Hesai(hesai::Model),
    Ouster,
}

/// Decodes the packets of a capture. Errors name `path`.
///
/// # Errors
/// If the capture is damaged at its beginning, or no packet is one of a known lidar.
pub(crate) fn parse(
    path: &Path,
    bytes: &[u8],
    source: &PacketSource,
) -> Result<PointSweeps, FormatError> {
    points_of(path, Capture::parse(path, bytes)?, source)
}

/// Decodes packets that were recorded in messages. Errors name `path`.
///
/// # Errors
/// If no packet is one of a known lidar.
pub(crate) fn parse_packets(
    path: &Path,
    packets: &[Vec<u8>],
    source: &PacketSource,
) -> Result<PointSweeps, FormatError> {
    let datagrams = packets.iter().map(|payload| Datagram {
        port: 0,
        payload: payload.clone(),
    });
    let capture = Capture {
        datagrams: datagrams.collect(),
        warnings: Vec::new(),
    };
    points_of(path, capture, source)
}

/// Points of the packets of the first known lidar.
fn points_of(
    path: &Path,
    capture: Capture,
    source: &PacketSource,
) -> Result<PointSweeps, FormatError> {
    // Recognise the lidar by the first packet of a known kind
    let of_packets = |datagram: &Datagram| Kind::of(&datagram.payload, None);
    let is_ouster = !capture.datagrams.iter().any(|d| of_packets(d).is_some());
    let metadata = metadata(path, &source.metadata, is_ouster)?;
    let kind = |datagram: &Datagram| Kind::of(&datagram.payload, metadata.as_ref());
    let lidar = capture.datagrams.iter().find_map(kind);
    let lidar = lidar.ok_or_else(|| no_lidar(path, &capture))?;
    // Select its packets
    let packets: Vec<&[u8]> = capture
        .datagrams
        .iter()
        .filter(|datagram| kind(datagram) == Some(lidar))
        .map(|datagram| &datagram.payload[..])
        .collect();
    let left_out = capture.datagrams.len() - packets.len();
    // Convert them to points
    let mut sweeps = SweepAssembler::default();
    let read = read_packets(&mut sweeps, &packets, lidar, source, metadata.as_ref());
    let packet_warnings = read.map_err(|message| {
        let remedy = "captures of VLP-16, VLP-32C, HDL-32E, Pandar40P, XT32 and Ouster are read, \
                      and of HDL-64E and VLS-128 with their calibration (--metadata db.xml, or \
                      ROS's YAML)";
        FormatError::malformed(path, FileLocation::File, message, remedy)
    })?;
    // Report irregularities
    let mut warnings = capture.warnings;
    warnings.extend(packet_warnings);
    if left_out > 0 {
        warnings.push(format!(
            "{left_out} packets contain no points and were skipped"
        ));
    }
    // Stamp every sweep with its earliest point
    let sweeps = sweeps.tables();
    let earliest = |table: &PointTable| {
        let times = table.finite_numbers("time");
        times.reduce(f64::min)
    };
    Ok(PointSweeps {
        stamps: sweeps.iter().map(earliest).collect(),
        sensor: Some(sensor(lidar, &packets, metadata.as_ref())),
        ..PointSweeps::new(sweeps, warnings)
    })
}

/// Appends the points of packets of one kind. Returns irregularities as warnings.
fn read_packets(
    sweeps: &mut SweepAssembler,
    packets: &[&[u8]],
    kind: Kind,
    source: &PacketSource,
    metadata: Option<&OusterMetadata>,
) -> Result<Vec<String>, String> {
    // Read packets with several groups of lasers with the calibration.
    let calibration = match &source.metadata {
        PacketMetadata::Velodyne(calibration) => Some(&**calibration),
        _ => None,
    };
    // Read the packets of the device.
    match (kind, metadata) {
        (Kind::Velodyne, _) => return velodyne::read(sweeps, packets, calibration, source.tables),
        (Kind::Hesai(model), _) => {
            let table = source.tables.get(model.preset())?;
            for bytes in packets {
                hesai::read(sweeps, bytes, model, &table);
            }
        }
        (Kind::Ouster, Some(metadata)) => packets
            .iter()
            .try_for_each(|bytes| ouster::read(sweeps, bytes, metadata))?,
        (Kind::Ouster, None) => {}
    }
    Ok(Vec::new())
}

/// Name of the lidar: its preset or its model.
fn sensor(kind: Kind, packets: &[&[u8]], metadata: Option<&OusterMetadata>) -> String {
    match (kind, metadata) {
        (Kind::Velodyne, _) => velodyne::name(packets),
        (Kind::Hesai(model), _) => model.preset().to_owned(),
        (Kind::Ouster, Some(metadata)) => format!("Ouster {}", metadata.model),
        (Kind::Ouster, None) => "Ouster".to_owned(),
    }
}

/// Ouster metadata: given, or read from the file next to the capture. A file next to a capture of
/// another lidar is not its metadata.
fn metadata(
    path: &Path,
    given: &PacketMetadata,
    is_ouster: bool,
) -> Result<Option<OusterMetadata>, FormatError> {
    if let PacketMetadata::Ouster(metadata) = given {
        return Ok(Some(metadata.as_ref().clone()));
    }
    let beside = path.with_extension("json");
    if is_ouster && beside != path && beside.is_file() {
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
                  Hesai Pandar40P, XT32 are recognised by their packets";
    FormatError::malformed(path, FileLocation::File, message, remedy)
}

/// Little-endian unsigned 16-bit integer at an offset.
fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Little-endian unsigned 32-bit integer at an offset.
fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Little-endian unsigned 64-bit integer at an offset.
fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}
