//! The pipeline: shots to rays, rays to light that comes back, light to points.

use super::air::PreparedAir;
use super::ambient::View;
use super::receive::{Fired, Light, PreparedReceiver, Workspace};
use super::{Air, Frame, LidarPoint, Outcome, PointSweep};
use crate::scanner::{ScanPattern, Scanner, Shot};
use crate::transport::{LightRay, TreeSettings, World, trace_trees};
use etendue_physics::beam::{BeamFrame, BeamRay};
use etendue_physics::profile::Recent;
use etendue_physics::{Purpose, Stream};
use etendue_scene::{Hit, Ray, tile_order};
use nalgebra::Isometry3;
use rayon::prelude::*;

/// Shots that one task handles at least: their rays are cast in one batch. More no longer fit a
/// core's own cache.
const BATCH: usize = 512;

/// Which sweep of a run is simulated, and how.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// Seed of all noise.
    pub seed: u64,
    /// Number of the sensor (below 4096), so that two sensors of one run differ in noise.
    pub sensor: u32,
    /// Number of the sweep: it begins at that many times the sweep's duration.
    pub sweep: u32,
    /// Where ray trees end.
    pub tree: TreeSettings,
    /// The air.
    pub air: Air,
    /// The frame that points are given in.
    pub frame: Frame,
    /// Whether to leave out all noise of the receiver.
    pub without_noise: bool,
}

/// Simulates one sweep as the device reports it.
///
/// `world` is the scene at the scanner's wavelength, `world_from_sensor` the sensor's pose at a
/// time (s from the start of the run). The result depends on its arguments alone, not on the
/// number of threads.
///
/// Objects stand at each shot where they are then. Of meshes whose vertices move
/// ([`Scene::deforms`](etendue_scene::Scene::deforms)) four columns at a time see the same
/// vertices, those of the moment half way between their first and last shot.
pub fn simulate(
    world: &World<f64>,
    scanner: &Scanner,
    run: &Run,
    world_from_sensor: impl Fn(f64) -> Isometry3<f64> + Sync,
) -> PointSweep {
    let firing = scanner.firing(run.sweep);
    let mut shots = vec![Shot::UNAIMED; firing.count()];
    let start = f64::from(run.sweep) * scanner.sweep_duration();
    let world_from_start = world_from_sensor(start);
    // Whole columns, four by four: neighbouring rays are cast together.
    let channels = scanner.channels.len();
    let deforms = world.scene().deforms();
    let batch = if deforms { 1 } else { BATCH };
    let in_batch = batch.div_ceil(4 * channels) * 4 * channels;
    let mut simulator = Simulator::new(world, scanner, run, &world_from_sensor, world_from_start);
    if let ScanPattern::Spinning(_) = scanner.pattern {
        let first = &mut shots[..in_batch.min(firing.count())];
        firing.aim(0, first);
        simulator.order = cast_order(first);
    }
    let batches: Vec<Received> = shots
        .par_chunks_mut(in_batch)
        .enumerate()
        .map_init(Batch::default, |batch, (number, shots)| {
            firing.aim(number * in_batch, shots);
            let first = number * in_batch;
            if !deforms {
                return simulator.batch(batch, first, shots);
            }
            let scene = world.scene().at(half_way(shots));
            let world = world.about(&scene);
            simulator.about(&world).batch(batch, first, shots)
        })
        .collect();
    let mut sweep = PointSweep {
        index: run.sweep,
        start,
        columns: scanner.columns(),
        #[expect(clippy::cast_possible_truncation, reason = "checked with the scanner")]
        channels: scanner.channels.len() as u16,
        world_from_sensor: world_from_start,
        rings: scanner
            .channels
            .iter()
            .map(|channel| channel.ring)
            .collect(),
        outcomes: Vec::with_capacity(shots.len()),
        points: Vec::with_capacity(batches.iter().map(|batch| batch.points.len()).sum()),
        shots,
    };
    for batch in batches {
        batch.append_to(&mut sweep);
    }
    sweep
}

/// Half way between the first and the last of some shots, s.
fn half_way(shots: &[Shot]) -> f64 {
    let times = shots.iter().map(|shot| shot.time);
    let first = times.clone().fold(f64::INFINITY, f64::min);
    0.5 * (first + times.fold(first, f64::max))
}

