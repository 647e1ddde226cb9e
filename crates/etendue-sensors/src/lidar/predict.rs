//! Noise-free measurements in a scalar that may carry derivatives.

use super::ambient::AmbientView;
use super::description::Lidar;
use super::fast::{ExpectedPulses, PhaseLanes, PhaseMemory, PulseMemory};
use super::hooks::Hooks;
use super::receiver::Detection;
use super::scratch::SweepScratch;
use super::sensor_poses::{AtRest, SensorPoses};
use super::settings::{Pipeline, SweepSettings};
use super::shot::Shot;
use super::sweep::{FiredShot, Memory, Simulator, shot_number};
use super::trace::trees_for;
use crate::scalar_tile::LaneScalar;
use crate::transport::World;
use etendue_physics::Scalar;
use nalgebra::Isometry3;
use rayon::prelude::*;

/// Number of shots in a batch, whose rays are cast together.
const BATCH: usize = 256;

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

/// The expected first return of every shot: the pipeline of [`simulate`](super::simulate) without
/// noise and rounding, and with ray trees. None for a shot without a return within the range limits.
///
/// `world_from_sensor` is the pose of the sensor as a function of time (s since the start of the run). The
/// choice of the surfaces that are hit, the returns that merge, the samples that are used and the echo that
/// is reported is constant under differentiation.
pub fn predict<S: LaneScalar>(
    world: &World<S>,
    lidar: &Lidar<S>,
    settings: &SweepSettings,
    shots: &[Shot],
    world_from_sensor: impl Fn(f64) -> Isometry3<S> + Sync,
    hooks: Hooks<S>,
) -> Vec<Option<ExpectedReturn<S>>> {
    let convert = |_, expected| expected;
    predict_along(
        world,
        lidar,
        settings,
        shots,
        &world_from_sensor,
        hooks,
        convert,
    )
}

/// [`predict`] for a sensor at rest at a pose, with each return converted by a function of the index of its shot
/// and the return.
pub fn predict_at_rest<S: LaneScalar, T: Send>(
    world: &World<S>,
    lidar: &Lidar<S>,
    settings: &SweepSettings,
    shots: &[Shot],
    world_from_sensor: &Isometry3<S>,
    hooks: Hooks<S>,
    convert: impl Fn(usize, Option<ExpectedReturn<S>>) -> T + Sync,
) -> Vec<T> {
    let pose = &AtRest(world_from_sensor);
    predict_along(world, lidar, settings, shots, pose, hooks, convert)
}

/// [`predict`] for poses of any type, with converted returns.
fn predict_along<S: LaneScalar, T: Send>(
    world: &World<S>,
    lidar: &Lidar<S>,
    settings: &SweepSettings,
    shots: &[Shot],
    world_from_sensor: &dyn SensorPoses<S>,
    hooks: Hooks<S>,
    convert: impl Fn(usize, Option<ExpectedReturn<S>>) -> T + Sync,
) -> Vec<T> {
    let none = (0..shots.len()).map(|shot| convert(shot, None));
    let mut converted: Vec<T> = none.collect();
    let settings = SweepSettings {
        without_noise: true,
        ..settings.clone()
    };
    let trace = trees_for(&lidar.receiver);
    let simulator = Simulator {
        rounding: false,
        ambient: AmbientView::new(world, lidar.receiver.window()),
        ..Simulator::new(world, lidar, &settings, world_from_sensor, hooks, trace)
    };
    let form = Form::new(&simulator);
    // Measure batches of shots on all threads, in lanes where that is possible.
    let scratch = SweepScratch::default();
    let batches = converted.par_chunks_mut(BATCH).zip(shots.par_chunks(BATCH));
    batches.enumerate().for_each_init(
        || (Memory::new(&scratch), FormMemory::default()),
        |(memory, own), (batch, (converted, shots))| {
            let first = batch * BATCH;
            let mut report = |fired: FiredShot<S>, ambient, detections: &[Detection<S>]| {
                let number = fired.number as usize;
                let mut returns = detections.iter();
                let returned = |one| expected_return(lidar, fired.shot, ambient, one);
                converted[number - first] = convert(number, returns.find_map(returned));
            };
            form.measure(shots, shot_number(first), own, memory, &mut report);
        },
    );
    converted
}

/// The form of the pipeline that applies: a vectorised one, or the plain one.
enum Form<'p, 'a, S: LaneScalar> {
    Phase(Box<PhaseLanes<'p, 'a, S>>),
    Pulsed(ExpectedPulses<'p, 'a, S>),
    Plain(&'p Simulator<'a, S>),
}

/// Buffers of the vectorised forms.
struct FormMemory<S: LaneScalar> {
    phase: PhaseMemory<S>,
    pulsed: PulseMemory<S>,
}

impl<S: LaneScalar> Default for FormMemory<S> {
    fn default() -> Self {
        Self {
            phase: PhaseMemory::default(),
            pulsed: PulseMemory::default(),
        }
    }
}

impl<'p, 'a, S: LaneScalar> Form<'p, 'a, S> {
    /// The fastest form that applies.
    fn new(simulator: &'p Simulator<'a, S>) -> Self {
        let Pipeline::Vectorized(isa) = simulator.settings.pipeline else {
            return Self::Plain(simulator);
        };
        let phase = || PhaseLanes::new(isa, simulator).map(|own| Self::Phase(Box::new(own)));
        let pulsed = || ExpectedPulses::new(isa, simulator).map(Self::Pulsed);
        phase().or_else(pulsed).unwrap_or(Self::Plain(simulator))
    }

    /// Measures consecutive shots, of which `first` is the index of the first. Calls `report` with each shot, its
    /// ambient light and its detections.
    fn measure(
        &self,
        shots: &[Shot],
        first: u32,
        own: &mut FormMemory<S>,
        memory: &mut Memory<S>,
        report: &mut impl FnMut(FiredShot<S>, f64, &[Detection<S>]),
    ) {
        match self {
            Self::Phase(lanes) => {
                lanes.measure(shots, first, &mut own.phase, memory, |shot| {
                    report(shot.fired, shot.ambient, shot.detection.ok().as_slice());
                });
            }
            Self::Pulsed(lanes) => {
                lanes.measure(
                    shots,
                    first,
                    &mut own.pulsed,
                    memory,
                    |fired, detections| {
                        report(fired, 0.0, detections);
                    },
                );
            }
            Self::Plain(plain) => {
                plain.measure(shots, first, memory, |fired, light, detected| {
                    report(fired, light.ambient, &detected.detections);
                });
            }
        }
    }
}

/// The expected return of a detection, if it is within the range limits.
fn expected_return<S: Scalar>(
    lidar: &Lidar<S>,
    shot: &Shot,
    ambient: f64,
    detection: &Detection<S>,
) -> Option<ExpectedReturn<S>> {
    let range = detection.range + lidar.channels[usize::from(shot.channel)].range_offset;
    if !(lidar.limits.near..=lidar.limits.far).contains(&range.value()) {
        return None;
    }
    let intensity = &lidar.intensity;
    let counts = intensity.response.counts(detection.power, detection.range);
    let top = intensity.top.unwrap_or(f64::INFINITY);
    Some(ExpectedReturn {
        range,
        intensity: counts.max(S::zero()).min(S::from(top)),
        power: detection.power,
        ambient,
    })
}
