//! Noise-free measurements in a scalar that may carry derivatives.

use super::ambient::AmbientView;
use super::description::Lidar;
use super::fast::{
    ExpectedPulses, PhaseLanes, PhaseMemory, PulseMemory, ReturnTile, ShotTiles, SingleMemory,
    SingleRays,
};
use super::hooks::Hooks;
use super::intensity::Intensity;
use super::range_limits::RangeLimits;
use super::receiver::Detection;
use super::scratch::SweepScratch;
use super::sensor_poses::{AtRest, SensorPoses};
use super::settings::{Pipeline, SweepSettings};
use super::shot::Shot;
use super::shot_list::ShotList;
use super::sweep::{Memory, Simulator, shot_number};
use super::trace::trace_of;
use crate::scalar_tile::LaneScalar;
use crate::transport::World;
use etendue_physics::Scalar;
use nalgebra::Isometry3;
use rayon::prelude::*;
use std::sync::OnceLock;

/// Number of shots in a batch.
const SHOTS_PER_BATCH: usize = 1024;

/// Greatest number of these in a batch of a large scan of one ray per shot.
const MOST_TOGETHER: usize = 16;

/// Least number of batches of such a scan, which threads share.
const FEWEST_BATCHES: usize = 4;

impl<S: Scalar> Lidar<S> {
    /// Number of shots in a batch of expected returns, whose rays are cast together, for a scan of a number of shots.
    ///
    /// The more shots are cast together, the closer are the rays that are cast at once, where channels of a column point
    /// in different directions.
    pub fn shots_per_batch(&self, shots: usize) -> usize {
        let whole = shots / FEWEST_BATCHES / SHOTS_PER_BATCH;
        let is_single = whole > 1 && self.beam.ray_count() == 1;
        let together = if is_single {
            whole.min(MOST_TOGETHER)
        } else {
            1
        };
        SHOTS_PER_BATCH * together
    }
}

/// Expected first return of a shot, in the order of the device's report, without rounding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExpectedReturn<S = f64> {
    /// Range, m.
    pub range: S,
    /// Intensity, counts.
    pub intensity: S,
    /// Peak power of the echo, 1/(m² sr).
    pub power: S,
    /// Power of the ambient light at the receiver, 1/(m² sr); 0 for receivers whose noise does not depend on
    /// it.
    pub ambient: f64,
}

/// Destination of the expected returns of a batch of shots.
pub trait WriteReturns<S: LaneScalar>: Send {
    /// Removes all returns of the batch, before the first is written. It reads the memory in order, which the returns are
    /// not written in.
    fn clear(&mut self);

    /// Writes the return of the shot at a place of the batch.
    fn write(&mut self, place: usize, returned: Option<ExpectedReturn<S>>);

    /// Writes the returns of up to sixteen shots at places of the batch, one per lane.
    #[expect(clippy::inline_always, reason = "for the caller's instructions")]
    #[inline(always)]
    fn write_tile(&mut self, places: &[u16], returns: &ReturnTile<S>) {
        for (lane, &place) in places.iter().enumerate() {
            self.write(place.into(), returns.lane(lane));
        }
    }
}

impl<S: LaneScalar> WriteReturns<S> for &mut [Option<ExpectedReturn<S>>] {
    fn clear(&mut self) {
        self.fill(None);
    }

    fn write(&mut self, place: usize, returned: Option<ExpectedReturn<S>>) {
        self[place] = returned;
    }
}

