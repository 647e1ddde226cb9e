//! Sweeps prepared for other processors.

use super::ambient::{AmbientView, DirectAmbient};
use super::beam::BeamRays;
use super::correlated_noise::{NoiseSampler, padded};
use super::description::Lidar;
use super::direct_pulses::DirectPulsedAir;
use super::direct_receiver::{DirectReceiver, NotDirect, direct_receiver};
use super::direct_shot::{DirectEcho, DirectLight, DirectLightReturn, DirectReturn, DirectShot};
use super::frame::Frame;
use super::hooks::Hooks;
use super::light::ShotLight;
use super::light_model::LightModel;
use super::output::{Outcome, Return, Source, Sweep};
use super::phase_air::DirectPhaseAir;
use super::receiver::{PointVelocities, Receiver, point_velocities, radial_velocity};
use super::return_buffer::{EMPTY, ReturnBuffer};
use super::returns::Reporter;
use super::scratch::SweepScratch;
use super::settings::SweepSettings;
use super::shot::Shot;
use super::shots::Shots;
use super::simulate::begin;
use super::sweep::{FiredShot, Memory, Simulator, shot_number};
use super::trace::trace_of;
use crate::Truth;
use crate::transport::{TreeSettings, World};
use etendue_physics::Purpose;
use etendue_physics::beam::{BeamFrame, BeamRay, SubRay};
use etendue_scene::{CastScratch, MaterialId, ObjectId};
use etendue_simd::Isa;
use nalgebra::{Isometry3, Vector3};
use rayon::prelude::*;
use std::ops::Range;

/// Number of shots that a thread simulates at a time by the plain pipeline.
const PLAIN_BATCH: usize = 64;

/// Least number of shots in a part of a sweep.
const PART: usize = 1024;

/// A sweep of a lidar whose light follows ray trees: what an implementation on another processor needs for it.
///
/// The implementation evaluates each shot: the ray tree of each of its [rays](DirectRay) within the [limits](Self::tree),
/// the power that returns ([`trace_tree`](crate::transport::trace_tree)), the [echoes](DirectReceiver) and which of them are
/// reported, the correlated noise ([`CorrelatedDraws`]), range limits and intensity. Ranges of surfaces with noise profiles
/// are drawn from these ([`Profile`](etendue_physics::profile::Profile)). Shots that the implementation leaves are simulated by
/// [`Self::finish`] by the plain pipeline; it makes a [`Sweep`] of all results. [`simulate`](super::simulate()) is the reference.
pub struct DirectSweep<'a> {
    simulator: Simulator<'a, f64>,
    /// The sweep, without results.
    sweep: Sweep,
    /// The pose of the sensor at the start.
    world_from_start: Isometry3<f64>,
    shots: Shots,
    receiver: DirectReceiver,
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

/// The returns of a shot that the host simulated; the outcome refers to them by index.
struct PlainShot {
    /// Index of the shot.
    number: u32,
    /// Whether the host traced its light, too.
    is_plain: bool,
    outcome: Outcome,
    returns: Vec<Return>,
    /// At phase receivers, otherwise none.
    light: DirectLight,
}

impl PlainShot {
    /// A shot whose light the host traced.
    fn new(number: u32, outcome: Outcome, buffer: &mut ReturnBuffer) -> Self {
        let columns = &buffer.per_shot;
        let lights = columns.powers.first().zip(columns.surfaces.first());
        let light = lights.map(|(&power, &surfaces)| DirectLight { power, surfaces });
        Self {
            number,
            is_plain: true,
            outcome,
            returns: buffer.returns_from(0).to_vec(),
            light: light.unwrap_or_default(),
        }
    }
}

/// The result of a shot, from this processor or the other.
enum ShotResult<'a> {
    Plain(&'a PlainShot),
    Direct(DirectShot),
}

