//! Single-ray beams with direct returns: detection and report of sixteen shots at a time.
#![expect(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over sixteen lanes become vector instructions"
)]

mod block;
mod write;

use super::cast_batch::CastBatch;
use super::simulator::FastSimulator;
use crate::calibrated::CalibratedLanes;
use crate::lidar::batch_shots::BatchShots;
use crate::lidar::light::ShotLight;
use crate::lidar::output::Outcome;
use crate::lidar::return_buffer::ReturnBuffer;
use crate::lidar::sweep::{DetectorMemory, shot_number};
use block::{BlockDetections, BlockDraws, ProfileDraws, ReturnBlock};
use etendue_physics::pulse::SingleEchoes;
use etendue_physics::{Draws, NormalPairs, Purpose};
use etendue_scene::{HitTile, MeshId, ObjectId};
use etendue_simd::Vectorized;
use write::{has_others, side, write_return, write_surfaces};

/// Direct returns of a batch of single-ray beams, in firing order; the buffers are reused.
#[derive(Default)]
pub(in crate::lidar) struct SingleRayBeams {
    blocks: Vec<ReturnBlock>,
    /// Shots that need ray trees, in cast order.
    pub tree_shots: Vec<usize>,
}

impl SingleRayBeams {
    /// Moves the direct returns of a batch from cast order to firing order, and lists the shots that need
    /// ray trees.
    pub fn sort(&mut self, simulator: &FastSimulator<'_, '_>, cast: &CastBatch) {
        // Clear the last block: some of its lanes may have no shot.
        self.tree_shots.clear();
        let count = cast.shots.count().div_ceil(16);
        self.blocks.resize(count, ReturnBlock::NOTHING);
        if let Some(last) = self.blocks.last_mut() {
            *last = ReturnBlock::NOTHING;
        }
        let weight = simulator.plain.beam_rays.weight(0);
        let tiles = cast.direct_returns.iter().zip(cast.hits);
        for ((direct, hits), shots) in tiles.zip(cast.order.shots.chunks(16)) {
            // Apply the transmission of the air.
            let mut tile = ReturnBlock::of(direct, hits, weight);
            if simulator.plain.air.attenuates() {
                for (power, range) in tile.power.iter_mut().zip(&direct.range) {
                    *power *= simulator.plain.air.transmission(*range);
                }
            }
            // List the shots that need ray trees.
            if simulator.direct.any_continues {
                self.find_trees(&simulator.direct.ends, hits, shots, &mut tile);
            }
            // Scatter the lanes to their places in firing order.
            if cast.order.has_runs_of_four {
                for (four, shots) in shots.chunks(4).enumerate() {
                    self.blocks[shots[0] / 16].copy_lanes::<4>(
                        shots[0] % 16,
                        &tile,
                        4 * four,
                        simulator.direct.any_continues,
                    );
                }
            } else {
                for (lane, shot) in shots.iter().enumerate() {
                    self.blocks[shot / 16].copy_lanes::<1>(
                        shot % 16,
                        &tile,
                        lane,
                        simulator.direct.any_continues,
                    );
                }
            }
        }
    }

    /// Lists the shots of a tile that need ray trees and stores their indices in the tile.
    #[inline]
    fn find_trees(
        &mut self,
        ends: &[bool],
        hits: &HitTile,
        shots: &[usize],
        tile: &mut ReturnBlock,
    ) {
        for (lane, &shot) in shots.iter().enumerate() {
            if !ends[tile.material[lane].0 as usize] && hits.is_hit(lane) {
                self.tree_shots.push(shot);
                tile.tree[lane] = shot_number(self.tree_shots.len());
                tile.power[lane] = 0.0;
            }
        }
    }
}

/// Detects the shots of a batch and adds their returns and outcomes to a buffer.
pub(in crate::lidar) struct ReportSingleRays<'s, 'm, 'p, 'a> {
    pub simulator: &'s FastSimulator<'p, 'a>,
    pub cast: &'s CastBatch<'s>,
    pub singles: &'s SingleRayBeams,
    pub lights: &'s mut Vec<ShotLight<f64>>,
    pub detector: &'s mut DetectorMemory<'m, f64>,
    pub buffer: &'s mut ReturnBuffer,
}

