//! Shots whose light returns directly from the first surface on each ray, as for most shots: the returns
//! of the ray trees, bit for bit, without the trees.

use super::order::Order;
use super::poses::Poses;
use super::simulator::FastSimulator;
use super::single_ray::{Report, SingleRayBeams};
use crate::calibrated::{CalibratedLanes, DirectReturn, DrawnBeams, ReturnSummary};
use crate::lidar::batch_shots::BatchShots;
use crate::lidar::light::{ShotLight, echo_affinity};
use crate::lidar::output::Outcome;
use crate::lidar::receiver::EchoModel;
use crate::lidar::receiver::{Detection, PreparedPulsed, PreparedReceiver};
use crate::lidar::return_buffer::ReturnBuffer;
use crate::lidar::returns::Origin;
use crate::lidar::settings::LightModel;
use crate::lidar::shot::Shot;
use crate::lidar::sweep::{DetectorMemory, FiredShot, Memory, Simulator, shot_number};
use crate::transport::{DirectReturnLanes, LightRay};
use etendue_physics::Purpose;
use etendue_physics::profile::{Drawn, NoiseCache};
use etendue_physics::pulse::PulseReturn;
use etendue_physics::surface::Material;
use etendue_scene::{Hit, HitTile, MaterialId, ObjectId, Ray, RayTile};
use etendue_simd::Vectorized;
use nalgebra::Vector3;

/// The lidars and materials whose light returns directly.
#[derive(Clone)]
pub(in crate::lidar) struct DirectReturns {
    pub pulsed: PreparedPulsed,
    /// Whether paths end at each material.
    pub ends: Vec<bool>,
    /// Whether paths continue at any material.
    pub any_continues: bool,
    /// Whether each material has a noise profile; empty where none has.
    pub calibrated: Vec<bool>,
    /// Whether each shot has one ray and its echo a closed form.
    single: bool,
    /// Whether any channel's ranges are offset.
    pub offset: bool,
}

/// The light that returns directly along a ray.
#[derive(Clone, Copy)]
struct Back {
    origin: Origin,
    power: f64,
    /// The number of its ray among all.
    ray: usize,
}

impl Back {
    #[inline]
    fn light(&self) -> PulseReturn {
        PulseReturn {
            range: self.origin.range,
            power: self.power,
        }
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

/// The place of the light of a shot.
#[derive(Clone, Copy)]
enum Way {
    /// A number of the batch's direct returns, from the first on.
    Direct { first: usize, count: usize },
    /// The light of a number, from trees.
    Tree(usize),
}

/// Memory that batches reuse.
#[derive(Default)]
pub(in crate::lidar) struct DirectMemory {
    backs: Vec<Back>,
    ways: Vec<Way>,
    singles: SingleRayBeams,
    /// The surfaces with noise profiles of sixteen shots each, and the draws.
    lanes: Vec<CalibratedLanes>,
    returns: Vec<PulseReturn>,
    drawn: Vec<DrawnBeams>,
    /// Shots that need trees, in the order they were cast, their rays and what they hit.
    rest: Vec<usize>,
    rays: Vec<LightRay<f64>>,
    hits: Vec<Option<Hit>>,
}

/// A batch of shots, with the rays of each and what they hit.
pub(in crate::lidar) struct CastBatch<'a> {
    /// Number of the first shot.
    pub first: usize,
    pub shots: BatchShots<'a>,
    pub poses: &'a Poses,
    /// The order their rays are cast in.
    pub order: Order<'a>,
    pub tiles: &'a [RayTile],
    pub met: &'a [HitTile],
    /// The light that returns directly along them.
    pub back: &'a [DirectReturnLanes],
}

impl CastBatch<'_> {
    pub fn number(&self, shot: usize) -> u32 {
        shot_number(self.first + shot)
    }

    pub fn fired<'s>(&'s self, shot: &'s Shot, place: usize) -> FiredShot<'s, f64> {
        FiredShot {
            shot,
            number: self.number(place),
            pose: self.poses.of(place),
        }
    }

    pub fn ray(&self, number: usize) -> Ray {
        self.tiles[number / 16].ray(number % 16)
    }

