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
use super::received::Reception;
use super::shot_tiles::{ShotTile, ShotTiles};
use crate::lidar::batch_shots::BatchShots;
use crate::lidar::light_model::LightModel;
use crate::lidar::predict::{ExpectedReturn, WriteReturns};
use crate::lidar::receiver::{PhaseReceiver, PreparedReceiver, RangeLanes, Receiver};
use crate::lidar::shot::Shot;
use crate::lidar::sweep::{Memory, Simulator, shot_number};
use crate::phase_signal_tile::PhaseSignalTile;
use crate::scalar_tile::{DualTile, EvaluatedLanes, LaneFunctions, LaneScalar, ScalarTile};
use crate::transport::{PoseTile, Twist, TwistTile};
use etendue_physics::pulse::{AnalyticFinder, PulseReturn, SingleEchoForm};
use etendue_physics::{Dual, Scalar};
use etendue_scene::{Hit, HitTile, RayTile};
use etendue_simd::{Isa, Vectorized, prefetch};
use nalgebra::{Isometry3, Quaternion, UnitQuaternion};
use std::sync::OnceLock;

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
    /// The rays of the scan.
    tiles: &'p ShotTiles,
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
    expected: Box<ReturnTile<S>>,
}

impl<S: LaneScalar> Default for SingleMemory<S> {
    fn default() -> Self {
        Self {
            rays: vec![RayTile::EMPTY; TILES],
            hits: vec![HitTile::NONE; TILES],
            expected: Box::new(ReturnTile::nothing()),
        }
    }
}

impl<'p, 'a, S: LaneScalar> SingleRays<'p, 'a, S> {
    /// The vectorised pipeline; `None` unless beams have one ray, the sensor is at rest, the receiver is a phase receiver
    /// or a pulsed one in closed form, without derivatives, and surfaces send all of the light along ray trees.
    /// `tiles` is memory for the rays of the shots.
    pub fn new(
        isa: Isa,
        plain: &'p Simulator<'a, S>,
        shots: &[Shot],
        tiles: &'p OnceLock<ShotTiles>,
    ) -> Option<Self> {
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
        let per_batch = plain.lidar.shots_per_batch(shots.len());
        Some(Self {
            plain,
            isa,
            weight: plain.beam_rays.weight(0),
            receiver,
            tiles: tiles.get_or_init(|| ShotTiles::new(shots, per_batch)),
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
        let tiles = self.tiles.batch(first as usize, shots.len());
        let scene = self.plain.world.scene();
        let world_from_sensor = self.world_from_sensor();
        let mut groups = tiles.chunks(TILES).peekable();
        while let Some(tiles) = groups.next() {
            // Aim and cast the rays of some tiles.
            let rays = &mut memory.rays[..tiles.len()];
            let hits = &mut memory.hits[..tiles.len()];
            self.isa.run(AimTiles {
                tiles,
                world_from_sensor: &world_from_sensor,
                rays,
            });
            let casts = &mut plain.detector.scratch.get().casts;
            scene.closest_hits_of_tiles(rays, hits, casts);
            // Measure their light.
            let others = self.isa.run(ExpectSingles {
                own: self,
                tiles,
                next: groups.peek().copied().unwrap_or_default(),
                first,
                rays,
                hits,
                expected: &mut memory.expected,
                write,
            });
            // Predict shots with other light by the plain pipeline.
            for (number, (tile, others)) in tiles.iter().zip(others).enumerate() {
                let lanes = tile.places().iter().enumerate();
                for (lane, &place) in lanes.filter(|(lane, _)| others[*lane]) {
                    let place = usize::from(place);
                    let hit = memory.hits[number].hit(lane);
                    let shot_number = first + shot_number(place);
                    let returned = self.predict_traced(hit, &shots[place], shot_number, plain);
                    write.write(place, returned);
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
        hit: Option<Hit>,
        shot: &Shot,
        number: u32,
        plain: &mut Memory<S>,
    ) -> Option<ExpectedReturn<S>> {
        self.plain.aim_extra(1, number, plain);
        self.plain
            .collect_light_of_shot(shot, number, std::iter::once(hit), None, plain);
        self.plain.predict_collected(shot, number, plain)
    }
}

/// Computes the rays of some tiles of shots.
struct AimTiles<'s> {
    tiles: &'s [ShotTile],
    world_from_sensor: &'s Isometry3<f64>,
    rays: &'s mut [RayTile],
}

impl Vectorized for AimTiles<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (tile, rays) in self.tiles.iter().zip(self.rays) {
            tile.aim(self.world_from_sensor, rays);
        }
    }
}

/// Measures the light of some tiles of rays, and writes the returns. Returns the lanes with other light than direct returns.
struct ExpectSingles<'s, 'p, 'a, S: LaneScalar, W> {
    own: &'s SingleRays<'p, 'a, S>,
    tiles: &'s [ShotTile],
    /// The tiles after these.
    next: &'s [ShotTile],
    /// Index of the first shot of the batch in the sweep.
    first: u32,
    rays: &'s [RayTile],
    hits: &'s [HitTile],
    expected: &'s mut ReturnTile<S>,
    write: &'s mut W,
}

impl<S: LaneScalar, W: WriteReturns<S>> Vectorized for ExpectSingles<'_, '_, '_, S, W> {
    type Output = [[bool; LANES]; TILES];

