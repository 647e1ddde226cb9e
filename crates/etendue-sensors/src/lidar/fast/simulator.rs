//! Batches of shots in lanes of sixteen.

use super::direct::{CastBatch, DirectMemory, DirectReturns};
use super::order::{CastOrder, Order};
use super::poses::Poses;
use super::rotor::RotorBeams;
use crate::lidar::batch_shots::BatchShots;
use crate::lidar::batches::{Batches, Destination};
use crate::lidar::pattern::ScanPattern;
use crate::lidar::returns::Reporter;
use crate::lidar::shot::Shot;
use crate::lidar::shot::{Column, Firing};
use crate::lidar::shots::Shots;
use crate::lidar::simulate::BatchMemory;
use crate::lidar::sweep::Simulator;
use crate::transport::DirectReturnLanes;
use etendue_scene::{HitTile, Ray, RayTile};
use etendue_simd::Isa;
use std::ops::Range;

/// Tiles that are handled at a time: they fit a core's nearest cache.
const NEAR: usize = 8;

/// The pipeline in lanes of sixteen.
pub(in crate::lidar) struct FastSimulator<'p, 'a> {
    /// The plain pipeline, for shots that hit mirrors or glass.
    pub plain: &'p Simulator<'a, f64>,
    pub reporter: Reporter<'p>,
    pub isa: Isa,
    pub direct: DirectReturns,
    /// The orders in which the rays of columns that are cast together are cast, and those of a whole
    /// batch, where all columns are rotated copies of the first.
    orders: [CastOrder; 2],
    /// The beams of columns that are cast together, on a rotor that only turns, of one ray a shot.
    rotor: Option<RotorBeams>,
}

/// Memory that batches reuse.
#[derive(Default)]
pub(in crate::lidar) struct FastMemory {
    poses: Poses,
    rays: Vec<Ray>,
    /// Shots that are neither listed nor computed from a rotor.
    shots: Vec<Shot>,
    /// Columns on a rotor.
    columns: Vec<Column>,
    cast: CastTiles,
    pub direct: DirectMemory,
}

/// Rays in tiles, their hits, and their direct returns.
#[derive(Default)]
struct CastTiles {
    tiles: Vec<RayTile>,
    met: Vec<HitTile>,
    back: Vec<DirectReturnLanes>,
}

impl<'p, 'a> FastSimulator<'p, 'a> {
    /// None where other light than the surfaces' makes echoes, or other noise than the receiver's.
    pub fn new(
        isa: Isa,
        plain: &'p Simulator<'a, f64>,
        reporter: Reporter<'p>,
        firing: &Firing,
        shots: &Shots,
        batches: &Batches,
    ) -> Option<Self> {
        let mut simulator = Self {
            direct: DirectReturns::new(plain)?,
            plain,
            reporter,
            isa,
            orders: Default::default(),
            rotor: None,
        };
        if let ScanPattern::Spinning(_) = plain.lidar.pattern {
            simulator.prepare_rotor(firing, shots, batches);
        }
        Some(simulator)
    }

    /// The same in a world that differs in its deforming meshes alone.
    pub fn with_plain<'q, 'b>(
        &self,
        plain: &'q Simulator<'b, f64>,
        reporter: Reporter<'q>,
    ) -> FastSimulator<'q, 'b> {
        FastSimulator {
            plain,
            reporter,
            isa: self.isa,
            direct: self.direct.clone(),
            orders: self.orders.clone(),
            rotor: self.rotor.clone(),
        }
    }

    /// Prepares the cast orders and beams that all columns of a rotor share.
    fn prepare_rotor(&mut self, firing: &Firing, shots: &Shots, batches: &Batches) {
        let together = batches.together.min(shots.len());
        let mut memory = Vec::new();
        let shots = shots.part(self.isa, 0..together, &mut memory);
        let order = CastOrder::new(shots);
        if self.plain.beam_rays.count() == 1 {
            self.rotor = RotorBeams::new(firing, order.shots());
        }
        let whole = order.repeated(batches.times);
        self.orders = [order, whole];
    }

