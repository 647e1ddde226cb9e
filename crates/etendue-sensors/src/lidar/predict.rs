//! Noise-free measurements in a scalar that may carry derivatives.

use super::ambient::AmbientView;
use super::description::Lidar;
use super::fast::{PhaseLanes, PhaseMemory};
use super::hooks::Hooks;
use super::receiver::Detection;
use super::scratch::SweepScratch;
use super::sensor_poses::SensorPoses;
use super::settings::{Pipeline, SweepSettings};
use super::shot::Shot;
use super::sweep::{FiredShot, Memory, Simulator, shot_number};
use super::trace::trees_for;
use crate::scalar_tile::LaneScalar;
use crate::transport::World;
use etendue_physics::Scalar;
use nalgebra::{Isometry3, Point3};
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
    predict_along(world, lidar, settings, shots, &world_from_sensor, hooks)
}

/// [`predict`] for poses of any type.
fn predict_along<S: LaneScalar>(
    world: &World<S>,
    lidar: &Lidar<S>,
    settings: &SweepSettings,
    shots: &[Shot],
    world_from_sensor: &dyn SensorPoses<S>,
    hooks: Hooks<S>,
) -> Vec<Option<ExpectedReturn<S>>> {
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
    let lanes = lanes(&simulator, shots);
    // Measure batches of shots on all threads, in lanes where that is possible.
    let scratch = SweepScratch::default();
    let mut expected = vec![None; shots.len()];
    let batches = expected.par_chunks_mut(BATCH).zip(shots.par_chunks(BATCH));
    batches.enumerate().for_each_init(
        || (Memory::new(&scratch), PhaseMemory::default()),
        |(memory, phase), (batch, (expected, shots))| {
            let first = shot_number(batch * BATCH);
            let mut report = |fired: FiredShot<S>, ambient, detections: &[Detection<S>]| {
                let place = (fired.number - first) as usize;
                let mut returns = detections.iter();
                let returned = |one| expected_return(lidar, fired.shot, ambient, one);
                expected[place] = returns.find_map(returned);
            };
            match &lanes {
                Some(lanes) => lanes.measure(shots, first, phase, memory, |shot| {
                    report(shot.fired, shot.ambient, shot.detection.ok().as_slice());
                }),
                None => simulator.measure(shots, first, memory, |fired, light, detected| {
                    report(fired, light.ambient, &detected.detections);
                }),
            }
        },
    );
    expected
}

/// The vectorised pipeline, if it applies. Its derivatives with respect to poses require rays from the
/// sensor's origin.
fn lanes<'p, 'a, S: LaneScalar>(
    simulator: &'p Simulator<'a, S>,
    shots: &[Shot],
) -> Option<PhaseLanes<'p, 'a, S>> {
    let Pipeline::Vectorized(isa) = simulator.settings.pipeline else {
        return None;
    };
    let at_origin = shots.iter().all(|shot| shot.origin == Point3::origin());
    PhaseLanes::new(isa, simulator).filter(|_| at_origin)
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
