//! Direct returns: light that the first surface on a ray scatters back along the ray. Most shots of a
//! pulsed lidar have no other light and need no ray trees; the results are bit-equal to those of the
//! trees.

use super::cast_batch::CastBatch;
use super::direct_returns::Report;
use super::merged_rays::{MergeRays, MergedRays, ReportMergedRays};
use super::simulator::FastSimulator;
use super::single_ray::{ReportSingleRays, SingleRayBeams};
use crate::calibrated::{CalibratedLanes, DirectReturn, DrawnBeams, ReturnSummary};
use crate::lidar::light::{ShotLight, echo_affinity};
use crate::lidar::mixing::{Mixing, RayLight};
use crate::lidar::output::Outcome;
use crate::lidar::receiver::Detection;
use crate::lidar::return_buffer::ReturnBuffer;
use crate::lidar::returns::Origin;
use crate::lidar::sweep::{DetectorMemory, FiredShot, Memory, shot_number};
use crate::transport::LightRay;
use etendue_physics::Purpose;
use etendue_physics::profile::{DrawnReturn, NoiseCache};
use etendue_physics::pulse::PulseReturn;
use etendue_scene::{Hit, ObjectId, Ray};
use etendue_simd::Vectorized;
use nalgebra::Vector3;

/// A direct return along a ray.
#[derive(Clone, Copy)]
struct RayReturn {
    origin: Origin,
    /// Power at the receiver, 1/(m² sr).
    power: f64,
    /// Index of its ray in the batch.
    ray: usize,
}

impl RayReturn {
    #[inline]
    fn light(&self) -> PulseReturn {
        PulseReturn {
            range: self.origin.range,
            power: self.power,
        }
    }

    /// The light of the rays of a shot.
    fn lights(all: &[Self]) -> impl Iterator<Item = RayLight> + Clone {
        all.iter().map(|one| RayLight {
            range: one.origin.range,
            cos_incidence: one.origin.cos_incidence,
            power: one.power,
        })
    }

    fn direct(&self) -> DirectReturn {
        DirectReturn {
            material: self.origin.material,
            power: self.power,
            range: self.origin.range,
            cos_incidence: self.origin.cos_incidence,
        }
    }
}

/// Location of the light of a shot.
#[derive(Clone, Copy)]
enum ShotLightIndex {
    /// `count` direct returns of the batch, starting with the index `first`.
    Direct { first: usize, count: usize },
    /// The ray-tree light with this index.
    Tree(usize),
}

/// Buffers of direct returns, reused from batch to batch.
#[derive(Default)]
pub(in crate::lidar) struct DirectMemory {
    /// Direct returns of all shots, in cast order.
    ray_returns: Vec<RayReturn>,
    /// Location of the light of each shot.
    light_indices: Vec<ShotLightIndex>,
    singles: SingleRayBeams,
    merged: MergedRays,
    /// Surfaces with noise profiles, in blocks of sixteen shots.
    lanes: Vec<CalibratedLanes>,
    /// Returns of one shot.
    returns: Vec<PulseReturn>,
    /// Draws from the noise profiles of `lanes`.
    drawn: Vec<DrawnBeams>,
    /// Shots that need ray trees, in cast order.
    tree_shots: Vec<usize>,
    /// Rays of those shots.
    tree_rays: Vec<LightRay<f64>>,
    /// First hits of `tree_rays`.
    tree_hits: Vec<Option<Hit>>,
}

impl DirectMemory {
    /// Removes all light that shots have on their own.
    fn clear_light(&mut self) {
        self.ray_returns.clear();
        self.light_indices.clear();
        self.tree_shots.clear();
    }
}

impl CastBatch<'_> {
    /// Signed side of the surface normal on which the light of a shot arrives, in [-1, 1]
    /// ([`ReturnSummary::side`]).
    #[inline(never)]
    fn side(&self, shot: usize, ray_returns: &[RayReturn]) -> f64 {
        let mut summary = ReturnSummary::default();
        for ray_return in ray_returns {
            self.add_surface(&mut summary, &ray_return.direct(), ray_return.ray);
        }
        summary.side(&(self.poses.of(shot) * Vector3::z()))
    }
}

impl FastSimulator<'_, '_> {
    /// Adds the returns and outcomes of a batch of shots.
    pub fn report_direct(
        &self,
        cast: &CastBatch,
        memory: &mut DirectMemory,
        plain: &mut Memory<f64>,
        buffer: &mut ReturnBuffer,
    ) {
        match self.direct.report {
            Report::SingleRays => self.report_single_rays(cast, memory, plain, buffer),
            // The shares of mixed returns are found one by one.
            Report::MergedRays if self.reporter.mixing.is_none() => {
                self.report_merged_rays(cast, memory, plain, buffer);
            }
            Report::MergedRays | Report::OneByOne => {
                self.report_beams(cast, memory, plain, buffer);
            }
        }
    }

