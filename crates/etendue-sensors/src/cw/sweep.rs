//! The pipeline: shots to rays, rays to light that comes back, light to measurements.

use super::batch::{Aim, Batch, LANES, Straight};
use super::collected::{Collected, Draw, Drawing};
use super::{Beam, CwLidar};
use crate::calibrated::CalibratedLanes;
use crate::lidar::PhaseDetection;
use crate::phase_signal_tile::PhaseSignalTile;
use crate::scalar_tile::LaneScalar;
use crate::transport::{
    Background, FieldOfView, LightRay, LightReturn, PathSettings, ReturnFactor, TreeSettings,
    World, trace_paths, trace_tree_from,
};
use crate::{Measurement, PlanarSweep, RangeReading, Truth};
use etendue_physics::beam::{BeamFrame, SubRay};
use etendue_physics::phase::{NoDetection, PhaseSignal, Window};
use etendue_physics::profile::{Address, Drawn, NoiseCache};
use etendue_physics::{Purpose, Stream};
use etendue_scene::{Hit, Ray};
use nalgebra::{Isometry3, UnitQuaternion, Vector3, try_convert};
use rayon::prelude::*;

/// Beams that see the vertices of deforming meshes as at one moment.
const BESIDE_MOVING_VERTICES: usize = 4;

/// Which turn of a run is simulated, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Turn {
    /// Seed of all noise.
    pub seed: u64,
    /// Number of the sensor (below 4096), so that two sensors of one run differ in noise.
    pub sensor: u32,
    /// Number of the sweep.
    pub index: u32,
    /// When the sweep begins, s from the start of the run.
    pub start: f64,
    /// Where ray trees end.
    pub tree: TreeSettings,
    /// Whether to find out what stands on each beam's axis, which costs one ray more.
    pub with_truth: bool,
}

/// What happened to one beam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shot<S> {
    /// The range as the receiver measured it, or why there is none.
    pub outcome: Result<PhaseDetection<S>, NoDetection>,
    /// Received power, relative to the transmitted power and the receiver's aperture, 1/(m² sr).
    pub power: S,
    /// How many separate surfaces sent light back, 8 at most.
    pub returns: u16,
    /// What stood on the beam's axis, where asked for.
    pub truth: Option<Truth>,
}

impl<S: Copy> Shot<S> {
    /// The range, m, if there is one.
    pub fn range(&self) -> Option<S> {
        self.outcome.ok().map(|detection| detection.range)
    }
}

/// Simulates one sweep as the device reports it.
///
/// `world` is the scene at the lidar's wavelength, `world_from_sensor` the sensor's pose at a time
/// (s from the start of the run): each beam is fired from the pose at its own time. The result
/// depends on its arguments alone, not on the number of threads.
///
/// Objects stand at each beam where they are then. Of meshes whose vertices move
/// ([`Scene::deforms`](etendue_scene::Scene::deforms)) four beams at a time see the same vertices,
/// those of the moment half way between the first and the last of them.
pub fn simulate(
    world: &World<f64>,
    lidar: &CwLidar<f64>,
    turn: &Turn,
    world_from_sensor: impl Fn(f64) -> Isometry3<f64> + Sync,
) -> PlanarSweep {
    let shots = shoot(world, lidar, turn, &world_from_sensor);
    report(lidar, turn, shots, world_from_sensor(turn.start))
}

/// As [`simulate`], with random paths of light ([`trace_paths`]) instead of ray trees: adds what
/// comes back over several rough surfaces. Where there is one rough surface on every way, both
/// agree. The paths depend on the turn's seed, not on the number of threads.
pub fn simulate_paths(
    world: &World<f64>,
    lidar: &CwLidar<f64>,
    turn: &Turn,
    paths: &PathSettings,
    world_from_sensor: impl Fn(f64) -> Isometry3<f64> + Sync,
) -> PlanarSweep {
    let shots = shoot_paths(world, lidar, turn, paths, &world_from_sensor);
    report(lidar, turn, shots, world_from_sensor(turn.start))
}

/// What the device reports of its shots.
fn report(
    lidar: &CwLidar<f64>,
    turn: &Turn,
    shots: Vec<Shot<f64>>,
    world_from_sensor: Isometry3<f64>,
) -> PlanarSweep {
    let reports = (0..).zip(&lidar.beams).zip(shots);
    PlanarSweep {
        index: turn.index,
        start: turn.start,
        world_from_sensor,
        measurements: reports
            .map(|((number, beam), shot)| Measurement {
                beam: number,
                time: turn.start + beam.time,
                azimuth: beam.azimuth,
                elevation: beam.elevation,
                reading: reading(&shot.outcome, lidar.resolution),
                power: shot.power,
                returns: shot.returns,
                truth: shot.truth,
            })
            .collect(),
    }
}

