//! UDP packets of capture files (PCAP, PCAPNG).

use crate::{FileLocation, FormatError};
use pcap_file::pcap::PcapReader;
use pcap_file::pcapng::{Block, PcapNgReader};
use pcap_file::{DataLink, PcapError};
use std::collections::BTreeMap;
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
        // Read the frames in either format
        let mut frames = Frames::default();
        let outcome = if bytes.starts_with(&MARKS[4]) {
            frames.read_pcapng(bytes)
        } else {
            frames.read_pcap(bytes)
        };
        // Warn of truncation and of missing fragments
        let mut capture = frames.capture;
        if let Err(error) = outcome {
            let warning = format!(
                "the capture is truncated or damaged ({error}): packets before the damage were read"
            );
            capture.warnings.push(warning);
        }
        if !frames.fragments.is_empty() {
            let count = frames.fragments.len();
            capture
                .warnings
                .push(format!("{count} packets lack fragments and were skipped"));
        }
        // Require at least one packet
        if !capture.datagrams.is_empty() {
            return Ok(capture);
        }
        let message = match capture.warnings.first() {
            Some(warning) => format!("there is no complete UDP packet: {warning}"),
            None => "there is no UDP packet".into(),
        };
        let remedy = "record it again with tcpdump or Wiresharkand complete packets (-s 0)";
        Err(FormatError::malformed(
            path,
            FileLocation::File,
            message,
            remedy,
        ))
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

#[derive(Default)]
struct Frames {
    capture: Capture,
    fragments: BTreeMap<FragmentKey, Fragments>,
}

impl Frames {
    fn read_pcap(&mut self, bytes: &[u8]) -> Result<(), PcapError> {
        let mut reader = PcapReader::new(bytes)?;
        let link = reader.header().datalink;
        while let Some(packet) = reader.next_packet() {
            self.frame(link, &packet?.data);
        }
        Ok(())
    }

    fn read_pcapng(&mut self, bytes: &[u8]) -> Result<(), PcapError> {
        let mut reader = PcapNgReader::new(bytes)?;
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
            self.frame(link.unwrap_or(DataLink::ETHERNET), &data);
        }
        Ok(())
    }

    /// Reads a link-layer frame and stores its UDP packet, if there is one.
    fn frame(&mut self, link: DataLink, frame: &[u8]) {
        let packet = match link {
            DataLink::ETHERNET => ethernet(frame),
            DataLink::LINUX_SLL => frame.get(16..),
            DataLink::NULL | DataLink::LOOP => frame.get(4..),
            _ => Some(frame),
        };
        // Lidars send UDP over IPv4; other frames are skipped.
        let _ = packet.and_then(|packet| self.internet(packet));
    }

    /// Reads an IPv4 packet.
    fn internet(&mut self, packet: &[u8]) -> Option<()> {
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
            return self.datagram(body);
        }
        let key = (*packet.get(12..)?.first_chunk()?, big_endian(packet, 4)?);
        let parts = self.fragments.entry(key).or_default();
        if !more {
            parts.length = Some(start + body.len());
        }
        parts.pieces.insert(start, body.to_vec());
        let whole = parts.whole()?;
        self.fragments.remove(&key);
        self.datagram(&whole)
    }

    fn datagram(&mut self, bytes: &[u8]) -> Option<()> {
        let length = usize::from(big_endian(bytes, 4)?);
        self.capture.datagrams.push(Datagram {
            port: big_endian(bytes, 2)?,
            payload: bytes.get(8..length)?.to_vec(),
        });
        Some(())
    }
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