/// The expected first return of every shot: the pipeline of [`simulate`](super::simulate) without
/// noise and rounding. None for a shot without a return within the range limits.
///
/// `world_from_sensor` is the pose of the sensor as a function of time (s since the start of the run). The
/// choice of the surfaces that are hit, the returns that merge, the samples that are used and the echo that
/// is reported is constant under differentiation, and so are the directions of random light paths
/// ([`PathTracer`](crate::transport::PathTracer)), which are the same at every call with a seed.
pub fn predict<S: LaneScalar>(
    world: &World<S>,
    lidar: &Lidar<S>,
    settings: &SweepSettings,
    shots: &[Shot],
    world_from_sensor: impl Fn(f64) -> Isometry3<S> + Sync,
    hooks: Hooks<S>,
) -> Vec<Option<ExpectedReturn<S>>> {
    let mut returns = vec![None; shots.len()];
    let batches = returns.par_chunks_mut(lidar.shots_per_batch(shots.len()));
    let poses = &world_from_sensor;
    let tiles = OnceLock::new();
    predict_along(
        world,
        lidar,
        settings,
        (shots, &tiles),
        poses,
        hooks,
        batches,
    );
    returns
}

/// [`predict`] for a sensor at rest at a pose, with a destination for each batch of [`Lidar::shots_per_batch`] shots.
pub fn predict_at_rest<S: LaneScalar>(
    world: &World<S>,
    lidar: &Lidar<S>,
    settings: &SweepSettings,
    shots: &ShotList,
    world_from_sensor: &Isometry3<S>,
    hooks: Hooks<S>,
    batches: impl IndexedParallelIterator<Item: WriteReturns<S>>,
) {
    let pose = &AtRest(world_from_sensor);
    let tiles = &shots.tiles;
    predict_along(world, lidar, settings, (shots, tiles), pose, hooks, batches);
}

/// [`predict`] for poses of any type, with a destination for each batch, and memory for the rays of the shots.
fn predict_along<S: LaneScalar>(
    world: &World<S>,
    lidar: &Lidar<S>,
    settings: &SweepSettings,
    (shots, tiles): (&[Shot], &OnceLock<ShotTiles>),
    world_from_sensor: &dyn SensorPoses<S>,
    hooks: Hooks<S>,
    batches: impl IndexedParallelIterator<Item: WriteReturns<S>>,
) {
    let settings = SweepSettings {
        without_noise: true,
        ..settings.clone()
    };
    let trace = trace_of(&settings.light, &lidar.receiver);
    let simulator = Simulator {
        rounding: false,
        ambient: AmbientView::new(world, lidar.receiver.window()),
        ..Simulator::new(world, lidar, &settings, world_from_sensor, hooks, trace)
    };
    let form = Form::new(&simulator, shots, tiles);
    // Predict batches of shots on all threads, in lanes where that is possible.
    let scratch = SweepScratch::default();
    let per_batch = lidar.shots_per_batch(shots.len());
    let batches = batches.zip(shots.par_chunks(per_batch));
    batches.enumerate().for_each_init(
        || (Memory::new(&scratch), FormMemory::default()),
        |(memory, own), (batch, (mut write, shots))| {
            let first = shot_number(batch * per_batch);
            write.clear();
            form.predict(shots, first, own, memory, &mut write);
        },
    );
}

/// The form of the pipeline that applies: a vectorised one, or the plain one.
enum Form<'p, 'a, S: LaneScalar> {
    Single(Box<SingleRays<'p, 'a, S>>),
    Phase(Box<PhaseLanes<'p, 'a, S>>),
    Pulsed(Box<ExpectedPulses<'p, 'a, S>>),
    Plain(&'p Simulator<'a, S>),
}

/// Buffers of the vectorised forms.
struct FormMemory<S: LaneScalar> {
    single: SingleMemory<S>,
    phase: PhaseMemory<S>,
    pulsed: PulseMemory<S>,
}

impl<S: LaneScalar> Default for FormMemory<S> {
    fn default() -> Self {
        Self {
            single: SingleMemory::default(),
            phase: PhaseMemory::default(),
            pulsed: PulseMemory::default(),
        }
    }
}

