//! Beams of several rays with direct returns that merge to one echo: echoes and report of sixteen shots at a time.
#![expect(
    clippy::inline_always,
    clippy::needless_bitwise_bool,
    clippy::needless_range_loop,
    reason = "loops over sixteen lanes become vector instructions"
)]

use super::cast_batch::CastBatch;
use super::report::block::ReturnBlock;
use super::simulator::FastSimulator;
use crate::lidar::light::echo_affinity;
use crate::lidar::output::Outcome;
use crate::lidar::return_buffer::ReturnBuffer;
use crate::lidar::sweep::shot_number;
use crate::transport::DirectReturnLanes;
use etendue_physics::pulse::{EchoLanes, MergedLanes};
use etendue_scene::{HitTile, ObjectId};
use etendue_simd::Vectorized;
use std::ops::Range;

/// Echoes of a batch of beams of several rays, in firing order; the buffers are reused.
#[derive(Default)]
pub(in crate::lidar) struct MergedRays {
    blocks: Vec<EchoBlock>,
    /// Shots that are reported apart, in cast order: they need a ray tree, or their light does not merge.
    pub apart: Vec<usize>,
    /// Powers of sixteen shots, by ray, 1/(m² sr).
    powers: Vec<[f64; 16]>,
}

/// Echoes of sixteen shots, and the surfaces that contributed most to them.
#[derive(Clone)]
struct EchoBlock {
    echoes: EchoLanes,
    /// The surfaces, with the power of all light of each shot.
    origin: ReturnBlock,
}

impl EchoBlock {
    const NOTHING: Self = Self {
        echoes: EchoLanes {
            range: [0.0; 16],
            power: [0.0; 16],
            width: [0.0; 16],
            found: [false; 16],
        },
        origin: ReturnBlock::NOTHING,
    };

    /// Copies `N` lanes of another block, starting with its lane `lane`, to the lanes starting with `place`.
    #[inline(always)]
    fn copy_lanes<const N: usize>(&mut self, place: usize, from: &Self, lane: usize) {
        let to = place..place + N;
        let of = lane..lane + N;
        let (own, other) = (&mut self.echoes, &from.echoes);
        own.range[to.clone()].copy_from_slice(&other.range[of.clone()]);
        own.power[to.clone()].copy_from_slice(&other.power[of.clone()]);
        own.width[to.clone()].copy_from_slice(&other.width[of.clone()]);
        own.found[to].copy_from_slice(&other.found[of]);
        self.origin.copy_lanes::<N>(place, &from.origin, lane, true);
    }
}

/// Finds the echoes of a batch.
pub(in crate::lidar) struct MergeRays<'s, 'p, 'a> {
    pub simulator: &'s FastSimulator<'p, 'a>,
    pub cast: &'s CastBatch<'s>,
    pub merged: &'s mut MergedRays,
}

impl Vectorized for MergeRays<'_, '_, '_> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        // Clear the last block: some of its lanes may have no shot.
        let count = self.cast.shots.count().div_ceil(16);
        self.merged.apart.clear();
        self.merged.blocks.resize(count, EchoBlock::NOTHING);
        if let Some(last) = self.merged.blocks.last_mut() {
            *last = EchoBlock::NOTHING;
        }
        // Find the echoes of sixteen shots in cast order, and move them to their places in firing order.
        let per_shot = self.cast.per_shot;
        let mut block = EchoBlock::NOTHING;
        for (number, shots) in self.cast.order.shots.chunks(16).enumerate() {
            let first = number * per_shot;
            self.find(first..first + per_shot, shots, &mut block);
            self.scatter(shots, &block);
        }
    }
}