impl Vectorized for ReportSingleRays<'_, '_, '_, '_> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        let blocks = &self.singles.blocks;
        // Draw random numbers for 64 shots at a time, detect and report sixteen at a time.
        for (four, blocks) in blocks.chunks(4).enumerate() {
            let drawn = self.draw(blocks, 64 * four);
            let noise = self.noise(blocks, drawn.as_ref(), 64 * four);
            for (number, block) in blocks.iter().enumerate() {
                let drawn = drawn.as_ref().map(|drawn| BlockDraws::of(drawn, number));
                let noise = &noise[number];
                self.report(block, drawn.as_ref(), noise, 64 * four + 16 * number);
            }
        }
    }
}

impl ReportSingleRays<'_, '_, '_, '_> {
    /// Adds the returns of sixteen shots; `first` is the index of the first in the batch.
    #[inline(always)]
    fn report(
        &mut self,
        block: &ReturnBlock,
        drawn: Option<&BlockDraws>,
        noise: &NormalPairs,
        first: usize,
    ) {
        let count = (self.cast.shots.count() - first).min(16);
        if !block.power.iter().any(|power| *power > 0.0) {
            return self.report_each(block, None, first, count);
        }
        // An `Option<BlockDetections>` would cost one more copy.
        let measured = self.measure(block, drawn, noise, first);
        if block.tree == [0; 16] {
            self.report_block(block, &measured, first, count);
        } else {
            self.report_each(block, Some(&measured), first, count);
        }
    }

    /// Adds the returns of the first `count` shots of a block without ray trees.
    #[inline(always)]
    fn report_block(
        &mut self,
        block: &ReturnBlock,
        measured: &BlockDetections,
        first: usize,
        count: usize,
    ) {
        let simulator = self.simulator;
        let cast = self.cast;
        self.buffer.extend(count, |lane, number, place| {
            if measured.within[lane] {
                write_return(simulator, cast, place, block, measured, first, lane);
            }
            measured.outcome(lane, number)
        });
    }

    /// Adds the returns of the first `count` shots of a block with ray trees, or (`measured` is none)
    /// without direct returns.
    #[inline(never)]
    fn report_each(
        &mut self,
        block: &ReturnBlock,
        measured: Option<&BlockDetections>,
        first: usize,
        count: usize,
    ) {
        for lane in 0..count {
            let outcome = match (block.tree[lane], measured) {
                // A shot without a ray tree in a block with direct returns.
                (0, Some(measured)) => {
                    let outcome = measured.outcome(lane, self.buffer.count());
                    if measured.within[lane] {
                        let place = self.buffer.place();
                        write_return(
                            self.simulator,
                            self.cast,
                            place,
                            block,
                            measured,
                            first,
                            lane,
                        );
                    }
                    outcome
                }
                (0, None) => Outcome::NoReturn,
                // A shot with a ray tree.
                (light, _) => self.simulator.report_tree(
                    self.cast,
                    first + lane,
                    &mut self.lights[light as usize - 1],
                    self.detector,
                    self.buffer,
                ),
            };
            self.buffer.outcomes.push(outcome);
        }
    }

    /// Detects sixteen shots: draws from noise profiles where they apply, the receiver's echoes elsewhere.
    /// `first` is the index of the first shot in the batch.
    #[inline(always)]
    fn measure(
        &self,
        block: &ReturnBlock,
        drawn: Option<&BlockDraws>,
        noise: &NormalPairs,
        first: usize,
    ) -> BlockDetections {
        let simulator = self.simulator;
        // Find the echoes, with noise that is not independent from shot to shot.
        let mut echoes = self.echoes(block, drawn, noise);
        self.add_correlated_noise(block, drawn, first, &mut echoes);
        // Add the range offsets, round, and apply the range limits.
        let offsets = self.offsets(first);
        let limits = simulator.plain.lidar.limits;
        let reach = simulator.plain.lidar.receiver.echo_reach();
        let mut range = [0.0; 16];
        let mut distance = [0.0; 16];
        let mut sourced = [false; 16];
        let mut within = [false; 16];
        let mut too_near = [false; 16];
        for i in 0..16 {
            range[i] = limits.stepped(echoes.range[i] + offsets[i]);
            distance[i] = range[i] - offsets[i];
            sourced[i] = (block.range[i] - echoes.range[i]).abs() <= reach;
            within[i] = echoes.found[i] && range[i] >= limits.near && range[i] <= limits.far;
            too_near[i] = echoes.found[i] && range[i] < limits.near;
        }
        // Compute intensities, positions and meshes.
        BlockDetections {
            intensity: self.intensity(&echoes, &distance, drawn),
            echoes,
            range,
            offset: offsets,
            point: match self.cast.shots {
                BatchShots::Listed(_) => [[0.0; 16]; 3],
                BatchShots::Rotor { rotor, columns, .. } => rotor.points(columns, first, &distance),
            },
            sourced,
            mesh: self.meshes(block),
            within,
            too_near,
        }
    }