/// The points of some shots; their outcomes count points from the batch's first.
#[derive(Default)]
struct Received {
    outcomes: Vec<Outcome>,
    points: Vec<LidarPoint>,
}

impl Received {
    fn append_to(self, sweep: &mut PointSweep) {
        #[expect(clippy::cast_possible_truncation, reason = "shots are numbered by u32")]
        let before = sweep.points.len() as u32;
        sweep
            .outcomes
            .extend(self.outcomes.into_iter().map(|outcome| match outcome {
                Outcome::Points { first, count } => Outcome::Points {
                    first: first + before,
                    count,
                },
                other => other,
            }));
        sweep.points.extend(self.points);
    }
}

/// Memory that batches use again.
#[derive(Default)]
struct Batch {
    poses: Vec<Isometry3<f64>>,
    rays: Vec<Ray>,
    hits: Vec<Option<Hit>>,
    /// The shots in the order in which their rays are cast, where it is their own.
    order: Vec<usize>,
    /// What comes back, shot by shot.
    lights: Vec<Light>,
    workspace: Workspace,
}

/// What all batches of a sweep share.
#[derive(Clone)]
pub(super) struct Simulator<'a, P> {
    pub world: &'a World<'a, f64>,
    pub scanner: &'a Scanner,
    pub run: &'a Run,
    pub world_from_sensor: P,
    pub world_from_start: Isometry3<f64>,
    pub beam_rays: Vec<BeamRay>,
    /// The order in which the rays of batches of that many shots are cast, where all batches are
    /// turned copies of the first.
    order: Vec<usize>,
    pub air: PreparedAir<'a>,
    view: Option<View<'a>>,
    pub receiver: PreparedReceiver,
}

impl<'a, P: Fn(f64) -> Isometry3<f64>> Simulator<'a, P> {
    pub fn new(
        world: &'a World<'a, f64>,
        scanner: &'a Scanner,
        run: &'a Run,
        world_from_sensor: P,
        world_from_start: Isometry3<f64>,
    ) -> Self {
        let receiver = PreparedReceiver::new(&scanner.receiver);
        Self {
            air: PreparedAir::new(&run.air, scanner, receiver.pulse_fwhm()),
            beam_rays: scanner.beam.rays(scanner.sub_ray_rings),
            order: Vec::new(),
            view: View::new(world, &scanner.receiver),
            world,
            scanner,
            run,
            world_from_sensor,
            world_from_start,
            receiver,
        }
    }

    /// The same in another world.
    fn about<'b>(&self, world: &'b World<'b, f64>) -> Simulator<'b, P>
    where
        'a: 'b,
        P: Clone,
    {
        Simulator {
            view: View::new(world, &self.scanner.receiver),
            world,
            ..self.clone()
        }
    }

    /// Simulates the shots of a batch, the first of which has the number `first`.
    fn batch(&self, batch: &mut Batch, first: usize, shots: &[Shot]) -> Received {
        self.poses(shots, &mut batch.poses);
        batch.rays.clear();
        let order = if self.order.len() == shots.len() {
            &self.order
        } else {
            batch.order = cast_order(shots);
            &batch.order
        };
        for &shot in order {
            self.aim(&shots[shot], &batch.poses[shot], &mut batch.rays);
        }
        self.world
            .scene()
            .closest_hits_in_tiles(&batch.rays, &mut batch.hits);
        self.gather(&batch.rays, &batch.hits, order, &mut batch.lights);
        self.add_air(first, &mut batch.lights);
        batch.workspace.recent = self.recent();
        let mut received = Received {
            outcomes: Vec::with_capacity(shots.len()),
            points: Vec::with_capacity(shots.len()),
        };
        let lights = batch.lights.iter_mut();
        for ((i, light), (shot, pose)) in (first..).zip(lights).zip(shots.iter().zip(&batch.poses))
        {
            let fired = Fired {
                shot,
                number: shot_number(i),
                pose,
            };
            let points = &mut received.points;
            let outcome = self.report(fired, light, &mut batch.workspace, points);
            received.outcomes.push(outcome);
        }
        received
    }

