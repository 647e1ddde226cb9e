//! The pipeline of a sweep: shots, rays, hits, light, detections.
//!
//! [`Simulator::measure`] and [`Simulator::collect_light`] are the whole of it. It is generic in the scalar: with `f64` it simulates,
//! with dual numbers it also gives derivatives. [`super::simulate`] turns the detections into returns,
//! [`super::predict`] into expected values with derivatives.

use super::air::PreparedAir;
use super::ambient::AmbientView;
use super::light::ShotLight;
use super::receiver::{Detection, PreparedReceiver, PulsedScratch, Reception};
use super::scratch::LentNoiseCache;
use super::trace::{Trace, TracedRays};
use super::{BeamRays, ExtraRay, Hooks, Lidar, Shot, SweepScratch, SweepSettings};
use crate::calibrated::ReturnSummary;
use crate::transport::{LightRay, LightReturn, World, first_distance};
use etendue_physics::atmosphere::Atmosphere;
use etendue_physics::profile::Address;
use etendue_physics::{Purpose, Scalar, Stream};
use etendue_scene::{Hit, Ray};
use nalgebra::{Isometry3, Point3, Vector3};

/// The pipeline, prepared for the shots of a sweep.
#[derive(Clone)]
pub(super) struct Simulator<'a, S: Scalar, P> {
    pub world: &'a World<'a, S>,
    pub lidar: &'a Lidar<S>,
    pub settings: &'a SweepSettings,
    /// Pose of the sensor at a time, s.
    pub world_from_sensor: P,
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
    /// The rays of the shots' beams, shot by shot, then the extra rays.
    rays: Vec<LightRay<S>>,
    /// Place of the shot and share of the power of each extra ray.
    extra: Vec<(usize, S)>,
    casts: Vec<Ray>,
    hits: Vec<Option<Hit>>,
    pub lights: Vec<ShotLight<S>>,
    pub detector: DetectorMemory<'s, S>,
}

/// Memory that receivers reuse.
pub(super) struct DetectorMemory<'s, S> {
    pub pulsed: PulsedScratch<S>,
    pub detections: Vec<Detection<S>>,
    pub noise_cache: LentNoiseCache<'s>,
}

impl<'s, S: Scalar> Memory<'s, S> {
    /// Empty memory with a cache of `scratch`.
    pub fn new(scratch: &'s SweepScratch) -> Self {
        Self {
            poses: Vec::new(),
            rays: Vec::new(),
            extra: Vec::new(),
            casts: Vec::new(),
            hits: Vec::new(),
            lights: Vec::new(),
            detector: DetectorMemory {
                pulsed: PulsedScratch::default(),
                detections: Vec::new(),
                noise_cache: scratch.lend(),
            },
        }
    }
}

