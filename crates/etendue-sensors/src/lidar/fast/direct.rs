//! Shots whose light comes straight back from the first surface on each ray, as that of most does:
//! the points that the trees of paths would give, bit for bit, without the trees.

use super::aimed::Aimed;
use super::order::Order;
use super::single_ray::{Report, Singles};
use crate::calibrated::{Direct, DrawnBeams, Lit, Sights};
use crate::lidar::Outcome;
use crate::lidar::receive::{
    Fired, Found, Light, Origin, PreparedPulsed, PreparedReceiver, Workspace, closeness,
};
use crate::lidar::return_buffer::Received;
use crate::lidar::sweep::{Poses, Simulator, shot_number};
use crate::lidar::{EchoModel, LightModel};
use crate::transport::TileReturns;
use etendue_physics::Purpose;
use etendue_physics::profile::{Drawn, NoiseCache};
use etendue_physics::pulse::PulseReturn;
use etendue_physics::surface::Material;
use etendue_scene::{Hit, HitTile, MaterialId, ObjectId, Ray, RayTile};
use etendue_simd::Vectorized;
use nalgebra::{Isometry3, Vector3};

/// What tells which shots they are.
#[derive(Clone)]
pub(in crate::lidar) struct Straight {
    pub pulsed: PreparedPulsed,
    /// Whether no path goes on from each material.
    pub ends: Vec<bool>,
    /// Whether any path goes on.
    pub goes_on: bool,
    /// Whether each material's noise is calibrated; empty where no noise is.
    pub calibrated: Vec<bool>,
    /// Whether each shot has one ray and its echo a closed form.
    single: bool,
    /// Whether any channel's ranges are offset.
    pub offset: bool,
}

/// What a ray's surface sends straight back.
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

    fn direct(&self) -> Direct {
        Direct {
            material: self.origin.material,
            power: self.power,
            range: self.origin.range,
            cos_incidence: self.origin.cos_incidence,
        }
    }
}

/// Where the light of a shot is.
#[derive(Clone, Copy)]
enum Way {
    /// So many of the batch's straight returns from that one on.
    Straight { first: usize, count: usize },
    /// The light of that number, from trees.
    Tree(usize),
}

/// Memory that batches use again.
#[derive(Default)]
pub(in crate::lidar) struct Lane {
    backs: Vec<Back>,
    ways: Vec<Way>,
    singles: Singles,
    /// What sixteen shots each see of calibrated noise, and what is drawn of it.
    sights: Vec<Sights>,
    drawn: Vec<DrawnBeams>,
    /// Shots that need trees, in the order they were cast, their rays and what they hit.
    rest: Vec<usize>,
    order: Vec<usize>,
    rays: Vec<Ray>,
    hits: Vec<Option<Hit>>,
}

/// A batch of shots, with the rays of each and what they hit.
pub(in crate::lidar) struct Cast<'a> {
    /// Number of the first shot.
    pub first: usize,
    pub shots: Aimed<'a>,
    pub poses: &'a Poses,
    /// The order their rays are cast in.
    pub order: Order<'a>,
    pub tiles: &'a [RayTile],
    pub met: &'a [HitTile],
    /// What comes straight back along them.
    pub back: &'a [TileReturns],
}

impl Cast<'_> {
    pub fn fired(&self, shot: usize) -> Fired<'_> {
        Fired {
            shot: self.shots.at(shot),
            number: shot_number(self.first + shot),
            pose: self.poses.of(shot),
        }
    }

    pub fn ray(&self, number: usize) -> Ray {
        self.tiles[number / 16].ray(number % 16)
    }

    pub fn hit(&self, number: usize) -> Option<Hit> {
        self.met[number / 16].hit(number % 16)
    }

    /// On which side of its normal a shot meets the surface that it sees.
    #[inline(never)]
    fn side(&self, shot: usize, backs: &[Back]) -> f64 {
        let mut lit = Lit::default();
        for back in backs {
            self.face(&mut lit, &back.direct(), back.ray);
        }
        lit.side(&(self.poses.of(shot) * Vector3::z()))
    }

    /// Counts light that comes straight back along a ray, and how it meets its surface.
    pub fn face(&self, lit: &mut Lit, light: &Direct, ray: usize) {
        if lit.add(light)
            && let Some(hit) = self.hit(ray)
        {
            lit.face(light.power, &hit.normal, &self.ray(ray).direction);
        }
    }
}

