//! Pipeline of a phase receiver in lanes of sixteen shots.

use super::batch::{AimBatch, Batch, BatchReturn, LANES, SumDirectReturns};
use super::expected::plain_receiver;
use super::noise::{DrawShots, LaneDraws, LaneStreams};
use crate::calibrated::{CalibratedLanes, DirectReturn, DrawnBeams, ReturnSummary};
use crate::lidar::batch_shots::BatchShots;
use crate::lidar::beam::BeamRays;
use crate::lidar::fast::expected_tile::ReturnTile;
use crate::lidar::light::{ShotLight, Strongest, SurfaceCount};
use crate::lidar::light_model::LightModel;
use crate::lidar::receiver::{
    Detection, PhaseReceiver, PreparedPhase, PreparedReceiver, power_of_air,
};
use crate::lidar::returns::{Origin, PhaseShot};
use crate::lidar::shot::Shot;
use crate::lidar::sweep::{FiredShot, Memory, Simulator};
use crate::noise_profiles::NoiseProfiles;
use crate::scalar_tile::LaneScalar;
use crate::transport::LightRay;
use etendue_physics::beam::SubRay;
use etendue_physics::phase::{NoDetection, PhaseSignal};
use etendue_physics::profile::{BeamAddress, DrawnReturn, NoiseCache};
use etendue_physics::{Purpose, Scalar};
use etendue_scene::{CastScratch, HitTile, ObjectId, Ray, RayTile};
use etendue_simd::{Isa, Vectorized};
use nalgebra::{Isometry3, Point3, Vector3, try_convert};

/// The vectorised pipeline of a phase receiver.
pub(in crate::lidar) struct PhaseLanes<'p, 'a, S: LaneScalar> {
    /// The plain pipeline, for shots with other light than direct returns.
    pub(super) plain: &'p Simulator<'a, S>,
    receiver: PreparedPhase<S>,
    /// The receiver of predictions in lanes, if it is simple.
    pub(super) simple: Option<PhaseReceiver>,
    pub(super) isa: Isa,
    streams: LaneStreams,
    sub_rays: Vec<SubRay>,
    /// Tangent of half the beam's divergence.
    half_tangent: f64,
    /// Whether the only ray of a beam is that on its axis.
    only_axes: bool,
}

/// Buffers of the vectorised phase receiver, reused from batch to batch.
pub(in crate::lidar) struct PhaseMemory<S: LaneScalar> {
    pub(super) batch: Batch<S>,
    draws: LaneDraws,
    lanes: Vec<LaneLight<S>>,
    /// Light of the air of one shot.
    air: ShotLight<S>,
    pub(super) expected: ReturnTile<S>,
}

impl<S: LaneScalar> Default for PhaseMemory<S> {
    fn default() -> Self {
        Self {
            batch: Batch::default(),
            draws: LaneDraws::NONE,
            lanes: Vec::new(),
            air: ShotLight::default(),
            expected: ReturnTile::nothing(),
        }
    }
}

/// The light of the shot in a lane.
struct LaneLight<S> {
    /// Whether all light of surfaces is direct returns. If not, the other fields are incomplete.
    is_direct: bool,
    /// Superposition of all light.
    signal: PhaseSignal<S>,
    /// Number of separate surfaces.
    surfaces: SurfaceCount,
    /// Surface of the strongest return; `None` for the air.
    origin: Option<Origin>,
    /// Summary of the returns; filled only if noise profiles apply.
    summary: ReturnSummary,
}

impl<S: LaneScalar> LaneLight<S> {
    /// No light.
    fn nothing() -> Self {
        Self {
            is_direct: false,
            signal: PhaseSignal::nothing(),
            surfaces: SurfaceCount::default(),
            origin: None,
            summary: ReturnSummary::default(),
        }
    }

    /// Replaces the light by the sum of the direct returns.
    fn reset(&mut self, signal: PhaseSignal<S>) {
        self.is_direct = false;
        self.signal = signal;
        self.surfaces.clear();
        self.origin = None;
        self.summary = ReturnSummary::default();
    }
}

