//! Simulation of batches of shots by the vectorised pipeline of pulsed lidars: aims, casts and reports them.

use super::cast_batch::CastBatch;
use super::memory::{CastTiles, FastMemory};
use super::order::{CastOrder, Order};
use super::simulator::FastSimulator;
use crate::lidar::batch_memory::BatchMemory;
use crate::lidar::batch_shots::BatchShots;
use crate::lidar::batches::Destination;
use crate::lidar::shot::Shot;
use crate::lidar::shots::Shots;
use crate::transport::DirectReturnLanes;
use etendue_scene::{CastScratch, HitTile};
use std::ops::Range;

/// Number of tiles of beams of one ray that are cast and evaluated at a time: they fit the first-level cache of a core.
const NEAR: usize = 8;

/// The same for beams of several rays, at least for sixteen beams: they fit the second-level cache.
const NEAR_BEAMS: usize = 32;

impl FastSimulator<'_, '_> {
    /// The cast order of a batch: a precomputed one, or one computed into `new`.
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

    /// The cast order of a number of shots on a rotor; `None` unless the number is a multiple of a group's.
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

    /// Simulates a batch, the shots `own` of a sweep, and writes its returns.
    pub fn batch(
        &self,
        memory: &mut BatchMemory,
        all: &Shots,
        own: Range<usize>,
        to: &mut Destination,
    ) {
        // Use the precomputed beams of a rotor, if possible.
        if self.rotor_batch(memory, all, &own, to) {
            return;
        }
        // Otherwise list the shots, and find their poses and cast order.
        let first = own.start;
        let mut listed = std::mem::take(&mut memory.fast.shots);
        let shots = all.part(self.isa, own, &mut listed);
        let fast = &mut memory.fast;
        fast.poses.set(shots, self.plain.world_from_sensor);
        let mut new = CastOrder::default();
        let order = self.order_of(shots, &mut new);
        // Aim, cast and report them.
        self.aim_tiles(shots, &fast.poses, order.shots, &mut fast.cast.tiles);
        self.report_batch(memory, first, BatchShots::Listed(shots), order, to);
        memory.fast.shots = listed;
    }

    /// [`FastSimulator::batch`] by the precomputed beams of a rotor, for a static sensor. Returns false
    /// without effect if it does not apply.
    fn rotor_batch(
        &self,
        memory: &mut BatchMemory,
        all: &Shots,
        own: &Range<usize>,
        to: &mut Destination,
    ) -> bool {
        let Some(beams) = &self.rotor else {
            return false;
        };
        let Some(rotor) = all.rotor_shots() else {
            return false;
        };
        let mut new = CastOrder::default();
        let Some(order) = self.order_on_rotor(own.len(), &mut new) else {
            return false;
        };
        // Compute the columns and check that the sensor is static.
        let mut columns = std::mem::take(&mut memory.fast.columns);
        rotor.columns(own, &mut columns);
        let shots = BatchShots::Rotor {
            rotor,
            own,
            columns: &columns,
        };
        let fast = &mut memory.fast;
        let at_rest = fast.poses.set_constant(shots, self.plain.world_from_sensor);
        // Aim, cast and report.
        if at_rest {
            self.aim_rotor(beams, &columns, fast.poses.of(0), &mut fast.cast.tiles);
            self.report_batch(memory, own.start, shots, order, to);
        }
        memory.fast.columns = columns;
        at_rest
    }

    /// Casts the rays of a batch that is aimed and reports its shots.
    fn report_batch(
        &self,
        memory: &mut BatchMemory,
        first: usize,
        shots: BatchShots,
        order: Order,
        to: &mut Destination,
    ) {
        // Find the hits and direct returns.
        let FastMemory {
            poses,
            cast,
            direct,
            ..
        } = &mut memory.fast;
        self.cast(cast, &mut memory.plain.detector.scratch.get().casts);
        // Detect and report.
        let batch = CastBatch {
            first,
            shots,
            poses,
            order,
            per_shot: self.plain.beam_rays.count(),
            tiles: &cast.tiles,
            hits: &cast.hits,
            direct_returns: &cast.direct_returns,
        };
        self.report_direct(&batch, direct, &mut memory.plain, to.open());
    }

    /// Finds the first hits and direct returns of all rays, a few tiles at a time, so that hits are still in
    /// the first-level cache when they are evaluated.
    fn cast(&self, cast: &mut CastTiles, scratch: &mut CastScratch) {
        let world = self.plain.world;
        let count = cast.tiles.len();
        cast.hits.resize(count, HitTile::NONE);
        cast.direct_returns.resize(count, DirectReturnLanes::NONE);
        let per_shot = self.plain.beam_rays.count();
        let near = match per_shot {
            1 => NEAR,
            _ => per_shot * (NEAR_BEAMS / per_shot).max(1),
        };
        let results = cast
            .hits
            .chunks_mut(near)
            .zip(cast.direct_returns.chunks_mut(near));
        for (rays, (hits, direct_returns)) in cast.tiles.chunks(near).zip(results) {
            if per_shot == 1 {
                world.scene().closest_hits_of_tiles(rays, hits, scratch);
            } else {
                let scene = world.scene();
                scene.closest_hits_of_beams(rays, per_shot, hits, scratch);
            }
            world.direct_returns(self.isa, rays, hits, direct_returns);
        }
    }
}
