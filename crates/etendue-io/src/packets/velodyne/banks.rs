//! Velodyne lidars with several groups of 32 lasers, identified in their blocks: HDL-64E and
//! VLS-128. Their calibration contains the directions.

use super::super::sweep_assembler::{Row, SweepAssembler};
use super::super::u32_at;
use super::{BLOCKS, DUAL, HOUR, LASERS, MARKS, SIZE, VelodyneCalibration, azimuth, mark, reading};
use std::f64::consts::TAU;

/// A model with several groups of lasers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::packets) enum Model {
    Hdl64,
    Vls128,
}

/// Product number of the VLS-128.
const VLS_128: u8 = 0xa1;

impl Model {
    /// The model of a packet; `None` for other models.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let has = |group: usize| (0..BLOCKS).any(|block| mark(bytes, block) == MARKS[group]);
        if bytes[SIZE - 1] == VLS_128 || has(2) || has(3) {
            Some(Self::Vls128)
        } else {
            has(1).then_some(Self::Hdl64)
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Hdl64 => "HDL-64E",
            Self::Vls128 => "VLS-128 (Alpha Prime)",
        }
    }

    pub fn needs_calibration(self) -> String {
        format!(
            "decoding of a Velodyne {} needs its calibration",
            self.name()
        )
    }

    fn groups(self) -> usize {
        match self {
            Self::Hdl64 => 2,
            Self::Vls128 => 4,
        }
    }

    /// Quantisation step of the ranges, m.
    fn step(self) -> f64 {
        match self {
            Self::Hdl64 => 0.002,
            Self::Vls128 => 0.004,
        }
    }

    /// Delay of a laser after the start of its firing, s, with the values of the ROS velodyne
    /// driver (user manuals). HDL-64E (S3): four lasers of each block 1.3, 1.2 and 1.2 µs apart,
    /// every 7.2 µs. The lasers of an S2 fire evenly 0.73 µs apart; packets do not identify this
    /// version. VLS-128: eight lasers at once every 2.665 µs, with a pause of one step in the
    /// middle.
    fn delay(self, laser: usize) -> f64 {
        match self {
            Self::Hdl64 => {
                let place = laser % LASERS;
                7.2e-6 * (place / 4) as f64 + [0.0, 1.3e-6, 2.5e-6, 3.7e-6][place % 4]
            }
            Self::Vls128 => 2.665e-6 * (laser / 8 + laser / 64) as f64,
        }
    }

    /// Whether a packet contains two echoes per shot. The HDL-64E has no such flag; it repeats the
    /// azimuth of each firing.
    fn is_dual(self, bytes: &[u8]) -> bool {
        let at = |block: usize| azimuth(bytes, block);
        match self {
            Self::Vls128 => bytes[SIZE - 2] == DUAL,
            Self::Hdl64 => at(0) == at(2) && at(4) == at(6) && at(0) != at(4),
        }
    }

    /// The blocks of each firing of a packet: each group once, or twice with two echoes. Incomplete
    /// firings (the last four blocks of a VLS-128 packet with two echoes) are empty and omitted.
    fn firings(self, bytes: &[u8]) -> Vec<Vec<usize>> {
        let together = self.groups() * if self.is_dual(bytes) { 2 } else { 1 };
        let whole = (0..BLOCKS / together).map(|n| n * together..(n + 1) * together);
        whole.map(Iterator::collect).collect()
    }
}

/// Interval between two successive packets, s per firing of the first.
pub(super) fn firing_interval(model: Model, pair: [&[u8]; 2]) -> f64 {
    apart(pair) / model.firings(pair[0]).len() as f64
}

/// Decoder of the packets of a capture.
pub(in crate::packets) struct Decoder<'a> {
    model: Model,
    calibration: &'a VelodyneCalibration,
    rings: Vec<u16>,
    /// Time between two firings, s.
    period: f64,
    /// The last packet, which is read when the next one determines the angular velocity of the rotor.
    waiting: Option<Vec<u8>>,
    /// Angular velocity during the packet before, rad/s.
    last_rate: f64,
}

