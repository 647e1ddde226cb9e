//! The plain lidar pipeline: from the shots of a sweep to their detections.
//!
//! [`Simulator::measure`] runs two steps on a batch of shots. [`Simulator::collect_light`] aims and casts
//! the rays of each beam and sums the light that surfaces, the air and ambient sources send to the
//! receiver. [`Simulator::detect_shots`] applies the receiver, or a noise profile, to the light of each
//! shot.
//!
//! The pipeline is generic in the scalar `S`: `f64` gives values, dual numbers give values and
//! derivatives. [`super::simulate`] converts the detections to the returns of a sweep,
//! [`super::predict`] to noise-free measurements with derivatives.

use super::ambient::AmbientView;
use super::beam::BeamRays;
use super::correlated_noise::{NoiseSampler, stride};
use super::description::Lidar;
use super::hooks::{ExtraRay, Hooks};
use super::light::ShotLight;
use super::prepared_air::PreparedAir;
use super::receiver::{
    Detected, Detection, PreparedReceiver, PulsedScratch, Reception, power_of_air,
};
use super::scratch::SweepScratch;
use super::scratch::WorkerScratchGuard;
use super::sensor_poses::SensorPoses;
use super::settings::SweepSettings;
use super::shot::Shot;
use super::trace::{Trace, TracedRays};
use crate::calibrated::ReturnSummary;
use crate::transport::{LightRay, LightReturn, World, first_distance};
use etendue_physics::atmosphere::Atmosphere;
use etendue_physics::profile::BeamAddress;
use etendue_physics::{MovingAverage, Purpose, Scalar, Stream};
use etendue_scene::{CastScratch, Hit, ObjectId, Ray};
use nalgebra::{Isometry3, Point3, Vector3};

/// The plain pipeline of one lidar in one world, prepared for the shots of a sweep.
#[derive(Clone)]
pub(super) struct Simulator<'a, S: Scalar> {
    pub world: &'a World<'a, S>,
    pub lidar: &'a Lidar<S>,
    pub settings: &'a SweepSettings,
    /// Pose of the sensor as a function of time (s).
    pub world_from_sensor: &'a dyn SensorPoses<S>,
    pub hooks: Hooks<'a, S>,
    /// Light transport between the sensor and surfaces: ray trees or random paths.
    pub trace: Trace<S>,
    /// Whether the quantisation of converters and pixels is applied.
    pub rounding: bool,
    pub beam_rays: BeamRays<S>,
    pub air: PreparedAir<S>,
    pub ambient: Option<AmbientView<'a>>,
    pub receiver: PreparedReceiver<S>,
    /// Moving average of the azimuth jitter over neighbouring beams.
    pub pointing_average: MovingAverage,
    /// Noise that is not independent from shot to shot, if there is any.
    pub noise: Option<NoiseSampler>,
}

/// A shot with its index in the sweep and the pose of the sensor at its time.
#[derive(Clone, Copy)]
pub(super) struct FiredShot<'a, S: Scalar> {
    pub shot: &'a Shot,
    pub number: u32,
    pub pose: &'a Isometry3<S>,
}

/// Buffers of the pipeline, reused from batch to batch.
pub(super) struct Memory<'s, S: Scalar> {
    /// Pose of the sensor at each shot.
    poses: Vec<Isometry3<S>>,
    /// The rays of all beams, grouped by shot.
    beams: CastRays<S>,
    /// One ray along the axis of each beam; empty unless [`Simulator::casts_axes`].
    axes: CastRays<S>,
    /// The extra rays of [`Hooks::extra_rays`].
    extra: CastRays<S>,
    /// For each extra ray: the index of its shot in the batch, and the ray's share of the beam's power.
    shares: Vec<(usize, S)>,
    /// The light of each shot.
    pub lights: Vec<ShotLight<S>>,
    pub detector: DetectorMemory<'s, S>,
}

/// Rays and their first hits.
struct CastRays<S: Scalar> {
    rays: Vec<LightRay<S>>,
    /// The same rays without derivatives, as the ray caster takes them.
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
    fn cast(&mut self, world: &World<S>, scratch: &mut CastScratch) {
        self.casts.clear();
        self.casts.extend(self.rays.iter().map(LightRay::values));
        let scene = world.scene();
        scene.closest_hits(&self.casts, &mut self.hits, scratch);
    }
}

