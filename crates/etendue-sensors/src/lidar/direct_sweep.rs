//! Sweeps in closed form, prepared for other processors.

use super::batches::{Batches, Destination};
use super::beam::BeamRays;
use super::correlated_noise::NoiseSampler;
use super::description::Lidar;
use super::frame::Frame;
use super::hooks::Hooks;
use super::light_model::LightModel;
use super::output::{Outcome, Return, Source, Sweep};
use super::receiver::{EchoModel, PreparedPulsed, PreparedReceiver};
use super::return_buffer::ReturnBuffer;
use super::returns::Reporter;
use super::scratch::SweepScratch;
use super::settings::SweepSettings;
use super::shot::Shot;
use super::shots::Shots;
use super::simulate::begin;
use super::sweep::{Memory, Simulator, shot_number};
use super::trace::trees_for;
use crate::Truth;
use crate::transport::World;
use etendue_physics::beam::{BeamFrame, BeamRay};
use etendue_physics::pulse::{EchoForm, ReturnMode};
use etendue_scene::{CastScratch, MaterialId, ObjectId};
use nalgebra::Isometry3;
use rayon::prelude::*;
use std::ops::Range;
use thiserror::Error;

/// Number of shots that a thread simulates at a time by the plain pipeline.
const PLAIN_BATCH: usize = 64;

/// Properties of a lidar or a scene that [`DirectSweep`] does not support.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotDirect {
    /// The receiver is not pulsed.
    #[error("the receiver of the lidar is not pulsed")]
    Receiver,
    /// A beam is a cone, whose pattern may lack a ray on the axis.
    #[error("the beam of the lidar is a cone")]
    Cone,
    /// The receiver samples waveforms.
    #[error("the receiver samples waveforms")]
    Waveform,
    /// The receiver has false alarms.
    #[error("the receiver has false alarms")]
    FalseAlarms,
    /// The azimuth of the shots jitters.
    #[error("the azimuth of the lidar jitters")]
    Jitter,
    /// Light follows random paths.
    #[error("light follows random paths")]
    Paths,
    /// Ambient light adds noise.
    #[error("ambient light adds noise")]
    AmbientLight,
    /// The air, drops or flakes return light.
    #[error("the air returns light")]
    Air,
    /// Vertices of meshes move.
    #[error("a mesh of the scene deforms")]
    Deforming,
}

/// A sweep of a pulsed lidar whose light returns directly and whose echoes have a closed form: what an implementation on
/// another processor needs for it.
///
/// The implementation evaluates each shot: the first surface along each of its [rays](DirectRay), the power that returns
/// from it, the [echoes](EchoForm) and which of them is reported, the correlated noise ([`CorrelatedDraws`]), range limits
/// and intensity. Shots with several reported echoes, and shots that hit mirrors, glass or surfaces with noise profiles ([`Self::is_direct`]) are left to [`Self::finish`], which simulates
/// them by the plain pipeline and makes a [`Sweep`] of all results. [`simulate`](super::simulate()) is the reference.
pub struct DirectSweep<'a> {
    simulator: Simulator<'a, f64>,
    /// The sweep, without results.
    sweep: Sweep,
    /// The pose of the sensor at the start.
    world_from_start: Isometry3<f64>,
    shots: Shots,
    form: EchoForm,
    returns: ReturnMode,
}

/// A ray of a beam: it leaves the origin of the shot with an offset, in the direction of the axis plus its slopes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DirectRay {
    /// Offset to the left and upwards, m.
    pub offset: [f64; 2],
    /// Tangents of the angles from the axis to the left and upwards.
    pub slope: [f64; 2],
    /// Share of the power of the beam.
    pub weight: f64,
}

/// The noise of a [`DirectSweep`] that is not independent from shot to shot: the error of the shot $i$ is
/// `common[i % channels]` plus, for `neighbour` and `beam`, `sd` times the sum of `weights[k]` times the first normal
/// draw of the stream of shot `i - k * channels` (wrapping).
#[derive(Clone, Debug, PartialEq)]
pub struct CorrelatedDraws {
    /// Sum of the errors of the sweep and of each channel, m.
    pub common: Vec<f64>,
    /// Standard deviation, m, and weights of [`Purpose::NeighbourNoise`](etendue_physics::Purpose) in the sweep.
    pub neighbour: AveragedNormals,
    /// The same of [`Purpose::BeamPattern`](etendue_physics::Purpose), whose sweep is the index of the object that the
    /// echo comes from, or `u32::MAX - 1` without one.
    pub beam: AveragedNormals,
}

