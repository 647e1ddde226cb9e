//! Random draws of sixteen shots: the same numbers as those of the plain pipeline, by vector instructions.
#![expect(
    clippy::inline_always,
    reason = "loops over sixteen lanes become vector instructions"
)]

use super::batch::LANES;
use crate::lidar::receiver::{PhaseMethod, PreparedPhase};
use crate::lidar::sweep::Simulator;
use crate::scalar_tile::LaneScalar;
use etendue_physics::{Draws, NormalPairs, Purpose};
use etendue_simd::Vectorized;

/// Pairs of normal draws of a shot that the closed form of the receiver uses: one per frequency.
const PAIRS: usize = 2;

/// The random streams of a sweep that are drawn sixteen shots at a time.
#[derive(Clone, Copy)]
pub(super) struct LaneStreams {
    /// Standard deviation of the azimuth, rad, and the streams of the pointing errors.
    pointing: Option<(f64, Draws)>,
    /// The streams of the receiver's noise.
    receiver: Option<Draws>,
}

/// Draws of sixteen shots.
#[derive(Clone, Copy)]
pub(super) struct LaneDraws {
    /// Pointing error of each azimuth, rad.
    pub pointing: [f64; LANES],
    /// Standard normal draws of the receiver, unless it draws its own.
    receiver: [NormalPairs; PAIRS],
    has_receiver: bool,
}

impl LaneDraws {
    /// No pointing errors and no draws of the receiver.
    pub const NONE: Self = Self {
        pointing: [0.0; LANES],
        receiver: [[[0.0; LANES]; 2]; PAIRS],
        has_receiver: false,
    };

    /// The pairs of normal draws of the receiver in a lane, if there are any.
    pub fn receiver_pairs(&self, lane: usize) -> Option<impl Iterator<Item = [f64; 2]>> {
        let pairs = self.receiver.iter();
        let pairs = pairs.map(move |[a, b]| [a[lane], b[lane]]);
        self.has_receiver.then_some(pairs)
    }
}

impl LaneStreams {
    /// The streams of a sweep.
    pub fn new<S: LaneScalar>(plain: &Simulator<S>, receiver: &PreparedPhase<S>) -> Self {
        let settings = plain.settings;
        let draws = |purpose| Draws {
            seed: settings.seed,
            sensor: settings.sensor,
            sweep: settings.sweep,
            purpose,
        };
        let jitter = plain.azimuth_jitter();
        let in_closed_form = receiver.receiver.method == PhaseMethod::ClosedForm;
        let receiver_draws = in_closed_form && !settings.without_noise;
        Self {
            pointing: jitter.map(|jitter| (jitter, draws(Purpose::Pointing))),
            receiver: receiver_draws.then(|| draws(Purpose::ReceiverNoise)),
        }
    }
}

/// Draws for sixteen consecutive shots, of which `first` is the index of the first in the sweep.
pub(super) struct DrawShots<'d> {
    pub streams: LaneStreams,
    pub first: u32,
    pub draws: &'d mut LaneDraws,
}

impl Vectorized for DrawShots<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let mut beams = [self.first; LANES];
        for (beam, lane) in beams.iter_mut().zip(0..) {
            *beam = self.first.wrapping_add(lane);
        }
        let draws = self.draws;
        if let Some((jitter, streams)) = &self.streams.pointing {
            let [normals, _] = streams.normal_pairs(&beams, 0);
            for (error, normal) in draws.pointing.iter_mut().zip(&normals) {
                *error = jitter * normal;
            }
        }
        draws.has_receiver = self.streams.receiver.is_some();
        if let Some(streams) = &self.streams.receiver {
            for (pairs, number) in draws.receiver.iter_mut().zip(0..) {
                *pairs = streams.normal_pairs(&beams, number);
            }
        }
    }
}
