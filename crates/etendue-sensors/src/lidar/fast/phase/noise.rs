//! Random draws of sixteen shots: the same numbers as those of the plain pipeline, by vector instructions.
#![expect(
    clippy::inline_always,
    reason = "loops over sixteen lanes become vector instructions"
)]

use super::batch::LANES;
use crate::lidar::correlated_noise::stride;
use crate::lidar::receiver::{PhaseMethod, PreparedPhase};
use crate::lidar::sweep::Simulator;
use crate::scalar_tile::LaneScalar;
use etendue_physics::{Draws, MovingAverage, NormalPairs, Purpose};
use etendue_simd::Vectorized;

/// Pairs of normal draws of a shot that the closed form of the receiver uses: one per frequency.
const PAIRS: usize = 2;

/// The random streams of a sweep that are drawn sixteen shots at a time.
#[derive(Clone, Copy)]
pub(super) struct LaneStreams {
    /// The pointing errors, if there are any.
    pointing: Option<PointingDraws>,
    /// The streams of the receiver's noise.
    receiver: Option<Draws>,
}

/// Draws of the pointing errors.
#[derive(Clone, Copy)]
struct PointingDraws {
    /// Standard deviation of the azimuth, rad.
    sd: f64,
    /// Moving average over neighbouring beams.
    average: MovingAverage,
    draws: Draws,
    /// Difference of the indices of neighbours.
    stride: u32,
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
            pointing: jitter.map(|sd| PointingDraws {
                sd,
                average: plain.pointing_average,
                draws: draws(Purpose::Pointing),
                stride: stride(plain.lidar),
            }),
            receiver: receiver_draws.then(|| draws(Purpose::ReceiverNoise)),
        }
    }
}

impl PointingDraws {
    /// Pointing errors of sixteen shots, rad.
    #[inline(always)]
    fn errors(&self, beams: &[u32; LANES]) -> [f64; LANES] {
        let mut errors = [0.0; LANES];
        for (back, weight) in (0..).zip(self.average.weights()) {
            let neighbours = beams.map(|beam| beam.wrapping_sub(back * self.stride));
            let [normals, _] = self.draws.normal_pairs(&neighbours, 0);
            for (error, normal) in errors.iter_mut().zip(&normals) {
                *error += weight * normal;
            }
        }
        errors.map(|error| self.sd * error)
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
        if let Some(pointing) = &self.streams.pointing {
            draws.pointing = pointing.errors(&beams);
        }
        draws.has_receiver = self.streams.receiver.is_some();
        if let Some(streams) = &self.streams.receiver {
            for (pairs, number) in draws.receiver.iter_mut().zip(0..) {
                *pairs = streams.normal_pairs(&beams, number);
            }
        }
    }
}
