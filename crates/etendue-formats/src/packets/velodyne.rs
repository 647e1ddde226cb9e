//! Velodyne data packets: twelve blocks of an azimuth and 32 ranges.

use super::turns::{Row, Turns};
use super::{scanner, u16_at, u32_at};
use etendue_sensors::scanner::{Columns, Scanner};
use std::f64::consts::TAU;

const SIZE: usize = 1206;
const BLOCKS: usize = 12;
const BLOCK: usize = 100;
const LASERS: usize = 32;
/// The lasers' clock starts anew every hour, s.
const HOUR: f64 = 3600.0;

/// Return mode of two echoes a shot.
const DUAL: u8 = 0x39;

/// Whether a payload is such a packet.
pub(super) fn is_data(payload: &[u8]) -> bool {
    payload.len() == SIZE && payload.starts_with(&[0xff, 0xee])
}

/// Refuses packets of lidars whose blocks are laid out otherwise: an HDL-64E marks those of its
/// lower lasers, a VLS-128 all four groups of 32 lasers.
fn refuse_others(bytes: &[u8]) -> Result<(), String> {
    let marks = (0..BLOCKS).map(|block| u16_at(bytes, block * BLOCK));
    let other = marks.flatten().find(|mark| *mark != 0xeeff);
    match (other, bytes[SIZE - 1]) {
        (None, _) => Ok(()),
        (Some(_), 0xa1) | (Some(0xccff | 0xbbff), _) => {
            Err("these are packets of a Velodyne VLS-128 (Alpha Prime), which are not read".into())
        }
        (Some(0xddff), _) => {
            Err("these are packets of a Velodyne HDL-64E, which are not read".into())
        }
        (Some(mark), _) => Err(format!(
            "a block of a Velodyne packet begins with {mark:#x}"
        )),
    }
}

/// The preset of a product, and the step of its ranges, m.
fn product(number: u8) -> Result<(Scanner, f64), String> {
    match number {
        0x21 => Ok((scanner("velodyne-hdl-32e")?, 0.002)),
        0x22 => Ok((scanner("velodyne-vlp-16")?, 0.002)),
        0x28 => Ok((scanner("velodyne-vlp-32c")?, 0.004)),
        0xa1 => Err("packets of the Velodyne VLS-128 (Alpha Prime) are not read".into()),
        other => Err(format!(
            "packets of the Velodyne product {other:#x} are not read"
        )),
    }
}

/// One packet.
struct Packet<'a> {
    bytes: &'a [u8],
    scanner: Scanner,
    /// m.
    step: f64,
    /// Blocks that were fired together: one, or two with two echoes a shot.
    together: usize,
    /// Time between two firings of the same laser, s.
    period: f64,
}

/// Appends the points of a packet.
pub(super) fn read(turns: &mut Turns, bytes: &[u8]) -> Result<(), String> {
    refuse_others(bytes)?;
    let (scanner, step) = product(bytes[SIZE - 1])?;
    let Columns::Period { seconds: period } = scanner.pattern.columns() else {
        return Err("the preset has no firing period".into());
    };
    let packet = Packet {
        bytes,
        together: if bytes[SIZE - 2] == DUAL { 2 } else { 1 },
        scanner,
        step,
        period,
    };
    let stamp = f64::from(u32_at(bytes, 1200).unwrap_or(0)) * 1e-6;
    let start = turns.since_first(stamp, HOUR);
    for group in (0..BLOCKS).step_by(packet.together) {
        packet.read_group(turns, group, start);
    }
    Ok(())
}

impl Packet<'_> {
    /// Firing sequences in a block.
    fn sequences(&self) -> usize {
        LASERS / self.scanner.channels.len()
    }

    fn azimuth(&self, block: usize) -> f64 {
        f64::from(u16_at(self.bytes, block * BLOCK + 2).unwrap_or(0)) * 0.01_f64.to_radians()
    }

    /// How fast the rotor turns in a group of blocks, rad/s: from the next one's azimuth, in the
    /// last from the one's before.
    fn rate(&self, group: usize) -> f64 {
        let next = group + self.together;
        let (from, to) = if next < BLOCKS {
            (group, next)
        } else {
            (group - self.together, group)
        };
        let turned = (self.azimuth(to) - self.azimuth(from)).rem_euclid(TAU);
        turned / (self.period * self.sequences() as f64)
    }

    fn read_group(&self, turns: &mut Turns, group: usize, start: f64) {
        let (azimuth, rate) = (self.azimuth(group), self.rate(group));
        let before = group / self.together * self.sequences();
        for sequence in 0..self.sequences() {
            let since_block = sequence as f64 * self.period;
            let since_packet = (before + sequence) as f64 * self.period;
            turns.column(((azimuth + rate * since_block) / TAU).fract());
            for (laser, channel) in self.scanner.channels.iter().enumerate() {
                let mut ranges = [None; 2];
                for echo in 0..self.together {
                    let place = sequence * self.scanner.channels.len() + laser;
                    let at = (group + echo) * BLOCK + 4 + 3 * place;
                    let counts = u16_at(self.bytes, at).unwrap_or(0);
                    // The second block repeats the only echo.
                    if counts == 0 || ranges[0].is_some_and(|(first, _)| first == counts) {
                        continue;
                    }
                    ranges[echo] = Some((counts, self.bytes[at + 2]));
                }
                let rotor = -(azimuth + rate * (since_block + channel.time));
                for ((counts, reflectivity), number) in ranges.into_iter().flatten().zip(1..) {
                    let range = f64::from(counts) * self.step;
                    turns.push(Row {
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