/// Fires every beam of a sweep: one [`Shot`] a beam, in order.
///
/// Generic in the scalar: with dual numbers, ranges and powers carry the derivatives by whatever
/// is a variable in `world`, `lidar` or `world_from_sensor`. Which surface a ray meets, whole
/// periods and noise are constant under differentiation.
pub fn shoot<S: LaneScalar>(
    world: &World<S>,
    lidar: &CwLidar<S>,
    turn: &Turn,
    world_from_sensor: impl Fn(f64) -> Isometry3<S> + Sync,
) -> Vec<Shot<S>> {
    shoot_with(world, lidar, turn, world_from_sensor, None, |_, _| {})
}

/// As [`shoot`], with two places to step in, both told the number of the beam. `factor` is what the
/// power of a return from a hit is multiplied by. `add` is called once a beam on the light that its
/// rays brought back before the receiver measures it: for light that rays do not carry, or
/// derivatives that they do not see.
pub fn shoot_with<S: LaneScalar>(
    world: &World<S>,
    lidar: &CwLidar<S>,
    turn: &Turn,
    world_from_sensor: impl Fn(f64) -> Isometry3<S> + Sync,
    factor: Option<&ReturnFactor<S>>,
    add: impl Fn(usize, &mut PhaseSignal<S>) + Sync,
) -> Vec<Shot<S>> {
    let tree = |world: &World<S>, light: &LightRay<S>, hit, _: &mut Stream, visit: Visit<S>| {
        trace_tree_from(world, light, hit, &turn.tree, visit);
    };
    let light = Light {
        straight: true,
        trace: tree,
        factor,
        add,
    };
    shoot_light(world, lidar, turn, world_from_sensor, &light)
}

/// As [`shoot`], with random paths of light instead of ray trees, see [`simulate_paths`]. Where the
/// receiver's field of view is known ([`Window`]), it sees no further than that about each ray.
pub fn shoot_paths(
    world: &World<f64>,
    lidar: &CwLidar<f64>,
    turn: &Turn,
    paths: &PathSettings,
    world_from_sensor: impl Fn(f64) -> Isometry3<f64> + Sync,
) -> Vec<Shot<f64>> {
    let seen = |window: Window| paths.receiver_half_angle.min(window.field_of_view / 2.0);
    let settings = PathSettings {
        receiver_half_angle: { lidar.receiver.window }.map_or(paths.receiver_half_angle, seen),
        ..*paths
    };
    let random =
        |world: &World<f64>, light: &LightRay<f64>, _, stream: &mut Stream, visit: Visit<f64>| {
            trace_paths(world, light, &settings, stream, visit);
        };
    let light = Light {
        straight: false,
        trace: random,
        factor: None,
        add: |_, _: &mut _| {},
    };
    shoot_light(world, lidar, turn, world_from_sensor, &light)
}

/// What is done with each return.
type Visit<'a, S> = &'a mut dyn FnMut(LightReturn<S>);

/// How light comes back.
struct Light<'a, S, T, A> {
    /// Whether what surfaces send straight back needs no trace where no path goes on from them.
    straight: bool,
    /// Finds the returns of one ray of light with its first hit.
    trace: T,
    /// Those of [`shoot_with`].
    factor: Option<&'a ReturnFactor<'a, S>>,
    add: A,
}

