//! Expected returns of beams of one ray from a sensor at rest, in lanes.
//!
//! The light of such a beam is one direct return: its range and its power determine what the receiver reports. Receiver
//! and report are evaluated in dual numbers of these two, however many parameters are differentiated. The derivatives
//! of range and power by the parameters follow from the first-order motion of the sensor (chain rule).
#![expect(
    clippy::inline_always,
    clippy::needless_bitwise_bool,
    clippy::needless_range_loop,
    reason = "loops over sixteen lanes become vector instructions"
)]

use super::expected_tile::{ReturnTile, report};
use super::order::CastOrder;
use super::received::Reception;
use crate::lidar::batch_shots::BatchShots;
use crate::lidar::light_model::LightModel;
use crate::lidar::predict::{ExpectedReturn, SHOTS_PER_BATCH, WriteReturns};
use crate::lidar::receiver::{PhaseReceiver, PreparedReceiver, RangeLanes, Receiver};
use crate::lidar::shot::Shot;
use crate::lidar::sweep::{Memory, Simulator, shot_number};
use crate::phase_signal_tile::PhaseSignalTile;
use crate::scalar_tile::{DualTile, EvaluatedLanes, LaneFunctions, LaneScalar, ScalarTile};
use crate::transport::{PoseTile, RigidReturnTile, Twist, TwistTile};
use etendue_physics::pulse::{AnalyticFinder, PulseReturn, SingleEchoForm};
use etendue_physics::{Dual, Scalar};
use etendue_scene::{HitTile, RayTile};
use etendue_simd::{Isa, Vectorized, prefetch};
use nalgebra::{Isometry3, Quaternion, UnitQuaternion};

/// Number of rays in a tile.
const LANES: usize = 16;

/// Number of tiles that are cast and measured while they are in the cache.
const TILES: usize = 8;

/// The vectorised pipeline of expected returns of beams of one ray from a sensor at rest.
pub(in crate::lidar) struct SingleRays<'p, 'a, S: LaneScalar> {
    /// The plain pipeline, for shots with other light than direct returns.
    plain: &'p Simulator<'a, S>,
    isa: Isa,
    /// Share of the beam's power of the ray.
    weight: f64,
    receiver: SingleReceiver,
    /// Order in which the shots of a whole batch are cast: that of the first batch, whose columns the others repeat.
    order: CastOrder,
    pose: Isometry3<S>,
    twist: Twist<S>,
    /// The same in each lane.
    twists: TwistTile<S>,
}

/// A receiver without noise as functions of range and power of the only light.
enum SingleReceiver {
    /// Pulsed, timed at an instant that does not depend on the power.
    Form(SingleEchoForm),
    /// Pulsed, timed at any instant.
    Finder(AnalyticFinder<Dual<2>>),
    Phase(PhaseReceiver),
}

/// Buffers of [`SingleRays`], reused from batch to batch.
pub(in crate::lidar) struct SingleMemory<S: LaneScalar> {
    rays: Vec<RayTile>,
    hits: Vec<HitTile>,
    light: Box<RigidReturnTile<S>>,
    expected: Box<ReturnTile<S>>,
}

impl<S: LaneScalar> Default for SingleMemory<S> {
    fn default() -> Self {
        Self {
            rays: vec![RayTile::EMPTY; TILES],
            hits: vec![HitTile::NONE; TILES],
            light: Box::new(RigidReturnTile::nothing()),
            expected: Box::new(ReturnTile::nothing()),
        }
    }
}

impl<'p, 'a, S: LaneScalar> SingleRays<'p, 'a, S> {
    /// The vectorised pipeline; `None` unless beams have one ray, the sensor is at rest, the receiver is a phase receiver
    /// or a pulsed one in closed form, without derivatives, and surfaces send all of the light along ray trees.
    pub fn new(isa: Isa, plain: &'p Simulator<'a, S>, shots: &[Shot]) -> Option<Self> {
        // Check the light.
        let by_trees = matches!(plain.settings.light, LightModel::Tree(_));
        let only_surfaces =
            plain.ambient.is_none() && !plain.air.is_detected() && plain.hooks.extra_rays.is_none();
        let is_expected = plain.settings.without_noise && plain.beam_rays.is_axis();
        if !(by_trees && only_surfaces && is_expected) {
            return None;
        }
        // Prepare the receiver.
        let receiver = match (plain.lidar.receiver.plain()?, &plain.receiver) {
            (Receiver::Phase(receiver), _) => SingleReceiver::Phase(receiver.without_noise()),
            (Receiver::Pulsed(own), PreparedReceiver::Pulsed(prepared))
                if prepared.is_closed_form() =>
            {
                let form = own.analytic().finder().single_form();
                let finder = || own.map(Dual::from).analytic().finder();
                form.map_or_else(|| SingleReceiver::Finder(finder()), SingleReceiver::Form)
            }
            _ => return None,
        };
        // Find the pose.
        let pose = plain
            .world_from_sensor
            .constant(BatchShots::Listed(shots))?;
        let mut poses = PoseTile::identity();
        (0..LANES).for_each(|lane| poses.put(lane, &pose));
        Some(Self {
            plain,
            isa,
            weight: plain.beam_rays.weight(0),
            receiver,
            order: CastOrder::new(shots.get(..SHOTS_PER_BATCH).unwrap_or_default()),
            pose,
            twist: Twist::of(&pose),
            twists: poses.twist(),
        })
    }