impl<'p, 'a, S: LaneScalar> PhaseLanes<'p, 'a, S> {
    /// The vectorised pipeline; `None` unless the lidar has a phase receiver, a conical beam and ray trees.
    pub fn new(isa: Isa, plain: &'p Simulator<'a, S>) -> Option<Self> {
        let PreparedReceiver::Phase(receiver) = &plain.receiver else {
            return None;
        };
        let BeamRays::Cone {
            half_tangent,
            sub_rays,
        } = &plain.beam_rays
        else {
            return None;
        };
        let LightModel::Tree(_) = plain.settings.light else {
            return None;
        };
        Some(Self {
            plain,
            receiver: *receiver,
            simple: plain_receiver(plain),
            isa,
            streams: LaneStreams::new(plain, receiver),
            sub_rays: sub_rays.clone(),
            half_tangent: try_convert(*half_tangent)?,
            only_axes: plain.beam_rays.is_axis(),
        })
    }

    /// The same with another plain pipeline of the lidar, in a world that differs only in its deforming
    /// meshes.
    pub fn with_plain<'q, 'b>(&self, plain: &'q Simulator<'b, S>) -> PhaseLanes<'q, 'b, S> {
        PhaseLanes {
            plain,
            receiver: self.receiver,
            simple: self.simple,
            isa: self.isa,
            streams: self.streams,
            sub_rays: self.sub_rays.clone(),
            half_tangent: self.half_tangent,
            only_axes: self.only_axes,
        }
    }

    /// Measures consecutive shots of a sweep, of which `first` is the index of the first, and calls `report`
    /// with each.
    pub fn measure(
        &self,
        shots: &[Shot],
        first: u32,
        memory: &mut PhaseMemory<S>,
        plain: &mut Memory<S>,
        mut report: impl FnMut(&PhaseShot<S>),
    ) {
        let is_still = self.set_still(shots, memory);
        for (shots, first) in shots.chunks(LANES).zip((first..).step_by(LANES)) {
            // Collect the direct light and draw from noise profiles, for sixteen shots.
            self.collect(
                shots,
                first,
                is_still,
                memory,
                &mut plain.detector.scratch.get().casts,
            );
            let cache = &mut plain.detector.scratch.get().noise_cache;
            let drawn = self.draw(&memory.lanes, &memory.batch.poses, first, cache);
            for (lane, (shot, number)) in shots.iter().zip(first..).enumerate() {
                // Measure shots with other light by the plain pipeline.
                self.plain.aim_extra(1, number, plain);
                if !memory.lanes[lane].is_direct || plain.has_extra_rays() {
                    self.measure_traced(shot, number, &memory.batch, lane, plain, &mut report);
                    continue;
                }
                // Detect the others.
                let fired = FiredShot {
                    shot,
                    number,
                    pose: &memory.batch.poses[lane],
                };
                let drawn = drawn
                    .as_ref()
                    .map_or(ProfileDraw::NoProfile, |drawn| drawn.of(lane));
                let normals = memory.draws.receiver_pairs(lane);
                report(&self.phase_shot(fired, &memory.lanes[lane], drawn, normals));
            }
        }
    }

    /// Sets the pose of a sensor at rest during all of the shots. Returns false if it moves.
    pub(super) fn set_still(&self, shots: &[Shot], memory: &mut PhaseMemory<S>) -> bool {
        let still = (self.plain.world_from_sensor).constant(BatchShots::Listed(shots));
        still.inspect(|pose| memory.batch.set_still(pose)).is_some()
    }

    /// Collects the light of up to sixteen shots, as far as it is direct. The poses of a sensor at rest
    /// (`is_still`) are set.
    fn collect(
        &self,
        shots: &[Shot],
        first: u32,
        is_still: bool,
        memory: &mut PhaseMemory<S>,
        scratch: &mut CastScratch,
    ) {
        self.collect_direct(shots, first, is_still, memory, scratch);
        // Add the other light of each shot.
        let PhaseMemory {
            batch, lanes, air, ..
        } = memory;
        lanes.resize_with(shots.len(), LaneLight::nothing);
        for (lane, (light, number)) in lanes.iter_mut().zip(first..).enumerate() {
            light.reset(batch.sum.lane(lane));
            self.collect_lane(batch, lane, number, light, air, scratch);
        }
    }

