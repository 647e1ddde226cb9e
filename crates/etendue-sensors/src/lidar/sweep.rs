//! The pipeline of a sweep: shots, rays, hits, light, detections.
//!
//! [`Simulator::measure`] and [`Simulator::collect_light`] are the whole of it. It is generic in the scalar: with `f64` it simulates,
//! with dual numbers it also gives derivatives. [`super::simulate`] turns the detections into returns,
//! [`super::predict`] into expected values with derivatives.

use super::air::PreparedAir;
use super::ambient::AmbientView;
use super::beam::BeamRays;
use super::description::Lidar;
use super::hooks::{ExtraRay, Hooks};
use super::light::ShotLight;
use super::receiver::{Detected, Detection, PreparedReceiver, PulsedScratch, Reception};
use super::scratch::LentNoiseCache;
use super::scratch::SweepScratch;
use super::sensor_poses::SensorPoses;
use super::settings::SweepSettings;
use super::shot::Shot;
use super::trace::{Trace, TracedRays};
use crate::calibrated::ReturnSummary;
use crate::transport::{LightRay, LightReturn, World, first_distance};
use etendue_physics::atmosphere::Atmosphere;
use etendue_physics::profile::Address;
use etendue_physics::{Purpose, Scalar, Stream};
use etendue_scene::{Hit, Ray};
use nalgebra::{Isometry3, Point3, Vector3};

/// The pipeline, prepared for the shots of a sweep.
#[derive(Clone)]
pub(super) struct Simulator<'a, S: Scalar> {
    pub world: &'a World<'a, S>,
    pub lidar: &'a Lidar<S>,
    pub settings: &'a SweepSettings,
    /// Pose of the sensor at a time, s.
    pub world_from_sensor: &'a dyn SensorPoses<S>,
    pub hooks: Hooks<'a, S>,
    /// Finds the light that surfaces send back.
    pub trace: Trace<S>,
    /// Whether the device's roundings are applied.
    pub rounding: bool,
    pub beam_rays: BeamRays<S>,
    pub air: PreparedAir<S>,
    pub ambient: Option<AmbientView<'a>>,
    pub receiver: PreparedReceiver<S>,
}

/// A shot with its number in the sweep and the sensor's pose when it was fired.
#[derive(Clone, Copy)]
pub(super) struct FiredShot<'a, S: Scalar> {
    pub shot: &'a Shot,
    pub number: u32,
    pub pose: &'a Isometry3<S>,
}

/// Memory that batches of shots reuse.
pub(super) struct Memory<'s, S: Scalar> {
    poses: Vec<Isometry3<S>>,
    /// The rays of the shots' beams, shot by shot.
    beams: CastRays<S>,
    /// The axis of each shot's beam, where no ray of the beam is on it and the air needs it.
    axes: CastRays<S>,
    /// The extra rays of [`Hooks::extra_rays`].
    extra: CastRays<S>,
    /// Place of the shot and share of the power of each extra ray.
    shares: Vec<(usize, S)>,
    pub lights: Vec<ShotLight<S>>,
    pub detector: DetectorMemory<'s, S>,
}

/// Rays and their first hits.
struct CastRays<S: Scalar> {
    rays: Vec<LightRay<S>>,
    casts: Vec<Ray>,
    hits: Vec<Option<Hit>>,
}

impl<S: Scalar> CastRays<S> {
    /// No rays.
    fn none() -> Self {
        Self {
            rays: Vec::new(),
            casts: Vec::new(),
            hits: Vec::new(),
        }
    }

    /// Finds the first hit of every ray.
    fn cast(&mut self, world: &World<S>) {
        self.casts.clear();
        self.casts.extend(self.rays.iter().map(LightRay::values));
        world.scene().closest_hits(&self.casts, &mut self.hits);
    }
}

/// Memory that receivers reuse.
pub(super) struct DetectorMemory<'s, S> {
    pub pulsed: PulsedScratch<S>,
    pub detected: Detected<S>,
    pub noise_cache: LentNoiseCache<'s>,
}

