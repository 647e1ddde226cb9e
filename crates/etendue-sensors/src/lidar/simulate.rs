//! Simulation of a whole sweep.

use super::batch_memory::BatchMemory;
use super::batches::{Batches, Destination};
use super::description::Lidar;
use super::fast::VectorizedSimulator;
use super::firing::Firing;
use super::hooks::Hooks;
use super::light::ShotLight;
use super::output::Sweep;
use super::receiver::{Detected, Receiver};
use super::returns::Reporter;
use super::scratch::SweepScratch;
use super::sensor_poses::SensorPoses;
use super::settings::{Pipeline, SweepSettings};
use super::shots::Shots;
use super::sweep::{FiredShot, Memory, Simulator, shot_number};
use super::trace::trace_of;
use crate::transport::World;
use etendue_physics::Purpose;
use etendue_physics::pulse::{SamplingWindow, Waveform};
use nalgebra::Isometry3;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// Simulates one sweep as the device reports it.
///
/// `world` is the scene at the lidar's wavelength, `world_from_sensor` the pose of the sensor as a function of
/// time (s since the start of the run). The result depends only on the arguments, not on the number of
/// threads.
///
/// Objects are at their poses at the time of each shot. Meshes that deform
/// ([`Scene::deforms`](etendue_scene::Scene::deforms)) are updated every four columns, to the middle of the
/// times of their first and last shot.
pub fn simulate(
    world: &World<f64>,
    lidar: &Lidar,
    settings: &SweepSettings,
    world_from_sensor: impl Fn(f64) -> Isometry3<f64> + Sync,
) -> Sweep {
    let mut sweep = Sweep::default();
    let mut scratch = SweepScratch::default();
    simulate_into(
        world,
        lidar,
        settings,
        world_from_sensor,
        &mut sweep,
        &mut scratch,
    );
    sweep
}

/// [`simulate`] that reuses the memory of `sweep`, whose content is replaced.
pub fn simulate_into(
    world: &World<f64>,
    lidar: &Lidar,
    settings: &SweepSettings,
    world_from_sensor: impl Fn(f64) -> Isometry3<f64> + Sync,
    sweep: &mut Sweep,
    scratch: &mut SweepScratch,
) {
    let never = AtomicBool::new(false);
    simulate_until(
        world,
        lidar,
        settings,
        world_from_sensor,
        sweep,
        scratch,
        &never,
    );
}

/// [`simulate_into`] that another thread ends early by setting `stop`. Returns whether the sweep is complete; the
/// content of an incomplete one is unspecified, and its memory can be used again.
pub fn simulate_until(
    world: &World<f64>,
    lidar: &Lidar,
    settings: &SweepSettings,
    world_from_sensor: impl Fn(f64) -> Isometry3<f64> + Sync,
    sweep: &mut Sweep,
    scratch: &mut SweepScratch,
    stop: &AtomicBool,
) -> bool {
    let poses = &world_from_sensor;
    simulate_along(world, lidar, settings, poses, sweep, scratch, stop);
    !stop.load(Ordering::Relaxed)
}

/// [`simulate_until`] for poses of any type.
fn simulate_along(
    world: &World<f64>,
    lidar: &Lidar,
    settings: &SweepSettings,
    world_from_sensor: &dyn SensorPoses<f64>,
    sweep: &mut Sweep,
    scratch: &mut SweepScratch,
    stop: &AtomicBool,
) {
    // Aim the shots and prepare the pipeline.
    let firing = lidar.firing(settings.sweep, settings.start);
    let shots = begin(sweep, &firing, settings.sweep);
    sweep.start = settings.start_of(lidar);
    sweep.world_from_sensor = world_from_sensor.at(sweep.start);
    let deforms = world.scene().deforms();
    let batches = Batches::new(shots.len(), lidar, deforms);
    let plain = plain_simulator(world, lidar, settings, world_from_sensor);
    let reporter = Reporter {
        world,
        lidar,
        frame: settings.frame,
        world_from_start: sweep.world_from_sensor,
        mixing: plain.mixing(),
    };
    let fast = match settings.pipeline {
        Pipeline::Reference => None,
        Pipeline::Vectorized(isa) => {
            VectorizedSimulator::new(isa, &plain, reporter, &firing, &shots, &batches)
        }
    };
    // Simulate batches of shots, in lanes where that is possible.
    let simulate = |memory: &mut BatchMemory, own: Range<usize>, to: &mut Destination| {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        if !deforms {
            match &fast {
                Some(fast) => fast.batch(memory, &shots, own.clone(), to),
                None => plain_batch(&plain, &reporter, memory, &shots, own.clone(), to),
            }
            return add_axis_truths(&plain, memory, &shots, own, to);
        }
        let scene = world.scene().at(half_way(&shots, own.clone()));
        let world = world.with_scene(&scene);
        let plain = plain.with_world(&world);
        let reporter = Reporter {
            world: &world,
            ..reporter
        };
        match &fast {
            Some(fast) => {
                let fast = fast.with_plain(&plain, reporter);
                fast.batch(memory, &shots, own.clone(), to);
            }
            None => plain_batch(&plain, &reporter, memory, &shots, own.clone(), to),
        }
        add_axis_truths(&plain, memory, &shots, own, to);
    };
    batches.run(sweep, || BatchMemory::new(scratch), simulate);
    if reporter.mixing.is_some() {
        sweep.mixing.resize(sweep.points.len(), 0.0);
    }
    sweep.shots = shots;
}

