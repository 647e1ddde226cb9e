//! Expected detections of a pulsed receiver in closed form, with the direct returns of its rays in lanes.
#![expect(
    clippy::inline_always,
    reason = "loops over sixteen lanes become vector instructions"
)]

use crate::lidar::batch_shots::BatchShots;
use crate::lidar::beam::BeamRays;
use crate::lidar::light_model::LightModel;
use crate::lidar::receiver::{Detection, PreparedPulsed, PreparedReceiver};
use crate::lidar::shot::Shot;
use crate::lidar::sweep::{FiredShot, Memory, Simulator};
use crate::scalar_tile::{LaneScalar, ScalarTile};
use crate::transport::{DirectReturnTile, PoseTile, TwistTile, World};
use etendue_physics::Scalar;
use etendue_physics::pulse::PulseReturn;
use etendue_scene::{HitTile, Ray, RayTile};
use etendue_simd::{Isa, Vectorized};
use nalgebra::{Isometry3, Point3, Quaternion, UnitQuaternion, Vector3};

/// Number of rays in a tile.
const LANES: usize = 16;

/// The vectorised pipeline of expected detections of a pulsed receiver.
pub(in crate::lidar) struct ExpectedPulses<'p, 'a, S: LaneScalar> {
    /// The plain pipeline, for shots with other light than direct returns.
    plain: &'p Simulator<'a, S>,
    receiver: &'p PreparedPulsed<S>,
    isa: Isa,
    /// The rays of a beam, without derivatives.
    rays: BeamRays<f64>,
}

/// Buffers of [`ExpectedPulses`], reused from batch to batch.
pub(in crate::lidar) struct PulseMemory<S: LaneScalar> {
    /// Origins and directions of the rays of one shot, in the frame of the sensor.
    own: Vec<(Point3<f64>, Vector3<f64>)>,
    /// The rays of all shots, shot by shot, and their hits and direct returns.
    rays: Vec<RayTile>,
    hits: Vec<HitTile>,
    direct: Vec<DirectReturnTile<S>>,
    /// Returns of one shot.
    returns: Vec<PulseReturn<S>>,
}

impl<S: LaneScalar> Default for PulseMemory<S> {
    fn default() -> Self {
        Self {
            own: Vec::new(),
            rays: Vec::new(),
            hits: Vec::new(),
            direct: Vec::new(),
            returns: Vec::new(),
        }
    }
}

impl<'p, 'a, S: LaneScalar> ExpectedPulses<'p, 'a, S> {
    /// The vectorised pipeline; `None` unless the lidar has a pulsed receiver with echoes in closed form, ray
    /// trees and a beam without derivatives, and surfaces send all of its light.
    pub fn new(isa: Isa, plain: &'p Simulator<'a, S>) -> Option<Self> {
        let PreparedReceiver::Pulsed(receiver) = &plain.receiver else {
            return None;
        };
        let by_trees = matches!(plain.settings.light, LightModel::Tree(_));
        let only_surfaces =
            plain.ambient.is_none() && !plain.air.is_detected() && plain.hooks.extra_rays.is_none();
        let is_expected = plain.settings.without_noise && receiver.is_closed_form();
        Some(Self {
            plain,
            receiver,
            isa,
            rays: plain.beam_rays.plain()?,
        })
        .filter(|_| by_trees && only_surfaces && is_expected)
    }

    /// Measures consecutive shots of a sweep, of which `first` is the index of the first, and calls `report`
    /// with each and its detections.
    pub fn measure(
        &self,
        shots: &[Shot],
        first: u32,
        memory: &mut PulseMemory<S>,
        plain: &mut Memory<S>,
        mut report: impl FnMut(FiredShot<S>, &[Detection<S>]),
    ) {
        // Moving sensors take the plain form.
        let Some(pose) = (self.plain.world_from_sensor).constant(BatchShots::Listed(shots)) else {
            self.plain
                .measure(shots, first, plain, |fired, _, detected| {
                    report(fired, &detected.detections);
                });
            return;
        };
        // Aim and cast the rays of all shots, and evaluate their direct returns.
        self.aim(shots, &pose, memory);
        let casts = &mut plain.detector.scratch.get().casts;
        let scene = self.plain.world.scene();
        scene.closest_hits_of_tiles(&memory.rays, &mut memory.hits, casts);
        let mut poses = PoseTile::identity();
        (0..LANES).for_each(|lane| poses.put(lane, &pose));
        self.isa.run(DirectReturns {
            world: self.plain.world,
            rays: &memory.rays,
            hits: &memory.hits,
            twist: &poses.twist(),
            returns: &mut memory.direct,
        });
        // Detect the echoes of each shot.
        for (place, (shot, number)) in shots.iter().zip(first..).enumerate() {
            if !self.collect(place, number, memory) {
                self.measure_traced(place, (shot, number), memory, plain, &mut report);
                continue;
            }
            let detector = &mut plain.detector;
            let detections = &mut detector.detected.detections;
            detections.clear();
            let pulsed = &mut detector.pulsed;
            (self.receiver).detect_returns(&mut memory.returns, None, pulsed, detections);
            let pose = &pose;
            report(FiredShot { shot, number, pose }, detections);
        }
    }