/// Fires every beam.
fn shoot_light<S: LaneScalar>(
    world: &World<S>,
    lidar: &CwLidar<S>,
    turn: &Turn,
    world_from_sensor: impl Fn(f64) -> Isometry3<S> + Sync,
    light: &Light<
        '_,
        S,
        impl Fn(&World<S>, &LightRay<S>, Option<Hit>, &mut Stream, Visit<S>) + Sync,
        impl Fn(usize, &mut PhaseSignal<S>) + Sync,
    >,
) -> Vec<Shot<S>> {
    let shooter = Shooter {
        world,
        lidar,
        turn,
        light,
        view: View::new(world, lidar),
        plain_tangent: try_convert(lidar.half_tangent),
        sub_rays: lidar.pattern.sub_rays(),
    };
    let deforms = world.scene().deforms();
    let in_batch = if deforms {
        BESIDE_MOVING_VERTICES
    } else {
        LANES
    };
    let mut shots = vec![Shot::nothing(); lidar.beams.len()];
    shots
        .par_chunks_mut(in_batch)
        .zip(lidar.beams.par_chunks(in_batch))
        .enumerate()
        .for_each_init(Memory::default, |memory, (number, (shots, beams))| {
            let first = number * in_batch;
            let mut fire = |shooter: &Shooter<S, _, _>| {
                shooter.aim(&mut memory.batch, first, beams, &world_from_sensor);
                shooter.fire(memory, first, shots);
            };
            if !deforms {
                return fire(&shooter);
            }
            let scene = world.scene().at(turn.start + half_way(beams));
            let world = world.with_scene(&scene);
            fire(&shooter.with_world(&world));
        });
    shots
}

/// Half way between the first and the last of some beams, s from the start of the sweep.
fn half_way(beams: &[Beam]) -> f64 {
    let times = beams.iter().map(|beam| beam.time);
    let first = times.clone().fold(f64::INFINITY, f64::min);
    0.5 * (first + times.fold(first, f64::max))
}

/// What a thread keeps from beam to beam.
struct Memory<S: LaneScalar> {
    batch: Batch<S>,
    collected: Vec<Collected<S>>,
    noise_cache: NoiseCache,
}

impl<S: LaneScalar> Default for Memory<S> {
    fn default() -> Self {
        Self {
            batch: Batch::default(),
            collected: Vec::new(),
            noise_cache: NoiseCache::default(),
        }
    }
}

struct Shooter<'a, S: LaneScalar, T, A> {
    world: &'a World<'a, S>,
    lidar: &'a CwLidar<S>,
    turn: &'a Turn,
    light: &'a Light<'a, S, T, A>,
    view: Option<View<'a>>,
    /// The beam's divergence where it carries no derivatives: then the beam's own directions do not.
    plain_tangent: Option<f64>,
    sub_rays: Vec<SubRay>,
}

/// Ambient light as a receiver sees it.
struct View<'a> {
    background: &'a Background<'a>,
    window: Window,
    cone: FieldOfView,
}

impl<'a> View<'a> {
    /// None where there is no ambient light, or it makes no noise.
    fn new<S: LaneScalar>(world: &'a World<S>, lidar: &CwLidar<S>) -> Option<Self> {
        let background = world.background()?;
        let window = lidar.receiver.window?;
        let cone = FieldOfView {
            half_angle: window.field_of_view / 2.0,
            solid_angle: window.solid_angle(),
        };
        (lidar.receiver.noise.shot > 0.0).then_some(Self {
            background,
            window,
            cone,
        })
    }

    /// What one ray's surroundings add, in units of received power.
    fn power(&self, ray: &Ray, hit: Option<Hit>, tree: &TreeSettings) -> f64 {
        let light = LightRay {
            origin: ray.origin,
            direction: ray.direction,
            time: ray.time,
            mask: ray.mask,
        };
        let radiance = self.background.radiance(&light, hit, tree, self.cone);
        self.window.background(radiance)
    }
}

