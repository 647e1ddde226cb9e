//! Expected detections of a pulsed receiver in closed form, with the direct returns of its rays in lanes.
#![expect(
    clippy::inline_always,
    reason = "loops over sixteen lanes become vector instructions"
)]

use super::order::{CastOrder, Order};
use crate::lidar::batch_shots::BatchShots;
use crate::lidar::beam::BeamRays;
use crate::lidar::light_model::LightModel;
use crate::lidar::predict::{ExpectedReturn, WriteReturns, first_return};
use crate::lidar::receiver::{PreparedPulsed, PreparedReceiver};
use crate::lidar::shot::Shot;
use crate::lidar::sweep::{Memory, Simulator, shot_number};
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
    /// Order in which the shots of a whole batch are cast: that of the first batch, whose columns the others repeat.
    order: CastOrder,
}

/// Buffers of [`ExpectedPulses`], reused from batch to batch.
pub(in crate::lidar) struct PulseMemory<S: LaneScalar> {
    /// Origins and directions of the rays of one shot, in the frame of the sensor.
    own: Vec<(Point3<f64>, Vector3<f64>)>,
    /// The rays of all shots in cast order, and their hits.
    rays: Vec<RayTile>,
    hits: Vec<HitTile>,
    /// Their direct returns.
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

/// Consecutive shots at one pose of the sensor.
struct PulseBatch<'s, S: LaneScalar> {
    shots: &'s [Shot],
    /// Index of the first in the sweep.
    first: u32,
    /// The order in which their rays are cast.
    order: Order<'s>,
    /// Changes of the pose.
    twist: &'s TwistTile<S>,
}

impl<'p, 'a, S: LaneScalar> ExpectedPulses<'p, 'a, S> {
    /// The vectorised pipeline; `None` unless the lidar has a pulsed receiver with echoes in closed form, ray
    /// trees and a beam without derivatives, and surfaces send all of its light.
    pub fn new(isa: Isa, plain: &'p Simulator<'a, S>, shots: &[Shot]) -> Option<Self> {
        let PreparedReceiver::Pulsed(receiver) = &plain.receiver else {
            return None;
        };
        let by_trees = matches!(plain.settings.light, LightModel::Tree(_));
        let only_surfaces =
            plain.ambient.is_none() && !plain.air.is_detected() && plain.hooks.extra_rays.is_none();
        let is_expected = plain.settings.without_noise && receiver.is_closed_form();
        let rays = plain.beam_rays.plain()?;
        let per_batch = plain.lidar.shots_per_batch(shots.len());
        Some(Self {
            plain,
            receiver,
            isa,
            rays,
            order: CastOrder::new(shots.get(..per_batch).unwrap_or_default()),
        })
        .filter(|_| by_trees && only_surfaces && is_expected)
    }

    /// Predicts consecutive shots of a sweep, of which `first` is the index of the first, and writes their returns.
    pub fn predict(
        &self,
        shots: &[Shot],
        first: u32,
        memory: &mut PulseMemory<S>,
        plain: &mut Memory<S>,
        write: &mut impl WriteReturns<S>,
    ) {
        // Moving sensors take the plain form.
        let Some(pose) = (self.plain.world_from_sensor).constant(BatchShots::Listed(shots)) else {
            return self.plain.predict(shots, first, plain, write);
        };
        // Aim and cast the rays of all shots.
        let own;
        let order = if shots.len() == self.order.shots().len() {
            self.order.all()
        } else {
            own = CastOrder::new(shots);
            own.all()
        };
        self.aim(shots, order, &pose, memory);
        let casts = &mut plain.detector.scratch.get().casts;
        let scene = self.plain.world.scene();
        scene.closest_hits_of_tiles(&memory.rays, &mut memory.hits, casts);
        // Detect the echoes.
        let mut poses = PoseTile::identity();
        (0..LANES).for_each(|lane| poses.put(lane, &pose));
        let twist = &poses.twist();
        let batch = PulseBatch {
            shots,
            first,
            order,
            twist,
        };
        self.predict_batch(&batch, memory, plain, write);
    }