impl MergeRays<'_, '_, '_> {
    /// Finds the echoes of the `shots` of some tiles, one for each ray of the beams.
    #[inline(always)]
    fn find(&mut self, tiles: Range<usize>, shots: &[usize], block: &mut EchoBlock) {
        let simulator = self.simulator;
        let direct = &self.cast.direct_returns[tiles.clone()];
        let hits = &self.cast.hits[tiles];

        // Merge the light of each shot; leave dark shots and those that need a ray tree.
        let needs_tree = self.set_powers(direct, hits);
        let powers = &self.merged.powers[..];
        let lights = direct.iter().zip(powers);
        let merged = MergedLanes::new(lights.map(|(direct, power)| [&direct.range, power]));
        if !merged.power.iter().any(|power| *power > 0.0) {
            *block = EchoBlock::NOTHING;
            return self.set_apart(shots, &needs_tree, block);
        }

        // Find the echoes.
        let mut numbers = [0; 16];
        for (number, shot) in numbers.iter_mut().zip(shots) {
            *number = self.cast.number(*shot);
        }
        let draws = if simulator.plain.settings.without_noise {
            [[0.0; 16]; 2]
        } else {
            simulator.noise_draws(&numbers)
        };
        block.echoes = simulator.direct.pulsed.analytic.merged(&merged, &draws);

        // Add the noise that is not independent from shot to shot.
        let reach = simulator.plain.lidar.receiver.echo_reach();
        let mut rays = strongest(direct, powers, &block.echoes.range, reach);
        if let Some(noise) = &simulator.plain.noise {
            let mut objects = [None; 16];
            for i in 0..16 {
                objects[i] = hits.get(rays[i]).map(|hits| ObjectId(hits.object[i]));
            }
            let errors = noise.errors(&numbers, objects);
            for i in 0..16 {
                block.echoes.range[i] += errors[i];
            }
            rays = strongest(direct, powers, &block.echoes.range, reach);
        }

        // Set the surfaces, and the shots that are reported apart.
        set_origins(&mut block.origin, &rays, direct, hits);
        block.origin.power = merged.power;
        let mut apart = needs_tree;
        for i in 0..16 {
            apart[i] |= merged.depth[i] >= simulator.direct.pulsed.analytic.length();
        }
        self.set_apart(shots, &apart, block);
    }

    /// Sets the power at the receiver of each ray of sixteen beams. Returns which beams hit a material where paths continue;
    /// they have no power.
    #[inline(always)]
    fn set_powers(&mut self, direct: &[DirectReturnLanes], hits: &[HitTile]) -> [bool; 16] {
        let simulator = self.simulator;
        let air = &simulator.plain.air;
        let powers = &mut self.merged.powers;
        powers.resize(direct.len(), [0.0; 16]);
        // Weight the power by the beam and the transmission of the air.
        for (ray, power) in powers.iter_mut().enumerate() {
            let weight = simulator.plain.beam_rays.weight(ray);
            for i in 0..16 {
                let own = direct[ray].power[i] * weight;
                power[i] = if hits[ray].is_hit(i) { own } else { 0.0 };
            }
            if air.attenuates() {
                for (power, range) in power.iter_mut().zip(&direct[ray].range) {
                    *power *= if *power > 0.0 {
                        air.transmission(*range)
                    } else {
                        0.0
                    };
                }
            }
        }
        // Find the shots that need ray trees.
        let mut needs_tree = [false; 16];
        if simulator.direct.any_continues {
            for (direct, hits) in direct.iter().zip(hits) {
                for i in 0..16 {
                    let ends = simulator.direct.ends[direct.material[i].0 as usize];
                    needs_tree[i] |= hits.is_hit(i) & !ends;
                }
            }
            for power in powers {
                for i in 0..16 {
                    power[i] = if needs_tree[i] { 0.0 } else { power[i] };
                }
            }
        }
        needs_tree
    }

    /// Lists the shots of some lanes to be reported apart.
    #[inline(always)]
    fn set_apart(&mut self, shots: &[usize], lanes: &[bool; 16], block: &mut EchoBlock) {
        block.origin.apart = [0; 16];
        if *lanes == [false; 16] {
            return;
        }
        for (lane, &shot) in shots.iter().enumerate() {
            if lanes[lane] {
                self.merged.apart.push(shot);
                block.origin.apart[lane] = shot_number(self.merged.apart.len());
                block.origin.power[lane] = 0.0;
            }
        }
    }

    /// Moves the lanes of a block to the places of their shots in firing order.
    #[inline(always)]
    fn scatter(&mut self, shots: &[usize], block: &EchoBlock) {
        let blocks = &mut self.merged.blocks;
        if self.cast.order.has_runs_of_four {
            for (four, shots) in shots.chunks(4).enumerate() {
                blocks[shots[0] / 16].copy_lanes::<4>(shots[0] % 16, block, 4 * four);
            }
        } else {
            for (lane, shot) in shots.iter().enumerate() {
                blocks[shot / 16].copy_lanes::<1>(shot % 16, block, lane);
            }
        }
    }
}