    /// Sums the direct returns of up to sixteen shots. The poses of a sensor at rest (`is_still`) are set.
    pub(super) fn collect_direct(
        &self,
        shots: &[Shot],
        first: u32,
        is_still: bool,
        memory: &mut PhaseMemory<S>,
        scratch: &mut CastScratch,
    ) {
        let PhaseMemory { batch, draws, .. } = memory;
        // Draw the noise, aim and cast the rays.
        let streams = self.streams;
        self.isa.run(DrawShots {
            streams,
            first,
            draws,
        });
        if !is_still {
            let times = shots.iter().map(|shot| shot.time);
            batch.set_poses(times.map(|time| self.plain.world_from_sensor.at(time)));
        }
        self.aim(shots, &draws.pointing, batch);
        let scene = self.plain.world.scene();
        scene.closest_hits_of_beams(&batch.rays, batch.rays.len(), &mut batch.hits, scratch);
        // Sum the direct returns of all shots.
        self.isa.run(SumDirectReturns {
            world: self.plain.world,
            sub_rays: &self.sub_rays,
            modulation: &self.receiver.receiver.modulation,
            first: first as usize,
            factor: self.plain.hooks.factor,
            air: &self.plain.air,
            batch,
        });
    }

    /// Computes the rays of the shots.
    fn aim(&self, shots: &[Shot], pointing: &[f64; LANES], batch: &mut Batch<S>) {
        batch.frames.clear();
        let jitters = self.plain.azimuth_jitter().is_some();
        let frame = |shot: &Shot, deviation: f64| {
            if jitters {
                shot.turned(deviation).frame()
            } else {
                shot.frame()
            }
        };
        for (lane, (shot, deviation)) in shots.iter().zip(pointing).enumerate() {
            batch.time[lane] = shot.time;
            batch.frames.push(frame(shot, *deviation));
        }
        let at_origin = shots.iter().all(|shot| shot.origin == Point3::origin());
        batch.exits = (!at_origin).then(|| {
            let exit = |lane: usize| shots.get(lane).map_or(Point3::origin(), |shot| shot.origin);
            std::array::from_fn(exit)
        });
        self.isa.run(AimBatch {
            sub_rays: &self.sub_rays,
            half_tangent: self.half_tangent,
            only_axes: self.only_axes,
            with_axes: self.plain.casts_axes(),
            batch,
        });
    }

    /// Adds the light of the shot in a lane: direct returns, ambient light and air. `air` is a buffer.
    fn collect_lane(
        &self,
        batch: &Batch<S>,
        lane: usize,
        number: u32,
        light: &mut LaneLight<S>,
        air: &mut ShotLight<S>,
        scratch: &mut CastScratch,
    ) {
        let axes = usize::from(self.plain.casts_axes());
        let hits = &batch.hits[axes..];
        let is_direct = |(direct, hits): (&BatchReturn, &HitTile)| {
            direct.is_complete[lane] || !hits.is_hit(lane)
        };
        if !batch.direct.iter().zip(hits).all(is_direct) {
            return;
        }
        light.is_direct = true;
        // Count the surfaces and find the strongest return.
        let mut strongest = Strongest::default();
        for (direct, (rays, hits)) in batch.direct.iter().zip(batch.rays[axes..].iter().zip(hits)) {
            if direct.has_return[lane] {
                self.compare(lane, direct, rays, hits, light, &mut strongest);
            }
        }
        // Add ambient light.
        if let Some(ambient) = &self.plain.ambient {
            let tree = self.plain.settings.light.tree();
            let tiles = batch.rays[axes..].iter().zip(hits);
            for (sub_ray, (rays, hits)) in self.sub_rays.iter().zip(tiles) {
                let ray = light_ray(&rays.ray(lane));
                let power = ambient.power(&ray, hits.hit(lane), &tree, scratch);
                light.signal.background += power * sub_ray.weight;
            }
        }
        // Add the light of the air.
        air.clear(self.axis_distance(batch, lane));
        let drops = || self.plain.stream(number, Purpose::Precipitation);
        self.plain.air.add(drops, air);
        let whole_cells = self.plain.air.whole_cells(air);
        self.receiver.add_air(whole_cells, air, &mut light.signal);
        let of_air = power_of_air(whole_cells, air);
        light.summary.add_other(of_air);
        light.origin = strongest.unless_below(of_air);
    }

