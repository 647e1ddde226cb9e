//! Expected returns of phase receivers.

use super::batch::{Batch, BatchReturn, LANES};
use super::lanes::{PhaseLanes, PhaseMemory};
use crate::lidar::description::Lidar;
use crate::lidar::fast::expected_tile::{ReturnTile, report};
use crate::lidar::predict::{WriteReturns, first_return};
use crate::lidar::receiver::{PhaseReceiver, RangeLanes, Receiver};
use crate::lidar::shot::Shot;
use crate::lidar::sweep::{Memory, Simulator};
use crate::phase_signal_tile::PhaseSignalTile;
use crate::scalar_tile::{LaneFunctions, LaneScalar, ScalarTile};
use etendue_physics::Dual;
use etendue_scene::HitTile;
use etendue_simd::Vectorized;

/// The receiver without noise, if its parameters have no derivatives and it measures the light of surfaces only.
pub(super) fn plain_receiver<S: LaneScalar>(plain: &Simulator<S>) -> Option<PhaseReceiver> {
    let only_surfaces =
        plain.ambient.is_none() && !plain.air.is_detected() && plain.hooks.extra_rays.is_none();
    match plain.lidar.receiver.plain() {
        Some(Receiver::Phase(receiver)) if only_surfaces => Some(receiver.without_noise()),
        _ => None,
    }
}

impl<S: LaneScalar> PhaseLanes<'_, '_, S> {
    /// Predicts consecutive shots of a sweep, of which `first` is the index of the first, and writes their returns.
    pub fn predict(
        &self,
        shots: &[Shot],
        first: u32,
        memory: &mut PhaseMemory<S>,
        plain: &mut Memory<S>,
        write: &mut impl WriteReturns<S>,
    ) {
        // Measure the shots one by one where the receiver or the light is not simple.
        let simple = self.simple.filter(|_| self.plain.settings.without_noise);
        let Some(receiver) = &simple else {
            return self.measure(shots, first, memory, plain, |one| {
                let detection = one.detection.ok();
                let fired = &one.fired;
                let detections = detection.as_slice();
                let returned = first_return(self.plain.lidar, fired.shot, one.ambient, detections);
                write.write((fired.number - first) as usize, returned);
            });
        };
        // Measure sixteen shots at a time.
        let is_still = self.set_still(shots, memory);
        let chunks = shots.chunks(LANES).zip((0..).step_by(LANES));
        for ((shots, place), first) in chunks.zip((first..).step_by(LANES)) {
            let scratch = &mut plain.detector.scratch.get().casts;
            self.collect_direct(shots, first, is_still, memory, scratch);
            let PhaseMemory {
                batch, expected, ..
            } = memory;
            self.isa.run(Expect {
                lidar: self.plain.lidar,
                receiver,
                shots,
                signal: &batch.sum,
                expected,
            });
            // Measure shots with other light by the plain pipeline.
            for (lane, (shot, number)) in shots.iter().zip(first..).enumerate() {
                if batch.is_direct(lane) {
                    write.write(place + lane, expected.lane(lane));
                    continue;
                }
                self.collect_traced(shot, number, batch, lane, plain);
                let returned = self.plain.predict_collected(shot, number, plain);
                write.write(place + lane, returned);
            }
        }
    }
}

impl<S: LaneScalar> Batch<S> {
    /// Whether all light of the shot in a lane is direct returns. Axes are not cast.
    fn is_direct(&self, lane: usize) -> bool {
        let is_direct = |(direct, hits): (&BatchReturn, &HitTile)| {
            direct.is_complete[lane] || !hits.is_hit(lane)
        };
        self.direct.iter().zip(&self.hits).all(is_direct)
    }
}

/// Measures the sums of the direct returns of sixteen shots.
struct Expect<'s, S: LaneScalar> {
    lidar: &'s Lidar<S>,
    receiver: &'s PhaseReceiver,
    shots: &'s [Shot],
    signal: &'s PhaseSignalTile<S>,
    expected: &'s mut ReturnTile<S>,
}

impl<S: LaneScalar> Vectorized for Expect<'_, S> {
    type Output = ();

    #[expect(clippy::inline_always, reason = "loops become vector instructions")]
    #[inline(always)]
    fn run(self) {
        let signal = self.signal;
        let RangeLanes { range, found } = (self.receiver).measure_lanes(signal, &self.lidar.limits);
        // Report them, with the derivatives by the measured range and power.
        let light = [range.values(), signal.power.values()];
        let channels = self.shots.iter().map(|shot| shot.channel);
        let reported = self.expected.reported();
        report(self.lidar, channels, light, &Found(&found), reported);
        self.expected.set_light([&range, &signal.power]);
    }
}

/// The light itself, in the lanes of a mask.
struct Found<'s>(&'s [bool; LANES]);

impl LaneFunctions<2, 2> for Found<'_> {
    #[expect(clippy::inline_always, reason = "loops become vector instructions")]
    #[inline(always)]
    fn of(&self, lane: usize, light: [Dual<2>; 2]) -> ([Dual<2>; 2], bool) {
        (light, self.0[lane])
    }
}