impl<'s, S: Scalar> Memory<'s, S> {
    /// Empty memory with a cache of `scratch`.
    pub fn new(scratch: &'s SweepScratch) -> Self {
        Self {
            poses: Vec::new(),
            beams: CastRays::none(),
            axes: CastRays::none(),
            extra: CastRays::none(),
            shares: Vec::new(),
            lights: Vec::new(),
            detector: DetectorMemory {
                pulsed: PulsedScratch::default(),
                detected: Detected::nothing(),
                noise_cache: scratch.lend(),
            },
        }
    }
}

impl<S: Scalar> Memory<'_, S> {
    /// Whether extra rays are aimed.
    pub fn has_extra_rays(&self) -> bool {
        !self.extra.rays.is_empty()
    }
}

impl<'a, S: Scalar> Simulator<'a, S> {
    /// A simulator of a lidar in a world.
    pub fn new(
        world: &'a World<'a, S>,
        lidar: &'a Lidar<S>,
        settings: &'a SweepSettings,
        world_from_sensor: &'a dyn SensorPoses<S>,
        hooks: Hooks<'a, S>,
        trace: Trace<S>,
    ) -> Self {
        let own;
        let atmosphere = if let Some(atmosphere) = hooks.atmosphere {
            atmosphere
        } else {
            own = lifted(&settings.air.atmosphere);
            &own
        };
        let air = PreparedAir::new(&settings.air, atmosphere, lidar);
        let receiver = PreparedReceiver::new(lidar, settings, &air);
        Self {
            beam_rays: lidar.beam.rays(),
            ambient: AmbientView::new(world, receiver.window()),
            receiver,
            air,
            world,
            lidar,
            settings,
            world_from_sensor,
            hooks,
            trace,
            rounding: true,
        }
    }

    /// The same in a world that differs in its deforming meshes alone.
    pub fn with_world<'b>(&self, world: &'b World<'b, S>) -> Simulator<'b, S>
    where
        'a: 'b,
    {
        Simulator {
            ambient: AmbientView::new(world, self.receiver.window()),
            world,
            ..self.clone()
        }
    }

    /// Measures shots that follow each other in the sweep, the first of which has the number `first`:
    /// calls `report` with each shot, its light and its detections.
    pub fn measure(
        &self,
        shots: &[Shot],
        first: u32,
        memory: &mut Memory<S>,
        report: impl FnMut(FiredShot<S>, &ShotLight<S>, &Detected<S>),
    ) {
        self.collect_light(shots, first, memory);
        self.detect_shots(shots, first, memory, report);
    }

    /// Collects the light of shots that follow each other in the sweep into
    /// [`Memory::lights`](Memory).
    pub fn collect_light(&self, shots: &[Shot], first: u32, memory: &mut Memory<S>) {
        self.aim(shots, first, memory);
        self.aim_extra(shots.len(), first, memory);
        memory.beams.cast(self.world);
        memory.axes.cast(self.world);
        memory.extra.cast(self.world);
        self.collect_light_of_hits(shots.len(), first, memory);
    }

    /// [`Simulator::collect_light`] of one shot whose extra rays are aimed, with the known first hits of
    /// the rays of its beam and of its axis.
    pub fn collect_light_of_shot(
        &self,
        shot: &Shot,
        number: u32,
        hits: impl Iterator<Item = Option<Hit>>,
        axis: Option<Hit>,
        memory: &mut Memory<S>,
    ) {
        self.aim(std::slice::from_ref(shot), number, memory);
        memory.beams.hits.clear();
        memory.beams.hits.extend(hits);
        memory.axes.hits.clear();
        memory.axes.hits.push(axis);
        memory.extra.cast(self.world);
        self.collect_light_of_hits(1, number, memory);
    }

    /// Collects the light of shots whose rays are cast.
    fn collect_light_of_hits(&self, shots: usize, first: u32, memory: &mut Memory<S>) {
        self.collect_surface_light(shots, first, memory);
        self.add_ambient_light(memory);
        self.add_light_of_air(shots, first, memory);
    }