impl<P: Fn(f64) -> Isometry3<f64>> Simulator<'_, P> {
    /// None where other light than the surfaces' makes echoes, or other noise than the receiver's.
    pub fn straight(&self) -> Option<Straight> {
        let PreparedReceiver::Pulsed(pulsed) = &self.receiver else {
            return None;
        };
        let calibrated = !self.run.without_noise && !self.world.profiles().is_empty();
        let other_light = self.sees_light() || self.air.is_seen();
        let elsewhere = !self.world.stands_as_cast();
        let by_paths = matches!(self.run.light, LightModel::Paths(_));
        let fast = pulsed.receiver.echoes == EchoModel::Analytic;
        let single = fast && self.beam_rays.count() == 1;
        if pulsed.receiver.false_alarms || other_light || elsewhere || by_paths {
            return None;
        }
        let is_calibrated = |material| self.world.profiles().profile(material).is_some();
        let ends = self.world.materials().iter().map(Material::ends_paths);
        let ends: Vec<bool> = ends.collect();
        Some(Straight {
            pulsed: *pulsed,
            goes_on: ends.contains(&false),
            ends,
            calibrated: { (0..).zip(self.world.materials()).filter(|_| calibrated) }
                .map(|(number, _)| is_calibrated(MaterialId(number)))
                .collect(),
            single,
            offset: { self.scanner.channels.iter() }.any(|channel| channel.range_offset != 0.0),
        })
    }

    /// Adds the points of a batch of shots and what became of each.
    pub fn report_straight(
        &self,
        straight: &Straight,
        cast: &Cast,
        lane: &mut Lane,
        lit: (&mut Vec<Light>, &mut Workspace),
        received: &mut Received,
    ) {
        if straight.single {
            self.report_singles(straight, cast, lane, lit, received);
        } else {
            self.report_beams(straight, cast, lane, lit, received);
        }
    }

    /// Shots of one ray, sixteen at a time.
    fn report_singles(
        &self,
        straight: &Straight,
        cast: &Cast,
        lane: &mut Lane,
        (lights, workspace): (&mut Vec<Light>, &mut Workspace),
        received: &mut Received,
    ) {
        lane.singles.sort(self, straight, cast);
        std::mem::swap(&mut lane.rest, &mut lane.singles.rest);
        self.gather_rest(cast, lane, lights);
        self.world.scene().isa().run(Report {
            simulator: self,
            straight,
            cast,
            singles: &lane.singles,
            lights,
            workspace,
            received,
        });
    }

    /// Shots of several rays, or whose waveforms are sampled.
    fn report_beams(
        &self,
        straight: &Straight,
        cast: &Cast,
        lane: &mut Lane,
        (lights, workspace): (&mut Vec<Light>, &mut Workspace),
        received: &mut Received,
    ) {
        self.sort_out(straight, cast, lane);
        self.gather_rest(cast, lane, lights);
        self.draw_beams(straight, cast, lane, workspace.noise_cache.get());
        for (shot, way) in lane.ways.iter().enumerate() {
            let fired = cast.fired(shot);
            let outcome = match *way {
                Way::Tree(light) => self.report(fired, &mut lights[light], workspace, received),
                Way::Straight { count: 0, .. } => Outcome::NoReturn,
                Way::Straight { first, count } => {
                    let backs = &lane.backs[first..first + count];
                    let block = shot / 16;
                    if { lane.sights.get(block) }.is_some_and(|block| block.calibrated[shot % 16]) {
                        let drawn = lane.drawn[block].of(shot % 16);
                        self.report_drawn(fired, backs, drawn, received)
                    } else {
                        self.report_several(straight, fired, backs, workspace, received)
                    }
                }
            };
            received.outcomes.push(outcome);
        }
    }

    /// Finds out which shots need trees, and what comes back to the others.
    fn sort_out(&self, straight: &Straight, cast: &Cast, lane: &mut Lane) {
        lane.backs.clear();
        lane.ways.clear();
        lane.ways.resize(cast.shots.count(), Way::Tree(0));
        lane.rest.clear();
        let per_shot = self.beam_rays.count();
        for (place, &shot) in cast.order.shots.iter().enumerate() {
            let first = lane.backs.len();
            let own = place * per_shot..(place + 1) * per_shot;
            lane.ways[shot] = if self.send_straight(straight, cast, own, &mut lane.backs) {
                let count = lane.backs.len() - first;
                Way::Straight { first, count }
            } else {
                lane.backs.truncate(first);
                lane.rest.push(shot);
                Way::Tree(lane.rest.len() - 1)
            };
        }
    }

    /// Appends what comes straight back along the rays of one shot; false where a path goes on.
    #[inline]
    fn send_straight(
        &self,
        straight: &Straight,
        cast: &Cast,
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
            if !straight.ends[material.0 as usize] {
                return false;
            }
            let range = back.range[lane];
            let power =
                back.power[lane] * self.beam_rays.weight(ray) * self.air.transmission(range);
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
    fn gather_rest(&self, cast: &Cast, lane: &mut Lane, lights: &mut Vec<Light>) {
        if lane.rest.is_empty() {
            return;
        }
        lane.rays.clear();
        lane.hits.clear();
        let per_shot = self.beam_rays.count();
        for &shot in &lane.rest {
            let first = cast.order.places[shot] * per_shot;
            let own = first..first + per_shot;
            lane.rays.extend(own.clone().map(|number| cast.ray(number)));
            lane.hits.extend(own.map(|number| cast.hit(number)));
        }
        lane.order.clear();
        lane.order.extend(0..lane.rest.len());
        self.gather(&lane.rays, &lane.hits, (cast.first, &lane.order), lights);
    }

    /// A shot of several returns, or one whose waveform is sampled.
    fn report_several(
        &self,
        straight: &Straight,
        fired: Fired,
        backs: &[Back],
        workspace: &mut Workspace,
        received: &mut Received,
    ) -> Outcome {
        let mut returns = std::mem::take(&mut workspace.returns);
        returns.clear();
        returns.extend(backs.iter().map(Back::light));
        workspace.found.clear();
        let stream = || self.stream(fired.number, Purpose::ReceiverNoise);
        let mut noise = (!self.run.without_noise).then(stream);
        let noise = noise.as_mut();
        self.find_echoes(
            &straight.pulsed,
            fired.number,
            (&mut returns, 0),
            noise,
            workspace,
        );
        workspace.returns = returns;
        let source = |range: f64, reach: f64| strongest(backs, range, reach);
        self.keep(fired, 0.0, &workspace.found, source, received)
    }

    /// Draws the shots of calibrated noise.
    fn draw_beams(
        &self,
        straight: &Straight,
        cast: &Cast,
        lane: &mut Lane,
        noise_cache: &mut NoiseCache,
    ) {
        lane.sights.clear();
        lane.drawn.clear();
        if straight.calibrated.is_empty() {
            return;
        }
        let blocks = lane.ways.len().div_ceil(16);
        lane.sights.resize(blocks, Sights::NONE);
        let scene = self.world.scene();
        for (shot, way) in lane.ways.iter().enumerate() {
            let Way::Straight { first, count } = *way else {
                continue;
            };
            let mut lit = Lit::default();
            for back in &lane.backs[first..first + count] {
                lit.add(&back.direct());
            }
            if let Some(surface) = lit.profiled(self.world.profiles()) {
                lane.sights[shot / 16].set(shot % 16, &surface);
            }
        }
        scene.isa().run(DrawBeams {
            simulator: self,
            cast,
            ways: &lane.ways,
            backs: &lane.backs,
            sights: &lane.sights,
            drawn: &mut lane.drawn,
            noise_cache,
        });
    }

    /// A shot of calibrated noise.
    fn report_drawn(
        &self,
        fired: Fired,
        backs: &[Back],
        drawn: Option<Drawn>,
        received: &mut Received,
    ) -> Outcome {
        let power = backs.iter().map(|back| back.power).sum();
        let found = drawn.map(|drawn| Found::drawn(&drawn, power));
        let source = |range: f64, reach: f64| strongest(backs, range, reach);
        self.keep(fired, 0.0, found.as_slice(), source, received)
    }
}