    /// Adds the noise that is not independent from shot to shot to the echoes that the receiver found.
    #[inline(always)]
    fn add_correlated_noise(
        &self,
        block: &ReturnBlock,
        drawn: Option<&BlockDraws>,
        first: usize,
        echoes: &mut SingleEchoes,
    ) {
        let Some(noise) = &self.simulator.plain.noise else {
            return;
        };
        // Find the surface of each echo.
        let reach = self.simulator.plain.lidar.receiver.echo_reach();
        let mut objects = [None; 16];
        for i in 0..16 {
            let is_near = (block.range[i] - echoes.range[i]).abs() <= reach;
            objects[i] = is_near.then_some(ObjectId(block.object[i]));
        }
        // Add the errors of shots without a noise profile.
        let errors = noise.errors(shot_number(self.cast.first + first), objects);
        let calibrated = drawn.map_or(&[false; 16], |drawn| drawn.calibrated);
        for i in 0..16 {
            echoes.range[i] += if calibrated[i] { 0.0 } else { errors[i] };
        }
    }

    /// The meshes of the objects that the shots of a block hit.
    #[inline(always)]
    fn meshes(&self, block: &ReturnBlock) -> [MeshId; 16] {
        let objects = self.simulator.plain.world.scene().objects();
        let mesh = |object: u32| {
            objects
                .get(object as usize)
                .map_or(MeshId(0), |own| own.mesh)
        };
        let first = block.object[0];
        let mut is_uniform = true;
        for i in 0..16 {
            is_uniform &= block.object[i] == first;
        }
        if is_uniform {
            [mesh(first); 16]
        } else {
            block.object.map(mesh)
        }
    }

    /// Reported intensities: those drawn from noise profiles, and the response to the received power
    /// elsewhere. `range` is the distance along the beam, m.
    #[inline(always)]
    fn intensity(
        &self,
        echoes: &SingleEchoes,
        range: &[f64; 16],
        drawn: Option<&BlockDraws>,
    ) -> [f64; 16] {
        // Without draws, apply the response to all shots.
        let intensity = &self.simulator.plain.lidar.intensity;
        let response = intensity.response;
        let top = intensity.top;
        let Some(drawn) = drawn else {
            return response.report_lanes(&echoes.power, range, top);
        };
        // If all intensities are drawn, the response is not needed.
        let mut is_drawn = [false; 16];
        let mut others = false;
        for i in 0..16 {
            is_drawn[i] = drawn.calibrated[i] & !drawn.intensity[i].is_nan();
            others |= echoes.found[i] && !is_drawn[i];
        }
        if !others {
            return *drawn.intensity;
        }
        // Otherwise select per shot.
        let mut intensity = response.report_lanes(&echoes.power, range, top);
        for i in 0..16 {
            if is_drawn[i] {
                intensity[i] = drawn.intensity[i];
            }
        }
        intensity
    }