/// A moving average of normal draws.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AveragedNormals {
    /// Standard deviation, m; 0 for no draws.
    pub sd: f64,
    /// Weights of a beam and its predecessors.
    pub weights: [f64; 4],
}

/// The result of one shot of a [`DirectSweep`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DirectShot {
    /// The first surface on the axis of the beam, with or without an echo; the host finds that of a [plain](DirectEcho::Plain) shot if there
    /// is none.
    pub surface: Option<DirectSurface>,
    /// The echo.
    pub echo: DirectEcho,
}

/// The first surface on a ray.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DirectSurface {
    /// Its distance, m.
    pub distance: f64,
    /// The object.
    pub object: ObjectId,
    /// The material.
    pub material: MaterialId,
    /// Cosine of the incidence, in [0, 1].
    pub cos_incidence: f64,
}

/// The echo of a shot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DirectEcho {
    /// None within the range limits.
    None,
    /// One below the nearest range.
    TooNear,
    /// A return.
    Return {
        /// Reported range, m.
        range: f64,
        /// Reported intensity, counts.
        intensity: f64,
        /// Peak power, 1/(m² sr).
        power: f64,
        /// Width of the echo over that of a single return.
        stretch: f64,
        /// The surface that contributed most of its light; `None` for none within the pulse's length.
        source: Option<DirectSurface>,
    },
    /// To be simulated by the plain pipeline: the beam hit a surface that is not [direct](DirectSweep::is_direct).
    Plain,
}

/// The returns of a shot that the plain pipeline simulated; the outcome refers to them by index.
struct PlainShot {
    outcome: Outcome,
    returns: Vec<Return>,
}

impl<'a> DirectSweep<'a> {
    /// Prepares a sweep; the arguments are those of [`simulate`](super::simulate()). The sweep uses the memory of `memory`,
    /// whose content is replaced.
    ///
    /// # Errors
    /// The first reason why the sweep has no such form.
    pub fn new<P: Fn(f64) -> Isometry3<f64> + Sync>(
        world: &'a World<'a, f64>,
        lidar: &'a Lidar,
        settings: &'a SweepSettings,
        world_from_sensor: &'a P,
        memory: Sweep,
    ) -> Result<Self, NotDirect> {
        if matches!(settings.light, LightModel::Paths(_)) {
            return Err(NotDirect::Paths);
        }
        let trace = trees_for(&lidar.receiver);
        let hooks = Hooks::default();
        let simulator = Simulator::new(world, lidar, settings, world_from_sensor, hooks, trace);
        let pulsed = closed_form(&simulator)?;
        let (form, returns) = (pulsed.analytic.echo_form(), pulsed.receiver.returns);
        let mut sweep = memory;
        let firing = lidar.firing(settings.sweep, settings.start);
        let shots = begin(&mut sweep, &firing, settings.sweep);
        sweep.start = settings.start_of(lidar);
        sweep.world_from_sensor = world_from_sensor(sweep.start);
        Ok(Self {
            simulator,
            world_from_start: sweep.world_from_sensor,
            sweep,
            shots,
            form,
            returns,
        })
    }

    /// The shots.
    pub fn shots(&self) -> &Shots {
        &self.shots
    }

    /// The world.
    pub fn world(&self) -> &'a World<'a, f64> {
        self.simulator.world
    }