impl<'a, S: LaneScalar, T, A> Shooter<'a, S, T, A>
where
    T: Fn(&World<S>, &LightRay<S>, Option<Hit>, &mut Stream, Visit<S>),
    A: Fn(usize, &mut PhaseSignal<S>),
{
    /// The same in another world.
    fn with_world<'b>(&self, world: &'b World<'b, S>) -> Shooter<'b, S, T, A>
    where
        'a: 'b,
    {
        Shooter {
            world,
            lidar: self.lidar,
            turn: self.turn,
            light: self.light,
            view: View::new(world, self.lidar),
            plain_tangent: self.plain_tangent,
            sub_rays: self.sub_rays.clone(),
        }
    }

    /// Fills the batch with the rays of `beams`, the first of which has the number `first`.
    fn aim(
        &self,
        batch: &mut Batch<S>,
        first: usize,
        beams: &[Beam],
        world_from_sensor: impl Fn(f64) -> Isometry3<S>,
    ) {
        batch.frames.clear();
        for (lane, beam) in beams.iter().enumerate() {
            batch.time[lane] = self.turn.start + beam.time;
            batch.poses.put(lane, &world_from_sensor(batch.time[lane]));
            batch.frames.push(self.frame(beam, first + lane));
        }
        self.world.scene().isa().run(Aim {
            batch,
            sub_rays: &self.sub_rays,
            half_tangent: self.lidar.half_tangent.value(),
            with_axes: self.turn.with_truth,
        });
    }

    /// Where a beam points, jitter included.
    fn frame(&self, beam: &Beam, number: usize) -> BeamFrame {
        let jitter = self.lidar.azimuth_jitter;
        let deviation = if jitter > 0.0 {
            jitter * self.stream(number, Purpose::Pointing).normal()
        } else {
            0.0
        };
        BeamFrame::new(beam.azimuth + deviation, beam.elevation)
    }

    fn stream(&self, beam: usize, purpose: Purpose) -> Stream {
        let Turn {
            seed,
            sensor,
            index,
            ..
        } = *self.turn;
        let beam = u32::try_from(beam).expect("beams are numbered by u32");
        Stream::new(seed, sensor, index, beam, purpose)
    }

    /// Casts the rays of a batch, collects its light and measures it.
    fn fire(&self, memory: &mut Memory<S>, first: usize, shots: &mut [Shot<S>]) {
        let Memory {
            batch,
            collected,
            noise_cache,
        } = memory;
        let scene = self.world.scene();
        scene.closest_hits_of_tiles(&batch.rays, &mut batch.met);
        batch.back.clear();
        batch.received = PhaseSignalTile::nothing();
        if self.light.straight && self.plain_tangent.is_some() {
            scene.isa().run(Straight {
                world: self.world,
                batch,
                sub_rays: &self.sub_rays,
                modulation: &self.lidar.receiver.modulation,
                first,
                factor: self.light.factor,
            });
        }
        collected.clear();
        for lane in 0..shots.len() {
            let mut own = self.collect(batch, lane, first + lane);
            (self.light.add)(first + lane, &mut own.received);
            collected.push(own);
        }
        let drawn = self.draw(batch, collected, first, noise_cache);
        for (lane, (shot, collected)) in shots.iter_mut().zip(&*collected).enumerate() {
            let own = { drawn.as_ref() }.filter(|drawn| drawn.sights.calibrated[lane]);
            *shot = Shot {
                outcome: match own {
                    Some(drawn) => self.drawn(drawn.all.of(lane)),
                    None => self.measure(&collected.received, first + lane),
                },
                power: collected.received.power,
                returns: collected.surfaces(),
                truth: self.truth(batch, lane),
            };
        }
    }

    /// What the receiver makes of light.
    fn measure(
        &self,
        received: &PhaseSignal<S>,
        number: usize,
    ) -> Result<PhaseDetection<S>, NoDetection> {
        let mut noise = self.stream(number, Purpose::ReceiverNoise);
        self.lidar.receiver.measure(received, &mut noise)
    }

    /// The light that comes back along the rays of one lane: what is there already, and what only a
    /// trace finds.
    fn collect(&self, batch: &Batch<S>, lane: usize, number: usize) -> Collected<S> {
        let lidar = self.lidar;
        let is_profiled = !self.world.profiles().is_empty();
        let mut collected = Collected::new(batch.received.lane(lane), is_profiled);
        let mut paths = self.stream(number, Purpose::LightPath);
        let extra = usize::from(self.turn.with_truth);
        let tiles = batch.rays[extra..].iter().zip(&batch.met[extra..]);
        for (k, (sub_ray, (rays, met))) in self.sub_rays.iter().zip(tiles).enumerate() {
            if let Some(view) = &self.view {
                let power = view.power(&rays.ray(lane), met.hit(lane), &self.turn.tree);
                collected.received.background += power * sub_ray.weight;
            }
            if let Some(back) = batch.back.get(k)
                && (back.is_complete[lane] || !met.is_hit(lane))
            {
                if back.has_return[lane] {
                    let half_tangent = lidar.half_tangent.value();
                    collected.note(lane, (rays, met), back, sub_ray.weight, half_tangent);
                }
                continue;
            }
            let ray = self.ray(batch, lane, sub_ray);
            (self.light.trace)(self.world, &ray, met.hit(lane), &mut paths, &mut |back| {
                let factor = self.light.factor.map(|factor| factor(number, &back.hit));
                let power = factor.map_or(back.power, |factor| back.power * factor);
                collected.take(lidar, &back, power * sub_ray.weight);
            });
        }
        collected
    }

    /// A ray of a lane with its derivatives.
    fn ray(&self, batch: &Batch<S>, lane: usize, sub_ray: &SubRay) -> LightRay<S> {
        let pose = batch.poses.lane(lane);
        let frame = &batch.frames[lane];
        let direction = match self.plain_tangent {
            Some(tangent) => turned(&pose.rotation, &frame.direction(tangent, sub_ray)),
            None => pose.rotation * frame.direction(self.lidar.half_tangent, sub_ray),
        };
        LightRay {
            time: batch.time[lane],
            ..LightRay::new(pose.translation.vector.into(), direction)
        }
    }

    /// Draws the beams of calibrated noise, if there are any.
    fn draw(
        &self,
        batch: &Batch<S>,
        collected: &[Collected<S>],
        first: usize,
        noise_cache: &mut NoiseCache,
    ) -> Option<Drawing> {
        let profiles = self.world.profiles();
        if profiles.is_empty() {
            return None;
        }
        let mut sights = CalibratedLanes::NONE;
        for (lane, collected) in collected.iter().enumerate() {
            if let Some(surface) = collected.profiled(profiles) {
                sights.set(lane, &surface);
            }
        }
        let address = Address {
            seed: self.turn.seed,
            sensor: self.turn.sensor,
            sweep: self.turn.index,
            beam: u32::try_from(first).expect("beams are numbered by u32"),
            stride: 1,
        };
        Some(self.world.scene().isa().run(Draw {
            profiles,
            sights,
            collected,
            poses: &batch.poses,
            address,
            noise_cache,
        }))
    }

    /// What the device reports of a beam that was drawn.
    fn drawn(&self, drawn: Option<Drawn>) -> Result<PhaseDetection<S>, NoDetection> {
        let farthest = self.lidar.receiver.ambiguity.farthest;
        match drawn {
            None => Err(NoDetection::NothingReceived),
            Some(drawn) if drawn.range > farthest => {
                Err(NoDetection::BeyondRange { range: drawn.range })
            }
            Some(drawn) => Ok(PhaseDetection {
                range: S::from(drawn.range),
                disagreement: 0.0,
            }),
        }
    }

    /// What stands on the axis of a lane's beam, where that is wanted.
    fn truth(&self, batch: &Batch<S>, lane: usize) -> Option<Truth> {
        let met = batch.met.first().filter(|_| self.turn.with_truth)?;
        let hit = met.hit(lane)?;
        let axis = batch.rays[0].ray(lane).direction;
        let cos = axis.dot(&hit.normal).abs();
        Some(Truth {
            range: hit.distance,
            object: hit.object,
            material: self.world.scene().material_of(&hit),
            incidence: cos.min(1.0).acos(),
        })
    }
}