    /// Reports shots of one ray each, sixteen at a time.
    fn report_single_rays(
        &self,
        cast: &CastBatch,
        memory: &mut DirectMemory,
        plain: &mut Memory<f64>,
        buffer: &mut ReturnBuffer,
    ) {
        memory.singles.sort(self, cast);
        std::mem::swap(&mut memory.tree_shots, &mut memory.singles.tree_shots);
        self.collect_tree_light(cast, memory, plain);
        self.isa.run(ReportSingleRays {
            simulator: self,
            cast,
            singles: &memory.singles,
            lights: &mut plain.lights,
            detector: &mut plain.detector,
            buffer,
        });
    }

    /// Reports shots of several rays whose light merges to an echo, sixteen at a time, and the others one by one.
    fn report_merged_rays(
        &self,
        cast: &CastBatch,
        memory: &mut DirectMemory,
        plain: &mut Memory<f64>,
        buffer: &mut ReturnBuffer,
    ) {
        // Find the echoes of sixteen shots at a time.
        self.isa.run(MergeRays {
            simulator: self,
            cast,
            merged: &mut memory.merged,
        });
        // Collect the light of the other shots.
        memory.clear_light();
        for number in 0..memory.merged.apart.len() {
            let index = self.light_of(cast, memory.merged.apart[number], memory);
            memory.light_indices.push(index);
        }
        self.collect_tree_light(cast, memory, plain);
        // Report all in firing order.
        let DirectMemory {
            merged,
            light_indices,
            ray_returns,
            returns,
            ..
        } = memory;
        let Memory {
            lights, detector, ..
        } = plain;
        let apart =
            |place: usize, number: usize, buffer: &mut ReturnBuffer| match light_indices[number] {
                ShotLightIndex::Tree(light) => {
                    self.report_tree(cast, place, &mut lights[light], detector, buffer)
                }
                ShotLightIndex::Direct { first, count } => {
                    let shot = cast.shots.at(place);
                    let ray_returns = &ray_returns[first..first + count];
                    let fired = cast.fired(&shot, place);
                    self.report_several(fired, ray_returns, returns, detector, buffer)
                }
            };
        self.isa.run(ReportMergedRays {
            simulator: self,
            cast,
            merged,
            apart,
            buffer,
        });
    }

    /// Reports shots of several rays one by one, or with sampled waveforms.
    fn report_beams(
        &self,
        cast: &CastBatch,
        memory: &mut DirectMemory,
        plain: &mut Memory<f64>,
        buffer: &mut ReturnBuffer,
    ) {
        // Collect direct returns, then the light of ray trees.
        self.separate_tree_shots(cast, memory);
        self.collect_tree_light(cast, memory, plain);
        // Draw the shots on surfaces with noise profiles.
        self.draw_beams(cast, memory, &mut plain.detector.scratch.get().noise_cache);
        // Report the shots in firing order.
        for (place, index) in memory.light_indices.iter().enumerate() {
            let outcome = match *index {
                ShotLightIndex::Direct { count: 0, .. } => Outcome::NoReturn,
                ShotLightIndex::Tree(light) => {
                    let light = &mut plain.lights[light];
                    self.report_tree(cast, place, light, &mut plain.detector, buffer)
                }
                ShotLightIndex::Direct { first, count } => {
                    let shot = cast.shots.at(place);
                    let fired = cast.fired(&shot, place);
                    let ray_returns = &memory.ray_returns[first..first + count];
                    let block = place / 16;
                    let lanes = memory.lanes.get(block);
                    if lanes.is_some_and(|lanes| lanes.calibrated[place % 16]) {
                        let drawn = memory.drawn[block].of(place % 16);
                        self.report_drawn(fired, ray_returns, drawn, buffer)
                    } else {
                        let returns = &mut memory.returns;
                        self.report_several(
                            fired,
                            ray_returns,
                            returns,
                            &mut plain.detector,
                            buffer,
                        )
                    }
                }
            };
            buffer.outcomes.push(outcome);
        }
    }

    /// Reports a shot with ray-tree light, detected by the plain pipeline.
    pub fn report_tree(
        &self,
        cast: &CastBatch,
        place: usize,
        light: &mut ShotLight<f64>,
        detector: &mut DetectorMemory<f64>,
        buffer: &mut ReturnBuffer,
    ) -> Outcome {
        let shot = cast.shots.at(place);
        let fired = cast.fired(&shot, place);
        self.plain.detect(fired, light, detector);
        let detected = &detector.detected;
        self.plain
            .report(&self.reporter, fired, light, detected, buffer)
    }