    /// The lidar.
    pub fn lidar(&self) -> &'a Lidar {
        self.simulator.lidar
    }

    /// The settings.
    pub fn settings(&self) -> &'a SweepSettings {
        self.simulator.settings
    }

    /// The pose of the sensor at a time, s.
    pub fn world_from_sensor(&self, time: f64) -> Isometry3<f64> {
        self.simulator.world_from_sensor.at(time)
    }

    /// The closed form of the echoes.
    pub fn echo_form(&self) -> &EchoForm {
        &self.form
    }

    /// Whether light returns directly from a material, and its echoes are those of the receiver: paths end there, and
    /// it has no noise profile.
    pub fn is_direct(world: &World<f64>, material: MaterialId) -> bool {
        world.material(material).ends_paths() && world.profiles().profile(material).is_none()
    }

    /// The rays of every beam. The middle one is on the axis.
    pub fn rays(&self) -> Vec<DirectRay> {
        let BeamRays::Elliptic(rays) = &self.simulator.beam_rays else {
            return vec![];
        };
        let ray = |ray: &BeamRay| DirectRay {
            offset: ray.offset,
            slope: ray.slope,
            weight: ray.weight,
        };
        rays.iter().map(ray).collect()
    }

    /// Unit vectors along the axis of a shot, to its left and upwards, in the frame of the sensor.
    pub fn frame_of(&self, shot: &Shot) -> BeamFrame {
        let frame = BeamFrame::new(shot.azimuth, shot.elevation);
        if self.simulator.beam_rays.count() > 1 {
            return frame;
        }
        BeamFrame {
            axis: shot.direction(),
            ..frame
        }
    }

    /// Which echoes of a shot are reported.
    pub fn return_mode(&self) -> ReturnMode {
        self.returns
    }

    /// Two-way extinction of the air, 1/m: the transmission to a range $R$ is $e^{-\alpha R}$.
    pub fn two_way_extinction(&self) -> f64 {
        self.simulator.air.two_way_extinction()
    }

    /// Largest distance of an echo from the surface that it comes from, m.
    pub fn echo_reach(&self) -> f64 {
        self.lidar().receiver.echo_reach()
    }

    /// The noise that is not independent from shot to shot, if there is any.
    pub fn correlated_noise(&self) -> Option<CorrelatedDraws> {
        self.simulator.noise.as_ref().map(NoiseSampler::draws)
    }

    /// [`DirectSweep::correlated_noise`] of the sweep of another index.
    pub fn correlated_noise_of(&self, sweep: u32) -> Option<CorrelatedDraws> {
        let settings = SweepSettings {
            sweep,
            ..self.settings().clone()
        };
        NoiseSampler::new(self.lidar(), &settings).map(|noise| noise.draws())
    }

    /// The sweep, from the result of each shot by its index; and the number of shots that were left to the plain pipeline.
    pub fn finish(mut self, result_of: impl Fn(usize) -> DirectShot + Sync) -> (Sweep, usize) {
        // Simulate the shots that are left.
        let count = self.shots.len();
        let is_plain = |shot: &u32| result_of(*shot as usize).echo == DirectEcho::Plain;
        let all = (0..shot_number(count)).into_par_iter();
        let plain: Vec<u32> = all.filter(is_plain).collect();
        let simulated = self.simulate_plain(&plain);

        // Write all results.
        let batches = Batches::new(count, self.lidar(), false);
        let mut sweep = std::mem::take(&mut self.sweep);
        let write = |(): &mut (), own: Range<usize>, to: &mut Destination| {
            let buffer = to.open();
            for number in own {
                let result = result_of(number);
                let outcome = match plain.binary_search(&shot_number(number)) {
                    Ok(place) => append(&simulated[place], buffer),
                    Err(_) => self.add(number, &result, buffer),
                };
                buffer.outcomes.push(outcome);
                if self.settings().with_truth {
                    self.add_truth(number, &result, &mut buffer.per_shot.axis_truths);
                }
            }
        };
        batches.run(&mut sweep, || (), write);
        sweep.shots = self.shots;
        (sweep, plain.len())
    }

    /// The first return of each of some shots, by their indices in the sweep, from the plain pipeline.
    ///
    /// # Panics
    ///
    /// If the sweep has no such shot.
    pub fn plain_returns(&self, shots: &[u32]) -> Vec<Option<Return>> {
        let simulated = self.simulate_plain(shots);
        let first = |shot: PlainShot| shot.returns.into_iter().next();
        simulated.into_iter().map(first).collect()
    }

    /// Simulates shots by the plain pipeline.
    fn simulate_plain(&self, shots: &[u32]) -> Vec<PlainShot> {
        let reporter = Reporter {
            world: self.world(),
            lidar: self.lidar(),
            frame: self.settings().frame,
            world_from_start: self.world_from_start,
        };
        let simulate = |part: &[u32]| {
            let scratch = SweepScratch::default();
            let mut memory = Memory::new(&scratch);
            let one = |shot: &u32| self.plain_shot(*shot, &reporter, &mut memory);
            part.iter().map(one).collect::<Vec<_>>()
        };
        shots
            .par_chunks(PLAIN_BATCH)
            .flat_map_iter(simulate)
            .collect()
    }

    /// Simulates a shot by the plain pipeline.
    fn plain_shot(&self, number: u32, reporter: &Reporter, memory: &mut Memory<f64>) -> PlainShot {
        let shot = [self.shots.at(number as usize)];
        let mut buffer = ReturnBuffer::default();
        let mut outcome = Outcome::NoReturn;
        self.simulator
            .measure(&shot, number, memory, |fired, light, detected| {
                outcome = self
                    .simulator
                    .report(reporter, fired, light, detected, &mut buffer);
            });
        PlainShot {
            outcome,
            returns: buffer.returns_from(0).to_vec(),
        }
    }

    /// Adds the first surface on the axis of a shot, which the host finds where the result has none.
    fn add_truth(&self, number: usize, result: &DirectShot, truths: &mut Vec<Option<Truth>>) {
        if result.echo == DirectEcho::Plain && result.surface.is_none() {
            let shot = [self.shots.at(number)];
            let scratch = &mut CastScratch::new();
            { &self.simulator }.add_axis_truths(&shot, shot_number(number), truths, scratch);
            return;
        }
        truths.push(result.surface.map(|surface| Truth {
            range: surface.distance,
            object: surface.object,
            material: surface.material,
            incidence: surface.cos_incidence.min(1.0).acos(),
        }));
    }

    /// Adds the return of a shot, if it has one.
    fn add(&self, number: usize, result: &DirectShot, buffer: &mut ReturnBuffer) -> Outcome {
        let (range, intensity, power, stretch, source) = match result.echo {
            DirectEcho::None | DirectEcho::Plain => return Outcome::NoReturn,
            DirectEcho::TooNear => return Outcome::TooNear,
            DirectEcho::Return {
                range,
                intensity,
                power,
                stretch,
                source,
            } => (range, intensity, power, stretch, source),
        };
        // Position.
        let shot = self.shots.at(number);
        let offset = self.lidar().channels[usize::from(shot.channel)].range_offset;
        let point = shot.point(range - offset);
        let position = match self.settings().frame {
            Frame::Sensor => point,
            frame => {
                let pose = self.world_from_sensor(shot.time);
                frame.place(point, &pose, &self.world_from_start)
            }
        };
        // Surface of origin.
        let source = source.map(|surface| Source {
            instance: surface.object,
            mesh: self.world().scene().objects()[surface.object.0 as usize].mesh,
            material: surface.material,
            cos_incidence: surface.cos_incidence.min(1.0),
            range: surface.distance + offset,
        });
        let first = shot_number(buffer.count());
        *buffer.place() = Return {
            position,
            range,
            intensity,
            power,
            width: self.form.width * stretch,
            velocity: None,
            ambient: 0.0,
            shot: shot_number(number),
            return_number: 1,
            returns: 1,
            source,
        };
        Outcome::Points { first, count: 1 }
    }
}

