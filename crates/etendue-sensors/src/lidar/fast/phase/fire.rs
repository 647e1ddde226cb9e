//! Shots of a phase receiver: rays, light that returns, measurement.

use super::air::PhaseAir;
use super::batch::{Aim, Batch, DirectReturns, LANES};
use super::light::{Collected, Draw, Drawing, LitSurface};
use crate::Truth;
use crate::calibrated::CalibratedLanes;
use crate::lidar::scratch::LentNoiseCache;
use crate::lidar::{
    Beam, BeamRays, Lidar, LightModel, PhaseDetection, PhaseReceiver, Shot, SweepScratch,
    SweepSettings,
};
use crate::phase_signal_tile::PhaseSignalTile;
use crate::scalar_tile::LaneScalar;
use crate::transport::{
    Background, FieldOfView, LightRay, LightReturn, PathSettings, ReturnFactor, TreeSettings,
    World, first_distance, trace_paths, trace_tree_from,
};
use etendue_physics::atmosphere::Coefficients;
use etendue_physics::beam::{BeamFrame, SubRay};
use etendue_physics::phase::{NoDetection, PhaseSignal, Window};
use etendue_physics::profile::{Address, Drawn, NoiseCache};
use etendue_physics::{Purpose, Stream};
use etendue_scene::{Hit, Ray};
use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3, try_convert};
use rayon::prelude::*;

/// Beams that see the vertices of deforming meshes as at one moment.
const BESIDE_MOVING_VERTICES: usize = 4;

/// Measurement of one shot by a phase receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhaseShot<S = f64> {
    /// The range as the receiver measured it, or the reason why there is none.
    pub outcome: Result<PhaseDetection<S>, NoDetection>,
    /// Received power, relative to the transmitted power and the receiver's aperture, 1/(m² sr).
    pub power: S,
    /// Power of the ambient light, 1/(m² sr).
    pub ambient: f64,
    /// Intensity from a noise profile, in counts; none where the power gives it.
    pub intensity: Option<f64>,
    /// Number of separate surfaces that returned light, 8 at most.
    pub surfaces: u16,
    /// The surface that the strongest light came from; none for the air.
    pub source: Option<LitSurface>,
    /// First surface on the beam's axis, where the settings request it.
    pub axis: Option<Truth>,
}

impl<S: Copy> PhaseShot<S> {
    /// The range, m, if there is one.
    pub fn range(&self) -> Option<S> {
        self.outcome.ok().map(|detection| detection.range)
    }
}

impl<S: LaneScalar> PhaseShot<S> {
    fn nothing() -> Self {
        Self {
            outcome: Err(NoDetection::NothingReceived),
            power: S::zero(),
            ambient: 0.0,
            intensity: None,
            surfaces: 0,
            source: None,
            axis: None,
        }
    }
}

/// Changes of a prediction: derivatives that rays do not see, and unknowns of the model.
pub struct PhaseHooks<'a, S: LaneScalar, A> {
    /// Factor on the power of each return, by shot and hit.
    pub factor: Option<&'a ReturnFactor<'a, S>>,
    /// Extinction and backscatter of the air instead of those of the settings.
    pub air: Option<Coefficients<S>>,
    /// Called once per shot with the light that its rays returned, before the receiver measures it.
    pub add: A,
}

/// Fires `shots`: what the receiver measures of each, in their order.
///
/// Generic in the scalar: with dual numbers, ranges and powers carry the derivatives by whatever
/// is a variable in `world`, `lidar` or `world_from_sensor`. Which surface a ray meets, whole
/// periods and noise are constant under differentiation. Light follows ray trees.
///
/// # Panics
///
/// Where the lidar has no phase receiver.
pub fn predict_phase<S: LaneScalar>(
    world: &World<S>,
    lidar: &Lidar<S>,
    shots: &[Shot],
    settings: &SweepSettings,
    world_from_sensor: impl Fn(f64) -> Isometry3<S> + Sync,
    hooks: PhaseHooks<S, impl Fn(usize, &mut PhaseSignal<S>) + Sync>,
) -> Vec<PhaseShot<S>> {
    let scratch = SweepScratch::default();
    fire_trees(
        world,
        lidar,
        shots,
        settings,
        world_from_sensor,
        hooks,
        &scratch,
    )
}