/// The ray that contributed most light to the echo of each of sixteen shots: the strongest within `reach` (m) of the range
/// of the echo (m), weighted by [`echo_affinity`]; `usize::MAX` where there is none.
#[inline(always)]
fn strongest(
    direct: &[DirectReturnLanes],
    powers: &[[f64; 16]],
    ranges: &[f64; 16],
    reach: f64,
) -> [usize; 16] {
    let mut rays = [usize::MAX; 16];
    let mut most = [0.0; 16];
    for (ray, (direct, power)) in direct.iter().zip(powers).enumerate() {
        for i in 0..16 {
            let apart = direct.range[i] - ranges[i];
            let weighted = power[i] * echo_affinity(apart, reach);
            let is_stronger = (apart.abs() <= reach) & (power[i] > 0.0) & (weighted >= most[i]);
            most[i] = if is_stronger { weighted } else { most[i] };
            rays[i] = if is_stronger { ray } else { rays[i] };
        }
    }
    rays
}

/// Sets the surface that a ray of each of sixteen shots hit; shots without a ray get one at an infinite range.
#[inline(always)]
fn set_origins(
    origins: &mut ReturnBlock,
    rays: &[usize; 16],
    direct: &[DirectReturnLanes],
    hits: &[HitTile],
) {
    origins.range = [f64::INFINITY; 16];
    for (i, &ray) in rays.iter().enumerate() {
        if let Some(direct) = direct.get(ray) {
            origins.range[i] = direct.range[i];
            origins.cos_incidence[i] = direct.cos_incidence[i];
            origins.material[i] = direct.material[i];
            origins.object[i] = hits[ray].object[i];
        }
    }
}

/// Adds the returns and outcomes of a batch to a buffer. `apart` reports a shot of the batch that has a number among those
/// [apart](MergedRays::apart).
pub(in crate::lidar) struct ReportMergedRays<'s, 'p, 'a, F> {
    pub simulator: &'s FastSimulator<'p, 'a>,
    pub cast: &'s CastBatch<'s>,
    pub merged: &'s MergedRays,
    pub apart: F,
    pub buffer: &'s mut ReturnBuffer,
}

impl<F: FnMut(usize, usize, &mut ReturnBuffer) -> Outcome> Vectorized
    for ReportMergedRays<'_, '_, '_, F>
{
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        let Self {
            simulator,
            cast,
            merged,
            buffer,
            ..
        } = self;
        for (number, EchoBlock { echoes, origin }) in merged.blocks.iter().enumerate() {
            let first = 16 * number;
            let count = (cast.shots.count() - first).min(16);
            if !origin.power.iter().any(|power| *power > 0.0) {
                let apart = &mut self.apart;
                simulator.report_each(cast, origin, None, first, count, buffer, apart);
                continue;
            }
            let measured = simulator.detections(cast, origin, echoes.clone(), None, first);
            if origin.apart == [0; 16] {
                simulator.report_block(cast, origin, &measured, first, count, buffer);
            } else {
                let apart = &mut self.apart;
                simulator.report_each(cast, origin, Some(&measured), first, count, buffer, apart);
            }
        }
    }
}
