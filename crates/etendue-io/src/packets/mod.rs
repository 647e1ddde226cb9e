//! Captures of lidar packets (PCAP, PCAPNG) as points: Velodyne VLP-16, VLP-32C and HDL-32E, HDL-64E
//! and VLS-128 with their calibration, Hesai Pandar40P, PandarXT-32, PandarXT-16 and PandarQT, Ouster OS0, OS1 and OS2 with
//! their metadata.
//!
//! Directions, offsets and firing times come from the lidar's [`ChannelTable`], the Ouster metadata
//! or the Velodyne calibration ([`PacketSource`]). Points are in the sensor frame (x forward). The
//! azimuth of each firing is interpolated in time between the blocks of its packet. A sweep is one
//! full rotation; the first and the last may be partial. Time zero is the first packet of the
//! capture, or the earliest shot if that precedes the packet's stamp (most Hesai stamps are those of the
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

pub use hesai::{HesaiCalibration, read_hesai_calibration};
pub use velodyne::{LaserCalibration, VelodyneCalibration, read_velodyne_calibration};

pub(crate) use capture::is_capture;

use crate::input::Content;
use crate::interrupt::Interrupt;
use crate::points::{RecordedSweep, SweepSummary, VisitSweep};
use crate::table::PointTable;
use crate::{FileLocation, FormatError};
use etendue_sensors::lidar::Channel;
use ouster::UNNAMED;
use std::collections::BTreeSet;
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
    /// The model number in the packets (Velodyne, Hesai), or the Ouster metadata next to the capture: the `.json` file of the
    /// same name, else the only `.json` file of an Ouster with a similar name. Of two similar names, one begins with the
    /// other, and continues with a character that is no letter or digit. The ending of a compression is no part of a name.
    #[default]
    InPackets,
    /// Metadata of an Ouster sensor.
    Ouster(Box<OusterMetadata>),
    /// Calibration of a Velodyne lidar.
    Velodyne(Box<VelodyneCalibration>),
    /// Calibration of a Hesai lidar.
    Hesai(HesaiCalibration),
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

/// Receives the payloads of packets.
pub(crate) type VisitPacket<'a> = &'a mut dyn FnMut(&[u8]) -> Result<(), Interrupt>;

/// Visits the payloads of all packets of a recording, as often as called. Appends irregularities to its first argument.
pub(crate) type ForEachPacket<'a> =
    &'a dyn Fn(&mut Vec<String>, VisitPacket) -> Result<(), Interrupt>;

/// Decodes the packets of a capture, and visits its sweeps one after another. Errors name `path`.
///
/// # Errors
/// If the capture is damaged at its beginning, or no packet is one of a known lidar.
pub(crate) fn visit_sweeps_of_capture(
    path: &Path,
    content: &Content,
    source: &PacketSource,
    summary: &mut SweepSummary,
    visit: VisitSweep,
) -> Result<(), Interrupt> {
    let packets = |warnings: &mut Vec<String>, visit: VisitPacket| {
        capture::for_each_datagram(content, warnings, &mut |_, payload| visit(payload))
    };
    visit_sweeps(path, &packets, source, summary, visit)
}

