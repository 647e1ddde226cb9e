//! Velodyne data packets: twelve blocks of a flag, an azimuth and 32 ranges.

mod banks;
mod calibration;
mod single;

pub use calibration::{LaserCalibration, VelodyneCalibration, read_velodyne_calibration};

use super::sweep_assembler::SweepAssembler;
use super::{ChannelTables, u16_at};

const SIZE: usize = 1206;
const BLOCKS: usize = 12;
const BLOCK: usize = 100;
const LASERS: usize = 32;
/// Period of the lidar clock, s.
const HOUR: f64 = 3600.0;

/// Return mode with two echoes per shot.
const DUAL: u8 = 0x39;

/// Flags of the blocks of each group of 32 lasers.
const MARKS: [u16; 4] = [0xeeff, 0xddff, 0xccff, 0xbbff];

/// Whether a payload is a Velodyne data packet.
pub(super) fn is_data(payload: &[u8]) -> bool {
    payload.len() == SIZE && payload.starts_with(&[0xff, 0xee])
}

/// Name of the lidar of a capture: its model, or the name of its preset.
pub(super) fn name(packets: &[&[u8]]) -> String {
    match packets.iter().find_map(|bytes| banks::Model::of(bytes)) {
        Some(model) => format!("Velodyne {}", model.name()),
        None => single::name(packets).unwrap_or("Velodyne").to_owned(),
    }
}

/// Appends the points of a capture's packets. Returns irregularities as warnings.
pub(super) fn read(
    sweeps: &mut SweepAssembler,
    packets: &[&[u8]],
    calibration: Option<&VelodyneCalibration>,
    tables: ChannelTables,
) -> Result<Vec<String>, String> {
    if let Some(model) = packets.iter().find_map(|bytes| banks::Model::of(bytes)) {
        let calibration = calibration.ok_or_else(|| model.needs_calibration())?;
        banks::read(sweeps, packets, model, calibration)?;
        return Ok(Vec::new());
    }
    single::read(sweeps, packets, tables)?;
    let unused = calibration.map(|_| {
        "the calibration was not used: this lidar has the directions of its preset".to_owned()
    });
    Ok(unused.into_iter().collect())
}

/// Flag at the beginning of a block.
fn mark(bytes: &[u8], block: usize) -> u16 {
    u16_at(bytes, block * BLOCK).unwrap_or(0)
}

/// Azimuth of the rotor in a block, rad, clockwise.
fn azimuth(bytes: &[u8], block: usize) -> f64 {
    f64::from(u16_at(bytes, block * BLOCK + 2).unwrap_or(0)) * 0.01_f64.to_radians()
}

/// Range (counts) and reflectivity at an index of a block; `None` if there is no return.
fn reading(bytes: &[u8], block: usize, place: usize) -> Option<(u16, u8)> {
    let at = block * BLOCK + 4 + 3 * place;
    let counts = u16_at(bytes, at).unwrap_or(0);
    (counts != 0).then(|| (counts, bytes[at + 2]))
}