    /// Detects the light of each shot.
    pub fn detect_shots(
        &self,
        shots: &[Shot],
        first: u32,
        memory: &mut Memory<S>,
        mut report: impl FnMut(FiredShot<S>, &ShotLight<S>, &Detected<S>),
    ) {
        let Memory {
            poses,
            lights,
            detector,
            ..
        } = memory;
        let lit = shots.iter().zip(poses.iter()).zip(lights);
        for (((shot, pose), light), number) in lit.zip(first..) {
            let fired = FiredShot { shot, number, pose };
            self.detect(fired, light, detector);
            report(fired, light, &detector.detected);
        }
    }

    /// Makes the rays of the shots: the beam's rays in the sensor's frame, moved by the pose at the
    /// shot's own time.
    fn aim(&self, shots: &[Shot], first: u32, memory: &mut Memory<S>) {
        memory.poses.clear();
        memory.beams.rays.clear();
        memory.axes.rays.clear();
        let mut last = f64::NAN;
        let mut own: Vec<(Point3<S>, Vector3<S>)> = Vec::new();
        for (shot, number) in shots.iter().zip(first..) {
            // Shots that are fired together share a pose.
            let pose = match memory.poses.last() {
                Some(pose) if shot.time == last => *pose,
                _ => self.world_from_sensor.at(shot.time),
            };
            last = shot.time;
            memory.poses.push(pose);
            let ray = |(origin, direction): &(Point3<S>, Vector3<S>)| LightRay {
                time: shot.time,
                ..LightRay::new(pose * origin, pose.rotation * direction)
            };
            // Aim the rays of the beam.
            let aimed = self.jittered(shot, number);
            own.clear();
            self.beam_rays.aim(&aimed, &mut own);
            memory.beams.rays.extend(own.iter().map(ray));
            // Aim its axis.
            if self.casts_axes() {
                let axis = self.beam_rays.axis_direction(&aimed);
                let axis = (aimed.origin.map(S::from), axis.map(S::from));
                memory.axes.rays.push(ray(&axis));
            }
        }
    }

    /// Whether axes are cast besides the rays of the beams: the air returns light up to the surface on
    /// the axis.
    pub fn casts_axes(&self) -> bool {
        self.beam_rays.axis().is_none() && self.air.is_detected()
    }

    /// Makes the extra rays of a number of shots.
    pub fn aim_extra(&self, shots: usize, first: u32, memory: &mut Memory<S>) {
        memory.extra.rays.clear();
        memory.shares.clear();
        let Some(extra_rays) = self.hooks.extra_rays else {
            return;
        };
        let mut extra: Vec<ExtraRay<S>> = Vec::new();
        for (place, number) in (0..shots).zip(first as usize..) {
            extra_rays(number, &mut extra);
            let shares = extra.iter().map(|ray| (place, ray.share));
            memory.shares.extend(shares);
            memory.extra.rays.extend(extra.drain(..).map(|ray| ray.ray));
        }
    }

    /// The shot with the pointing jitter of its azimuth.
    pub fn jittered(&self, shot: &Shot, number: u32) -> Shot {
        let jitter = self.lidar.beam.azimuth_jitter;
        if jitter <= 0.0 || self.settings.without_noise {
            return *shot;
        }
        let deviation = jitter * self.stream(number, Purpose::Pointing).normal();
        shot.turned(deviation)
    }

