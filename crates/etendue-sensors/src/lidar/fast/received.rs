//! Power of direct returns at the receiver.
#![expect(
    clippy::inline_always,
    reason = "loops over sixteen lanes become vector instructions"
)]

use crate::lidar::prepared_air::PreparedAir;
use crate::scalar_tile::{LaneScalar, ScalarTile};
use crate::transport::{DirectReturnTile, ReturnFactor};
use etendue_scene::HitTile;

/// What the light of a ray is multiplied by on its way to the receiver.
pub(super) struct Reception<'a, S: LaneScalar> {
    /// Factor of each hit.
    pub factor: Option<&'a ReturnFactor<'a, S>>,
    /// Share of the beam's power.
    pub weight: f64,
    /// Its transmission.
    pub air: &'a PreparedAir<S>,
}

impl<S: LaneScalar> Reception<'_, S> {
    /// Multiplies the power of sixteen returns; `number` is the index in the sweep of the shot in a lane.
    #[inline(always)]
    pub fn apply(
        &self,
        direct: &mut DirectReturnTile<S>,
        hits: &HitTile,
        number: impl Fn(usize) -> usize,
    ) {
        if let Some(factor) = self.factor {
            multiply(direct, number, hits, factor);
        }
        direct.power = direct.power.scaled(&[self.weight; 16]);
        if self.air.attenuates() {
            weaken(direct, self.air);
        }
    }
}

/// Applies the factor of each hit to the returns.
fn multiply<S: LaneScalar>(
    direct: &mut DirectReturnTile<S>,
    number: impl Fn(usize) -> usize,
    hits: &HitTile,
    factor: &ReturnFactor<S>,
) {
    for lane in (0..16).filter(|&lane| direct.has_return[lane]) {
        if let Some(hit) = hits.hit(lane) {
            let power = direct.power.lane(lane) * factor(number(lane), &hit);
            direct.power.put(lane, power);
        }
    }
}

/// Applies the transmission of the air to the returns.
fn weaken<S: LaneScalar>(direct: &mut DirectReturnTile<S>, air: &PreparedAir<S>) {
    for lane in (0..16).filter(|&lane| direct.has_return[lane]) {
        let power = direct.power.lane(lane) * air.transmission(direct.range.lane(lane));
        direct.power.put(lane, power);
    }
}