impl ShotResult<'_> {
    /// Number of returns.
    fn count(&self) -> usize {
        match self {
            Self::Plain(plain) => plain.returns.len(),
            Self::Direct(direct) => match direct.echo {
                DirectEcho::Return(_) => 1 + direct.further.len(),
                _ => 0,
            },
        }
    }

    /// All light, at phase receivers.
    fn light(&self) -> DirectLight {
        match self {
            Self::Plain(plain) => plain.light,
            Self::Direct(direct) => direct.light,
        }
    }
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
        let trace = trace_of(&settings.light, &lidar.receiver);
        let hooks = Hooks::default();
        let simulator = Simulator::new(world, lidar, settings, world_from_sensor, hooks, trace);
        let receiver = direct_receiver(&simulator)?;
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
            receiver,
        })
    }

    /// The shots.
    pub fn shots(&self) -> &Shots {
        &self.shots
    }

    /// Number of shots in parts of whole columns, of which [`Self::list`] lists the shots.
    pub fn part_size(&self) -> usize {
        self.lidar().channels.len().max(1) * PART.div_ceil(self.lidar().channels.len().max(1))
    }

    /// The shots of a range that begins and ends with a [part](Self::part_size), or with the sweep. `memory` holds them if
    /// they are not stored.
    pub fn list<'s>(&'s self, own: Range<usize>, memory: &'s mut Vec<Shot>) -> &'s [Shot] {
        self.shots.part(Isa::detect(), own, memory)
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

    /// The receiver.
    pub fn receiver(&self) -> &DirectReceiver {
        &self.receiver
    }

    /// The limits of ray trees.
    pub fn tree(&self) -> TreeSettings {
        self.settings().light.tree()
    }

    /// The rays of every beam. The middle one is on the axis, except for cones of several rays in sweeps without truth and
    /// without light of the air; in the others it is one without power.
    pub fn rays(&self) -> Vec<DirectRay> {
        let (half_tangent, sub_rays) = match &self.simulator.beam_rays {
            BeamRays::Elliptic(rays) => {
                let ray = |ray: &BeamRay| DirectRay {
                    offset: ray.offset,
                    slope: ray.slope,
                    weight: ray.weight,
                };
                return rays.iter().map(ray).collect();
            }
            BeamRays::Cone {
                half_tangent,
                sub_rays,
            } => (half_tangent, sub_rays),
        };
        let ray = |ray: &SubRay| DirectRay {
            offset: [0.0; 2],
            slope: [half_tangent * ray.left, half_tangent * ray.up],
            weight: ray.weight,
        };
        let mut rays: Vec<DirectRay> = sub_rays.iter().map(ray).collect();
        let needs_axis = self.settings().with_truth || self.simulator.air.is_detected();
        if needs_axis && !self.simulator.beam_rays.is_axis() {
            let axis = DirectRay {
                offset: [0.0; 2],
                slope: [0.0; 2],
                weight: 0.0,
            };
            rays.insert(rays.len().div_ceil(2), axis);
        }
        rays
    }

    /// Unit vectors along the axis of a shot, to its left and upwards, in the frame of the sensor, without jitter. For beams of one ray,
    /// the last one is zero, and the second one too, except for lidars that triangulate.
    pub fn frame_of(&self, shot: &Shot) -> BeamFrame {
        self.frame_of_aimed(shot, shot)
    }

    /// [`DirectSweep::frame_of`] of the shot with an index, turned by its [pointing error](Self::pointing) about the axis z of the
    /// sensor; the lens of a lidar that triangulates is not turned.
    pub fn jittered_frame_of(&self, number: u32, shot: &Shot) -> BeamFrame {
        self.frame_of_aimed(&self.simulator.jittered(shot, number), shot)
    }

    fn frame_of_aimed(&self, aimed: &Shot, shot: &Shot) -> BeamFrame {
        if !self.simulator.beam_rays.is_axis() {
            return aimed.frame();
        }
        let left = match self.receiver {
            DirectReceiver::Triangulation(_) => BeamFrame::new(shot.azimuth, 0.0).left,
            DirectReceiver::Pulsed { .. }
            | DirectReceiver::Sampled(_)
            | DirectReceiver::Phase { .. }
            | DirectReceiver::Fmcw(_)
            | DirectReceiver::OnHost(_) => Vector3::zeros(),
        };
        BeamFrame {
            axis: aimed.direction(),
            left,
            up: Vector3::zeros(),
        }
    }

    /// The pointing errors of the azimuths: standard deviation, rad, and weights of [`Purpose::Pointing`](etendue_physics::Purpose)
    /// as those of [`CorrelatedDraws`]. The deviation is 0 without noise.
    pub fn pointing(&self) -> AveragedNormals {
        AveragedNormals {
            sd: self.simulator.azimuth_jitter().unwrap_or(0.0),
            weights: padded(&self.simulator.pointing_average),
        }
    }

    /// Two-way extinction of the air, 1/m: the transmission to a range $R$ is $e^{-\alpha R}$.
    pub fn two_way_extinction(&self) -> f64 {
        self.simulator.air.two_way_extinction()
    }

    /// The ambient light that adds noise, if there is any.
    pub fn ambient(&self) -> Option<DirectAmbient<'a>> {
        self.simulator.ambient.as_ref().map(AmbientView::parts)
    }

    /// The light of the air at a pulsed receiver, if there is any.
    pub fn pulsed_air(&self) -> Option<DirectPulsedAir<'_>> {
        self.simulator.air.pulsed()
    }

    /// The light of the air at a phase receiver, if there is any.
    pub fn phase_air(&self) -> Option<DirectPhaseAir<'_>> {
        self.simulator.air.phase()
    }

    /// Largest distance of an echo from the surface that it comes from, m.
    pub fn echo_reach(&self) -> f64 {
        self.lidar().receiver.echo_reach()
    }

    /// The radial velocity of points at rest along the axis of a shot, m/s, positive away from the sensor, from the motion of
    /// the sensor.
    pub fn radial_velocity(&self, shot: &Shot) -> f64 {
        radial_velocity(shot, &|time| self.world_from_sensor(time))
    }

    /// The velocities of the points of an object at a time, s; `None` if it is at rest.
    pub fn point_velocities(&self, object: ObjectId, time: f64) -> Option<PointVelocities> {
        point_velocities(self.world().scene(), object, time)
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
    pub fn finish(mut self, direct_of: impl Fn(usize) -> DirectShot + Sync) -> (Sweep, usize) {
        // Simulate the shots that are left.
        let count = self.shots.len();
        let simulated = self.simulate_left(&direct_of);

        // Count the returns of each part.
        let part = self.part_size();
        let result_of = |number: usize| match simulated
            .binary_search_by_key(&shot_number(number), |shot| shot.number)
        {
            Ok(place) => ShotResult::Plain(&simulated[place]),
            Err(_) => ShotResult::Direct(direct_of(number)),
        };
        let parts = (0..count.div_ceil(part)).into_par_iter();
        let parts = parts.map(|number| number * part..count.min((number + 1) * part));
        let counts: Vec<usize> = parts
            .clone()
            .map(|own| own.map(|number| result_of(number).count()).sum())
            .collect();

        // Write each part to its place.
        let mut sweep = std::mem::take(&mut self.sweep);
        sweep.points.resize(counts.iter().sum(), EMPTY);
        sweep.outcomes.resize(count, Outcome::NoReturn);
        let mut rest = &mut sweep.points[..];
        let mut first = 0;
        let mut places = vec![];
        for count in &counts {
            let (own, others) = rest.split_at_mut(*count);
            places.push((first, own));
            first += count;
            rest = others;
        }
        parts
            .zip(places)
            .zip(sweep.outcomes.par_chunks_mut(part))
            .for_each(|((own, (first, places)), outcomes)| {
                let mut memory = vec![];
                let shots = self.list(own.clone(), &mut memory);
                let mut next = 0;
                for ((number, shot), outcome) in own.zip(shots).zip(outcomes) {
                    let result = result_of(number);
                    let count = result.count();
                    *outcome = self.write(number, shot, &result, first + next, &mut places[next..]);
                    next += count;
                }
            });
        if let Receiver::Phase(_) = self.lidar().receiver {
            let lights = (0..count).into_par_iter();
            let lights = lights.map(|number| result_of(number).light());
            lights
                .map(|light| (light.power, light.surfaces))
                .unzip_into_vecs(&mut sweep.powers, &mut sweep.surfaces);
        }
        if self.settings().with_truth {
            let all = (0..count).into_par_iter();
            let truth = |number| self.truth(number, &direct_of(number));
            sweep.axis_truths.par_extend(all.map(truth));
        }
        sweep.shots = self.shots;
        let plain = simulated.iter().filter(|shot| shot.is_plain);
        (sweep, plain.count())
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
        let reporter = self.reporter();
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

    /// Simulates the shots that are left to the host, in their order.
    fn simulate_left(&self, direct_of: &(impl Fn(usize) -> DirectShot + Sync)) -> Vec<PlainShot> {
        let reporter = self.reporter();
        let count = self.shots.len();
        let simulate = |part: usize| {
            let own = part * PLAIN_BATCH..count.min((part + 1) * PLAIN_BATCH);
            let is_left = |echo: &DirectEcho| match echo {
                DirectEcho::Plain | DirectEcho::Light(_) => true,
                DirectEcho::None
                | DirectEcho::TooNear
                | DirectEcho::Error(_)
                | DirectEcho::Return(_) => false,
            };
            let all = own.map(|number| (shot_number(number), direct_of(number)));
            let left: Vec<(u32, DirectShot)> =
                all.filter(|(_, shot)| is_left(&shot.echo)).collect();
            if left.is_empty() {
                return vec![];
            }
            let scratch = SweepScratch::default();
            let mut memory = Memory::new(&scratch);
            let one = |(number, shot): (u32, DirectShot)| match &shot.echo {
                DirectEcho::Light(all) if !self.has_profile(all) => {
                    self.detected_shot(number, &shot, all, &reporter, &mut memory)
                }
                _ => self.plain_shot(number, &reporter, &mut memory),
            };
            left.into_iter().map(one).collect()
        };
        let parts = (0..count.div_ceil(PLAIN_BATCH)).into_par_iter();
        parts.flat_map_iter(simulate).collect()
    }

    fn reporter(&self) -> Reporter<'a> {
        Reporter {
            world: self.world(),
            lidar: self.lidar(),
            frame: self.settings().frame,
            world_from_start: self.world_from_start,
            mixing: None,
        }
    }

    /// Whether a noise profile may apply to light.
    fn has_profile(&self, light: &[DirectLightReturn]) -> bool {
        let profiles = self.world().profiles();
        let profile = |one: &DirectLightReturn| profiles.profile(self.material_of(one));
        let is_noisy = !self.settings().without_noise && !profiles.is_empty();
        is_noisy && light.iter().any(|one| profile(one).is_some())
    }

    fn material_of(&self, one: &DirectLightReturn) -> MaterialId {
        self.world().scene().material_of(&one.hit())
    }

    /// Applies the receiver to the listed light of a shot.
    fn detected_shot(
        &self,
        number: u32,
        direct: &DirectShot,
        surfaces: &[DirectLightReturn],
        reporter: &Reporter,
        memory: &mut Memory<f64>,
    ) -> PlainShot {
        // Collect the light.
        let simulator = &self.simulator;
        let mut light = ShotLight::default();
        light.clear(direct.surface.map(|surface| surface.distance));
        for one in surfaces {
            let material = self.material_of(one);
            let back = one.light_return(material, self.world().prepared_material(material));
            let power = back.power * one.share * simulator.air.transmission(one.range);
            light.add(back, power);
        }
        light.ambient = direct.ambient;
        let drops = || simulator.stream(number, Purpose::Precipitation);
        simulator.air.add(drops, &mut light);

        // Detect it.
        let shot = self.shots.at(number as usize);
        let pose = self.world_from_sensor(shot.time);
        let fired = FiredShot {
            shot: &shot,
            number,
            pose: &pose,
        };
        simulator.detect(fired, &mut light, &mut memory.detector);
        let mut buffer = ReturnBuffer::default();
        let detected = &memory.detector.detected;
        let outcome = simulator.report(reporter, fired, &light, detected, &mut buffer);
        PlainShot {
            is_plain: false,
            ..PlainShot::new(number, outcome, &mut buffer)
        }
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
        PlainShot::new(number, outcome, &mut buffer)
    }

    /// The first surface on the axis of a shot, which the host finds where the result has none.
    fn truth(&self, number: usize, result: &DirectShot) -> Option<Truth> {
        if result.echo == DirectEcho::Plain && result.surface.is_none() {
            let shot = [self.shots.at(number)];
            let (mut truths, scratch) = (vec![], &mut CastScratch::for_worker());
            { &self.simulator }.add_axis_truths(&shot, shot_number(number), &mut truths, scratch);
            return truths.pop().flatten();
        }
        let channel = &self.lidar().channels[usize::from(self.shots.at(number).channel)];
        result.surface.map(|surface| Truth {
            range: channel.range(surface.distance),
            object: surface.object,
            material: surface.material,
            incidence: surface.cos_incidence.min(1.0).acos(),
        })
    }

    /// Writes the returns of a shot to the first places, the index of the first of which in the sweep is `first`.
    fn write(
        &self,
        number: usize,
        shot: &Shot,
        result: &ShotResult,
        first: usize,
        places: &mut [Return],
    ) -> Outcome {
        let first = shot_number(first);
        let direct = match result {
            ShotResult::Plain(plain) => {
                places[..plain.returns.len()].copy_from_slice(&plain.returns);
                return match plain.outcome {
                    Outcome::Points { count, .. } => Outcome::Points { first, count },
                    other => other,
                };
            }
            ShotResult::Direct(direct) => direct,
        };
        let nearest = match &direct.echo {
            DirectEcho::None | DirectEcho::Plain | DirectEcho::Light(_) => {
                return Outcome::NoReturn;
            }
            DirectEcho::TooNear => return Outcome::TooNear,
            DirectEcho::Error(code) => return Outcome::Error(*code),
            DirectEcho::Return(nearest) => nearest,
        };
        let count = u8::try_from(1 + direct.further.len()).unwrap_or(u8::MAX);
        let all = std::iter::once(nearest).chain(&direct.further);
        for ((one, place), return_number) in all.zip(places).zip(1..) {
            *place = Return {
                return_number,
                returns: count,
                ambient: direct.ambient,
                ..self.written(number, shot, one)
            };
        }
        Outcome::Points { first, count }
    }

    /// The only return of a shot without ambient light.
    fn written(&self, number: usize, shot: &Shot, direct: &DirectReturn) -> Return {
        let DirectReturn {
            range,
            intensity,
            power,
            stretch,
            velocity,
            source,
        } = *direct;
        let width = match &self.receiver {
            DirectReceiver::Pulsed { form, .. } => form.width,
            DirectReceiver::Sampled(own) => own.form.width,
            DirectReceiver::Triangulation(_)
            | DirectReceiver::Phase { .. }
            | DirectReceiver::Fmcw(_)
            | DirectReceiver::OnHost(_) => 0.0,
        };

        // Position, of a range with the last bits of the step.
        let range = { &self.lidar().receiver }.rounded(range, &self.lidar().limits);
        let channel = &self.lidar().channels[usize::from(shot.channel)];
        let point = shot.point(range - channel.range_offset);
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
            range: channel.range(surface.distance),
        });
        Return {
            position,
            range,
            intensity,
            power,
            width: width * stretch,
            velocity,
            ambient: 0.0,
            shot: shot_number(number),
            return_number: 1,
            returns: 1,
            source,
        }
    }
}