impl<'p, 'a, S: LaneScalar> Form<'p, 'a, S> {
    /// The fastest form that applies to the shots of a sweep.
    fn new(
        simulator: &'p Simulator<'a, S>,
        shots: &[Shot],
        tiles: &'p OnceLock<ShotTiles>,
    ) -> Self {
        let Pipeline::Vectorized(isa) = simulator.settings.pipeline else {
            return Self::Plain(simulator);
        };
        let single = || SingleRays::new(isa, simulator, shots, tiles);
        let single = || single().map(|own| Self::Single(Box::new(own)));
        let phase = || PhaseLanes::new(isa, simulator).map(|own| Self::Phase(Box::new(own)));
        let pulsed =
            || ExpectedPulses::new(isa, simulator, shots).map(|own| Self::Pulsed(Box::new(own)));
        let vectorised = single().or_else(phase).or_else(pulsed);
        vectorised.unwrap_or(Self::Plain(simulator))
    }

    /// Predicts consecutive shots, of which `first` is the index of the first, and writes their returns.
    fn predict(
        &self,
        shots: &[Shot],
        first: u32,
        own: &mut FormMemory<S>,
        memory: &mut Memory<S>,
        write: &mut impl WriteReturns<S>,
    ) {
        match self {
            Self::Single(rays) => rays.predict(shots, first, &mut own.single, memory, write),
            Self::Phase(lanes) => lanes.predict(shots, first, &mut own.phase, memory, write),
            Self::Pulsed(lanes) => lanes.predict(shots, first, &mut own.pulsed, memory, write),
            Self::Plain(plain) => plain.predict(shots, first, memory, write),
        }
    }
}

impl<S: LaneScalar> Simulator<'_, S> {
    /// Predicts consecutive shots, of which `first` is the index of the first, and writes their returns.
    pub fn predict(
        &self,
        shots: &[Shot],
        first: u32,
        memory: &mut Memory<S>,
        write: &mut impl WriteReturns<S>,
    ) {
        self.measure(shots, first, memory, |fired, light, detected| {
            let detections = &detected.detections;
            let returned = first_return(self.lidar, fired.shot, light.ambient, detections);
            write.write((fired.number - first) as usize, returned);
        });
    }

    /// Predicts one shot whose light is collected.
    pub fn predict_collected(
        &self,
        shot: &Shot,
        number: u32,
        memory: &mut Memory<S>,
    ) -> Option<ExpectedReturn<S>> {
        let mut returned = None;
        let shots = std::slice::from_ref(shot);
        self.detect_shots(shots, number, memory, |fired, light, detected| {
            let detections = &detected.detections;
            returned = first_return(self.lidar, fired.shot, light.ambient, detections);
        });
        returned
    }
}

/// The expected return of the first detection within the range limits.
pub(super) fn first_return<S: Scalar>(
    lidar: &Lidar<S>,
    shot: &Shot,
    ambient: f64,
    detections: &[Detection<S>],
) -> Option<ExpectedReturn<S>> {
    let offset = lidar.channels[usize::from(shot.channel)].range_offset;
    detections.iter().find_map(|one| {
        let (returned, is_within) = expected_return(
            &lidar.intensity,
            &lidar.limits,
            offset,
            one.range,
            one.power,
        );
        is_within.then_some(ExpectedReturn {
            ambient,
            ..returned
        })
    })
}

/// The expected return of a detection with a range (m) and a power (1/(m² sr)), and whether it is within the
/// limits. `offset` is the range offset of the channel, m.
#[expect(clippy::inline_always, reason = "one lane of a loop over many")]
#[inline(always)]
pub(super) fn expected_return<S: Scalar>(
    intensity: &Intensity,
    limits: &RangeLimits,
    offset: f64,
    range: S,
    power: S,
) -> (ExpectedReturn<S>, bool) {
    let reported = range + offset;
    let counts = intensity.response.counts(power, range);
    let top = intensity.top.unwrap_or(f64::INFINITY);
    let returned = ExpectedReturn {
        range: reported,
        intensity: counts.max(S::zero()).min(S::from(top)),
        power,
        ambient: 0.0,
    };
    let is_within = (limits.near <= reported.value()) & (reported.value() <= limits.far);
    (returned, is_within)
}
