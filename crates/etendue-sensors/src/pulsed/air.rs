//! The air of one run, made ready for one scanner.

use crate::scanner::Scanner;
use etendue_physics::atmosphere::{
    Atmosphere, Coefficients, Overlap, cut_volume_return, volume_returns,
};
use etendue_physics::pulse::Return;
use etendue_physics::{SPEED_OF_LIGHT, Stream};

/// What is in the air, and how much of it is simulated one by one.
#[derive(Clone, Debug, PartialEq)]
pub struct Air {
    /// What is in the air.
    pub atmosphere: Atmosphere<f64>,
    /// How the receiver sees the near air.
    pub overlap: Overlap,
    /// Drops and flakes of at least this diameter (m) are drawn one by one; smaller ones return
    /// their mean. None draws none.
    pub drops_from: Option<f64>,
}

impl Default for Air {
    /// Vacuum.
    fn default() -> Self {
        Self {
            atmosphere: Atmosphere::default(),
            overlap: Overlap {
                none_until: 0.3,
                full_from: 1.5,
            },
            drops_from: None,
        }
    }
}

/// The air at one wavelength.
#[derive(Clone)]
pub(super) struct PreparedAir<'a> {
    air: &'a Air,
    scanner: &'a Scanner,
    coefficients: Coefficients<f64>,
    /// The air less the drops that are drawn one by one.
    undrawn: Coefficients<f64>,
    /// The air's own returns out to the scanner's farthest range, nearest first.
    volume: Vec<Return>,
    /// How far they are apart, m.
    step: f64,
}

/// How far the returns of the air are apart, m: much less than a pulse of that full width (s).
pub(super) fn volume_step(pulse_fwhm: f64) -> f64 {
    0.125 * SPEED_OF_LIGHT * pulse_fwhm
}

/// How many of the air's returns, `step` (m) apart, stand wholly before a surface at `far` (m).
pub(super) fn whole_cells(volume: &[Return], step: f64, far: f64) -> usize {
    volume.partition_point(|one| one.range + 0.5 * step <= far)
}

impl<'a> PreparedAir<'a> {
    pub fn new(air: &'a Air, scanner: &'a Scanner, pulse_fwhm: f64) -> Self {
        let coefficients = air.atmosphere.coefficients(scanner.wavelength);
        let step = volume_step(pulse_fwhm);
        let mut drawn = 0.0;
        if let Some(diameter) = air.drops_from {
            for drops in air.atmosphere.precipitation() {
                let share = drops.share_above(diameter);
                drawn += share * drops.extinction() / drops.lidar_ratio;
            }
        }
        let undrawn = Coefficients {
            backscatter: coefficients.backscatter - drawn,
            ..coefficients
        };
        Self {
            volume: volume_returns(&undrawn, &air.overlap, scanner.limits.far, step),
            air,
            scanner,
            coefficients,
            undrawn,
            step,
        }
    }

    /// Whether the air itself sends light back along the whole beam.
    pub fn glows(&self) -> bool {
        !self.volume.is_empty()
    }

    /// Whether it sends anything back.
    pub fn is_seen(&self) -> bool {
        self.glows() || self.air.drops_from.is_some()
    }

    /// Whether it weakens what surfaces return.
    pub fn dims(&self) -> bool {
        self.coefficients.extinction != 0.0
    }

    /// What is left of a surface's return from `range` (m).
    pub fn transmission(&self, range: f64) -> f64 {
        if !self.dims() {
            return 1.0;
        }
        self.coefficients.two_way_transmission(range)
    }

    /// Adds the air's own returns up to `far` (m); drops are drawn from `stream`.
    pub fn add(&self, far: f64, stream: impl FnOnce() -> Stream, returns: &mut Vec<Return>) {
        let seen = whole_cells(&self.volume, self.step, far);
        returns.extend_from_slice(&self.volume[..seen]);
        if seen < self.volume.len() && far > self.air.overlap.none_until {
            let cells = (seen, self.step);
            let cut = cut_volume_return(&self.undrawn, &self.air.overlap, cells, far);
            returns.push(cut);
        }
        let Some(diameter) = self.air.drops_from else {
            return;
        };
        let mut stream = stream();
        let gate = (self.air.overlap.full_from, far.min(self.scanner.limits.far));
        for drops in self.air.atmosphere.precipitation() {
            let extinction = self.coefficients.extinction;
            let beam = &self.scanner.beam;
            returns.extend(drops.returns(diameter, beam, gate, extinction, &mut stream));
        }
    }
}