    /// Adds the direct return along one ray of a lane to the count of surfaces, the strongest return and the
    /// summary for noise profiles.
    fn compare(
        &self,
        lane: usize,
        direct: &BatchReturn,
        rays: &RayTile,
        hits: &HitTile,
        light: &mut LaneLight<S>,
        strongest: &mut Strongest<Origin>,
    ) {
        // Count the surface and compare its power.
        let range = direct.range[lane];
        let cos_incidence = direct.cos_incidence[lane];
        let power = direct.power[lane];
        let material = direct.material[lane];
        light
            .surfaces
            .add(range, cos_incidence, self.receiver.spread);
        strongest.add(power, || Origin {
            object: ObjectId(hits.object[lane]),
            material,
            cos_incidence,
            range,
        });
        // Add it to the summary, if noise profiles apply.
        if self.profiles().is_some() {
            let is_counted = light.summary.add(&DirectReturn {
                material,
                power,
                range,
                cos_incidence,
            });
            if is_counted {
                let [normal, arrival] = [&hits.normal, &rays.direction]
                    .map(|axes| Vector3::from(axes.each_ref().map(|axis| axis[lane])));
                light.summary.add_orientation(power, &normal, &arrival);
            }
        }
    }

    /// Distance of the first surface on the axis of a lane's beam, m; `None` if axes are not cast.
    fn axis_distance(&self, batch: &Batch<S>, lane: usize) -> Option<S> {
        if !self.plain.casts_axes() {
            return None;
        }
        let hit = batch.hits[0].hit(lane)?;
        let pose = &batch.poses[lane];
        let exit = batch.exits.map_or(Point3::origin(), |exits| exits[lane]);
        let axis = batch.frames[lane].axis.map(S::from);
        let ray = LightRay {
            time: batch.time[lane],
            ..LightRay::new(pose * exit.map(S::from), pose.rotation * axis)
        };
        Some(self.plain.distance(&ray, &hit))
    }

    /// The noise profiles, if there are any and noise is enabled.
    fn profiles(&self) -> Option<&NoiseProfiles> {
        let profiles = self.plain.world.profiles();
        let applied = !profiles.is_empty() && !self.plain.settings.without_noise;
        applied.then_some(profiles)
    }

    /// Draws the detections of shots on surfaces with noise profiles.
    fn draw(
        &self,
        lanes: &[LaneLight<S>],
        poses: &[Isometry3<S>],
        first: u32,
        cache: &mut NoiseCache,
    ) -> Option<ProfileDraws> {
        // Find the profiled surface of each lane.
        let profiles = self.profiles()?;
        let mut calibrated = CalibratedLanes::NONE;
        for (lane, light) in lanes
            .iter()
            .enumerate()
            .filter(|(_, light)| light.is_direct)
        {
            if let Some(surface) = light.summary.profiled(profiles) {
                calibrated.set(lane, &surface);
            }
        }
        // Draw all lanes.
        Some(self.isa.run(DrawLanes {
            profiles,
            calibrated,
            lanes,
            poses,
            address: self.plain.address(first),
            cache,
        }))
    }