/// Decodes packets, and visits their sweeps one after another. A sweep has the stamp of its earliest point. Errors name `path`.
///
/// # Errors
/// If no packet is one of a known lidar.
pub(crate) fn visit_sweeps(
    path: &Path,
    packets: ForEachPacket,
    source: &PacketSource,
    summary: &mut SweepSummary,
    visit: VisitSweep,
) -> Result<(), Interrupt> {
    let mut ends = EndSweeps::default();
    let warnings = &mut summary.warnings;

    // Recognise the lidar
    let mut survey = Survey::default();
    packets(warnings, &mut |bytes| {
        survey.add(bytes);
        Ok(())
    })?;
    if survey.packets == 0 {
        return Err(capture::no_packets(path, warnings).into());
    }
    let metadata = metadata(path, &source.metadata, survey.kind.is_none())?;
    let kind = |bytes: &[u8]| Kind::of(bytes, metadata.as_ref());
    let lidar = match &metadata {
        Some(metadata) if !survey.sizes.contains(&metadata.packet_size()) => None,
        Some(_) => Some(Kind::Ouster),
        None => survey.kind,
    };
    let lidar = lidar.ok_or_else(|| no_lidar(path, &survey))?;
    summary.sensor = Some(survey.sensor(lidar, metadata.as_ref()));

    // Decode its packets, and visit each sweep at its end
    let failed = |message: String| {
        let remedy = "captures of VLP-16, VLP-32C, HDL-32E, Pandar40P, XT32, XT16, QT64 and Ouster \
                      are read, and of HDL-64E and VLS-128 with their calibration (--metadata db.xml, or \
                      ROS's YAML); a Hesai may have its angles (--metadata CSV)";
        FormatError::malformed(path, FileLocation::File, message, remedy)
    };
    let decoder = Decoder::new(lidar, survey.velodyne, source, metadata.as_ref(), warnings);
    let mut decoder = decoder.map_err(failed)?;
    let mut sweeps = SweepAssembler::default();
    let mut left_out = 0;
    let mut serial = None;
    packets(&mut Vec::new(), &mut |bytes| {
        if kind(bytes) != Some(lidar) {
            left_out += 1;
            return Ok(());
        }
        if let Some(metadata) = &metadata {
            serial = serial.or_else(|| metadata.serial_of_packet(bytes));
        }
        decoder.read(&mut sweeps, bytes).map_err(failed)?;
        while let Some(table) = sweeps.take_complete() {
            ends.add(table, visit)?;
        }
        Ok(())
    })?;
    decoder.end(&mut sweeps);
    while let Some(table) = sweeps.take_complete().or_else(|| sweeps.take_last()) {
        ends.add(table, visit)?;
    }
    ends.end(visit)?;
    let given = metadata.as_ref().zip(serial);
    warnings.extend(given.and_then(|(metadata, serial)| metadata.other_sensor(serial)));
    if left_out > 0 {
        warnings.push(format!(
            "{left_out} packets contain no points and were skipped"
        ));
    }
    Ok(())
}

/// Marks the first and the last sweep where they are incomplete. A sweep is visited when the next one is known.
#[derive(Default)]
struct EndSweeps {
    held: Option<RecordedSweep>,
    /// Number of points of the sweep before the one that is held.
    before: usize,
}

impl EndSweeps {
    /// Visits the sweep that is held, and holds the next one.
    fn add(&mut self, table: PointTable, visit: VisitSweep) -> Result<(), Interrupt> {
        let points = table.points;
        let held = self.held.take();
        self.held = Some(RecordedSweep {
            number: held.as_ref().map_or(0, |held| held.number + 1),
            stamp: table.finite_numbers("time").reduce(f64::min),
            table,
            ..RecordedSweep::default()
        });
        let Some(mut held) = held else {
            return Ok(());
        };
        self.before = held.table.points;
        held.is_incomplete = held.number == 0 && 4 * held.table.points < points;
        visit(held)
    }

    /// Visits the last sweep.
    fn end(self, visit: VisitSweep) -> Result<(), Interrupt> {
        let Some(mut last) = self.held else {
            return Ok(());
        };
        last.is_incomplete = 4 * last.table.points < self.before;
        visit(last)
    }
}

/// What the packets of a recording together show about their lidar.
#[derive(Default)]
struct Survey {
    /// Number of packets.
    packets: usize,
    /// Sizes of the packets, bytes.
    sizes: BTreeSet<usize>,
    /// The first lidar that its packets identify.
    kind: Option<Kind>,
    velodyne: velodyne::Survey,
}

impl Survey {
    fn add(&mut self, bytes: &[u8]) {
        self.packets += 1;
        self.sizes.insert(bytes.len());
        let kind = Kind::of(bytes, None);
        self.kind = self.kind.or(kind);
        if kind == Some(Kind::Velodyne) {
            self.velodyne.add(bytes);
        }
    }