impl<'a, S: Scalar, P: Fn(f64) -> Isometry3<S>> Simulator<'a, S, P> {
    /// A simulator of a lidar in a world.
    pub fn new(
        world: &'a World<'a, S>,
        lidar: &'a Lidar<S>,
        settings: &'a SweepSettings,
        world_from_sensor: P,
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
        let with_backscatter = air.backscatter().is_some();
        Self {
            beam_rays: lidar.beam.rays(),
            ambient: AmbientView::new(world, lidar.receiver.window()),
            receiver: PreparedReceiver::new(&lidar.receiver, with_backscatter),
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
    pub fn with_world<'b>(&self, world: &'b World<'b, S>) -> Simulator<'b, S, P>
    where
        'a: 'b,
        P: Clone,
    {
        Simulator {
            ambient: AmbientView::new(world, self.lidar.receiver.window()),
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
        report: impl FnMut(FiredShot<S>, &ShotLight<S>, &[Detection<S>]),
    ) {
        self.collect_light(shots, first, memory);
        self.detect_shots(shots, first, memory, report);
    }

    /// Collects the light of shots that follow each other in the sweep into
    /// [`Memory::lights`](Memory).
    pub fn collect_light(&self, shots: &[Shot], first: u32, memory: &mut Memory<S>) {
        self.aim(shots, first, memory);
        self.cast(memory);
        self.collect_surface_light(shots.len(), first, memory);
        self.add_ambient_light(memory);
        self.add_light_of_air(shots.len(), first, memory);
    }

    /// Detects the light of each shot.
    pub fn detect_shots(
        &self,
        shots: &[Shot],
        first: u32,
        memory: &mut Memory<S>,
        mut report: impl FnMut(FiredShot<S>, &ShotLight<S>, &[Detection<S>]),
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
            report(fired, light, &detector.detections);
        }
    }

    /// Makes the rays of the shots: the beam's rays in the sensor's frame, moved by the pose at the
    /// shot's own time, and the extra rays.
    fn aim(&self, shots: &[Shot], first: u32, memory: &mut Memory<S>) {
        memory.poses.clear();
        memory.rays.clear();
        let mut last = f64::NAN;
        let mut own: Vec<(Point3<S>, Vector3<S>)> = Vec::new();
        for (shot, number) in shots.iter().zip(first..) {
            // Shots that are fired together share a pose.
            let pose = match memory.poses.last() {
                Some(pose) if shot.time == last => *pose,
                _ => (self.world_from_sensor)(shot.time),
            };
            last = shot.time;
            memory.poses.push(pose);
            own.clear();
            self.beam_rays.aim(&self.jittered(shot, number), &mut own);
            memory
                .rays
                .extend(own.iter().map(|(origin, direction)| LightRay {
                    time: shot.time,
                    ..LightRay::new(pose * origin, pose.rotation * direction)
                }));
        }
        memory.extra.clear();
        if let Some(extra_rays) = self.hooks.extra_rays {
            let mut extra: Vec<ExtraRay<S>> = Vec::new();
            for (place, number) in (0..shots.len()).zip(first as usize..) {
                extra_rays(number, &mut extra);
                memory
                    .extra
                    .extend(extra.iter().map(|ray| (place, ray.share)));
                memory.rays.extend(extra.drain(..).map(|ray| ray.ray));
            }
        }
    }

    /// The shot with the pointing jitter of its azimuth.
    fn jittered(&self, shot: &Shot, number: u32) -> Shot {
        let jitter = self.lidar.beam.azimuth_jitter;
        if jitter <= 0.0 || self.settings.without_noise {
            return *shot;
        }
        let deviation = jitter * self.stream(number, Purpose::Pointing).normal();
        shot.turned(deviation)
    }

    /// Finds the first hit of every ray.
    fn cast(&self, memory: &mut Memory<S>) {
        memory.casts.clear();
        let casts = memory.rays.iter().map(LightRay::values);
        memory.casts.extend(casts);
        let scene = self.world.scene();
        scene.closest_hits(&memory.casts, &mut memory.hits);
    }

    /// Collects the light that surfaces send back: $L \cdot w \cdot T^2$ with the share $w$ of the ray
    /// in the beam and the transmission $T$ of the air.
    fn collect_surface_light(&self, shots: usize, first: u32, memory: &mut Memory<S>) {
        let own = shots * self.beam_rays.count();
        let (rays, extra_rays) = memory.rays.split_at(own);
        let (hits, extra_hits) = memory.hits.split_at(own);
        let numbers = |place: usize| first + shot_number(place);
        self.gather(rays, hits, numbers, &mut memory.lights);
        if !extra_rays.is_empty() {
            let stream = |ray: usize| self.stream(numbers(memory.extra[ray].0), Purpose::LightPath);
            let traced = self.traced(extra_rays, extra_hits, 1, &stream);
            (self.trace)(&traced, &mut |ray, back| {
                let (place, share) = memory.extra[ray];
                let power = self.power(numbers(place), &back, share);
                memory.lights[place].add(back, power);
            });
        }
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
        let axis = self.beam_rays.axis().unwrap_or(0);
        for (place, light) in lights[..shots].iter_mut().enumerate() {
            let ray = place * per_shot + axis;
            let distance = |hit: &Hit| {
                S::with_derivatives_of(hit.distance, || first_distance(self.world, &rays[ray], hit))
            };
            light.clear(hits[ray].as_ref().map(distance));
        }
        // Add what comes back along its rays.
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
        let window = self.lidar.receiver.window();
        TracedRays {
            world: self.world,
            settings: self.settings,
            rays,
            hits,
            per_shot,
            field_of_view: window.map(|window| window.field_of_view / 2.0),
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
        let own = memory.poses.len() * per_shot;
        let rays = memory.rays[..own].iter().zip(&memory.hits);
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
        memory.detections.clear();
        if light.is_dark() && !self.receiver.has_false_alarms() {
            return;
        }
        if self.draw_from_profile(fired, light, memory) {
            return;
        }
        let world_from_sensor = |time| (self.world_from_sensor)(time);
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
            pulsed, detections, ..
        } = memory;
        self.receiver.detect(&reception, light, pulsed, detections);
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
        let mut summary = ReturnSummary::default();
        for one in &light.surfaces {
            summary.add_return(&one.back, one.power.value());
        }
        let Some(surface) = summary.profiled(profiles) else {
            return false;
        };
        let power = light.surfaces.iter().map(|one| one.power.value()).sum();
        let up = || (fired.pose * Vector3::z().map(S::from)).map(Scalar::value);
        let address = self.address(fired.number);
        let drawn = surface.draw(&summary, up, &address, memory.noise_cache.get());
        let detection = drawn.map(|drawn| Detection::drawn(&drawn, power));
        memory.detections.extend(detection);
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
