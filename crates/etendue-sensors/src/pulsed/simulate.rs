//! The pipeline: shots to rays, rays to light that comes back, light to points.

use super::air::PreparedAir;
use super::receive::{Light, PreparedReceiver};
use super::{Air, Frame, LidarPoint, Outcome, PointSweep};
use crate::scanner::{Scanner, Shot};
use crate::transport::{LightRay, TreeSettings, World, trace_tree_from};
use etendue_physics::beam::BeamFrame;
use etendue_physics::pulse::BeamRay;
use etendue_physics::{Purpose, Stream};
use etendue_scene::{Hit, Ray};
use nalgebra::Isometry3;
use rayon::prelude::*;

/// Shots that one task handles: their rays are cast in one batch.
const BATCH: usize = 256;

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
pub fn simulate(
    world: &World<f64>,
    scanner: &Scanner,
    run: &Run,
    world_from_sensor: impl Fn(f64) -> Isometry3<f64> + Sync,
) -> PointSweep {
    let shots = scanner.shots(run.sweep);
    let start = f64::from(run.sweep) * scanner.sweep_duration();
    let world_from_start = world_from_sensor(start);
    let simulator = Simulator::new(world, scanner, run, &world_from_sensor, world_from_start);
    let batches: Vec<Received> = shots
        .par_chunks(BATCH)
        .enumerate()
        .map_init(Batch::default, |batch, (number, shots)| {
            simulator.batch(batch, number * BATCH, shots)
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
        points: Vec::with_capacity(shots.len()),
        shots,
    };
    for batch in batches {
        batch.append_to(&mut sweep);
    }
    sweep
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
    rays: Vec<Ray>,
    hits: Vec<Option<Hit>>,
    light: Light,
}

/// What all batches of a sweep share.
pub(super) struct Simulator<'a, P> {
    pub world: &'a World<'a, f64>,
    pub scanner: &'a Scanner,
    pub run: &'a Run,
    pub world_from_sensor: P,
    pub world_from_start: Isometry3<f64>,
    pub beam_rays: Vec<BeamRay>,
    pub air: PreparedAir<'a>,
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
            world,
            scanner,
            run,
            world_from_sensor,
            world_from_start,
            receiver,
        }
    }

    /// Simulates the shots of a batch, the first of which has the number `first`.
    fn batch(&self, batch: &mut Batch, first: usize, shots: &[Shot]) -> Received {
        let poses: Vec<_> = shots
            .iter()
            .map(|shot| (self.world_from_sensor)(shot.time))
            .collect();
        batch.rays.clear();
        for (shot, pose) in shots.iter().zip(&poses) {
            self.aim(shot, pose, &mut batch.rays);
        }
        self.world
            .scene()
            .closest_hits(&batch.rays, &mut batch.hits);
        let per_shot = self.beam_rays.len();
        let mut received = Received::default();
        for (i, (shot, pose)) in shots.iter().zip(&poses).enumerate() {
            let rays = i * per_shot..(i + 1) * per_shot;
            let number = shot_number(first + i);
            self.gather(
                &batch.rays[rays.clone()],
                &batch.hits[rays],
                number,
                &mut batch.light,
            );
            let outcome = self.report(shot, number, pose, &mut batch.light, &mut received.points);
            received.outcomes.push(outcome);
        }
        received
    }

    /// Appends the rays of one shot.
    pub fn aim(&self, shot: &Shot, pose: &Isometry3<f64>, rays: &mut Vec<Ray>) {
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

    /// Collects the light that comes back along the rays of one shot.
    pub fn gather(&self, rays: &[Ray], hits: &[Option<Hit>], number: u32, light: &mut Light) {
        light.clear();
        for (beam_ray, (ray, hit)) in self.beam_rays.iter().zip(rays.iter().zip(hits)) {
            let outgoing = LightRay {
                origin: ray.origin,
                direction: ray.direction,
                time: ray.time,
                mask: ray.mask,
            };
            trace_tree_from(self.world, &outgoing, *hit, &self.run.tree, |back| {
                let power = back.power * beam_ray.weight * self.air.transmission(back.range);
                light.add(&back, power);
            });
        }
        let middle = hits[hits.len() / 2].map_or(f64::INFINITY, |hit| hit.distance);
        let drops = || self.stream(number, Purpose::Precipitation);
        self.air.add(middle, drops, &mut light.returns);
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