    /// Name of the lidar: its preset or its model.
    fn sensor(&self, kind: Kind, metadata: Option<&OusterMetadata>) -> String {
        match (kind, metadata) {
            (Kind::Velodyne, _) => self.velodyne.name(),
            (Kind::Hesai(model), _) => model.preset().to_owned(),
            (Kind::Ouster, Some(metadata)) if metadata.model != UNNAMED => {
                format!("{UNNAMED} {}", metadata.model)
            }
            (Kind::Ouster, _) => UNNAMED.to_owned(),
        }
    }
}

/// Decoder of the packets of one lidar.
enum Decoder<'a> {
    Velodyne(velodyne::Decoder<'a>),
    Hesai(hesai::Model, ChannelTable),
    Ouster(&'a OusterMetadata),
}

impl<'a> Decoder<'a> {
    fn new(
        kind: Kind,
        velodyne: velodyne::Survey,
        source: &'a PacketSource,
        metadata: Option<&'a OusterMetadata>,
        warnings: &mut Vec<String>,
    ) -> Result<Self, String> {
        Ok(match (kind, &source.metadata) {
            (Kind::Velodyne, PacketMetadata::Hesai(_)) => {
                return Err("a Hesai calibration does not apply to a Velodyne lidar".to_owned());
            }
            (Kind::Hesai(_), PacketMetadata::Velodyne(_)) => {
                return Err("a Velodyne calibration does not apply to a Hesai lidar".to_owned());
            }
            (Kind::Velodyne, given) => {
                let calibration = match given {
                    PacketMetadata::Velodyne(calibration) => Some(&**calibration),
                    _ => None,
                };
                Self::Velodyne(velodyne::Decoder::new(
                    velodyne,
                    calibration,
                    source.tables,
                    warnings,
                )?)
            }
            (Kind::Hesai(model), given) => {
                let calibration = match given {
                    PacketMetadata::Hesai(calibration) => Some(calibration),
                    _ => None,
                };
                Self::Hesai(model, model.table(source.tables, calibration)?)
            }
            (Kind::Ouster, _) => Self::Ouster(metadata.ok_or("an Ouster needs its metadata")?),
        })
    }

    /// Appends the points of a packet, or those of the packet before.
    fn read(&mut self, sweeps: &mut SweepAssembler, bytes: &[u8]) -> Result<(), String> {
        match self {
            Self::Velodyne(decoder) => decoder.read(sweeps, bytes),
            Self::Hesai(model, table) => {
                hesai::read(sweeps, bytes, *model, table);
                Ok(())
            }
            Self::Ouster(metadata) => ouster::read(sweeps, bytes, metadata),
        }
    }

    /// Appends the points that are left at the end of the packets.
    fn end(&mut self, sweeps: &mut SweepAssembler) {
        if let Self::Velodyne(decoder) = self {
            decoder.end(sweeps);
        }
    }
}

/// Ouster metadata: given, or of a file next to the capture. A file next to a capture of another lidar is not its
/// metadata.
fn metadata(
    path: &Path,
    given: &PacketMetadata,
    is_ouster: bool,
) -> Result<Option<OusterMetadata>, FormatError> {
    if let PacketMetadata::Ouster(metadata) = given {
        return Ok(Some(metadata.as_ref().clone()));
    }
    if is_ouster {
        return ouster::read_metadata_beside(path);
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

fn no_lidar(path: &Path, survey: &Survey) -> FormatError {
    let message = format!(
        "none of the {} UDP packets (of {:?} bytes) is one of a known lidar",
        survey.packets,
        survey.sizes.iter().collect::<Vec<_>>()
    );
    let remedy = "for an Ouster give its metadata (--metadata FILE.json, or a .json file with the name of \
                  the capture); Velodyne VLP-16, VLP-32C, HDL-32E, Hesai Pandar40P, XT32, XT16 and \
                  QT64 are recognised by their packets";
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