/// Where most of the light about a range came from, within a reach (m).
fn strongest(backs: &[Back], range: f64, reach: f64) -> Option<Origin> {
    let near = { backs.iter() }.filter(|back| (back.origin.range - range).abs() <= reach);
    let counted = near.map(|back| {
        let close = closeness(back.origin.range - range, reach);
        (back.origin, back.power * close)
    });
    let strongest = counted.max_by(|a, b| a.1.total_cmp(&b.1));
    strongest.map(|(origin, _)| origin)
}

/// Draws shots of several rays each, sixteen at a time.
struct DrawBeams<'s, 'a, P> {
    simulator: &'s Simulator<'a, P>,
    cast: &'s Cast<'s>,
    ways: &'s [Way],
    backs: &'s [Back],
    sights: &'s [Sights],
    drawn: &'s mut Vec<DrawnBeams>,
    noise_cache: &'s mut NoiseCache,
}

impl<P: Fn(f64) -> Isometry3<f64>> Vectorized for DrawBeams<'_, '_, P> {
    type Output = ();

    #[expect(clippy::inline_always, reason = "for the caller's instructions")]
    #[inline(always)]
    fn run(self) {
        let (simulator, cast) = (self.simulator, self.cast);
        for (number, sights) in self.sights.iter().enumerate() {
            let first = 16 * number;
            let address = simulator.address(shot_number(cast.first + first));
            let side = |lane: usize| {
                let Way::Straight { first: back, count } = self.ways[first + lane] else {
                    return 0.0;
                };
                cast.side(first + lane, &self.backs[back..back + count])
            };
            let profiles = simulator.world.profiles();
            let drawn = sights.draw(profiles, side, &address, self.noise_cache);
            self.drawn.push(drawn);
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::lidar::{Air, SweepSettings};
    use crate::lidar::{
        Beam, Channel, Columns, Intensity, Lidar, PulsedReceiver, RangeLimits, Receiver,
        ScanPattern, Sensitivity, Spinning,
    };
    use crate::transport::World;
    use etendue_physics::beam::{BeamShape, BeamWidth, Divergence, DivergenceAt};
    use etendue_physics::pulse::{Discriminator, IntensityResponse, Pulse, ReturnMode};
    use etendue_physics::surface::Lobe;
    use etendue_scene::{MeshId, NamedMaterial, Object, Scene, SceneBuilder, primitive};

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

    /// Whether shots of that scanner in that air can do without trees.
    fn is_straight(scene: &Scene, scanner: &Lidar, drops_from: Option<f64>) -> bool {
        let run = SweepSettings {
            air: Air {
                drops_from,
                ..Air::default()
            },
            ..SweepSettings::default()
        };
        let world = World::at_wavelength(scene, scanner.wavelength).unwrap();
        let still = |_| Isometry3::identity();
        let simulator = Simulator::new(&world, scanner, &run, still, Isometry3::identity());
        simulator.straight().is_some()
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
        };
        let scene = scene.build().unwrap();
        assert!(is_straight(&scene, &scanner(false), None));
        assert!(!is_straight(&scene, &scanner(false), Some(1.0)));
        assert!(!is_straight(&scene, &scanner(true), None));
    }
}