/// Appends the returns of a shot; returns its outcome, with their indices in the buffer.
fn append(shot: &PlainShot, buffer: &mut ReturnBuffer) -> Outcome {
    let first = shot_number(buffer.count());
    for one in &shot.returns {
        *buffer.place() = *one;
    }
    match shot.outcome {
        Outcome::Points { count, .. } => Outcome::Points { first, count },
        other => other,
    }
}

/// The receiver of a sweep whose light returns directly and whose echoes have a closed form.
fn closed_form<'s>(plain: &'s Simulator<'_, f64>) -> Result<&'s PreparedPulsed, NotDirect> {
    // Receiver and beam.
    let PreparedReceiver::Pulsed(pulsed) = &plain.receiver else {
        return Err(NotDirect::Receiver);
    };
    if plain.beam_rays.axis().is_none() {
        return Err(NotDirect::Cone);
    }
    if pulsed.receiver.echoes == EchoModel::Waveform {
        return Err(NotDirect::Waveform);
    }
    if pulsed.receiver.false_alarms {
        return Err(NotDirect::FalseAlarms);
    }
    if plain.lidar.beam.azimuth_jitter > 0.0 {
        return Err(NotDirect::Jitter);
    }
    // Surfaces, air and light.
    let world = plain.world;
    if world.scene().deforms() {
        return Err(NotDirect::Deforming);
    }
    if plain.ambient.is_some() {
        return Err(NotDirect::AmbientLight);
    }
    if plain.air.is_detected() {
        return Err(NotDirect::Air);
    }
    Ok(pulsed)
}