/// A plain vector turned: $v + 2w\\,(u \times v) + 2u \times (u \times v)$ for the unit quaternion
/// $(w, u)$, in the order of nalgebra's own product, so that plain numbers come out the same.
#[inline]
fn turned<S: LaneScalar>(rotation: &UnitQuaternion<S>, v: &Vector3<f64>) -> Vector3<S> {
    let u = rotation.imag();
    let twice = Vector3::new(
        u.y * v.z - u.z * v.y,
        u.z * v.x - u.x * v.z,
        u.x * v.y - u.y * v.x,
    ) * S::from(2.0);
    let across = u.cross(&twice);
    let part = |k: usize| twice[k] * rotation.w + across[k] + v[k];
    Vector3::new(part(0), part(1), part(2))
}

impl<S: LaneScalar> Shot<S> {
    fn nothing() -> Self {
        Self {
            outcome: Err(NoDetection::NothingReceived),
            power: S::zero(),
            returns: 0,
            truth: None,
        }
    }
}

fn reading(
    outcome: &Result<PhaseDetection<f64>, NoDetection>,
    resolution: Option<f64>,
) -> RangeReading {
    match outcome {
        Ok(detection) => {
            let range = detection.range;
            // Dividing by the steps of a metre gives the number that 1.755 means; multiplying by
            // the step would give 1.7550000000000001.
            let rounded = |step: f64| (range / step).round() / step.recip();
            RangeReading::Range(resolution.map_or(range, rounded))
        }
        Err(NoDetection::TooNear { .. }) => RangeReading::TooNear,
        Err(fault) => match fault.urg_code() {
            Some(0) | None => RangeReading::NoReturn,
            Some(code) => RangeReading::Error(code),
        },
    }
}