/// Buffers of ray casts and of the receivers, reused from shot to shot.
pub(super) struct DetectorMemory<'s, S> {
    pub pulsed: PulsedScratch<S>,
    pub detected: Detected<S>,
    pub scratch: WorkerScratchGuard<'s>,
}

impl<'s, S: Scalar> Memory<'s, S> {
    /// Empty buffers with a noise cache that is lent by `scratch`.
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
                scratch: scratch.lend(),
            },
        }
    }
}

impl<S: Scalar> Memory<'_, S> {
    /// Whether the batch has extra rays.
    pub fn has_extra_rays(&self) -> bool {
        !self.extra.rays.is_empty()
    }
}

impl<'a, S: Scalar> Simulator<'a, S> {
    /// Prepares the pipeline of a lidar in a world.
    pub fn new(
        world: &'a World<'a, S>,
        lidar: &'a Lidar<S>,
        settings: &'a SweepSettings,
        world_from_sensor: &'a dyn SensorPoses<S>,
        hooks: Hooks<'a, S>,
        trace: Trace<S>,
    ) -> Self {
        // Take the atmosphere of the hooks, with derivatives, or that of the settings.
        let own;
        let atmosphere = if let Some(atmosphere) = hooks.atmosphere {
            atmosphere
        } else {
            own = lifted(&settings.air.atmosphere);
            &own
        };
        // Prepare the air and the receiver.
        let air = PreparedAir::new(&settings.air, atmosphere, lidar);
        let receiver = PreparedReceiver::new(
            &lidar.receiver,
            &lidar.beam,
            &settings.light,
            !settings.without_noise,
            air.backscatter().is_some(),
        );
        Self {
            beam_rays: lidar.beam.rays(),
            ambient: AmbientView::new(world, receiver.window()),
            receiver,
            pointing_average: lidar.noise.neighbour_average(),
            noise: NoiseSampler::new(lidar, settings),
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

    /// The same pipeline in a world that differs only in its deforming meshes.
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

    /// Measures consecutive shots of a sweep, the first of which has the index `first`, and calls
    /// `report` with each shot, its light and its detections.
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

    /// Writes the light of consecutive shots of a sweep to [`Memory::lights`](Memory); `first` is the
    /// index of the first shot.
    pub fn collect_light(&self, shots: &[Shot], first: u32, memory: &mut Memory<S>) {
        self.aim(shots, first, memory);
        self.aim_extra(shots.len(), first, memory);
        let scratch = &mut memory.detector.scratch.get().casts;
        memory.beams.cast(self.world, scratch);
        memory.axes.cast(self.world, scratch);
        memory.extra.cast(self.world, scratch);
        self.collect_light_of_hits(shots.len(), first, memory);
    }

    /// [`Simulator::collect_light`] of one shot whose rays are already cast: `hits` are the first hits of
    /// the rays of its beam, `axis` that of its axis. Its extra rays are already aimed, but not cast.
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
        let scratch = &mut memory.detector.scratch.get().casts;
        memory.extra.cast(self.world, scratch);
        self.collect_light_of_hits(1, number, memory);
    }

    /// Collects the light of a number of shots whose rays are cast.
    fn collect_light_of_hits(&self, shots: usize, first: u32, memory: &mut Memory<S>) {
        self.collect_surface_light(shots, first, memory);
        self.add_ambient_light(memory);
        self.add_light_of_air(shots, first, memory);
    }

    /// Detects the light of each shot and calls `report` with the shot, its light and its detections.
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

    /// Makes the rays of the shots: the rays of each beam in the sensor's frame, transformed by the pose
    /// at the time of the shot.
    fn aim(&self, shots: &[Shot], first: u32, memory: &mut Memory<S>) {
        memory.poses.clear();
        memory.beams.rays.clear();
        memory.axes.rays.clear();
        let mut last = f64::NAN;
        let mut own: Vec<(Point3<S>, Vector3<S>)> = Vec::new();
        for (shot, number) in shots.iter().zip(first..) {
            // Evaluate the pose; shots of the same time share it.
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
            // Aim the axis of the beam.
            if self.casts_axes() {
                let axis = aimed.direction();
                let axis = (aimed.origin.map(S::from), axis.map(S::from));
                memory.axes.rays.push(ray(&axis));
            }
        }
    }

    /// Whether the axis of each beam is cast in addition to the beam's rays: the air's backscatter ends
    /// at the first surface on the axis, and no ray of the beam is on the axis.
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

    /// The shot with the random pointing jitter of its azimuth.
    pub fn jittered(&self, shot: &Shot, number: u32) -> Shot {
        match self.pointing_error(number) {
            Some(deviation) => shot.turned(deviation),
            None => *shot,
        }
    }

    /// Random pointing error of a shot's azimuth, rad; `None` without jitter.
    fn pointing_error(&self, number: u32) -> Option<f64> {
        let jitter = self.azimuth_jitter()?;
        let mut error = 0.0;
        for (back, weight) in (0..).zip(self.pointing_average.weights()) {
            let neighbour = number.wrapping_sub(back * stride(self.lidar));
            error += weight * self.stream(neighbour, Purpose::Pointing).normal();
        }
        Some(jitter * error)
    }

    /// Standard deviation of the azimuths, rad; `None` if the lidar has no jitter or noise is disabled.
    pub fn azimuth_jitter(&self) -> Option<f64> {
        let jitter = self.lidar.beam.azimuth_jitter;
        (jitter > 0.0 && !self.settings.without_noise).then_some(jitter)
    }

    /// Collects the light that surfaces return to the receiver, with the power $P = L\\,w\\,T^2$.
    ///
    /// $L$ is the power that the surface returns to the sensor without extinction by the air, per unit of
    /// emitted power and receiver area ([`LightReturn::power`]), $w$ the ray's share of the beam's power,
    /// and $T$ the one-way transmission of the air between the sensor and the surface.
    fn collect_surface_light(&self, shots: usize, first: u32, memory: &mut Memory<S>) {
        let numbers = |place: usize| first + shot_number(place);
        let Memory {
            beams,
            axes,
            extra,
            shares,
            lights,
            detector,
            ..
        } = memory;
        let scratch = &mut detector.scratch.get().casts;
        // Add the light of the beams' own rays.
        self.collect_ray_light(&beams.rays, &beams.hits, numbers, lights, scratch);
        // Set the distance of the first surface on each axis that was cast.
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
            (self.trace)(&traced, scratch, &mut |ray, back| {
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

    /// Replaces the light of whole shots by that of their rays and first hits. `number` maps the index of
    /// a shot in `lights` to its index in the sweep.
    pub fn collect_ray_light(
        &self,
        rays: &[LightRay<S>],
        hits: &[Option<Hit>],
        number: impl Fn(usize) -> u32,
        lights: &mut Vec<ShotLight<S>>,
        scratch: &mut CastScratch,
    ) {
        // Clear the light of each shot; set the distance of the first surface on its axis.
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
        // Add the returns along its rays, weighted by the power distribution of the beam.
        let stream = |place: usize| self.stream(number(place), Purpose::LightPath);
        let traced = self.traced(rays, hits, per_shot, &stream);
        (self.trace)(&traced, scratch, &mut |ray, back| {
            let place = ray / per_shot;
            let weight = S::from(self.beam_rays.weight(ray % per_shot));
            let power = self.power(number(place), &back, weight);
            lights[place].add(back, power);
        });
    }

    /// Rays and hits with the inputs of light transport.
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

    /// Power of a return at the receiver, 1/(m² sr), along a ray with the given share of the beam's power.
    fn power(&self, number: u32, back: &LightReturn<S>, share: S) -> S {
        let power = match self.hooks.factor {
            Some(factor) => back.power * factor(number as usize, &back.hit),
            None => back.power,
        };
        power * share * self.air.transmission(back.range)
    }

    /// Adds the ambient light (sun, sky and thermal emission) in the receiver's field of view, averaged
    /// over the rays of each beam by their weights.
    fn add_ambient_light(&self, memory: &mut Memory<S>) {
        let Some(ambient) = &self.ambient else {
            return;
        };
        let tree = self.settings.light.tree();
        let scratch = &mut memory.detector.scratch.get().casts;
        let per_shot = self.beam_rays.count();
        let rays = memory.beams.rays.iter().zip(&memory.beams.hits);
        for (number, (ray, hit)) in rays.enumerate() {
            let power = ambient.power(ray, *hit, &tree, scratch);
            let weight = self.beam_rays.weight(number % per_shot);
            memory.lights[number / per_shot].ambient += power * weight;
        }
    }

    /// Adds the backscatter of the air and of single drops up to the first surface on each beam's axis.
    fn add_light_of_air(&self, shots: usize, first: u32, memory: &mut Memory<S>) {
        for (light, number) in memory.lights[..shots].iter_mut().zip(first..) {
            let drops = || self.stream(number, Purpose::Precipitation);
            self.air.add(drops, light);
        }
    }

    /// Detects the light of a shot: from the noise profile of its surface if there is one, otherwise by
    /// the receiver.
    pub fn detect(
        &self,
        fired: FiredShot<S>,
        light: &mut ShotLight<S>,
        memory: &mut DetectorMemory<S>,
    ) {
        // Skip shots without light.
        memory.detected.clear();
        if light.is_dark() && !self.receiver.has_false_alarms() {
            return;
        }
        // Draw the detection from a noise profile, if one applies.
        memory.detected.signal =
            self.receiver
                .superposed(self.world, self.air.whole_cells(light), light);
        if self.draw_from_profile(fired, light, memory) {
            return;
        }
        // Apply the receiver.
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
            pulsed,
            detected,
            scratch,
            ..
        } = memory;
        let casts = &mut scratch.get().casts;
        self.receiver
            .detect(&reception, light, pulsed, casts, detected);
        self.add_correlated_noise(fired.number, light, detected);
    }

    /// Adds the noise that is not independent from shot to shot to the detections of a shot. A phase receiver
    /// does not report ranges beyond the farthest one.
    fn add_correlated_noise(&self, number: u32, light: &ShotLight<S>, detected: &mut Detected<S>) {
        let Some(noise) = &self.noise else {
            return;
        };
        for detection in &mut detected.detections {
            let object = self.object_of(detection, light);
            detection.range += noise.error(number, object);
        }
        let limits = &self.lidar.limits;
        let is_within = |one: &Detection<S>| self.receiver.is_within(one.range.value(), limits);
        detected.detections.retain(is_within);
    }

    /// The object that contributed most of the light of a detection; `None` for air and drops.
    fn object_of(&self, detection: &Detection<S>, light: &ShotLight<S>) -> Option<ObjectId> {
        let back = if let PreparedReceiver::Phase(_) = self.receiver {
            light.strongest(power_of_air(self.air.whole_cells(light), light))
        } else {
            self.echo_source(light, detection.range.value())
        };
        back.map(|back| back.hit.object)
    }

    /// The return that contributed most of the light of an echo at a range (m); `None` for air and drops.
    pub fn echo_source<'l>(
        &self,
        light: &'l ShotLight<S>,
        range: f64,
    ) -> Option<&'l LightReturn<S>> {
        let air = self.air.backscatter();
        let air = air.map(|air| air.first_cells(light.backscatter_cells));
        let backscatter = air.map_or(0.0, |air| air.power_at_range(range));
        light.source(range, self.lidar.receiver.echo_reach(), backscatter)
    }

    /// Draws the detection of a shot from the noise profile of its surface. Returns false without effect
    /// if no profile applies. Drop-out, bias, spread and quantisation are those of the profile.
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
        // Find the surface of the dominant material and its profile.
        let mut summary = ReturnSummary::default();
        for one in &light.surfaces {
            summary.add_return(&one.back, one.power.value());
        }
        summary.add_other(
            self.receiver
                .inseparable_air(self.air.whole_cells(light), light),
        );
        let Some(surface) = summary.profiled(profiles) else {
            return false;
        };
        // Draw range, intensity and drop-out from the profile.
        let up = || (fired.pose * Vector3::z().map(S::from)).map(Scalar::value);
        let address = self.address(fired.number);
        let drawn = surface.draw(
            &summary,
            up,
            &address,
            &mut memory.scratch.get().noise_cache,
        );
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

    /// Address of a shot in the random numbers of noise profiles.
    pub fn address(&self, number: u32) -> BeamAddress {
        BeamAddress {
            seed: self.settings.seed,
            sensor: self.settings.sensor,
            sweep: self.settings.sweep,
            beam: number,
            stride: stride(self.lidar),
        }
    }

    /// Random number stream of a shot for a purpose.
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

/// The atmosphere in the scalar `S`, with derivatives of zero.
fn lifted<S: Scalar>(atmosphere: &Atmosphere<f64>) -> Atmosphere<S> {
    let weather = atmosphere.weather.iter();
    Atmosphere {
        weather: weather
            .map(|one| one.with_amount(S::from(one.amount())))
            .collect(),
    }
}

/// Index of a shot in its sweep, as 32 bits.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a sweep has less than 2^32 shots"
)]
pub(super) fn shot_number(number: usize) -> u32 {
    number as u32
}