/// Fires `shots` by ray trees.
fn fire_trees<S: LaneScalar>(
    world: &World<S>,
    lidar: &Lidar<S>,
    shots: &[Shot],
    settings: &SweepSettings,
    world_from_sensor: impl Fn(f64) -> Isometry3<S> + Sync,
    hooks: PhaseHooks<S, impl Fn(usize, &mut PhaseSignal<S>) + Sync>,
    scratch: &SweepScratch,
) -> Vec<PhaseShot<S>> {
    let tree = settings.light.tree();
    let trace = |world: &World<S>, light: &LightRay<S>, hit, _: &mut Stream, visit: Visit<S>| {
        trace_tree_from(world, light, hit, &tree, visit);
    };
    let light = Light {
        straight: true,
        trace,
        hooks,
    };
    fire(
        world,
        lidar,
        shots,
        settings,
        world_from_sensor,
        &light,
        scratch,
    )
}

/// Fires the shots of a sweep by the light model of its settings.
pub(super) fn measure(
    world: &World<f64>,
    lidar: &Lidar,
    shots: &[Shot],
    settings: &SweepSettings,
    world_from_sensor: impl Fn(f64) -> Isometry3<f64> + Sync,
    scratch: &SweepScratch,
) -> Vec<PhaseShot> {
    let hooks = PhaseHooks {
        factor: None,
        air: None,
        add: |_, _: &mut _| {},
    };
    let LightModel::Paths(paths) = settings.light else {
        return fire_trees(
            world,
            lidar,
            shots,
            settings,
            world_from_sensor,
            hooks,
            scratch,
        );
    };
    let window = receiver(lidar).window;
    let seen = |window: Window| paths.receiver_half_angle.min(window.field_of_view / 2.0);
    let paths = PathSettings {
        receiver_half_angle: window.map_or(paths.receiver_half_angle, seen),
        ..paths
    };
    let trace =
        |world: &World<f64>, light: &LightRay<f64>, _, stream: &mut Stream, visit: Visit<f64>| {
            trace_paths(world, light, &paths, stream, visit);
        };
    let light = Light {
        straight: false,
        trace,
        hooks,
    };
    fire(
        world,
        lidar,
        shots,
        settings,
        world_from_sensor,
        &light,
        scratch,
    )
}

/// The phase receiver of a lidar.
fn receiver<S>(lidar: &Lidar<S>) -> &PhaseReceiver<S> {
    let crate::lidar::Receiver::Phase(receiver) = &lidar.receiver else {
        panic!("the lidar {} has no phase receiver", lidar.name);
    };
    receiver
}

/// Tangent of half the beam's divergence, and its rays in units of it.
fn sub_rays<S: LaneScalar>(beam: &Beam<S>) -> (S, Vec<SubRay>, Vec<[f64; 2]>) {
    match beam.rays() {
        BeamRays::Cone {
            half_tangent,
            sub_rays,
        } => (half_tangent, sub_rays, vec![]),
        BeamRays::Elliptic(rays) => {
            let sub_ray = rays.iter().map(|ray| SubRay {
                left: ray.slope[0].value(),
                up: ray.slope[1].value(),
                weight: ray.weight,
            });
            let offsets = rays.iter().map(|ray| ray.offset);
            (S::one(), sub_ray.collect(), offsets.collect())
        }
    }
}

/// Called with each return.
type Visit<'a, S> = &'a mut dyn FnMut(LightReturn<S>);

/// Light model of a sweep.
struct Light<'a, S: LaneScalar, T, A> {
    /// Whether direct returns need no trace where no path continues from the first surface.
    straight: bool,
    /// Finds the returns of one ray of light with its first hit.
    trace: T,
    hooks: PhaseHooks<'a, S, A>,
}