    /// The measured shot of a lane with direct light: from the draw of a noise profile, or else by the
    /// receiver.
    fn phase_shot<'s>(
        &self,
        fired: FiredShot<'s, S>,
        light: &LaneLight<S>,
        drawn: ProfileDraw,
        normals: Option<impl Iterator<Item = [f64; 2]>>,
    ) -> PhaseShot<'s, S> {
        let power = light.signal.power;
        PhaseShot {
            detection: match drawn {
                // A draw counts if it is within the range limits.
                ProfileDraw::Return(drawn)
                    if self
                        .plain
                        .receiver
                        .is_within(drawn.range, &self.plain.lidar.limits) =>
                {
                    Ok(Detection::drawn(&drawn, power.value()))
                }
                ProfileDraw::Return(_) | ProfileDraw::NoReturn => Err(None),
                // Without a profile, the receiver measures the signal.
                ProfileDraw::NoProfile => self
                    .detection(fired.number, light, normals)
                    .map_err(Some)
                    .and_then(|detection| self.with_correlated_noise(&fired, light, detection)),
            },
            fired,
            power: power.value(),
            ambient: light.signal.background,
            surfaces: light.surfaces.get(),
            origin: light.origin,
        }
    }

    /// The detection of a lane's light by the receiver, with `normals` if they are drawn.
    fn detection(
        &self,
        number: u32,
        light: &LaneLight<S>,
        normals: Option<impl Iterator<Item = [f64; 2]>>,
    ) -> Result<Detection<S>, NoDetection> {
        let signal = &light.signal;
        let limits = &self.plain.lidar.limits;
        if let Some(mut normals) = normals {
            let pair = || normals.next().expect("one pair per frequency");
            return self.receiver.detection(signal, limits, pair);
        }
        let mut noise = self.plain.stream(number, Purpose::ReceiverNoise);
        self.receiver
            .detection(signal, limits, || noise.normal_pair())
    }

    /// A detection with the noise that is not independent from shot to shot; none beyond the farthest range.
    fn with_correlated_noise(
        &self,
        fired: &FiredShot<S>,
        light: &LaneLight<S>,
        mut detection: Detection<S>,
    ) -> Result<Detection<S>, Option<NoDetection>> {
        let Some(noise) = &self.plain.noise else {
            return Ok(detection);
        };
        let object = light.origin.map(|origin| origin.object);
        detection.range += noise.error(fired.number, object);
        let limits = &self.plain.lidar.limits;
        let is_within = (self.plain.receiver).is_within(detection.range.value(), limits);
        is_within.then_some(detection).ok_or(None)
    }

    /// Collects the light of a shot by the plain pipeline, from the first hits of its lane.
    pub(super) fn collect_traced(
        &self,
        shot: &Shot,
        number: u32,
        batch: &Batch<S>,
        lane: usize,
        plain: &mut Memory<S>,
    ) {
        let axes = usize::from(self.plain.casts_axes());
        let (axis, hits) = batch.hits.split_at(axes);
        let axis = axis.first().and_then(|hits| hits.hit(lane));
        let hits = hits.iter().map(|hits| hits.hit(lane));
        self.plain
            .collect_light_of_shot(shot, number, hits, axis, plain);
    }

    /// Measures a shot by the plain pipeline, from the first hits of its lane.
    fn measure_traced(
        &self,
        shot: &Shot,
        number: u32,
        batch: &Batch<S>,
        lane: usize,
        plain: &mut Memory<S>,
        mut report: impl FnMut(&PhaseShot<S>),
    ) {
        self.collect_traced(shot, number, batch, lane, plain);
        let shots = std::slice::from_ref(shot);
        self.plain
            .detect_shots(shots, number, plain, |fired, light, detected| {
                let shot = self
                    .plain
                    .phase_shot(&self.receiver, fired, light, detected);
                report(&shot);
            });
    }
}

/// The light ray of a cast ray.
fn light_ray(ray: &Ray) -> LightRay<f64> {
    LightRay {
        origin: ray.origin,
        direction: ray.direction,
        time: ray.time,
        mask: ray.mask,
    }
}

/// Draws the detections of a batch on surfaces with noise profiles.
struct DrawLanes<'d, S: LaneScalar> {
    profiles: &'d NoiseProfiles,
    calibrated: CalibratedLanes,
    lanes: &'d [LaneLight<S>],
    poses: &'d [Isometry3<S>],
    /// Address of the first shot.
    address: BeamAddress,
    cache: &'d mut NoiseCache,
}

/// Draws from noise profiles for sixteen lanes.
struct ProfileDraws {
    /// Whether each lane is drawn from a profile.
    calibrated: [bool; LANES],
    beams: DrawnBeams,
}

/// Draw from a noise profile for one beam.
#[derive(Clone, Copy)]
enum ProfileDraw {
    /// The surface has no noise profile.
    NoProfile,
    /// The beam drops out.
    NoReturn,
    Return(DrawnReturn),
}

impl ProfileDraws {
    /// The draw of a lane.
    fn of(&self, lane: usize) -> ProfileDraw {
        if !self.calibrated[lane] {
            return ProfileDraw::NoProfile;
        }
        self.beams
            .of(lane)
            .map_or(ProfileDraw::NoReturn, ProfileDraw::Return)
    }
}

impl<S: LaneScalar> Vectorized for DrawLanes<'_, S> {
    type Output = ProfileDraws;

    #[expect(clippy::inline_always, reason = "loops become vector instructions")]
    #[inline(always)]
    fn run(self) -> ProfileDraws {
        let lanes = self.lanes;
        let poses = self.poses;
        let side = |lane: usize| side(&lanes[lane], &poses[lane]);
        let calibrated = &self.calibrated;
        ProfileDraws {
            beams: calibrated.draw(self.profiles, side, &self.address, self.cache),
            calibrated: calibrated.calibrated,
        }
    }
}

/// Signed side of the surface normal on which the light of a lane arrives, in [-1, 1].
#[inline(never)]
fn side<S: LaneScalar>(light: &LaneLight<S>, pose: &Isometry3<S>) -> f64 {
    let up = (pose * Vector3::z().map(S::from)).map(Scalar::value);
    light.summary.side(&up)
}
