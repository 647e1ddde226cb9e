//! Expected measurements, in a scalar that may carry derivatives.

use super::fast::phase::{PhaseHooks, PhaseShot, predict_phase};
use super::sweep::{Memory, Simulator};
use super::trace::trace_by_trees;
use super::{Hooks, Lidar, Receiver, Shot, SweepScratch, SweepSettings};
use crate::lidar::receiver::Detection;
use crate::lidar::sweep::shot_number;
use crate::scalar_tile::LaneScalar;
use crate::transport::{World, trace_tree};
use etendue_physics::Scalar;
use etendue_physics::phase::{Modulation, PhaseSignal};
use nalgebra::Isometry3;
use rayon::prelude::*;

/// Shots of one task: their rays are cast together.
const BATCH: usize = 256;

/// The expected first return of a shot, in the device's own order, without rounding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExpectedReturn<S = f64> {
    /// Range, m.
    pub range: S,
    /// Intensity, counts.
    pub intensity: S,
    /// Power at the echo's peak, 1/(m² sr).
    pub power: S,
}

/// The expected first return of every shot: the pipeline of [`simulate`](super::simulate) without
/// noise and rounding, and with ray trees. None for a shot without a return within the range limits.
///
/// `world_from_sensor` is the sensor's pose at a time (s from the start of the run). Which surfaces
/// are hit, which returns merge, which samples are read and which echo is reported is constant under
/// differentiation.
pub fn predict<S: LaneScalar>(
    world: &World<S>,
    lidar: &Lidar<S>,
    settings: &SweepSettings,
    shots: &[Shot],
    world_from_sensor: impl Fn(f64) -> Isometry3<S> + Sync,
    hooks: Hooks<S>,
) -> Vec<Option<ExpectedReturn<S>>> {
    let settings = SweepSettings {
        without_noise: true,
        ..settings.clone()
    };
    if let Receiver::Phase(receiver) = &lidar.receiver {
        let modulation = receiver.modulation;
        return predict_by_phase(
            world,
            lidar,
            &settings,
            shots,
            world_from_sensor,
            hooks,
            modulation,
        );
    }
    let simulator = Simulator {
        rounding: false,
        ..Simulator::new(
            world,
            lidar,
            &settings,
            &world_from_sensor,
            hooks,
            trace_by_trees,
        )
    };
    let scratch = SweepScratch::default();
    let mut expected = vec![None; shots.len()];
    let batches = expected.par_chunks_mut(BATCH).zip(shots.par_chunks(BATCH));
    batches.enumerate().for_each_init(
        || Memory::new(&scratch),
        |memory, (batch, (expected, shots))| {
            let first = shot_number(batch * BATCH);
            simulator.measure(shots, first, memory, |fired, _, detections| {
                let place = (fired.number - first) as usize;
                let mut returns = detections.iter();
                expected[place] = returns.find_map(|one| expected_return(lidar, fired.shot, one));
            });
        },
    );
    expected
}

/// [`predict`] for phase receivers.
fn predict_by_phase<S: LaneScalar>(
    world: &World<S>,
    lidar: &Lidar<S>,
    settings: &SweepSettings,
    shots: &[Shot],
    world_from_sensor: impl Fn(f64) -> Isometry3<S> + Sync,
    hooks: Hooks<S>,
    modulation: Modulation,
) -> Vec<Option<ExpectedReturn<S>>> {
    let tree = settings.light.tree();
    let add_extra_rays = |shot: usize, signal: &mut PhaseSignal<S>| {
        let Some(extra_rays) = hooks.extra_rays else {
            return;
        };
        let mut extra = Vec::new();
        extra_rays(shot, &mut extra);
        for one in &extra {
            trace_tree(world, &one.ray, &tree, |back| {
                signal.add(&modulation, back.optical_range, back.power * one.share);
            });
        }
    };
    let hooks = PhaseHooks {
        factor: hooks.factor,
        air: hooks
            .atmosphere
            .map(|atmosphere| atmosphere.coefficients(lidar.wavelength)),
        add: add_extra_rays,
    };
    let measured = predict_phase(world, lidar, shots, settings, world_from_sensor, hooks);
    let expected = |(shot, measured): (&Shot, &PhaseShot<S>)| {
        let detection = Detection {
            range: measured.range()?,
            power: measured.power,
            width: S::zero(),
            velocity: None,
            intensity: None,
        };
        expected_return(lidar, shot, &detection)
    };
    shots.iter().zip(&measured).map(expected).collect()
}

/// The expected return of a detection, if it is within the range limits.
fn expected_return<S: Scalar>(
    lidar: &Lidar<S>,
    shot: &Shot,
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
    })
}
