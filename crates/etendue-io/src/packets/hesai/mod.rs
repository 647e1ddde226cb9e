//! Hesai data packets: Pandar40P, PandarXT-32, PandarXT-16 and PandarQT.

mod calibration;

pub use calibration::{HesaiCalibration, read_hesai_calibration};

use super::sweep_assembler::{Row, SweepAssembler};
use super::{ChannelTable, ChannelTables, u16_at, u32_at};
use std::f64::consts::TAU;

/// A model, identified by its packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Model {
    Pandar40P,
    Xt32,
    Xt16,
    Qt64,
}

/// Offsets of the fields of a packet.
struct Layout {
    /// Bytes before the first block.
    header: usize,
    blocks: usize,
    /// Bytes of a block before the lasers.
    block_header: usize,
    /// Bytes per laser.
    laser: usize,
    /// Quantisation step of ranges, m.
    step: f64,
    /// Offset of the return mode.
    mode: usize,
    /// Offset of the microseconds of the clock.
    stamp: usize,
    /// Time from the stamp to the first firing, s; `None` where the stamp is the time of the last firing.
    first_firing: Option<f64>,
}

const DUAL: [u8; 3] = [0x39, 0x3b, 0x3c];
/// Period of the stamp: the packets contain the fraction of a second, s.
const SECOND: f64 = 1.0;

impl Model {
    pub fn of(payload: &[u8]) -> Option<Self> {
        match payload.len() {
            1262 | 1266 if payload.starts_with(&[0xff, 0xee]) => Some(Self::Pandar40P),
            1080 if payload.starts_with(&[0xee, 0xff]) && payload[6] == 32 => Some(Self::Xt32),
            568 if payload.starts_with(&[0xee, 0xff]) && payload[6] == 16 => Some(Self::Xt16),
            1072 if payload.starts_with(&[0xee, 0xff]) && payload[6] == 64 => Some(Self::Qt64),
            _ => None,
        }
    }

    /// Name of the sensor preset with the channels.
    pub fn preset(self) -> &'static str {
        match self {
            Self::Pandar40P => "hesai-pandar40p",
            Self::Xt32 => "hesai-xt32",
            Self::Xt16 => "hesai-xt16",
            Self::Qt64 => "hesai-qt64",
        }
    }

    /// The channel table of the preset, with the angles of a calibration if there is one.
    ///
    /// # Errors
    /// If there is no table, or the calibration has another number of lasers.
    pub fn table(
        self,
        tables: ChannelTables,
        calibration: Option<&HesaiCalibration>,
    ) -> Result<ChannelTable, String> {
        let table = tables.get(self.preset())?;
        match calibration {
            Some(calibration) => calibration.applied_to(table),
            None => Ok(table),
        }
    }

    fn layout(self, payload: &[u8]) -> Layout {
        match self {
            Self::Pandar40P => Layout {
                header: 0,
                blocks: 10,
                block_header: 4,
                laser: 3,
                step: 0.004,
                mode: 1240 + 14,
                stamp: 1240 + 10,
                first_firing: None,
            },
            Self::Xt32 => Layout::of_xt(payload, 1052),
            Self::Xt16 => Layout::of_xt(payload, 540),
            Self::Qt64 => Layout {
                blocks: 4,
                mode: 1044 + 16,
                stamp: 1044 + 12,
                first_firing: Some(25.71e-6),
                ..Layout::of_xt(payload, 1044)
            },
        }
    }
}

impl Layout {
    /// The layout of the XT family; `tail` is the offset of the bytes after the blocks.
    fn of_xt(payload: &[u8], tail: usize) -> Self {
        Self {
            header: 12,
            blocks: 8,
            block_header: 2,
            laser: 4,
            step: f64::from(payload[9]) * 1e-3,
            mode: tail + 10,
            stamp: tail + 19,
            first_firing: None,
        }
    }
}

/// Appends the points of a packet.
pub(super) fn read(sweeps: &mut SweepAssembler, bytes: &[u8], model: Model, table: &ChannelTable) {
    let layout = model.layout(bytes);
    let stamp = f64::from(u32_at(bytes, layout.stamp).unwrap_or(0)) * 1e-6;
    let packet = Packet {
        bytes,
        together: if DUAL.contains(&bytes[layout.mode]) {
            2
        } else {
            1
        },
        table,
        layout,
    };
    let firings = packet.layout.blocks / packet.together;
    let stamp = sweeps.since_first(stamp, SECOND);
    for firing in 0..firings {
        let period = table.firing_period;
        let time = match packet.layout.first_firing {
            Some(first) => stamp + first + firing as f64 * period,
            None => stamp - (firings - 1 - firing) as f64 * period,
        };
        packet.read_firing(sweeps, firing * packet.together, time);
    }
}

struct Packet<'a> {
    bytes: &'a [u8],
    layout: Layout,
    table: &'a ChannelTable,
    /// Number of blocks per firing.
    together: usize,
}

impl Packet<'_> {
    fn block(&self, block: usize) -> usize {
        let Layout {
            header,
            block_header,
            laser,
            ..
        } = self.layout;
        header + block * (block_header + laser * self.table.channels.len())
    }

    fn azimuth(&self, block: usize) -> f64 {
        // The azimuth precedes the lasers.
        let at = self.block(block) + self.layout.block_header - 2;
        f64::from(u16_at(self.bytes, at).unwrap_or(0)) * 0.01_f64.to_radians()
    }

    /// Appends the points of one firing at a time (s), whose first block is `group`.
    fn read_firing(&self, sweeps: &mut SweepAssembler, group: usize, time: f64) {
        let azimuth = self.azimuth(group);
        sweeps.column(azimuth / TAU);
        // Append the echoes of each channel, without repeated ones
        for (number, channel) in self.table.channels.iter().enumerate() {
            let mut first_echo = None;
            let mut return_number = 0;
            for echo in 0..self.together {
                let lasers = self.block(group + echo) + self.layout.block_header;
                let at = lasers + number * self.layout.laser;
                let counts = u16_at(self.bytes, at).unwrap_or(0);
                if counts == 0 || first_echo == Some(counts) {
                    continue;
                }
                first_echo = Some(counts);
                return_number += 1;
                let range = f64::from(counts) * self.layout.step;
                sweeps.push(Row {
                    position: channel.point(-azimuth, range),
                    range,
                    intensity: self.bytes[at + 2].into(),
                    ring: channel.ring,
                    time: time + channel.time,
                    return_number,
                    ambient: None,
                });
            }
        }
    }
}