    /// The echoes of sixteen shots: drawn from noise profiles, or found by the receiver.
    #[inline(always)]
    fn echoes(
        &self,
        block: &ReturnBlock,
        drawn: Option<&BlockDraws>,
        noise: &NormalPairs,
    ) -> SingleEchoes {
        // Without draws, the receiver finds all echoes.
        let Some(drawn) = drawn else {
            return self.received(block, noise);
        };
        // If all are drawn, the receiver is not needed.
        if !has_others(block, drawn.calibrated) {
            return SingleEchoes {
                range: *drawn.range,
                power: block.power,
                width: [0.0; 16],
                found: *drawn.returned,
            };
        }
        // Otherwise select per shot.
        let mut echoes = self.received(block, noise);
        for i in 0..16 {
            if drawn.calibrated[i] {
                echoes.range[i] = drawn.range[i];
                echoes.power[i] = block.power[i];
                echoes.width[i] = 0.0;
                echoes.found[i] = drawn.returned[i];
            }
        }
        echoes
    }

    /// The echoes of sixteen shots, as the receiver finds them.
    #[inline(always)]
    fn received(&self, block: &ReturnBlock, noise: &NormalPairs) -> SingleEchoes {
        let analytic = self.simulator.direct.pulsed.analytic;
        analytic.singles(&block.range, &block.power, noise)
    }

    /// Normal random numbers of the receiver noise of four blocks; zeros if no shot needs them. Four
    /// independent blocks in sequence hide the latency of the generator.
    #[inline(always)]
    fn noise(
        &self,
        blocks: &[ReturnBlock],
        drawn: Option<&ProfileDraws>,
        first: usize,
    ) -> [NormalPairs; 4] {
        let mut noise = [[[0.0; 16]; 2]; 4];
        let needs_noise = |(number, block): (usize, &ReturnBlock)| match drawn {
            Some(drawn) => has_others(block, BlockDraws::of(drawn, number).calibrated),
            None => has_others(block, &[false; 16]),
        };
        if !self.simulator.plain.settings.without_noise
            && blocks.iter().enumerate().any(needs_noise)
        {
            for (number, noise) in noise.iter_mut().enumerate() {
                *noise = self.draws(first + 16 * number);
            }
        }
        noise
    }

    /// Pairs of normal random numbers of sixteen shots for the receiver noise.
    #[inline(always)]
    fn draws(&self, first: usize) -> NormalPairs {
        let run = self.simulator.plain.settings;
        let draws = Draws {
            seed: run.seed,
            sensor: run.sensor,
            sweep: run.sweep,
            purpose: Purpose::ReceiverNoise,
        };
        let mut numbers = [shot_number(self.cast.first + first); 16];
        for (number, lane) in numbers.iter_mut().zip(0..) {
            *number += lane;
        }
        draws.normal_pairs(&numbers, 0)
    }

    /// Range offsets of the channels of sixteen shots, m.
    #[inline(always)]
    fn offsets(&self, first: usize) -> [f64; 16] {
        let mut offsets = [0.0; 16];
        if self.simulator.direct.offset {
            let channels = &self.simulator.plain.lidar.channels;
            for (offset, shot) in offsets.iter_mut().zip(self.cast.first + first..) {
                *offset = channels[shot % channels.len()].range_offset;
            }
        }
        offsets
    }

    /// Draws the shots of four blocks on surfaces with noise profiles; none if there are none. Batches of
    /// 64 hide the latency of the random number generator.
    #[inline(always)]
    fn draw(&mut self, blocks: &[ReturnBlock], first: usize) -> Option<ProfileDraws> {
        let calibrated = &self.simulator.direct.calibrated;
        if calibrated.is_empty() {
            return None;
        }
        // Find the shots on surfaces with noise profiles.
        let mut surfaces = CalibratedLanes::<64>::NONE;
        let mut any = false;
        for (number, block) in blocks.iter().enumerate() {
            any |= write_surfaces(&mut surfaces, 16 * number, block, calibrated);
        }
        if !any {
            return None;
        }
        // Draw them.
        let simulator = self.simulator;
        let cast = self.cast;
        let address = simulator.plain.address(shot_number(cast.first + first));
        let cos = &surfaces.cos_incidence;
        let side = |lane: usize| side(cast, cos[lane], first + lane);
        let profiles = simulator.plain.world.profiles();
        let drawn = surfaces.draw(
            profiles,
            side,
            &address,
            &mut self.detector.scratch.get().noise_cache,
        );
        Some(ProfileDraws {
            calibrated: surfaces.calibrated,
            drawn,
        })
    }
}