    #[inline(always)]
    fn run(self) -> [[bool; LANES]; TILES] {
        let mut others = [[false; LANES]; TILES];
        let tiles = self.tiles.iter().zip(self.rays).zip(self.hits);
        for (number, (((tile, rays), hits), others)) in tiles.zip(&mut others).enumerate() {
            if let Some(next) = self.next.get(number) {
                prefetch(next);
            }
            let is_complete = self.own.expect(tile, rays, hits, self.first, self.expected);
            self.write.write_tile(tile.places(), self.expected);
            for lane in 0..LANES {
                let is_hit = (lane < rays.used) & hits.is_hit(lane);
                others[lane] = is_hit & !is_complete[lane];
            }
        }
        others
    }
}

impl<S: LaneScalar> SingleRays<'_, '_, S> {
    /// Measures the light of a tile of rays. Returns the lanes whose light is a direct return.
    #[inline(always)]
    fn expect(
        &self,
        tile: &ShotTile,
        rays: &RayTile,
        hits: &HitTile,
        first: u32,
        expected: &mut ReturnTile<S>,
    ) -> [bool; LANES] {
        let plain = self.plain;
        let world = plain.world;
        if plain.hooks.factor.is_none() && !plain.air.attenuates() {
            // Nothing between sensor and surface: derivatives are by the motion of the sensor and the backscatter.
            let (light, reported) = expected.rigid(&self.twist);
            world.rigid_returns(rays, hits, &self.twist, light);
            light.scale(self.weight);
            let parts = [&light.range, &light.power];
            self.report(tile.channels(), parts, &light.has_return, reported);
            light.is_complete
        } else {
            // Factors and air may have derivatives of their own.
            let mut direct = world.direct_returns_of_poses(rays, hits, &self.twists);
            let reception = Reception {
                factor: plain.hooks.factor,
                weight: self.weight,
                air: &plain.air,
            };
            let places = tile.places();
            let number = |lane: usize| (first + u32::from(places[lane])) as usize;
            reception.apply(&mut direct, hits, number);
            let parts = [direct.range.values(), direct.power.values()];
            let reported = expected.reported();
            self.report(tile.channels(), parts, &direct.has_return, reported);
            expected.set_light([&direct.range, &direct.power]);
            direct.is_complete
        }
    }

    /// Evaluates what the lidar reports of light with one range (m) and power per lane, with derivatives by both.
    #[inline(always)]
    fn report(
        &self,
        channels: &[u16],
        light: [&[f64; LANES]; 2],
        has_return: &[bool; LANES],
        reported: &mut EvaluatedLanes<2, 3>,
    ) {
        let lidar = self.plain.lidar;
        let channels = channels.iter().copied();
        match &self.receiver {
            SingleReceiver::Form(form) => {
                report(lidar, channels, light, &FormEchoes(form), reported);
            }
            SingleReceiver::Finder(finder) => {
                report(lidar, channels, light, &FinderEchoes(finder), reported);
            }
            SingleReceiver::Phase(receiver) => {
                let measured = self.measure(receiver, light);
                report(lidar, channels, light, &measured, reported);
            }
        }
        for lane in 0..LANES {
            reported.exist[lane] &= has_return[lane];
        }
    }

    /// Range and power that a phase receiver measures.
    #[inline(always)]
    fn measure(
        &self,
        receiver: &PhaseReceiver,
        [range, power]: [&[f64; LANES]; 2],
    ) -> MeasuredLanes {
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
        MeasuredLanes {
            measured: [range, signal.power],
            found,
        }
    }
}

/// Range and power that a receiver measured in each lane.
struct MeasuredLanes {
    measured: [DualTile<2>; 2],
    /// Lanes with a measurement.
    found: [bool; LANES],
}

impl LaneFunctions<2, 2> for MeasuredLanes {
    #[inline(always)]
    fn of(&self, lane: usize, _: [Dual<2>; 2]) -> ([Dual<2>; 2], bool) {
        let [range, power] = &self.measured;
        ([range.lane(lane), power.lane(lane)], self.found[lane])
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