    /// Computes the rays of the shots.
    fn aim(&self, shots: &[Shot], pose: &Isometry3<S>, memory: &mut PulseMemory<S>) {
        let PulseMemory {
            own, rays, hits, ..
        } = memory;
        // List the rays of each shot in the frame of the sensor.
        own.clear();
        for shot in shots {
            self.rays.aim(shot, own);
        }
        // Write them to tiles, in the world.
        let world_from_sensor = Isometry3::from_parts(
            pose.translation.vector.map(Scalar::value).into(),
            UnitQuaternion::new_unchecked(Quaternion::from(
                pose.rotation.coords.map(Scalar::value),
            )),
        );
        let per_shot = self.rays.count();
        let tiles = own.len().div_ceil(LANES);
        rays.resize(tiles, RayTile::EMPTY);
        hits.resize(tiles, HitTile::NONE);
        for (number, tile) in rays.iter_mut().enumerate() {
            let first = number * LANES;
            let members = &own[first..own.len().min(first + LANES)];
            tile.used = members.len();
            for (lane, (origin, direction)) in members.iter().enumerate() {
                let ray = Ray {
                    time: shots[(first + lane) / per_shot].time,
                    ..Ray::new(*origin, *direction)
                };
                tile.put(lane, &ray);
            }
            tile.transform(&world_from_sensor);
        }
    }

    /// Collects the returns of the shot at a place of the batch. Returns false if not all of its light is
    /// direct.
    fn collect(&self, place: usize, number: u32, memory: &mut PulseMemory<S>) -> bool {
        memory.returns.clear();
        let per_shot = self.rays.count();
        for own in 0..per_shot {
            let ray = place * per_shot + own;
            let (tile, lane) = (ray / LANES, ray % LANES);
            let hits = &memory.hits[tile];
            let direct = &memory.direct[tile];
            if hits.is_hit(lane) && !direct.is_complete[lane] {
                return false;
            }
            if !direct.has_return[lane] {
                continue;
            }
            let range = direct.range.lane(lane);
            let mut power = direct.power.lane(lane);
            if let (Some(factor), Some(hit)) = (self.plain.hooks.factor, hits.hit(lane)) {
                power *= factor(number as usize, &hit);
            }
            let power = power * self.rays.weight(own) * self.plain.air.transmission(range);
            memory.returns.push(PulseReturn { range, power });
        }
        true
    }

    /// Measures a shot by the plain pipeline, from the first hits of its rays.
    fn measure_traced(
        &self,
        place: usize,
        (shot, number): (&Shot, u32),
        memory: &PulseMemory<S>,
        plain: &mut Memory<S>,
        report: &mut impl FnMut(FiredShot<S>, &[Detection<S>]),
    ) {
        let per_shot = self.rays.count();
        let own = place * per_shot..(place + 1) * per_shot;
        let hits = own.map(|ray| memory.hits[ray / LANES].hit(ray % LANES));
        self.plain.aim_extra(1, number, plain);
        self.plain
            .collect_light_of_shot(shot, number, hits, None, plain);
        let shots = std::slice::from_ref(shot);
        self.plain
            .detect_shots(shots, number, plain, |fired, _, detected| {
                report(fired, &detected.detections);
            });
    }
}

/// Evaluates the direct returns of tiles of rays.
struct DirectReturns<'s, S: LaneScalar> {
    world: &'s World<'s, S>,
    rays: &'s [RayTile],
    hits: &'s [HitTile],
    twist: &'s TwistTile<S>,
    returns: &'s mut Vec<DirectReturnTile<S>>,
}

impl<S: LaneScalar> Vectorized for DirectReturns<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.returns.clear();
        for (rays, hits) in self.rays.iter().zip(self.hits) {
            let direct = (self.world).direct_returns_of_poses(rays, hits, self.twist);
            self.returns.push(direct);
        }
    }
}