    pub fn hit(&self, number: usize) -> Option<Hit> {
        self.met[number / 16].hit(number % 16)
    }

    /// Side of the surface's normal on which the light of a shot arrives.
    #[inline(never)]
    fn side(&self, shot: usize, backs: &[Back]) -> f64 {
        let mut lit = ReturnSummary::default();
        for back in backs {
            self.face(&mut lit, &back.direct(), back.ray);
        }
        lit.side(&(self.poses.of(shot) * Vector3::z()))
    }

    /// Counts light that returns directly along a ray, and the orientation of its surface.
    pub fn face(&self, lit: &mut ReturnSummary, light: &DirectReturn, ray: usize) {
        if lit.add(light)
            && let Some(hit) = self.hit(ray)
        {
            lit.add_orientation(light.power, &hit.normal, &self.ray(ray).direction);
        }
    }
}

impl DirectReturns {
    /// None where other light than the surfaces' makes echoes, or other noise than the receiver's.
    pub fn new(plain: &Simulator<f64>) -> Option<Self> {
        let PreparedReceiver::Pulsed(pulsed) = &plain.receiver else {
            return None;
        };
        let other_light = plain.ambient.is_some() || plain.air.is_detected();
        let other_paths = !plain.world.has_poses_of_scene()
            || matches!(plain.settings.light, LightModel::Paths(_));
        let other_rays = plain.lidar.beam.azimuth_jitter > 0.0;
        if pulsed.receiver.false_alarms || other_light || other_paths || other_rays {
            return None;
        }
        let profiles = plain.world.profiles();
        let with_profiles = !plain.settings.without_noise && !profiles.is_empty();
        let materials = plain.world.materials();
        let ends: Vec<bool> = materials.iter().map(Material::ends_paths).collect();
        let numbers = (0..).zip(materials).filter(|_| with_profiles);
        let analytic = pulsed.receiver.echoes == EchoModel::Analytic;
        let channels = &plain.lidar.channels;
        Some(Self {
            pulsed: *pulsed,
            any_continues: ends.contains(&false),
            ends,
            calibrated: numbers
                .map(|(number, _)| profiles.profile(MaterialId(number)).is_some())
                .collect(),
            single: analytic && plain.beam_rays.count() == 1,
            offset: channels.iter().any(|channel| channel.range_offset != 0.0),
        })
    }
}

impl FastSimulator<'_, '_> {
    /// Adds the returns and outcomes of a batch of shots.
    pub fn report_direct(
        &self,
        cast: &CastBatch,
        lane: &mut DirectMemory,
        plain: &mut Memory<f64>,
        buffer: &mut ReturnBuffer,
    ) {
        if self.direct.single {
            self.report_single_rays(cast, lane, plain, buffer);
        } else {
            self.report_beams(cast, lane, plain, buffer);
        }
    }

    /// Shots of one ray, sixteen at a time.
    fn report_single_rays(
        &self,
        cast: &CastBatch,
        lane: &mut DirectMemory,
        plain: &mut Memory<f64>,
        buffer: &mut ReturnBuffer,
    ) {
        lane.singles.sort(self, cast);
        std::mem::swap(&mut lane.rest, &mut lane.singles.rest);
        self.gather_rest(cast, lane, &mut plain.lights);
        self.isa.run(Report {
            simulator: self,
            cast,
            singles: &lane.singles,
            lights: &mut plain.lights,
            detector: &mut plain.detector,
            buffer,
        });
    }

    /// Shots of several rays, or whose waveforms are sampled.
    fn report_beams(
        &self,
        cast: &CastBatch,
        lane: &mut DirectMemory,
        plain: &mut Memory<f64>,
        buffer: &mut ReturnBuffer,
    ) {
        self.sort_out(cast, lane);
        self.gather_rest(cast, lane, &mut plain.lights);
        self.draw_beams(cast, lane, plain.detector.noise_cache.get());
        for (place, way) in lane.ways.iter().enumerate() {
            let outcome = match *way {
                Way::Direct { count: 0, .. } => Outcome::NoReturn,
                Way::Tree(light) => {
                    let light = &mut plain.lights[light];
                    self.report_tree(cast, place, light, &mut plain.detector, buffer)
                }
                Way::Direct { first, count } => {
                    let shot = cast.shots.at(place);
                    let fired = cast.fired(&shot, place);
                    let backs = &lane.backs[first..first + count];
                    let block = place / 16;
                    let lanes = lane.lanes.get(block);
                    if lanes.is_some_and(|lanes| lanes.calibrated[place % 16]) {
                        let drawn = lane.drawn[block].of(place % 16);
                        self.report_drawn(fired, backs, drawn, buffer)
                    } else {
                        let returns = &mut lane.returns;
                        self.report_several(fired, backs, returns, &mut plain.detector, buffer)
                    }
                }
            };
            buffer.outcomes.push(outcome);
        }
    }