    /// Collects the light that surfaces send back: $L \cdot w \cdot T^2$ with the share $w$ of the ray
    /// in the beam and the transmission $T$ of the air.
    fn collect_surface_light(&self, shots: usize, first: u32, memory: &mut Memory<S>) {
        let numbers = |place: usize| first + shot_number(place);
        let Memory {
            beams,
            axes,
            extra,
            shares,
            lights,
            ..
        } = memory;
        self.gather(&beams.rays, &beams.hits, numbers, lights);
        // Measure the axes that were cast.
        if self.casts_axes() {
            let axes = axes.rays.iter().zip(&axes.hits);
            for (light, (ray, hit)) in lights[..shots].iter_mut().zip(axes) {
                light.axis = hit.as_ref().map(|hit| self.distance(ray, hit));
            }
        }
        // Add the light of the extra rays.
        if !extra.rays.is_empty() {
            let stream = |ray: usize| self.stream(numbers(shares[ray].0), Purpose::LightPath);
            let traced = self.traced(&extra.rays, &extra.hits, 1, &stream);
            (self.trace)(&traced, &mut |ray, back| {
                let (place, share) = shares[ray];
                let power = self.power(numbers(place), &back, share);
                lights[place].add(back, power);
            });
        }
    }

    /// Distance of the first hit of a ray, m.
    pub fn distance(&self, ray: &LightRay<S>, hit: &Hit) -> S {
        S::with_derivatives_of(hit.distance, || first_distance(self.world, ray, hit))
    }

    /// Collects the light of the rays of whole shots, each shot's in place of what was there; `number`
    /// is the number of a shot in the sweep by its place.
    pub fn gather(
        &self,
        rays: &[LightRay<S>],
        hits: &[Option<Hit>],
        number: impl Fn(usize) -> u32,
        lights: &mut Vec<ShotLight<S>>,
    ) {
        // Start each shot with the distance of the first surface on its axis.
        let per_shot = self.beam_rays.count();
        let shots = rays.len() / per_shot;
        let most = lights.len().max(shots);
        lights.resize_with(most, ShotLight::default);
        let axis = self.beam_rays.axis();
        for (place, light) in lights[..shots].iter_mut().enumerate() {
            let ray = axis.map(|axis| place * per_shot + axis);
            let distance = ray.and_then(|ray| {
                let hit = hits[ray].as_ref()?;
                Some(self.distance(&rays[ray], hit))
            });
            light.clear(distance);
        }
        // Add the light that returns along its rays.
        let stream = |place: usize| self.stream(number(place), Purpose::LightPath);
        let traced = self.traced(rays, hits, per_shot, &stream);
        (self.trace)(&traced, &mut |ray, back| {
            let place = ray / per_shot;
            let weight = S::from(self.beam_rays.weight(ray % per_shot));
            let power = self.power(number(place), &back, weight);
            lights[place].add(back, power);
        });
    }