    /// Predicts shots whose rays are cast, one by one.
    fn predict_batch(
        &self,
        batch: &PulseBatch<S>,
        memory: &mut PulseMemory<S>,
        plain: &mut Memory<S>,
        write: &mut impl WriteReturns<S>,
    ) {
        self.isa.run(DirectReturns {
            world: self.plain.world,
            rays: &memory.rays,
            hits: &memory.hits,
            twist: batch.twist,
            returns: &mut memory.direct,
        });
        for (own, &place) in batch.order.shots.iter().enumerate() {
            let ray = own * self.rays.count();
            if !self.collect(ray, batch.number(place), memory) {
                let returned = self.predict_traced(ray, place, batch, memory, plain);
                write.write(place, returned);
                continue;
            }
            let detector = &mut plain.detector;
            let detections = &mut detector.detected.detections;
            detections.clear();
            let pulsed = &mut detector.pulsed;
            (self.receiver).detect_returns(&mut memory.returns, None, pulsed, detections);
            let shot = &batch.shots[place];
            let returned = first_return(self.plain.lidar, shot, 0.0, detections);
            write.write(place, returned);
        }
    }

    /// Computes the rays of the shots, in an order.
    fn aim(&self, shots: &[Shot], order: Order, pose: &Isometry3<S>, memory: &mut PulseMemory<S>) {
        let PulseMemory {
            own, rays, hits, ..
        } = memory;
        let per_shot = self.rays.count();
        let count = shots.len() * per_shot;
        let tiles = count.div_ceil(LANES);
        rays.resize(tiles, RayTile::EMPTY);
        hits.resize(tiles, HitTile::NONE);
        // Write the rays of each shot to their tiles.
        for (shot, place) in shots.iter().zip(order.places) {
            own.clear();
            self.rays.aim(shot, own);
            for (ray, (origin, direction)) in (place * per_shot..).zip(own.iter()) {
                let aimed = Ray {
                    time: shot.time,
                    ..Ray::new(*origin, *direction)
                };
                rays[ray / LANES].put(ray % LANES, &aimed);
            }
        }
        // Transform them into the world.
        let world_from_sensor = Isometry3::from_parts(
            pose.translation.vector.map(Scalar::value).into(),
            UnitQuaternion::new_unchecked(Quaternion::from(
                pose.rotation.coords.map(Scalar::value),
            )),
        );
        for (number, tile) in rays.iter_mut().enumerate() {
            tile.used = LANES.min(count - number * LANES);
            tile.transform(&world_from_sensor);
        }
    }

    /// Collects the returns of the shot with a number and a first ray. Returns false if not all of its light is
    /// direct.
    fn collect(&self, first: usize, number: u32, memory: &mut PulseMemory<S>) -> bool {
        memory.returns.clear();
        let per_shot = self.rays.count();
        for own in 0..per_shot {
            let ray = first + own;
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

    /// Predicts the shot at a place by the plain pipeline, from the first hits of its rays, from the ray `first`.
    fn predict_traced(
        &self,
        first: usize,
        place: usize,
        batch: &PulseBatch<S>,
        memory: &PulseMemory<S>,
        plain: &mut Memory<S>,
    ) -> Option<ExpectedReturn<S>> {
        let own = first..first + self.rays.count();
        let hits = own.map(|ray| memory.hits[ray / LANES].hit(ray % LANES));
        let (shot, number) = (&batch.shots[place], batch.number(place));
        self.plain.aim_extra(1, number, plain);
        self.plain
            .collect_light_of_shot(shot, number, hits, None, plain);
        self.plain.predict_collected(shot, number, plain)
    }
}

impl<S: LaneScalar> PulseBatch<'_, S> {
    /// Index in the sweep of the shot at a place.
    fn number(&self, place: usize) -> u32 {
        self.first + shot_number(place)
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
