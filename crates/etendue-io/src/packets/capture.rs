//! UDP packets of capture files (PCAP, PCAPNG).

use crate::input::Content;
use crate::interrupt::Interrupt;
use crate::{FileLocation, FormatError};
use pcap_file::pcap::PcapReader;
use pcap_file::pcapng::{Block, PcapNgReader};
use pcap_file::{DataLink, PcapError};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// One UDP packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// Destination port.
    pub port: u16,
    /// Payload.
    pub payload: Vec<u8>,
}

/// The UDP packets of a capture, in file order, reassembled from IP fragments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capture {
    /// The packets.
    pub datagrams: Vec<Datagram>,
    /// Irregularities that did not prevent reading, for example a truncated end.
    pub warnings: Vec<String>,
}

/// Magic numbers of PCAP files (microseconds and nanoseconds, both byte orders) and of PCAPNG.
const MARKS: [[u8; 4]; 5] = [
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0x4d, 0x3c, 0xb2, 0xa1],
    [0xa1, 0xb2, 0x3c, 0x4d],
    [0x0a, 0x0d, 0x0d, 0x0a],
];

/// Whether the content is a capture.
pub(crate) fn is_capture(bytes: &[u8]) -> bool {
    MARKS.iter().any(|mark| bytes.starts_with(mark))
}

impl Capture {
    /// Parses the content of a capture. Errors name `path`. A truncated capture gives its complete
    /// packets and a warning.
    ///
    /// # Errors
    /// If the content is not a capture or contains no complete UDP packet.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, FormatError> {
        let content = Content::Memory(Cow::Borrowed(bytes));
        let mut datagrams = Vec::new();
        let mut warnings = Vec::new();
        let visited = for_each_datagram(&content, &mut warnings, &mut |port, payload| {
            datagrams.push(Datagram {
                port,
                payload: payload.to_vec(),
            });
            Ok(())
        });
        Interrupt::result(visited)?;
        if datagrams.is_empty() {
            return Err(no_packets(path, &warnings));
        }
        Ok(Self {
            datagrams,
            warnings,
        })
    }
}

/// Receives the destination port and the payload of every UDP packet.
pub(super) type VisitDatagram<'a> = &'a mut dyn FnMut(u16, &[u8]) -> Result<(), Interrupt>;

/// Visits the UDP packets of a capture in file order, reassembled from IP fragments. A truncated capture gives its complete
/// packets and a warning.
pub(super) fn for_each_datagram(
    content: &Content,
    warnings: &mut Vec<String>,
    visit: VisitDatagram,
) -> Result<(), Interrupt> {
    // Read the frames in either format
    let mut frames = Frames {
        fragments: BTreeMap::new(),
        visit,
    };
    let start = content.start(4)?;
    let ended = if start.starts_with(&MARKS[4]) {
        frames.read_pcapng(content.reader()?)
    } else {
        frames.read_pcap(content.reader()?)
    };
    // Warn of truncation and of missing fragments
    match ended {
        Ok(()) => {}
        Err(Ended::Visitor(interrupt)) => return Err(interrupt),
        Err(Ended::Damage(error)) => warnings.push(format!(
            "the capture is truncated or damaged ({error}): packets before the damage were read"
        )),
    }
    if !frames.fragments.is_empty() {
        let count = frames.fragments.len();
        warnings.push(format!("{count} packets lack fragments and were skipped"));
    }
    Ok(())
}

/// Error of a capture without packets.
pub(super) fn no_packets(path: &Path, warnings: &[String]) -> FormatError {
    let message = match warnings.first() {
        Some(warning) => format!("there is no complete UDP packet: {warning}"),
        None => "there is no UDP packet".into(),
    };
    let remedy = "record it again with tcpdump or Wireshark, with complete packets (-s 0)";
    FormatError::malformed(path, FileLocation::File, message, remedy)
}

/// Why the frames end.
enum Ended {
    Damage(PcapError),
    Visitor(Interrupt),
}

impl From<PcapError> for Ended {
    fn from(error: PcapError) -> Self {
        Self::Damage(error)
    }
}

impl From<Interrupt> for Ended {
    fn from(interrupt: Interrupt) -> Self {
        Self::Visitor(interrupt)
    }
}

/// Key of a fragmented IP packet: source, destination and identification.
type FragmentKey = ([u8; 8], u16);