    /// Reports a shot whose light comes from trees, by the plain pipeline.
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

    /// Finds the shots that need ray trees, and the direct returns of the others.
    fn sort_out(&self, cast: &CastBatch, lane: &mut DirectMemory) {
        lane.backs.clear();
        lane.ways.clear();
        lane.ways.resize(cast.shots.count(), Way::Tree(0));
        lane.rest.clear();
        let per_shot = self.plain.beam_rays.count();
        for (place, &shot) in cast.order.shots.iter().enumerate() {
            let first = lane.backs.len();
            let own = place * per_shot..(place + 1) * per_shot;
            lane.ways[shot] = if self.send_straight(cast, own, &mut lane.backs) {
                let count = lane.backs.len() - first;
                Way::Direct { first, count }
            } else {
                lane.backs.truncate(first);
                lane.rest.push(shot);
                Way::Tree(lane.rest.len() - 1)
            };
        }
    }

    /// Appends the direct returns along the rays of one shot; false where a path continues.
    #[inline]
    fn send_straight(
        &self,
        cast: &CastBatch,
        own: std::ops::Range<usize>,
        backs: &mut Vec<Back>,
    ) -> bool {
        for (ray, number) in own.enumerate() {
            let (tile, lane) = (number / 16, number % 16);
            let (met, back) = (&cast.met[tile], &cast.back[tile]);
            if !met.is_hit(lane) {
                continue;
            }
            let material = back.material[lane];
            if !self.direct.ends[material.0 as usize] {
                return false;
            }
            let range = back.range[lane];
            let power = back.power[lane]
                * self.plain.beam_rays.weight(ray)
                * self.plain.air.transmission(range);
            if power > 0.0 {
                let origin = Origin {
                    object: ObjectId(met.object[lane]),
                    material,
                    cos_incidence: back.cos_incidence[lane],
                    range,
                };
                backs.push(Back {
                    origin,
                    power,
                    ray: number,
                });
            }
        }
        true
    }

    /// Follows the trees of the shots that need them, in the order they were cast: neighbours
    /// together are also the rays that mirrors and glass spawn.
    fn gather_rest(
        &self,
        cast: &CastBatch,
        lane: &mut DirectMemory,
        lights: &mut Vec<ShotLight<f64>>,
    ) {
        if lane.rest.is_empty() {
            return;
        }
        lane.rays.clear();
        lane.hits.clear();
        let per_shot = self.plain.beam_rays.count();
        for &shot in &lane.rest {
            let first = cast.order.places[shot] * per_shot;
            let own = first..first + per_shot;
            let rays = own.clone().map(|number| light_ray(&cast.ray(number)));
            lane.rays.extend(rays);
            lane.hits.extend(own.map(|number| cast.hit(number)));
        }
        let number = |place: usize| cast.number(lane.rest[place]);
        self.plain.gather(&lane.rays, &lane.hits, number, lights);
    }

    /// Reports a shot of several returns, or one whose waveform is sampled.
    fn report_several(
        &self,
        fired: FiredShot<f64>,
        backs: &[Back],
        returns: &mut Vec<PulseReturn>,
        detector: &mut DetectorMemory<f64>,
        buffer: &mut ReturnBuffer,
    ) -> Outcome {
        returns.clear();
        returns.extend(backs.iter().map(Back::light));
        let stream = || self.plain.stream(fired.number, Purpose::ReceiverNoise);
        let mut noise = (!self.plain.settings.without_noise).then(stream);
        let DetectorMemory {
            pulsed, detected, ..
        } = detector;
        let detections = &mut detected.detections;
        detections.clear();
        let receiver = &self.direct.pulsed;
        receiver.detect_returns(returns, noise.as_mut(), pulsed, detections);
        let source = |range: f64, reach: f64| strongest(backs, range, reach);
        self.reporter.add(fired, 0.0, detections, source, buffer)
    }