impl<'a> Decoder<'a> {
    /// A decoder. The time between two firings is the median of `intervals` (s, [`firing_interval`]); that of a single packet
    /// has the value of the manual.
    ///
    /// # Errors
    /// If the calibration is that of another model.
    pub fn new(
        model: Model,
        calibration: &'a VelodyneCalibration,
        mut intervals: Vec<f64>,
    ) -> Result<Self, String> {
        let lasers = model.groups() * LASERS;
        if calibration.lasers.len() != lasers {
            return Err(format!(
                "a Velodyne {} has {lasers} lasers, but the calibration has {}",
                model.name(),
                calibration.lasers.len()
            ));
        }
        intervals.sort_by(f64::total_cmp);
        let period = match (intervals.get(intervals.len() / 2), model) {
            (Some(median), _) => *median,
            (None, Model::Hdl64) => 57.6e-6,
            (None, Model::Vls128) => 53.3e-6,
        };
        Ok(Self {
            model,
            calibration,
            rings: calibration.rings(),
            period,
            waiting: None,
            last_rate: 0.0,
        })
    }

    /// Appends the points of the packet before.
    pub fn read(&mut self, sweeps: &mut SweepAssembler, bytes: &[u8]) {
        if let Some(before) = self.waiting.take() {
            self.last_rate = rate([&before, bytes]);
            self.read_packet(sweeps, &before);
        }
        self.waiting = Some(bytes.to_vec());
    }

    /// Appends the points of the last packet, with the angular velocity during the packet before.
    pub fn end(&mut self, sweeps: &mut SweepAssembler) {
        if let Some(last) = self.waiting.take() {
            self.read_packet(sweeps, &last);
        }
    }

    /// Appends the echoes of each laser of each firing.
    fn read_packet(&self, sweeps: &mut SweepAssembler, bytes: &[u8]) {
        let start = sweeps.since_first(stamp(bytes), HOUR);
        for (firing, blocks) in (0_u32..).zip(self.model.firings(bytes)) {
            let first_azimuth = azimuth(bytes, blocks[0]);
            sweeps.column((first_azimuth / TAU).fract());
            for (laser, &ring) in self.rings.iter().enumerate() {
                let delay = self.model.delay(laser);
                let azimuth = first_azimuth + self.last_rate * delay;
                let echoes = echoes(bytes, &blocks, laser);
                for ((counts, reflectivity), return_number) in echoes.into_iter().zip(1..) {
                    let reading = f64::from(counts) * self.model.step();
                    let (range, position) = self.calibration.lasers[laser].point(azimuth, reading);
                    sweeps.push(Row {
                        position,
                        range,
                        intensity: reflectivity.into(),
                        ring,
                        time: start + f64::from(firing) * self.period + delay,
                        return_number,
                        ambient: None,
                    });
                }
            }
        }
    }
}

/// Counts and reflectivity of a laser's echoes in the blocks of a firing, without duplicates.
fn echoes(bytes: &[u8], blocks: &[usize], laser: usize) -> Vec<(u16, u8)> {
    let group = MARKS[laser / LASERS];
    let blocks = blocks.iter().filter(|block| mark(bytes, **block) == group);
    let mut echoes: Vec<_> = blocks
        .filter_map(|block| reading(bytes, *block, laser % LASERS))
        .collect();
    echoes.dedup_by_key(|(counts, _)| *counts);
    echoes
}

/// Time of a packet within the hour, s.
fn stamp(bytes: &[u8]) -> f64 {
    f64::from(u32_at(bytes, 1200).unwrap_or(0)) * 1e-6
}

/// Time between two packets, s.
fn apart(pair: [&[u8]; 2]) -> f64 {
    (stamp(pair[1]) - stamp(pair[0])).rem_euclid(HOUR)
}

/// Angular velocity of the rotor between two packets, rad/s.
fn rate(pair: [&[u8]; 2]) -> f64 {
    let turned = (azimuth(pair[1], 0) - azimuth(pair[0], 0)).rem_euclid(TAU);
    let passed = apart(pair);
    // Without a clock, or if packets were lost, the rate is unknown.
    if turned < 0.25 * TAU && passed > 0.0 {
        turned / passed
    } else {
        0.0
    }
}
