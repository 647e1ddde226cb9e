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

/// What the packets of a capture together show about their lidar.
#[derive(Default)]
pub(super) struct Survey {
    /// The model with several groups of lasers, if a packet has one.
    model: Option<banks::Model>,
    /// Preset of the first packet of a supported product.
    preset: Option<&'static str>,
    /// Intervals between the firings of that model, s.
    intervals: Vec<f64>,
    last: Option<Vec<u8>>,
}

impl Survey {
    /// Adds a packet.
    pub fn add(&mut self, bytes: &[u8]) {
        self.model = self.model.or_else(|| banks::Model::of(bytes));
        self.preset = self.preset.or_else(|| single::name(bytes));
        if let Some(model) = self.model {
            if let Some(last) = &self.last {
                self.intervals
                    .push(banks::firing_interval(model, [last, bytes]));
            }
            self.last = Some(bytes.to_vec());
        }
    }

    /// Name of the lidar: its model, or the name of its preset.
    pub fn name(&self) -> String {
        match self.model {
            Some(model) => format!("Velodyne {}", model.name()),
            None => self.preset.unwrap_or("Velodyne").to_owned(),
        }
    }
}

/// Decoder of the packets of a capture.
pub(super) enum Decoder<'a> {
    /// Lidars with one group of lasers.
    Single(single::Decoder),
    /// Lidars with several.
    Banks(banks::Decoder<'a>),
}

impl<'a> Decoder<'a> {
    /// A decoder for the surveyed packets. Appends irregularities to `warnings`.
    ///
    /// # Errors
    /// If the lidar needs a calibration and there is none, or that of another model.
    pub fn new(
        survey: Survey,
        calibration: Option<&'a VelodyneCalibration>,
        tables: ChannelTables,
        warnings: &mut Vec<String>,
    ) -> Result<Self, String> {
        if let Some(model) = survey.model {
            let calibration = calibration.ok_or_else(|| model.needs_calibration())?;
            let decoder = banks::Decoder::new(model, calibration, survey.intervals)?;
            return Ok(Self::Banks(decoder));
        }
        warnings.extend(calibration.map(|_| {
            "the calibration was not used: this lidar has the directions of its preset".to_owned()
        }));
        Ok(Self::Single(single::Decoder::new(tables)))
    }

    /// Appends the points of a packet, or those of the packet before.
    pub fn read(&mut self, sweeps: &mut SweepAssembler, bytes: &[u8]) -> Result<(), String> {
        match self {
            Self::Single(decoder) => decoder.read(sweeps, bytes),
            Self::Banks(decoder) => {
                decoder.read(sweeps, bytes);
                Ok(())
            }
        }
    }

    /// Appends the points that are left at the end of the packets.
    pub fn end(&mut self, sweeps: &mut SweepAssembler) {
        if let Self::Banks(decoder) = self {
            decoder.end(sweeps);
        }
    }
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