/// Fires every shot.
fn fire<S: LaneScalar>(
    world: &World<S>,
    lidar: &Lidar<S>,
    shots: &[Shot],
    settings: &SweepSettings,
    world_from_sensor: impl Fn(f64) -> Isometry3<S> + Sync,
    light: &Light<
        '_,
        S,
        impl Fn(&World<S>, &LightRay<S>, Option<Hit>, &mut Stream, Visit<S>) + Sync,
        impl Fn(usize, &mut PhaseSignal<S>) + Sync,
    >,
    scratch: &SweepScratch,
) -> Vec<PhaseShot<S>> {
    // Prepare what all batches share.
    let given = receiver(lidar);
    let receiver = if settings.without_noise {
        given.without_noise()
    } else {
        *given
    };
    let (half_tangent, sub_rays, offsets) = sub_rays(&lidar.beam);
    let air = PhaseAir::new(&settings.air, light.hooks.air, lidar, &receiver);
    let width = lidar.beam.width().plain();
    let from_origin = shots.iter().all(|shot| shot.origin == Point3::origin());
    let simulator = PhaseSimulator {
        world,
        lidar,
        receiver: &receiver,
        settings,
        light,
        view: View::new(world, &receiver),
        half_tangent,
        plain_tangent: try_convert(half_tangent),
        spread: 0.5 * width.divergence.horizontal.max(width.divergence.vertical),
        from_origin: from_origin && offsets.iter().flatten().all(|offset| *offset == 0.0),
        sub_rays: &sub_rays,
        offsets: &offsets,
        with_axes: settings.with_truth || air.is_some(),
        air: air.as_ref(),
    };

    // Fire batches on all threads.
    let deforms = world.scene().deforms();
    let in_batch = if deforms {
        BESIDE_MOVING_VERTICES
    } else {
        LANES
    };
    let mut measured = vec![PhaseShot::nothing(); shots.len()];
    measured
        .par_chunks_mut(in_batch)
        .zip(shots.par_chunks(in_batch))
        .enumerate()
        .for_each_init(
            || Memory::new(scratch),
            |memory, (number, (measured, shots))| {
                let first = number * in_batch;
                let mut fire = |simulator: &PhaseSimulator<S, _, _>| {
                    simulator.aim(&mut memory.batch, first, shots, &world_from_sensor);
                    simulator.fire(memory, first, measured);
                };
                if !deforms {
                    return fire(&simulator);
                }
                let scene = world.scene().at(half_way(shots));
                let world = world.with_scene(&scene);
                fire(&simulator.with_world(&world));
            },
        );
    measured
}

/// Half way between the first and the last of some shots, s.
fn half_way(shots: &[Shot]) -> f64 {
    let times = shots.iter().map(|shot| shot.time);
    let first = times.clone().fold(f64::INFINITY, f64::min);
    0.5 * (first + times.fold(first, f64::max))
}

/// Memory that a thread reuses from batch to batch.
struct Memory<'s, S: LaneScalar> {
    batch: Batch<S>,
    collected: Vec<Collected<S>>,
    cache: LentNoiseCache<'s>,
}

impl<'s, S: LaneScalar> Memory<'s, S> {
    fn new(scratch: &'s SweepScratch) -> Self {
        Self {
            batch: Batch::default(),
            collected: Vec::new(),
            cache: scratch.lend(),
        }
    }
}

/// What all batches of a sweep share.
struct PhaseSimulator<'a, S: LaneScalar, T, A> {
    world: &'a World<'a, S>,
    lidar: &'a Lidar<S>,
    receiver: &'a PhaseReceiver<S>,
    settings: &'a SweepSettings,
    light: &'a Light<'a, S, T, A>,
    view: Option<View<'a>>,
    half_tangent: S,
    /// The beam's divergence where it carries no derivatives: then the beam's own directions do not.
    plain_tangent: Option<f64>,
    /// Tangent of half the greater divergence.
    spread: f64,
    /// Whether all rays leave from the sensor's origin.
    from_origin: bool,
    sub_rays: &'a [SubRay],
    /// Offsets of the rays at the exit to the left and upwards, m; empty where there are none.
    offsets: &'a [[f64; 2]],
    /// Whether the axis of each beam is cast, before its sub-rays.
    with_axes: bool,
    air: Option<&'a PhaseAir<S>>,
}

/// Ambient light as a receiver sees it.
struct View<'a> {
    background: &'a Background<'a>,
    window: Window,
    cone: FieldOfView,
}

impl<'a> View<'a> {
    /// None where there is no ambient light, or it makes no noise.
    fn new<S: LaneScalar>(world: &'a World<S>, receiver: &PhaseReceiver<S>) -> Option<Self> {
        let background = world.background()?;
        let window = receiver.window?;
        let cone = FieldOfView {
            half_angle: window.field_of_view / 2.0,
            solid_angle: window.solid_angle(),
        };
        (receiver.noise.shot > 0.0).then_some(Self {
            background,
            window,
            cone,
        })
    }