/// The plain pipeline of a sweep.
fn plain_simulator<'a>(
    world: &'a World<'a, f64>,
    lidar: &'a Lidar,
    settings: &'a SweepSettings,
    world_from_sensor: &'a dyn SensorPoses<f64>,
) -> Simulator<'a, f64> {
    let trace = trace_of(&settings.light, &lidar.receiver);
    let hooks = Hooks::default();
    Simulator::new(world, lidar, settings, world_from_sensor, hooks, trace)
}

/// Simulates a batch of shots by the plain pipeline.
fn plain_batch(
    simulator: &Simulator<f64>,
    reporter: &Reporter,
    memory: &mut BatchMemory,
    all: &Shots,
    own: Range<usize>,
    to: &mut Destination,
) {
    memory.list(all, own.clone());
    let first = shot_number(own.start);
    simulator.collect_light(&memory.shots, first, &mut memory.plain);
    let buffer = to.open();
    let report = |fired: FiredShot<f64>, light: &ShotLight<f64>, detected: &Detected<f64>| {
        let outcome = simulator.report(reporter, fired, light, detected, buffer);
        buffer.outcomes.push(outcome);
    };
    simulator.detect_shots(&memory.shots, first, &mut memory.plain, report);
}

/// Adds the first surface on the axis of each beam, if the settings request it.
fn add_axis_truths(
    simulator: &Simulator<f64>,
    memory: &mut BatchMemory,
    all: &Shots,
    own: Range<usize>,
    to: &mut Destination,
) {
    if !simulator.settings.with_truth {
        return;
    }
    let first = shot_number(own.start);
    memory.list(all, own);
    let truths = &mut to.per_shot().axis_truths;
    let scratch = &mut memory.plain.detector.scratch.get().casts;
    simulator.add_axis_truths(&memory.shots, first, truths, scratch);
}

/// Prepares a sweep and returns its aimed shots. Old returns stay in memory and are overwritten later.
pub(super) fn begin(sweep: &mut Sweep, firing: &Firing, index: u32) -> Shots {
    let lidar = firing.lidar;
    sweep.index = index;
    sweep.columns = lidar.columns();
    let rings = lidar.channels.iter().map(|channel| channel.ring);
    sweep.rings.clear();
    sweep.rings.extend(rings);
    #[expect(clippy::cast_possible_truncation, reason = "checked with the lidar")]
    let channels = lidar.channels.len() as u16;
    sweep.channels = channels;
    let mut shots = std::mem::take(&mut sweep.shots);
    shots.replace_by(firing);
    sweep.outcomes.clear();
    sweep.powers.clear();
    sweep.surfaces.clear();
    sweep.mixing.clear();
    sweep.axis_truths.clear();
    sweep.outcomes.reserve(shots.len());
    let points = sweep.points.len();
    sweep.points.reserve(shots.len().saturating_sub(points));
    shots
}

/// Middle of the times of the first and the last of a range of shots, s.
fn half_way(shots: &Shots, own: Range<usize>) -> f64 {
    let [first, last] = shots.span(own);
    0.5 * (first + last)
}

/// The digitised waveform of one shot (by its index in the sweep), from the exit to the farthest range; `None`
/// if the lidar is not pulsed or has no such shot.
pub fn waveform(
    world: &World<f64>,
    lidar: &Lidar,
    settings: &SweepSettings,
    shot: usize,
    world_from_sensor: impl Fn(f64) -> Isometry3<f64> + Sync,
) -> Option<Waveform> {
    waveform_along(world, lidar, settings, shot, &world_from_sensor)
}

/// [`waveform`] for poses of any type.
fn waveform_along(
    world: &World<f64>,
    lidar: &Lidar,
    settings: &SweepSettings,
    shot: usize,
    world_from_sensor: &dyn SensorPoses<f64>,
) -> Option<Waveform> {
    // Prepare the pipeline at the time of the shot.
    let Receiver::Pulsed(receiver) = &lidar.receiver else {
        return None;
    };
    let number = u32::try_from(shot).ok()?;
    let shot = *lidar.shots(settings.sweep).get(shot)?;
    let scene = world.scene().at(shot.time);
    let world = &world.with_scene(&scene);
    let simulator = plain_simulator(world, lidar, settings, world_from_sensor);
    // Collect the light of the shot.
    let far = lidar.limits.far;
    let window = SamplingWindow::around(&receiver.pulse, receiver.interval, 0.0, far);
    let scratch = SweepScratch::default();
    let mut memory = Memory::new(&scratch);
    simulator.collect_light(&[shot], number, &mut memory);
    let light = memory.lights.first()?;
    let air = simulator.air.backscatter();
    let air = air.map(|air| air.first_cells(light.backscatter_cells));
    // Sample the waveform.
    let mut stream = simulator.stream(number, Purpose::ReceiverNoise);
    let noise = (!settings.without_noise).then_some(&mut stream);
    Some(receiver.waveform(&light.returns, air.as_ref(), window, noise, true))
}
