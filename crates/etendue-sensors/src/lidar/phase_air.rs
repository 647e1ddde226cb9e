//! Backscatter of the air at a phase receiver.

use super::air::{Air, DrawnDrops, FAINT, drawn_drops, undrawn};
use super::description::Lidar;
use super::light::ShotLight;
use super::receiver::PhaseReceiver;
use etendue_physics::atmosphere::{Coefficients, Overlap, cut_volume_return, volume_returns};
use etendue_physics::phase::PhaseSignal;
use etendue_physics::pulse::PulseReturn;
use etendue_physics::{Scalar, Stream};

/// Number of cells of air in the shorter of the two unambiguous ranges.
const CELLS_PER_PERIOD: f64 = 64.0;

/// Backscatter of the air at a phase receiver.
///
/// A continuous-wave receiver has no range gate: backscatter from the whole beam up to the first surface adds
/// to the phasors. It is summed up to the combined unambiguous range of both frequencies.
#[derive(Clone)]
pub(super) struct PhaseAir<S> {
    coefficients: Coefficients<S>,
    overlap: Overlap,
    /// Length of a cell, m.
    step: f64,
    /// Superposition of the first $n$ cells, by $n$.
    before: Vec<PhaseSignal<S>>,
    drops: Vec<DrawnDrops>,
}

/// Mean backscatter of the air at a phase receiver, for other processors.
///
/// The air before the first surface on the axis of a beam consists of cells that begin at [`Overlap::none_until`], the last of which is
/// cut by the surface ([`cut_volume_return`]), unless there are more than the listed ones. Their light adds to that of the surfaces.
#[derive(Clone, Copy, Debug)]
pub struct DirectPhaseAir<'a, S = f64> {
    /// Extinction and backscatter.
    pub coefficients: &'a Coefficients<S>,
    /// Overlap of beam and field of view.
    pub overlap: &'a Overlap,
    /// Length of a cell, m.
    pub step: f64,
    /// Superposition of the first whole cells, by their number; the first one is of no cells.
    pub before: &'a [PhaseSignal<S>],
}

impl<S: Scalar> PhaseAir<S> {
    /// Sums the backscatter of air with the given coefficients; `None` without extinction and backscatter.
    pub fn new(
        air: &Air,
        coefficients: Coefficients<S>,
        lidar: &Lidar<S>,
        receiver: &PhaseReceiver<S>,
    ) -> Option<Self> {
        let plain = Coefficients {
            extinction: coefficients.extinction.value(),
            backscatter: coefficients.backscatter.value(),
        };
        if plain.extinction == 0.0 && plain.backscatter == 0.0 {
            return None;
        }
        let overlap = receiver.overlap(&lidar.limits);
        let modulation = receiver.modulation;
        let far = modulation.combined_ambiguity();
        // Prepare the drops that are drawn one by one.
        let width = lidar.beam.width().plain();
        let least = FAINT * receiver.sufficient;
        let drops = drawn_drops(air, &plain, &width, overlap, far, least);
        // Sum the mean backscatter of the rest cell by cell.
        let [first, second] = modulation.ambiguities();
        let step = first.min(second) / CELLS_PER_PERIOD;
        let mut sum = PhaseSignal::nothing();
        let mut before = vec![sum];
        for cell in volume_returns(&coefficients, &overlap, far, step) {
            let power = cell.power * undrawn(&drops, cell.range.value());
            sum.add(&modulation, cell.range, power);
            before.push(sum);
        }
        Some(Self {
            coefficients,
            overlap,
            step,
            before,
            drops,
        })
    }

    /// Adds the backscatter before the first surface on the beam's axis: the number of whole cells, the return
    /// of the partial cell before the surface, and drops, drawn from `stream`.
    pub fn add(&self, stream: impl FnOnce() -> Stream, light: &mut ShotLight<S>) {
        // Count whole cells.
        let far = light.axis_distance();
        let last = self.before.len() - 1;
        let reached = ((far - self.overlap.none_until) / self.step).max(0.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number, not negative, and saturating"
        )]
        let cells = (reached as usize).min(last);
        light.backscatter_cells = cells;
        // Add the cell that the surface truncates.
        if let Some(axis) = light.axis.filter(|_| cells < last) {
            let mut cut =
                cut_volume_return(&self.coefficients, &self.overlap, cells, self.step, axis);
            cut.power *= undrawn(&self.drops, cut.range.value());
            light.returns.push(cut);
        }
        // Draw single drops.
        if !self.drops.is_empty() {
            let mut stream = stream();
            for drawn in &self.drops {
                let until = far.min(drawn.until);
                drawn.drops.add(until, &mut stream, &mut light.drops);
            }
            let drops = light.drops.iter().map(|drop| PulseReturn {
                range: S::from(drop.range),
                power: S::from(drop.power),
            });
            light.returns.extend(drops);
        }
    }

    /// The mean backscatter, for other processors; `None` if drops are drawn one by one.
    pub fn direct(&self) -> Option<DirectPhaseAir<'_, S>> {
        self.drops.is_empty().then_some(DirectPhaseAir {
            coefficients: &self.coefficients,
            overlap: &self.overlap,
            step: self.step,
            before: &self.before,
        })
    }

    /// Superposition of the whole cells before the first surface.
    pub fn whole_cells(&self, light: &ShotLight<S>) -> &PhaseSignal<S> {
        &self.before[light.backscatter_cells]
    }
}