    fn traced<'t>(
        &'t self,
        rays: &'t [LightRay<S>],
        hits: &'t [Option<Hit>],
        per_shot: usize,
        stream: &'t dyn Fn(usize) -> Stream,
    ) -> TracedRays<'t, S> {
        let field_of_view = self.lidar.receiver.field_of_view();
        TracedRays {
            world: self.world,
            settings: self.settings,
            rays,
            hits,
            per_shot,
            field_of_view: field_of_view.map(|angle| angle / 2.0),
            stream,
        }
    }

    /// Power of a return at the receiver, 1/(m² sr), of a ray with that share of the beam.
    fn power(&self, number: u32, back: &LightReturn<S>, share: S) -> S {
        let power = match self.hooks.factor {
            Some(factor) => back.power * factor(number as usize, &back.hit),
            None => back.power,
        };
        power * share * self.air.transmission(back.range)
    }

    /// Adds the power of sun, sky and heat within the field of view about each ray.
    fn add_ambient_light(&self, memory: &mut Memory<S>) {
        let Some(ambient) = &self.ambient else {
            return;
        };
        let per_shot = self.beam_rays.count();
        let rays = memory.beams.rays.iter().zip(&memory.beams.hits);
        for (number, (ray, hit)) in rays.enumerate() {
            let power = ambient.power(ray, *hit, &self.settings.light.tree());
            let weight = self.beam_rays.weight(number % per_shot);
            memory.lights[number / per_shot].ambient += power * weight;
        }
    }

    /// Adds the light of the air, up to the surface on each beam's axis.
    fn add_light_of_air(&self, shots: usize, first: u32, memory: &mut Memory<S>) {
        for (light, number) in memory.lights[..shots].iter_mut().zip(first..) {
            let drops = || self.stream(number, Purpose::Precipitation);
            self.air.add(drops, light);
        }
    }

    /// Detects the light of a shot: by the noise profile of the surface where it has one, else by the
    /// receiver.
    pub fn detect(
        &self,
        fired: FiredShot<S>,
        light: &mut ShotLight<S>,
        memory: &mut DetectorMemory<S>,
    ) {
        memory.detected.clear();
        if light.is_dark() && !self.receiver.has_false_alarms() {
            return;
        }
        memory.detected.signal = self.receiver.superposed(self.world, &self.air, light);
        if self.draw_from_profile(fired, light, memory) {
            return;
        }
        let world_from_sensor = |time| self.world_from_sensor.at(time);
        let stream = |purpose| self.stream(fired.number, purpose);
        let reception = Reception {
            shot: fired.shot,
            pose: fired.pose,
            world: self.world,
            world_from_sensor: &world_from_sensor,
            limits: &self.lidar.limits,
            backscatter: self.air.backscatter(),
            stream: &stream,
            noise: !self.settings.without_noise,
            rounding: self.rounding,
        };
        let DetectorMemory {
            pulsed, detected, ..
        } = memory;
        self.receiver.detect(&reception, light, pulsed, detected);
    }

    /// Draws the detection of a shot from the noise profile of its surface, if it has one: then drop-out,
    /// bias, spread and steps are those of the profile.
    fn draw_from_profile(
        &self,
        fired: FiredShot<S>,
        light: &ShotLight<S>,
        memory: &mut DetectorMemory<S>,
    ) -> bool {
        let profiles = self.world.profiles();
        if self.settings.without_noise || profiles.is_empty() {
            return false;
        }
        // Find the surface that most of the light comes from.
        let mut summary = ReturnSummary::default();
        for one in &light.surfaces {
            summary.add_return(&one.back, one.power.value());
        }
        summary.add_other(self.receiver.inseparable_air(&self.air, light));
        let Some(surface) = summary.profiled(profiles) else {
            return false;
        };
        // Draw from its profile.
        let up = || (fired.pose * Vector3::z().map(S::from)).map(Scalar::value);
        let address = self.address(fired.number);
        let drawn = surface.draw(&summary, up, &address, memory.noise_cache.get());
        let drawn = drawn.filter(|drawn| self.receiver.is_within(drawn.range, &self.lidar.limits));
        let detected = &mut memory.detected;
        let power = match &detected.signal {
            Some(signal) => signal.power.value(),
            None => light.surfaces.iter().map(|one| one.power.value()).sum(),
        };
        let detection = drawn.map(|drawn| Detection::drawn(&drawn, power));
        detected.detections.extend(detection);
        true
    }

    /// Address of the noise-profile draws of a shot.
    pub fn address(&self, number: u32) -> Address {
        Address {
            seed: self.settings.seed,
            sensor: self.settings.sensor,
            sweep: self.settings.sweep,
            beam: number,
            stride: u32::try_from(self.lidar.channels.len()).unwrap_or(1),
        }
    }

    /// Random numbers of a shot for a purpose.
    pub fn stream(&self, shot: u32, purpose: Purpose) -> Stream {
        let settings = self.settings;
        Stream::new(
            settings.seed,
            settings.sensor,
            settings.sweep,
            shot,
            purpose,
        )
    }
}

/// An atmosphere in another scalar, without derivatives.
fn lifted<S: Scalar>(atmosphere: &Atmosphere<f64>) -> Atmosphere<S> {
    let weather = atmosphere.weather.iter();
    Atmosphere {
        weather: weather
            .map(|one| one.with_amount(S::from(one.amount())))
            .collect(),
    }
}

/// The number of a shot.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a sweep has less than 2^32 shots"
)]
pub(super) fn shot_number(number: usize) -> u32 {
    number as u32
}