    /// Draws the shots of calibrated noise.
    fn draw_beams(&self, cast: &CastBatch, lane: &mut DirectMemory, noise_cache: &mut NoiseCache) {
        lane.lanes.clear();
        lane.drawn.clear();
        if self.direct.calibrated.is_empty() {
            return;
        }
        let blocks = lane.ways.len().div_ceil(16);
        lane.lanes.resize(blocks, CalibratedLanes::NONE);
        for (shot, way) in lane.ways.iter().enumerate() {
            let Way::Direct { first, count } = *way else {
                continue;
            };
            let mut lit = ReturnSummary::default();
            for back in &lane.backs[first..first + count] {
                lit.add(&back.direct());
            }
            if let Some(surface) = lit.profiled(self.plain.world.profiles()) {
                lane.lanes[shot / 16].set(shot % 16, &surface);
            }
        }
        self.isa.run(DrawBeams {
            simulator: self,
            cast,
            ways: &lane.ways,
            backs: &lane.backs,
            lanes: &lane.lanes,
            drawn: &mut lane.drawn,
            noise_cache,
        });
    }

    /// Reports a shot that was drawn from a noise profile.
    fn report_drawn(
        &self,
        fired: FiredShot<f64>,
        backs: &[Back],
        drawn: Option<Drawn>,
        buffer: &mut ReturnBuffer,
    ) -> Outcome {
        let power = backs.iter().map(|back| back.power).sum();
        let detection = drawn.map(|drawn| Detection::drawn(&drawn, power));
        let source = |range: f64, reach: f64| strongest(backs, range, reach);
        self.reporter
            .add(fired, 0.0, detection.as_slice(), source, buffer)
    }
}

/// A ray of light along a ray that was cast.
fn light_ray(ray: &Ray) -> LightRay<f64> {
    LightRay {
        origin: ray.origin,
        direction: ray.direction,
        time: ray.time,
        mask: ray.mask,
    }
}

/// Where most of the light about a range came from, within a reach (m).
fn strongest(backs: &[Back], range: f64, reach: f64) -> Option<Origin> {
    let near = backs
        .iter()
        .filter(|back| (back.origin.range - range).abs() <= reach);
    let counted = near.map(|back| {
        let close = echo_affinity(back.origin.range - range, reach);
        (back.origin, back.power * close)
    });
    let strongest = counted.max_by(|a, b| a.1.total_cmp(&b.1));
    strongest.map(|(origin, _)| origin)
}

/// Draws shots of several rays each, sixteen at a time.
struct DrawBeams<'s, 'p, 'a> {
    simulator: &'s FastSimulator<'p, 'a>,
    cast: &'s CastBatch<'s>,
    ways: &'s [Way],
    backs: &'s [Back],
    lanes: &'s [CalibratedLanes],
    drawn: &'s mut Vec<DrawnBeams>,
    noise_cache: &'s mut NoiseCache,
}