    /// Separates the shots that need ray trees from the others and collects the direct returns of the
    /// latter.
    fn separate_tree_shots(&self, cast: &CastBatch, memory: &mut DirectMemory) {
        memory.clear_light();
        memory
            .light_indices
            .resize(cast.shots.count(), ShotLightIndex::Tree(0));
        for &shot in cast.order.shots {
            memory.light_indices[shot] = self.light_of(cast, shot, memory);
        }
    }

    /// Appends the direct returns of a shot, or the shot to those that need ray trees.
    #[inline]
    fn light_of(&self, cast: &CastBatch, shot: usize, memory: &mut DirectMemory) -> ShotLightIndex {
        let first = memory.ray_returns.len();
        let own = cast.rays_of(cast.order.places[shot]);
        if self.collect_direct_returns(cast, own, &mut memory.ray_returns) {
            let count = memory.ray_returns.len() - first;
            ShotLightIndex::Direct { first, count }
        } else {
            memory.ray_returns.truncate(first);
            memory.tree_shots.push(shot);
            ShotLightIndex::Tree(memory.tree_shots.len() - 1)
        }
    }

    /// Appends the direct returns along the rays of one shot. Returns false if the shot needs a ray tree:
    /// a ray hit a material where paths continue.
    #[inline]
    fn collect_direct_returns(
        &self,
        cast: &CastBatch,
        own: impl Iterator<Item = usize>,
        ray_returns: &mut Vec<RayReturn>,
    ) -> bool {
        for (ray, number) in own.enumerate() {
            let tile = number / 16;
            let lane = number % 16;
            let hits = &cast.hits[tile];
            let direct = &cast.direct_returns[tile];
            // Skip rays without a hit; stop at a material where paths continue.
            if !hits.is_hit(lane) {
                continue;
            }
            let material = direct.material[lane];
            if !self.direct.ends[material.0 as usize] {
                return false;
            }
            // Weight the power by the beam and the transmission of the air.
            let range = direct.range[lane];
            let power = direct.power[lane]
                * self.plain.beam_rays.weight(ray)
                * self.plain.air.transmission(range);
            if power > 0.0 {
                let origin = Origin {
                    object: ObjectId(hits.object[lane]),
                    material,
                    cos_incidence: direct.cos_incidence[lane],
                    range,
                };
                ray_returns.push(RayReturn {
                    origin,
                    power,
                    ray: number,
                });
            }
        }
        true
    }

    /// Collects the light of the shots that need ray trees, in cast order, so that the rays spawned at
    /// mirrors and glass are coherent too.
    fn collect_tree_light(
        &self,
        cast: &CastBatch,
        memory: &mut DirectMemory,
        plain: &mut Memory<f64>,
    ) {
        if memory.tree_shots.is_empty() {
            return;
        }
        // List the rays and first hits of these shots.
        memory.tree_rays.clear();
        memory.tree_hits.clear();
        for &shot in &memory.tree_shots {
            let own = cast.rays_of(cast.order.places[shot]);
            let rays = own.clone().map(|number| light_ray(&cast.ray(number)));
            memory.tree_rays.extend(rays);
            memory.tree_hits.extend(own.map(|number| cast.hit(number)));
        }
        // Trace them by the plain pipeline.
        let number = |place: usize| cast.number(memory.tree_shots[place]);
        let scratch = &mut plain.detector.scratch.get().casts;
        self.plain.collect_ray_light(
            &memory.tree_rays,
            &memory.tree_hits,
            number,
            &mut plain.lights,
            scratch,
        );
    }

    /// Reports a shot with several direct returns, or with a sampled waveform.
    fn report_several(
        &self,
        fired: FiredShot<f64>,
        ray_returns: &[RayReturn],
        returns: &mut Vec<PulseReturn>,
        detector: &mut DetectorMemory<f64>,
        buffer: &mut ReturnBuffer,
    ) -> Outcome {
        returns.clear();
        returns.extend(ray_returns.iter().map(RayReturn::light));
        let stream = || self.plain.stream(fired.number, Purpose::ReceiverNoise);
        let mut noise = (!self.plain.settings.without_noise).then(stream);
        let DetectorMemory {
            pulsed, detected, ..
        } = detector;
        let detections = &mut detected.detections;
        detections.clear();
        let receiver = &self.direct.pulsed;
        receiver.detect_returns(returns, noise.as_mut(), pulsed, detections);
        // Add the noise that is not independent from shot to shot.
        let reach = self.plain.lidar.receiver.echo_reach();
        if let Some(noise) = &self.plain.noise {
            for detection in &mut *detections {
                let origin = strongest(ray_returns, detection.range, reach);
                let object = origin.map(|origin| origin.object);
                detection.range += noise.error(fired.number, object);
            }
        }
        let source = |range: f64, reach: f64| strongest(ray_returns, range, reach);
        let mix = |mixing: &Mixing, range| mixing.share(range, RayReturn::lights(ray_returns));
        self.reporter
            .add(fired, 0.0, detections, source, mix, buffer)
    }