    /// A memory of calibrated noise, where there is any.
    fn recent(&self) -> Recent {
        if !self.world.scene().has_profiles() {
            return Recent::default();
        }
        Recent::new(u32::try_from(self.scanner.channels.len()).unwrap_or(1))
    }

    /// The sensor's pose at each shot's own time.
    fn poses(&self, shots: &[Shot], poses: &mut Vec<Isometry3<f64>>) {
        poses.clear();
        let mut last: Option<(f64, Isometry3<f64>)> = None;
        for shot in shots {
            let known = last.filter(|(time, _)| *time == shot.time);
            let (_, pose) = *last
                .insert(known.unwrap_or_else(|| (shot.time, (self.world_from_sensor)(shot.time))));
            poses.push(pose);
        }
    }

    /// Appends the rays of one shot.
    pub fn aim(&self, shot: &Shot, pose: &Isometry3<f64>, rays: &mut Vec<Ray>) {
        if let [_axis] = &self.beam_rays[..] {
            rays.push(Ray {
                time: shot.time,
                ..Ray::new(pose * shot.origin, pose.rotation * shot.direction())
            });
            return;
        }
        let frame = BeamFrame::new(shot.azimuth, shot.elevation);
        for ray in &self.beam_rays {
            let offset = frame.left * ray.offset[0] + frame.up * ray.offset[1];
            let slope = frame.left * ray.slope[0] + frame.up * ray.slope[1];
            rays.push(Ray {
                time: shot.time,
                ..Ray::new(
                    pose * (shot.origin + offset),
                    pose.rotation * (frame.axis + slope).normalize(),
                )
            });
        }
    }

    /// Collects the light that comes back along the rays of some shots, in that order, for each
    /// shot.
    pub fn gather(
        &self,
        rays: &[Ray],
        hits: &[Option<Hit>],
        order: &[usize],
        lights: &mut Vec<Light>,
    ) {
        let per_shot = self.beam_rays.len();
        lights.resize_with(order.len(), Light::default);
        for (shot, hits) in order.iter().zip(hits.chunks(per_shot)) {
            let axis = hits[per_shot / 2].as_ref();
            lights[*shot].begin(axis.map_or(f64::INFINITY, |hit| hit.distance));
        }
        if let Some(view) = &self.view {
            for (number, (ray, hit)) in rays.iter().zip(hits).enumerate() {
                let power = view.power(&light_ray(ray), *hit, &self.run.tree);
                lights[order[number / per_shot]].ambient +=
                    power * self.beam_rays[number % per_shot].weight;
            }
        }
        let outgoing = rays.iter().map(light_ray);
        trace_trees(self.world, outgoing, hits, &self.run.tree, |ray, back| {
            let weight = self.beam_rays[ray % per_shot].weight;
            let power = back.power * weight * self.air.transmission(back.range);
            lights[order[ray / per_shot]].add(&back, power);
        });
    }

    /// Adds what the air sends back, up to the surface on each beam's axis.
    pub fn add_air(&self, first: usize, lights: &mut [Light]) {
        for (number, light) in (first..).zip(lights) {
            let drops = || self.stream(shot_number(number), Purpose::Precipitation);
            self.air.add(light.axis, drops, &mut light.returns);
        }
    }

    /// A stream of random numbers of one shot.
    pub fn stream(&self, shot: u32, purpose: Purpose) -> Stream {
        Stream::new(
            self.run.seed,
            self.run.sensor,
            self.run.sweep,
            shot,
            purpose,
        )
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a sweep has less than 2^32 shots"
)]
fn shot_number(number: usize) -> u32 {
    number as u32
}

fn light_ray(ray: &Ray) -> LightRay<f64> {
    LightRay {
        origin: ray.origin,
        direction: ray.direction,
        time: ray.time,
        mask: ray.mask,
    }
}

/// The order in which the rays of some shots are cast: neighbours together, whatever the order of
/// firing.
fn cast_order(shots: &[Shot]) -> Vec<usize> {
    let directions: Vec<_> = shots.iter().map(Shot::direction).collect();
    tile_order(&directions)
}