impl Vectorized for DrawBeams<'_, '_, '_> {
    type Output = ();

    #[expect(clippy::inline_always, reason = "for the caller's instructions")]
    #[inline(always)]
    fn run(self) {
        let (simulator, cast) = (self.simulator, self.cast);
        for (number, lanes) in self.lanes.iter().enumerate() {
            let first = 16 * number;
            let address = simulator.plain.address(shot_number(cast.first + first));
            let side = |lane: usize| {
                let Way::Direct { first: back, count } = self.ways[first + lane] else {
                    return 0.0;
                };
                cast.side(first + lane, &self.backs[back..back + count])
            };
            let profiles = simulator.plain.world.profiles();
            let drawn = lanes.draw(profiles, side, &address, self.noise_cache);
            self.drawn.push(drawn);
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::lidar::air::Air;
    use crate::lidar::beam::Beam;
    use crate::lidar::channel::Channel;
    use crate::lidar::description::Lidar;
    use crate::lidar::hooks::Hooks;
    use crate::lidar::intensity::Intensity;
    use crate::lidar::pattern::{Columns, ScanPattern, Spinning};
    use crate::lidar::range_limits::RangeLimits;
    use crate::lidar::receiver::{PulsedReceiver, Receiver, Sensitivity};
    use crate::lidar::settings::SweepSettings;
    use crate::lidar::trace::trees_for;
    use crate::transport::World;
    use etendue_physics::beam::{BeamShape, BeamWidth, Divergence, DivergenceAt};
    use etendue_physics::pulse::{Discriminator, IntensityResponse, Pulse, ReturnMode};
    use etendue_physics::surface::Lobe;
    use etendue_scene::{MeshId, NamedMaterial, Object, Scene, SceneBuilder, primitive};
    use nalgebra::Isometry3;

    fn scanner(false_alarms: bool) -> Lidar {
        let sensitivity = Sensitivity {
            reflectance: 0.1,
            range: 40.0,
            probability: 0.9,
            threshold_over_noise: 5.0,
        };
        let (threshold, detector) = sensitivity.analogue(1e4);
        let narrow = Divergence {
            horizontal: 1e-3,
            vertical: 1e-3,
            at: DivergenceAt::HalfMaximum,
        };
        Lidar {
            name: "test".into(),
            source: "none".into(),
            wavelength: 905e-9,
            channels: vec![Channel::default()],
            pattern: ScanPattern::Spinning(Spinning {
                rate: 10.0,
                clockwise: true,
                start: 0.0,
                columns: Columns::Period { seconds: 1e-3 },
                nod: None,
            }),
            beam: Beam::elliptic(
                BeamWidth {
                    shape: BeamShape::Gaussian,
                    divergence: narrow,
                    exit: narrow,
                },
                0,
            ),
            receiver: Receiver::Pulsed(PulsedReceiver {
                pulse: Pulse::gaussian(5e-9),
                discriminator: Discriminator::Peak,
                returns: ReturnMode::Strongest,
                threshold,
                reference: threshold,
                detector,
                interval: 1e-9,
                bits: None,
                jitter: 0.0,
                echoes: EchoModel::Analytic,
                window: None,
                false_alarms,
                full_overlap: 0.0,
            }),
            limits: RangeLimits {
                near: 0.1,
                far: 100.0,
                step: 0.0,
            },
            intensity: Intensity {
                response: IntensityResponse::Power { counts: 1.0 },
                top: None,
            },
        }
    }

    /// Whether the light of a lidar's shots returns directly in some air.
    fn is_direct(scene: &Scene, scanner: &Lidar, drops_from: Option<f64>) -> bool {
        let settings = SweepSettings {
            air: Air {
                drops_from,
                ..Air::default()
            },
            ..SweepSettings::default()
        };
        let world = World::at_wavelength(scene, scanner.wavelength).unwrap();
        let at_rest = |_: f64| Isometry3::identity();
        let hooks = Hooks::default();
        let plain = Simulator::new(
            &world,
            scanner,
            &settings,
            &at_rest,
            hooks,
            trees_for(&scanner.receiver),
        );
        DirectReturns::new(&plain).is_some()
    }

    /// The tests of the formats hold both ways against each other by asking for drops where there
    /// are none: that is what makes the difference.
    #[test]
    fn drops_and_false_alarms_need_trees_and_clear_air_does_not() {
        let mesh = primitive::cuboid([4.0; 3]).unwrap();
        let scene = SceneBuilder {
            meshes: vec![mesh.into()],
            materials: vec![NamedMaterial {
                name: "paint".into(),
                material: Material {
                    lobes: vec![Lobe::lambert(0.5.into())],
                },
            }],
            objects: vec![Object {
                name: "room".into(),
                mesh: MeshId(0),
                world_from_object: Isometry3::identity(),
                material: MaterialId(0),
                mask: u32::MAX,
            }],
            ..SceneBuilder::default()
        };
        let scene = scene.build().unwrap();
        assert!(is_direct(&scene, &scanner(false), None));
        assert!(!is_direct(&scene, &scanner(false), Some(1.0)));
        assert!(!is_direct(&scene, &scanner(true), None));
    }
}