    /// Predicts consecutive shots of a sweep, of which `first` is the index of the first, and writes their returns.
    pub fn predict(
        &self,
        shots: &[Shot],
        first: u32,
        memory: &mut SingleMemory<S>,
        plain: &mut Memory<S>,
        write: &mut impl WriteReturns<S>,
    ) {
        let own;
        let order = if shots.len() == self.order.shots().len() {
            self.order.all()
        } else {
            own = CastOrder::new(shots);
            own.all()
        };
        // Load the shots in order, which they are not cast in.
        shots.iter().for_each(prefetch);
        let scene = self.plain.world.scene();
        let world_from_sensor = self.world_from_sensor();
        for places in order.shots.chunks(TILES * LANES) {
            // Aim and cast the rays of some tiles.
            let count = places.len().div_ceil(LANES);
            self.isa.run(AimTiles {
                shots,
                places,
                world_from_sensor: &world_from_sensor,
                rays: &mut memory.rays[..count],
            });
            let hits = &mut memory.hits[..count];
            let casts = &mut plain.detector.scratch.get().casts;
            scene.closest_hits_of_tiles(&memory.rays[..count], hits, casts);
            // Measure their light.
            for (tile, places) in places.chunks(LANES).enumerate() {
                let others = self.isa.run(ExpectSingles {
                    own: self,
                    shots,
                    first,
                    places,
                    rays: &memory.rays[tile],
                    hits: &memory.hits[tile],
                    light: &mut memory.light,
                    expected: &mut memory.expected,
                    write,
                });
                // Predict shots with other light by the plain pipeline.
                for (lane, &place) in places.iter().enumerate().filter(|(lane, _)| others[*lane]) {
                    let number = first + shot_number(place);
                    let shot = &shots[place];
                    write.write(
                        place,
                        self.predict_traced(tile, lane, shot, number, memory, plain),
                    );
                }
            }
        }
    }

    /// The pose of the sensor without derivatives.
    fn world_from_sensor(&self) -> Isometry3<f64> {
        let rotation = Quaternion::from(self.pose.rotation.coords.map(Scalar::value));
        Isometry3::from_parts(
            self.pose.translation.vector.map(Scalar::value).into(),
            UnitQuaternion::new_unchecked(rotation),
        )
    }

    /// Predicts a shot by the plain pipeline, from the first hit of its ray.
    fn predict_traced(
        &self,
        tile: usize,
        lane: usize,
        shot: &Shot,
        number: u32,
        memory: &SingleMemory<S>,
        plain: &mut Memory<S>,
    ) -> Option<ExpectedReturn<S>> {
        let hits = std::iter::once(memory.hits[tile].hit(lane));
        self.plain.aim_extra(1, number, plain);
        self.plain
            .collect_light_of_shot(shot, number, hits, None, plain);
        self.plain.predict_collected(shot, number, plain)
    }
}

/// Computes the rays of shots at some places, in tiles.
struct AimTiles<'s> {
    shots: &'s [Shot],
    places: &'s [usize],
    world_from_sensor: &'s Isometry3<f64>,
    rays: &'s mut [RayTile],
}

impl Vectorized for AimTiles<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (rays, places) in self.rays.iter_mut().zip(self.places.chunks(LANES)) {
            for (lane, place) in places.iter().enumerate() {
                let shot = &self.shots[*place];
                let direction = shot.direction();
                for axis in 0..3 {
                    rays.origin[axis][lane] = shot.origin[axis];
                    rays.direction[axis][lane] = direction[axis];
                }
                rays.time[lane] = shot.time;
            }
            rays.used = places.len();
            rays.transform(self.world_from_sensor);
        }
    }
}

/// Measures the light of sixteen rays, and writes the returns. Returns the lanes with other light than direct returns.
struct ExpectSingles<'s, 'p, 'a, S: LaneScalar, W> {
    own: &'s SingleRays<'p, 'a, S>,
    shots: &'s [Shot],
    /// Index of the first shot in the sweep.
    first: u32,
    /// Place of the shot of each lane.
    places: &'s [usize],
    rays: &'s RayTile,
    hits: &'s HitTile,
    light: &'s mut RigidReturnTile<S>,
    expected: &'s mut ReturnTile<S>,
    write: &'s mut W,
}