    /// Power of the ambient light about one ray, 1/(m² sr).
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

impl<'a, S: LaneScalar, T, A> PhaseSimulator<'a, S, T, A>
where
    T: Fn(&World<S>, &LightRay<S>, Option<Hit>, &mut Stream, Visit<S>),
    A: Fn(usize, &mut PhaseSignal<S>),
{
    /// The same in another world.
    fn with_world<'b>(&self, world: &'b World<'b, S>) -> PhaseSimulator<'b, S, T, A>
    where
        'a: 'b,
    {
        PhaseSimulator {
            world,
            view: View::new(world, self.receiver),
            ..*self
        }
    }

    /// Fills the batch with the rays of `shots`, the first of which has the number `first`.
    fn aim(
        &self,
        batch: &mut Batch<S>,
        first: usize,
        shots: &[Shot],
        world_from_sensor: impl Fn(f64) -> Isometry3<S>,
    ) {
        batch.frames.clear();
        for (lane, shot) in shots.iter().enumerate() {
            batch.time[lane] = shot.time;
            batch.poses.put(lane, &world_from_sensor(shot.time));
            batch.frames.push(self.frame(shot, first + lane));
        }
        batch.exits = (!self.from_origin).then(|| {
            let exit = |lane: usize| shots.get(lane).map_or(Point3::origin(), |shot| shot.origin);
            std::array::from_fn(exit)
        });
        self.world.scene().isa().run(Aim {
            batch,
            sub_rays: self.sub_rays,
            offsets: self.offsets,
            half_tangent: self.half_tangent.value(),
            with_axes: self.with_axes,
        });
    }

    /// Axes of a beam, jitter included.
    fn frame(&self, shot: &Shot, number: usize) -> BeamFrame {
        let jitter = self.lidar.beam.azimuth_jitter;
        let deviation = if jitter > 0.0 && !self.settings.without_noise {
            jitter * self.stream(number, Purpose::Pointing).normal()
        } else {
            0.0
        };
        BeamFrame::new(shot.azimuth + deviation, shot.elevation)
    }

    fn stream(&self, beam: usize, purpose: Purpose) -> Stream {
        let SweepSettings {
            seed,
            sensor,
            sweep,
            ..
        } = *self.settings;
        let beam = u32::try_from(beam).expect("shots are numbered by u32");
        Stream::new(seed, sensor, sweep, beam, purpose)
    }

    /// Casts the rays of a batch, collects its light and measures it.
    fn fire(&self, memory: &mut Memory<S>, first: usize, measured: &mut [PhaseShot<S>]) {
        let Memory {
            batch,
            collected,
            cache,
        } = memory;
        let scene = self.world.scene();
        scene.closest_hits_of_tiles(&batch.rays, &mut batch.met);
        batch.back.clear();
        batch.received = PhaseSignalTile::nothing();
        // Direct returns, sixteen at a time.
        if self.light.straight && self.plain_tangent.is_some() && self.from_origin {
            scene.isa().run(DirectReturns {
                world: self.world,
                batch,
                sub_rays: self.sub_rays,
                modulation: &self.receiver.modulation,
                first,
                factor: self.light.hooks.factor,
                air: self.air,
            });
        }

        // Traced light, light of the air.
        collected.clear();
        for lane in 0..measured.len() {
            let number = first + lane;
            let mut own = self.collect(batch, lane, number);
            (self.light.hooks.add)(number, &mut own.received);
            if let Some(air) = self.air {
                let drops = || self.stream(number, Purpose::Precipitation);
                let power = air.add(self.axis_distance(batch, lane), drops, &mut own.received);
                own.note_air(power);
            }
            collected.push(own);
        }

        // Measurements: drawn from noise profiles, or by the receiver.
        let drawn = self.draw(batch, collected, first, cache.get());
        for (lane, (shot, collected)) in measured.iter_mut().zip(&*collected).enumerate() {
            let own = drawn.as_ref().filter(|drawn| drawn.sights.calibrated[lane]);
            let own = own.map(|drawn| drawn.all.of(lane));
            *shot = PhaseShot {
                outcome: match own {
                    Some(drawn) => self.drawn(drawn),
                    None => self.measure(&collected.received, first + lane),
                },
                power: collected.received.power,
                ambient: collected.received.background,
                intensity: own.flatten().and_then(|drawn| drawn.intensity),
                surfaces: collected.surfaces(),
                source: collected.source(),
                axis: self.axis(batch, lane),
            };
        }
    }

    /// The receiver's measurement of a signal.
    fn measure(
        &self,
        received: &PhaseSignal<S>,
        number: usize,
    ) -> Result<PhaseDetection<S>, NoDetection> {
        let mut noise = self.stream(number, Purpose::ReceiverNoise);
        self.receiver.measure(received, &mut noise)
    }

    /// The light that comes back along the rays of one lane: what is there already, and what only a
    /// trace finds.
    fn collect(&self, batch: &Batch<S>, lane: usize, number: usize) -> Collected<S> {
        let is_profiled = !self.world.profiles().is_empty() && !self.settings.without_noise;
        let mut collected = Collected::new(batch.received.lane(lane), is_profiled);
        let mut paths = self.stream(number, Purpose::LightPath);
        let extra = usize::from(self.with_axes);
        let tiles = batch.rays[extra..].iter().zip(&batch.met[extra..]);
        for (k, (sub_ray, (rays, met))) in self.sub_rays.iter().zip(tiles).enumerate() {
            if let Some(view) = &self.view {
                let power = view.power(&rays.ray(lane), met.hit(lane), &self.settings.light.tree());
                collected.received.background += power * sub_ray.weight;
            }
            if let Some(back) = batch.back.get(k)
                && (back.is_complete[lane] || !met.is_hit(lane))
            {
                if back.has_return[lane] {
                    collected.note(lane, (rays, met), back, sub_ray.weight, self.spread);
                }
                continue;
            }
            let ray = self.ray(batch, lane, k);
            (self.light.trace)(self.world, &ray, met.hit(lane), &mut paths, &mut |back| {
                let factor = self
                    .light
                    .hooks
                    .factor
                    .map(|factor| factor(number, &back.hit));
                let power = factor.map_or(back.power, |factor| back.power * factor);
                let left = self
                    .air
                    .map_or(power, |air| power * air.transmission(back.range));
                let modulation = &self.receiver.modulation;
                collected.take(modulation, self.spread, &back, left * sub_ray.weight);
            });
        }
        collected
    }

    /// A ray of a lane with its derivatives.
    fn ray(&self, batch: &Batch<S>, lane: usize, number: usize) -> LightRay<S> {
        let pose = batch.poses.lane(lane);
        let frame = &batch.frames[lane];
        let sub_ray = &self.sub_rays[number];
        let direction = match self.plain_tangent {
            Some(tangent) => turned(&pose.rotation, &frame.direction(tangent, sub_ray)),
            None => pose.rotation * frame.direction(self.half_tangent, sub_ray),
        };
        let exit = batch.exits.map(|exits| exits[lane]);
        let origin = exit.map_or(pose.translation.vector.into(), |exit| {
            let [left, up] = self.offsets.get(number).copied().unwrap_or([0.0; 2]);
            pose * (exit + frame.left * left + frame.up * up).map(S::from)
        });
        LightRay {
            time: batch.time[lane],
            ..LightRay::new(origin, direction)
        }
    }

    /// Distance of the first surface on the axis of a lane's beam, m.
    fn axis_distance(&self, batch: &Batch<S>, lane: usize) -> Option<S> {
        let hit = batch.met[0].hit(lane)?;
        let pose = batch.poses.lane(lane);
        let origin = batch.exits.map_or(pose.translation.vector.into(), |exits| {
            pose * exits[lane].map(S::from)
        });
        let direction = turned(&pose.rotation, &batch.frames[lane].axis);
        let ray = LightRay {
            time: batch.time[lane],
            ..LightRay::new(origin, direction)
        };
        Some(first_distance(self.world, &ray, &hit))
    }

    /// Draws the beams of calibrated noise, if there are any.
    fn draw(
        &self,
        batch: &Batch<S>,
        collected: &[Collected<S>],
        first: usize,
        cache: &mut NoiseCache,
    ) -> Option<Drawing> {
        let profiles = self.world.profiles();
        if profiles.is_empty() || self.settings.without_noise {
            return None;
        }
        let mut sights = CalibratedLanes::NONE;
        for (lane, collected) in collected.iter().enumerate() {
            if let Some(surface) = collected.profiled(profiles) {
                sights.set(lane, &surface);
            }
        }
        let address = Address {
            seed: self.settings.seed,
            sensor: self.settings.sensor,
            sweep: self.settings.sweep,
            beam: u32::try_from(first).expect("shots are numbered by u32"),
            stride: 1,
        };
        Some(self.world.scene().isa().run(Draw {
            profiles,
            sights,
            collected,
            poses: &batch.poses,
            address,
            cache,
        }))
    }

    /// What the device reports of a beam that was drawn.
    fn drawn(&self, drawn: Option<Drawn>) -> Result<PhaseDetection<S>, NoDetection> {
        let farthest = self.receiver.ambiguity.farthest;
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

    /// The first surface on the axis of a lane's beam, where the settings request it.
    fn axis(&self, batch: &Batch<S>, lane: usize) -> Option<Truth> {
        let met = batch.met.first().filter(|_| self.settings.with_truth)?;
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

/// Rotation of a plain vector: $v + 2w\\,(u \times v) + 2u \times (u \times v)$ for the unit quaternion
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
