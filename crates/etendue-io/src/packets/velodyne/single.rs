//! Velodyne lidars with up to 32 lasers: VLP-16, VLP-32C and HDL-32E. Their presets contain the
//! directions.

use super::super::sweep_assembler::{Row, SweepAssembler};
use super::super::{ChannelTable, ChannelTables, u32_at};
use super::{BLOCKS, DUAL, HOUR, LASERS, MARKS, SIZE, azimuth, mark, reading};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::f64::consts::TAU;

/// Checks that all blocks have the flag of these lidars.
fn check_block_flags(bytes: &[u8]) -> Result<(), String> {
    let other = (0..BLOCKS).map(|block| mark(bytes, block));
    match other.into_iter().find(|mark| *mark != MARKS[0]) {
        None => Ok(()),
        Some(mark) => Err(format!(
            "a block of a Velodyne packet has the unknown flag {mark:#x}"
        )),
    }
}

/// The preset of a product and its quantisation step of ranges, m.
fn product(number: u8) -> Result<(&'static str, f64), String> {
    match number {
        0x21 => Ok(("velodyne-hdl-32e", 0.002)),
        0x22 => Ok(("velodyne-vlp-16", 0.002)),
        0x28 => Ok(("velodyne-vlp-32c", 0.004)),
        other => Err(format!(
            "packets of the Velodyne product {other:#x} are not supported"
        )),
    }
}

/// The preset of a packet; `None` for an unsupported product.
pub(super) fn name(bytes: &[u8]) -> Option<&'static str> {
    Some(product(*bytes.last()?).ok()?.0)
}

/// One packet.
struct Packet<'a> {
    bytes: &'a [u8],
    table: &'a ChannelTable,
    /// Quantisation step of ranges, m.
    step: f64,
    /// Number of blocks per firing: one, or two with two echoes per shot.
    together: usize,
}

/// Decoder of the packets of a capture.
pub(in crate::packets) struct Decoder {
    tables: ChannelTables,
    /// Channel tables by product number.
    by_product: BTreeMap<u8, ChannelTable>,
}

impl Decoder {
    pub fn new(tables: ChannelTables) -> Self {
        Self {
            tables,
            by_product: BTreeMap::new(),
        }
    }

    /// Appends the points of a packet.
    pub fn read(&mut self, sweeps: &mut SweepAssembler, bytes: &[u8]) -> Result<(), String> {
        // Find the channel table by the product number
        check_block_flags(bytes)?;
        let number = bytes[SIZE - 1];
        let (preset, step) = product(number)?;
        let table = match self.by_product.entry(number) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(self.tables.get(preset)?),
        };
        // Read the firings of the packet in order
        let packet = Packet {
            bytes,
            together: if bytes[SIZE - 2] == DUAL { 2 } else { 1 },
            table,
            step,
        };
        let stamp = f64::from(u32_at(bytes, 1200).unwrap_or(0)) * 1e-6;
        let start = sweeps.since_first(stamp, HOUR);
        for group in (0..BLOCKS).step_by(packet.together) {
            packet.read_group(sweeps, group, start);
        }
        Ok(())
    }
}

impl Packet<'_> {
    /// Firing sequences per block.
    fn sequences(&self) -> usize {
        LASERS / self.table.channels.len()
    }

    /// Angular velocity of the rotor in a group of blocks, rad/s, from the azimuth of the following
    /// group or, for the last, the preceding one.
    fn rate(&self, group: usize) -> f64 {
        let next = group + self.together;
        let (from, to) = if next < BLOCKS {
            (group, next)
        } else {
            (group - self.together, group)
        };
        let turned = (azimuth(self.bytes, to) - azimuth(self.bytes, from)).rem_euclid(TAU);
        turned / (self.table.firing_period * self.sequences() as f64)
    }

    fn read_group(&self, sweeps: &mut SweepAssembler, group: usize, start: f64) {
        let azimuth = azimuth(self.bytes, group);
        let rate = self.rate(group);
        let before = group / self.together * self.sequences();
        for sequence in 0..self.sequences() {
            let since_block = sequence as f64 * self.table.firing_period;
            let since_packet = (before + sequence) as f64 * self.table.firing_period;
            sweeps.column(((azimuth + rate * since_block) / TAU).fract());
            for (laser, channel) in self.table.channels.iter().enumerate() {
                let mut ranges = [None; 2];
                for echo in 0..self.together {
                    let place = sequence * self.table.channels.len() + laser;
                    let read = reading(self.bytes, group + echo, place);
                    // The second block of a single echo is a duplicate.
                    let again = |(counts, _): &(u16, u8)| {
                        ranges[0].is_some_and(|(first, _)| first == *counts)
                    };
                    ranges[echo] = read.filter(|one| !again(one));
                }
                let rotor = -(azimuth + rate * (since_block + channel.time));
                for ((counts, reflectivity), number) in ranges.into_iter().flatten().zip(1..) {
                    let range = f64::from(counts) * self.step;
                    sweeps.push(Row {
                        position: channel.point(rotor, range),
                        range,
                        intensity: reflectivity.into(),
                        ring: channel.ring,
                        time: start + since_packet + channel.time,
                        return_number: number,
                        ambient: None,
                    });
                }
            }
        }
    }
}