/// Received fragments of a packet, and its length after the last fragment.
#[derive(Default)]
struct Fragments {
    pieces: BTreeMap<usize, Vec<u8>>,
    length: Option<usize>,
}

struct Frames<'a> {
    fragments: BTreeMap<FragmentKey, Fragments>,
    visit: VisitDatagram<'a>,
}

impl Frames<'_> {
    fn read_pcap(&mut self, file: impl Read) -> Result<(), Ended> {
        let mut reader = PcapReader::new(file)?;
        let link = reader.header().datalink;
        while let Some(packet) = reader.next_packet() {
            self.frame(link, &packet?.data)?;
        }
        Ok(())
    }

    fn read_pcapng(&mut self, file: impl Read) -> Result<(), Ended> {
        let mut reader = PcapNgReader::new(file)?;
        let mut links = Vec::new();
        while let Some(block) = reader.next_block() {
            let (interface, data) = match block? {
                Block::SectionHeader(_) => {
                    links.clear();
                    continue;
                }
                Block::InterfaceDescription(interface) => {
                    links.push(interface.linktype);
                    continue;
                }
                Block::EnhancedPacket(packet) => (packet.interface_id, packet.data),
                Block::SimplePacket(packet) => (0, packet.data),
                _ => continue,
            };
            let link = links.get(interface as usize).copied();
            self.frame(link.unwrap_or(DataLink::ETHERNET), &data)?;
        }
        Ok(())
    }

    /// Reads a link-layer frame and visits its UDP packet, if there is one.
    fn frame(&mut self, link: DataLink, frame: &[u8]) -> Result<(), Interrupt> {
        let packet = match link {
            DataLink::ETHERNET => ethernet(frame),
            DataLink::LINUX_SLL => frame.get(16..),
            DataLink::NULL | DataLink::LOOP => frame.get(4..),
            _ => Some(frame),
        };
        // Lidars send UDP over IPv4; other frames are skipped.
        let datagram = packet.and_then(|packet| self.internet(packet));
        match datagram.as_deref().and_then(udp) {
            Some((port, payload)) => (self.visit)(port, payload),
            None => Ok(()),
        }
    }

    /// The UDP packet in an IPv4 packet; `None` for another packet, and for one with missing fragments.
    fn internet<'a>(&mut self, packet: &'a [u8]) -> Option<Cow<'a, [u8]>> {
        let header = usize::from(packet.first()? & 15) * 4;
        let is_udp = packet[0] >> 4 == 4 && *packet.get(9)? == 17;
        let length = usize::from(big_endian(packet, 2)?);
        // Network cards with segmentation offload report a length of zero.
        let end = if length == 0 { packet.len() } else { length };
        let body = packet.get(header..end)?;
        if !is_udp {
            return None;
        }
        let fragment = big_endian(packet, 6)?;
        let more = fragment & 0x2000 != 0;
        let start = usize::from(fragment & 0x1fff) * 8;
        if !more && start == 0 {
            return Some(Cow::Borrowed(body));
        }
        let key = (*packet.get(12..)?.first_chunk()?, big_endian(packet, 4)?);
        let parts = self.fragments.entry(key).or_default();
        if !more {
            parts.length = Some(start + body.len());
        }
        parts.pieces.insert(start, body.to_vec());
        let whole = parts.whole()?;
        self.fragments.remove(&key);
        Some(Cow::Owned(whole))
    }
}

/// Destination port and payload of a UDP packet.
fn udp(bytes: &[u8]) -> Option<(u16, &[u8])> {
    let length = usize::from(big_endian(bytes, 4)?);
    Some((big_endian(bytes, 2)?, bytes.get(8..length)?))
}

impl Fragments {
    /// The reassembled packet, or `None` while a fragment is missing.
    fn whole(&self) -> Option<Vec<u8>> {
        let length = self.length?;
        let mut whole = Vec::with_capacity(length);
        for (start, piece) in &self.pieces {
            if *start != whole.len() {
                return None;
            }
            whole.extend_from_slice(piece);
        }
        (whole.len() == length).then_some(whole)
    }
}

/// Payload of an Ethernet frame, after VLAN tags.
fn ethernet(frame: &[u8]) -> Option<&[u8]> {
    let mut at = 12;
    while matches!(big_endian(frame, at)?, 0x8100 | 0x88a8) {
        at += 4;
    }
    frame.get(at + 2..)
}

fn big_endian(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}
