//! Light that the air returns to a phase receiver.

use crate::lidar::air::{DrawnDrops, drawn_drops, undrawn};
use crate::lidar::{Air, Lidar, PhaseReceiver};
use etendue_physics::atmosphere::{Coefficients, Overlap, cut_volume_return, volume_returns};
use etendue_physics::phase::{Modulation, PhaseSignal};
use etendue_physics::pulse::PulseReturn;
use etendue_physics::{Scalar, Stream};

/// Cells of air in the shorter of the two ranges at which a phase repeats.
const CELLS_PER_PERIOD: f64 = 64.0;

/// Drops that return less than this share of the least amplitude that is detected return their mean.
const FAINT: f64 = 0.1;

/// The air in front of a phase receiver.
///
/// A continuous wave has no gate: the air returns light from all along the beam up to the first
/// surface, which adds to the phasors. It is summed up to the range at which both phases repeat.
pub(super) struct PhaseAir<S> {
    coefficients: Coefficients<S>,
    modulation: Modulation,
    overlap: Overlap,
    /// Length of a cell, m.
    step: f64,
    /// Light of the first $n$ cells, for every $n$.
    before: Vec<PhaseSignal<S>>,
    drops: Vec<DrawnDrops>,
}

impl<S: Scalar> PhaseAir<S> {
    /// Prepares the air of a run, with its coefficients in `S`; none in clear air.
    pub fn new(
        air: &Air,
        coefficients: Option<Coefficients<S>>,
        lidar: &Lidar<S>,
        receiver: &PhaseReceiver<S>,
    ) -> Option<Self> {
        let plain = air.atmosphere.coefficients(lidar.wavelength);
        let coefficients = coefficients.unwrap_or(Coefficients {
            extinction: S::from(plain.extinction),
            backscatter: S::from(plain.backscatter),
        });
        if coefficients.extinction.value() == 0.0 && coefficients.backscatter.value() == 0.0 {
            return None;
        }
        let overlap = receiver.overlap();
        let modulation = receiver.modulation;
        let [first, second] = modulation.ambiguities();
        let step = first.min(second) / CELLS_PER_PERIOD;
        let far = modulation.combined_ambiguity();
        let width = lidar.beam.width().plain();
        let least = FAINT * receiver.sufficient;
        let drops = drawn_drops(air, &plain, &width, overlap, far, least);
        let mut sum = PhaseSignal::nothing();
        let mut before = vec![sum];
        for cell in volume_returns(&coefficients, &overlap, far, step) {
            let power = cell.power * undrawn(&drops, cell.range.value());
            sum.add(&modulation, cell.range, power);
            before.push(sum);
        }
        Some(Self {
            coefficients,
            modulation,
            overlap,
            step,
            before,
            drops,
        })
    }

    /// Two-way transmission to a surface at `range` (m).
    pub fn transmission(&self, range: S) -> S {
        self.coefficients.two_way_transmission(range)
    }

    /// Adds the light of the air before a surface at `axis` (m), if there is one, and returns its power.
    /// Drops are drawn from `stream`.
    pub fn add(
        &self,
        axis: Option<S>,
        stream: impl FnOnce() -> Stream,
        signal: &mut PhaseSignal<S>,
    ) -> f64 {
        let before = signal.power.value();
        let far = axis.map_or(f64::INFINITY, Scalar::value);
        self.add_mean(axis, far, signal);
        if !self.drops.is_empty() {
            let mut stream = stream();
            let mut drops: Vec<PulseReturn> = Vec::new();
            for drawn in &self.drops {
                let until = far.min(drawn.until);
                drawn.drops.add(until, &mut stream, &mut drops);
            }
            for drop in drops {
                let [range, power] = [drop.range, drop.power].map(S::from);
                signal.add(&self.modulation, range, power);
            }
        }
        signal.power.value() - before
    }

    /// Adds the mean backscatter: whole cells, and the part of a cell in front of the surface.
    fn add_mean(&self, axis: Option<S>, far: f64, signal: &mut PhaseSignal<S>) {
        let last = self.before.len() - 1;
        let reached = ((far - self.overlap.none_until) / self.step).max(0.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number, not negative, and saturating"
        )]
        let cells = (reached as usize).min(last);
        let whole = &self.before[cells];
        for (wave, air) in signal.waves.iter_mut().zip(&whole.waves) {
            wave.re += air.re;
            wave.im += air.im;
        }
        signal.power += whole.power;
        if let Some(far) = axis.filter(|_| cells < last) {
            let cut = cut_volume_return(&self.coefficients, &self.overlap, (cells, self.step), far);
            let power = cut.power * undrawn(&self.drops, cut.range.value());
            signal.add(&self.modulation, cut.range, power);
        }
    }
}