    /// The order in which the rays of some shots are cast.
    fn order_of<'o>(&'o self, shots: &[Shot], new: &'o mut CastOrder) -> Order<'o> {
        let known = self
            .orders
            .iter()
            .find(|order| order.shots().len() == shots.len());
        if let Some(order) = known {
            return order.all();
        }
        *new = CastOrder::new(shots);
        new.all()
    }

    /// The same of a number of shots on a rotor, where it is a multiple of those that are cast together.
    fn order_on_rotor<'o>(&'o self, shots: usize, new: &'o mut CastOrder) -> Option<Order<'o>> {
        let [together, whole] = &self.orders;
        if shots == whole.shots().len() {
            return Some(whole.all());
        }
        if !shots.is_multiple_of(together.shots().len()) {
            return None;
        }
        *new = together.repeated(shots / together.shots().len());
        Some(new.all())
    }

    /// Simulates a batch, which is some of a sweep's shots.
    pub fn batch(
        &self,
        memory: &mut BatchMemory,
        all: &Shots,
        own: Range<usize>,
        to: &mut Destination,
    ) {
        if self.rotor_batch(memory, all, &own, to) {
            return;
        }
        let first = own.start;
        let mut listed = std::mem::take(&mut memory.fast.shots);
        let shots = all.part(self.isa, own, &mut listed);
        let fast = &mut memory.fast;
        fast.poses.set(shots, self.plain.world_from_sensor);
        let mut new = CastOrder::default();
        let order = self.order_of(shots, &mut new);
        self.aim_tiles(
            shots,
            &fast.poses,
            order.shots,
            &mut fast.rays,
            &mut fast.cast.tiles,
        );
        self.report_batch(memory, first, BatchShots::Listed(shots), order, to);
        memory.fast.shots = listed;
    }

    /// [`FastSimulator::batch`] of columns that are rotated copies of each other, from a sensor at rest; false
    /// without effect where they are not.
    fn rotor_batch(
        &self,
        memory: &mut BatchMemory,
        all: &Shots,
        own: &Range<usize>,
        to: &mut Destination,
    ) -> bool {
        let (Some(rotor), Some(by)) = (&self.rotor, all.turned()) else {
            return false;
        };
        let mut new = CastOrder::default();
        let Some(order) = self.order_on_rotor(own.len(), &mut new) else {
            return false;
        };
        let mut columns = std::mem::take(&mut memory.fast.columns);
        by.columns(own, &mut columns);
        let shots = BatchShots::Turned {
            by,
            own,
            columns: &columns,
        };
        let fast = &mut memory.fast;
        let at_rest = fast.poses.set_constant(shots, self.plain.world_from_sensor);
        if at_rest {
            self.aim_rotor(rotor, &columns, fast.poses.of(0), &mut fast.cast.tiles);
            self.report_batch(memory, own.start, shots, order, to);
        }
        memory.fast.columns = columns;
        at_rest
    }

    /// Casts the rays that were aimed and reports their returns.
    fn report_batch(
        &self,
        memory: &mut BatchMemory,
        first: usize,
        shots: BatchShots,
        order: Order,
        to: &mut Destination,
    ) {
        let FastMemory {
            poses,
            cast,
            direct,
            ..
        } = &mut memory.fast;
        self.cast(cast);
        let batch = CastBatch {
            first,
            shots,
            poses,
            order,
            tiles: &cast.tiles,
            met: &cast.met,
            back: &cast.back,
        };
        self.report_direct(&batch, direct, &mut memory.plain, to.open());
    }

    /// Finds the hits and direct returns of the rays of all tiles, a few tiles at a time: the results of one
    /// step are in the nearest cache when the next reads them.
    fn cast(&self, cast: &mut CastTiles) {
        let world = self.plain.world;
        let count = cast.tiles.len();
        cast.met.resize(count, HitTile::NONE);
        cast.back.resize(count, DirectReturnLanes::NONE);
        let met = cast.met.chunks_mut(NEAR).zip(cast.back.chunks_mut(NEAR));
        for (rays, (met, back)) in cast.tiles.chunks(NEAR).zip(met) {
            world.scene().closest_hits_of_tiles(rays, met);
            world.direct_returns(self.isa, rays, met, back);
        }
    }
}
