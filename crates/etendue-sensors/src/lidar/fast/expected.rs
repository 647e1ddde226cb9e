//! Expected detections of a pulsed receiver in closed form, with the direct returns of its rays in lanes.
#![expect(
    clippy::inline_always,
    reason = "loops over sixteen lanes become vector instructions"
)]

use super::expected_tile::ExpectedTile;
use super::order::{CastOrder, Order};
use super::received::Reception;
use crate::lidar::batch_shots::BatchShots;
use crate::lidar::beam::BeamRays;
use crate::lidar::light_model::LightModel;
use crate::lidar::predict::{ExpectedReturn, SHOTS_PER_BATCH, WriteReturns, first_return};
use crate::lidar::receiver::{PreparedPulsed, PreparedReceiver, Receiver};
use crate::lidar::shot::Shot;
use crate::lidar::sweep::{Memory, Simulator, shot_number};
use crate::scalar_tile::{LaneFunctions, LaneScalar, ScalarTile};
use crate::transport::{DirectReturnTile, PoseTile, TwistTile, World};
use etendue_physics::pulse::{AnalyticFinder, PulseReturn};
use etendue_physics::{Dual, Scalar};
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
    /// The finder of the echoes of beams of one ray, if its parameters have no derivatives.
    singles: Option<AnalyticFinder<Dual<2>>>,
}

/// Buffers of [`ExpectedPulses`], reused from batch to batch.
pub(in crate::lidar) struct PulseMemory<S: LaneScalar> {
    /// Origins and directions of the rays of one shot, in the frame of the sensor.
    own: Vec<(Point3<f64>, Vector3<f64>)>,
    /// The rays of all shots in cast order, and their hits.
    rays: Vec<RayTile>,
    hits: Vec<HitTile>,
    /// Their direct returns; those of one tile for beams of one ray.
    direct: Vec<DirectReturnTile<S>>,
    /// Returns of the shots of a tile.
    expected: ExpectedTile<S>,
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
            expected: ExpectedTile::nothing(),
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
        let singles = match plain.lidar.receiver.plain() {
            Some(Receiver::Pulsed(own)) if rays.count() == 1 => {
                Some(own.map(Dual::from).analytic().finder())
            }
            _ => None,
        };
        Some(Self {
            plain,
            receiver,
            isa,
            rays,
            order: CastOrder::new(shots.get(..SHOTS_PER_BATCH).unwrap_or_default()),
            singles,
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
        match &self.singles {
            Some(finder) => self.predict_singles(finder, &batch, memory, plain, write),
            None => self.predict_several(&batch, memory, plain, write),
        }
    }

    /// Predicts shots of one ray each, whose rays are cast, in lanes.
    fn predict_singles(
        &self,
        finder: &AnalyticFinder<Dual<2>>,
        batch: &PulseBatch<S>,
        memory: &mut PulseMemory<S>,
        plain: &mut Memory<S>,
        write: &mut impl WriteReturns<S>,
    ) {
        let order = batch.order.shots;
        memory.direct.resize(1, DirectReturnTile::nothing());
        for (tile, places) in order.chunks(LANES).enumerate() {
            self.isa.run(ExpectSingles {
                plain: self.plain,
                weight: self.rays.weight(0),
                finder,
                batch,
                places,
                rays: &memory.rays[tile],
                hits: &memory.hits[tile],
                direct: &mut memory.direct[0],
                expected: &mut memory.expected,
            });
            for (lane, &place) in places.iter().enumerate() {
                let is_hit = memory.hits[tile].is_hit(lane);
                if memory.direct[0].is_complete[lane] || !is_hit {
                    write.write(place, memory.expected.lane(lane));
                    continue;
                }
                let ray = tile * LANES + lane;
                write.write(place, self.predict_traced(ray, place, batch, memory, plain));
            }
        }
    }

    /// Predicts shots of several rays each, whose rays are cast, one by one.
    fn predict_several(
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

/// Detects the echoes of sixteen single returns.
struct ExpectSingles<'s, 'a, S: LaneScalar> {
    plain: &'s Simulator<'a, S>,
    /// Weight of the only ray of a beam.
    weight: f64,
    finder: &'s AnalyticFinder<Dual<2>>,
    batch: &'s PulseBatch<'s, S>,
    /// Place of the shot of each lane.
    places: &'s [usize],
    rays: &'s RayTile,
    hits: &'s HitTile,
    direct: &'s mut DirectReturnTile<S>,
    expected: &'s mut ExpectedTile<S>,
}

/// Range and power of the echo of the light in a lane.
struct SingleEchoes<'s> {
    finder: &'s AnalyticFinder<Dual<2>>,
    has_return: [bool; LANES],
}

impl LaneFunctions<2, 2> for SingleEchoes<'_> {
    #[inline(always)]
    fn of(&self, lane: usize, [range, power]: [Dual<2>; 2]) -> ([Dual<2>; 2], bool) {
        let (echo, found) = self.finder.single(&PulseReturn { range, power });
        ([echo.range, echo.power], found & self.has_return[lane])
    }
}

impl<S: LaneScalar> Vectorized for ExpectSingles<'_, '_, S> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        // Evaluate the direct returns.
        let direct = self.direct;
        let world = self.plain.world;
        *direct = world.direct_returns_of_poses(self.rays, self.hits, self.batch.twist);
        let reception = Reception {
            factor: self.plain.hooks.factor,
            weight: self.weight,
            air: &self.plain.air,
        };
        let number = |lane: usize| self.batch.number(self.places[lane]) as usize;
        reception.apply(direct, self.hits, number);
        // Detect their echoes.
        let light = [&direct.range, &direct.power];
        let shots = self.places.iter().map(|place| &self.batch.shots[*place]);
        let echoes = SingleEchoes {
            finder: self.finder,
            has_return: direct.has_return,
        };
        (self.expected).set(self.plain.lidar, shots, light, &echoes);
    }
}