    /// Draws the detections of shots on surfaces with noise profiles.
    fn draw_beams(
        &self,
        cast: &CastBatch,
        memory: &mut DirectMemory,
        noise_cache: &mut NoiseCache,
    ) {
        memory.lanes.clear();
        memory.drawn.clear();
        if self.direct.calibrated.is_empty() {
            return;
        }
        // Find the profiled surface of each shot.
        let blocks = memory.light_indices.len().div_ceil(16);
        memory.lanes.resize(blocks, CalibratedLanes::NONE);
        for (shot, index) in memory.light_indices.iter().enumerate() {
            let ShotLightIndex::Direct { first, count } = *index else {
                continue;
            };
            let mut summary = ReturnSummary::default();
            for ray_return in &memory.ray_returns[first..first + count] {
                summary.add(&ray_return.direct());
            }
            if let Some(surface) = summary.profiled(self.plain.world.profiles()) {
                memory.lanes[shot / 16].set(shot % 16, &surface);
            }
        }
        // Draw blocks of sixteen shots.
        self.isa.run(DrawBeams {
            simulator: self,
            cast,
            light_indices: &memory.light_indices,
            ray_returns: &memory.ray_returns,
            lanes: &memory.lanes,
            drawn: &mut memory.drawn,
            noise_cache,
        });
    }

    /// Reports a shot that was drawn from a noise profile.
    fn report_drawn(
        &self,
        fired: FiredShot<f64>,
        ray_returns: &[RayReturn],
        drawn: Option<DrawnReturn>,
        buffer: &mut ReturnBuffer,
    ) -> Outcome {
        let power = ray_returns.iter().map(|direct| direct.power).sum();
        let detection = drawn.map(|drawn| Detection::drawn(&drawn, power));
        let source = |range: f64, reach: f64| strongest(ray_returns, range, reach);
        let mix = |mixing: &Mixing, range| mixing.share(range, RayReturn::lights(ray_returns));
        self.reporter
            .add(fired, 0.0, detection.as_slice(), source, mix, buffer)
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

/// The surface that contributed the most light to an echo at a `range` (m): the strongest return within
/// `reach` (m), weighted by [`echo_affinity`].
fn strongest(ray_returns: &[RayReturn], range: f64, reach: f64) -> Option<Origin> {
    let near = ray_returns
        .iter()
        .filter(|direct| (direct.origin.range - range).abs() <= reach);
    let counted = near.map(|direct| {
        let affinity = echo_affinity(direct.origin.range - range, reach);
        (direct.origin, direct.power * affinity)
    });
    let strongest = counted.max_by(|a, b| a.1.total_cmp(&b.1));
    strongest.map(|(origin, _)| origin)
}

/// Draws detections from noise profiles, for blocks of sixteen shots.
struct DrawBeams<'s, 'p, 'a> {
    simulator: &'s FastSimulator<'p, 'a>,
    cast: &'s CastBatch<'s>,
    light_indices: &'s [ShotLightIndex],
    ray_returns: &'s [RayReturn],
    lanes: &'s [CalibratedLanes],
    drawn: &'s mut Vec<DrawnBeams>,
    noise_cache: &'s mut NoiseCache,
}

impl Vectorized for DrawBeams<'_, '_, '_> {
    type Output = ();

    #[expect(clippy::inline_always, reason = "for the caller's instructions")]
    #[inline(always)]
    fn run(self) {
        let simulator = self.simulator;
        let cast = self.cast;
        for (number, lanes) in self.lanes.iter().enumerate() {
            let first = 16 * number;
            let address = simulator.plain.address(shot_number(cast.first + first));
            let side = |lane: usize| {
                let ShotLightIndex::Direct {
                    first: start,
                    count,
                } = self.light_indices[first + lane]
                else {
                    return 0.0;
                };
                cast.side(first + lane, &self.ray_returns[start..start + count])
            };
            let profiles = simulator.plain.world.profiles();
            let drawn = lanes.draw(profiles, side, &address, self.noise_cache);
            self.drawn.push(drawn);
        }
    }
}