impl<S: LaneScalar, W: WriteReturns<S>> Vectorized for ExpectSingles<'_, '_, '_, S, W> {
    type Output = [bool; LANES];

    #[inline(always)]
    fn run(self) -> [bool; LANES] {
        let plain = self.own.plain;
        let world = plain.world;
        let shots = self.places.iter().map(|place| &self.shots[*place]);
        let is_complete = if plain.hooks.factor.is_none() && !plain.air.attenuates() {
            // Nothing between sensor and surface: derivatives are by the motion of the sensor and the backscatter.
            let (light, twist) = (&mut *self.light, &self.own.twist);
            world.rigid_returns(self.rays, self.hits, twist, light);
            light.scale(self.own.weight);
            let parts = [&light.range, &light.power];
            let reported = self.own.report(shots, parts, &light.has_return);
            self.expected.set_rigid(&reported, light, twist);
            light.is_complete
        } else {
            // Factors and air may have derivatives of their own.
            let twists = &self.own.twists;
            let mut direct = world.direct_returns_of_poses(self.rays, self.hits, twists);
            let reception = Reception {
                factor: plain.hooks.factor,
                weight: self.own.weight,
                air: &plain.air,
            };
            let number = |lane: usize| (self.first + shot_number(self.places[lane])) as usize;
            reception.apply(&mut direct, self.hits, number);
            let parts = [direct.range.values(), direct.power.values()];
            let reported = self.own.report(shots, parts, &direct.has_return);
            (self.expected).set(&reported, [&direct.range, &direct.power]);
            direct.is_complete
        };
        self.write.write_tile(self.places, self.expected);
        let mut others = [false; LANES];
        for lane in 0..LANES {
            let is_hit = (lane < self.rays.used) & self.hits.is_hit(lane);
            others[lane] = is_hit & !is_complete[lane];
        }
        others
    }
}

impl<S: LaneScalar> SingleRays<'_, '_, S> {
    /// What the lidar reports of light with one range (m) and power per lane, with derivatives by both.
    #[inline(always)]
    fn report<'s>(
        &self,
        shots: impl Iterator<Item = &'s Shot>,
        light: [&[f64; LANES]; 2],
        has_return: &[bool; LANES],
    ) -> EvaluatedLanes<2, 3> {
        let mut detected = match &self.receiver {
            SingleReceiver::Form(form) => EvaluatedLanes::of(light, &FormEchoes(form)),
            SingleReceiver::Finder(finder) => EvaluatedLanes::of(light, &FinderEchoes(finder)),
            SingleReceiver::Phase(receiver) => self.measure(receiver, light),
        };
        for lane in 0..LANES {
            detected.exist[lane] &= has_return[lane];
        }
        report(self.plain.lidar, shots, &detected).after(&detected)
    }

    /// Range and power that a phase receiver measures.
    #[inline(always)]
    fn measure(
        &self,
        receiver: &PhaseReceiver,
        [range, power]: [&[f64; LANES]; 2],
    ) -> EvaluatedLanes<2, 2> {
        let [zero, one] = [[0.0; LANES], [1.0; LANES]];
        let range = DualTile {
            re: *range,
            eps: [one, zero],
        };
        let power = DualTile {
            re: *power,
            eps: [zero, one],
        };
        let mut signal = PhaseSignalTile::<Dual<2>>::nothing();
        signal.add(&receiver.modulation, &range, &power);
        let RangeLanes { range, found } = receiver.measure_lanes(&signal, &self.plain.lidar.limits);
        EvaluatedLanes {
            values: [range.re, signal.power.re],
            slopes: [range.eps, signal.power.eps],
            exist: found,
        }
    }
}

/// Range and power of the echo of the light in a lane, timed at an instant that does not depend on the power.
struct FormEchoes<'s>(&'s SingleEchoForm);

impl LaneFunctions<2, 2> for FormEchoes<'_> {
    #[inline(always)]
    fn of(&self, _: usize, [range, power]: [Dual<2>; 2]) -> ([Dual<2>; 2], bool) {
        let (echo, found) = self.0.echo(range, power);
        (echo, found)
    }
}

/// Range and power of the echo of the light in a lane.
struct FinderEchoes<'s>(&'s AnalyticFinder<Dual<2>>);

impl LaneFunctions<2, 2> for FinderEchoes<'_> {
    #[inline(always)]
    fn of(&self, _: usize, [range, power]: [Dual<2>; 2]) -> ([Dual<2>; 2], bool) {
        let (echo, found) = self.0.single(&PulseReturn { range, power });
        ([echo.range, echo.power], found)
    }
}
