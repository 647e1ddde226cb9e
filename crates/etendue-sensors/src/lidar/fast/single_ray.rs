//! Single-ray beams with direct returns: detection and report of sixteen shots at a time.
#![expect(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over sixteen lanes become vector instructions"
)]

use super::cast_batch::CastBatch;
use super::report::block::{BlockDetections, BlockDraws, ProfileDraws, ReturnBlock};
use super::report::write::{has_others, side, write_surfaces};
use super::simulator::FastSimulator;
use crate::calibrated::CalibratedLanes;
use crate::lidar::light::ShotLight;
use crate::lidar::return_buffer::ReturnBuffer;
use crate::lidar::sweep::{DetectorMemory, shot_number};
use etendue_physics::NormalPairs;
use etendue_physics::pulse::EchoLanes;
use etendue_scene::{HitTile, ObjectId};
use etendue_simd::Vectorized;

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
                tile.apart[lane] = shot_number(self.tree_shots.len());
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
        if block.apart == [0; 16] {
            self.simulator
                .report_block(self.cast, block, &measured, first, count, self.buffer);
        } else {
            self.report_each(block, Some(&measured), first, count);
        }
    }

    /// Adds the returns of a block with ray trees, or (`measured` is none) without direct returns.
    fn report_each(
        &mut self,
        block: &ReturnBlock,
        measured: Option<&BlockDetections>,
        first: usize,
        count: usize,
    ) {
        let Self {
            simulator,
            cast,
            lights,
            detector,
            buffer,
            ..
        } = self;
        let apart = |place: usize, light: usize, buffer: &mut ReturnBuffer| {
            simulator.report_tree(cast, place, &mut lights[light], detector, buffer)
        };
        simulator.report_each(cast, block, measured, first, count, buffer, apart);
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
        // Find the echoes, with noise that is not independent from shot to shot.
        let mut echoes = self.echoes(block, drawn, noise);
        self.add_correlated_noise(block, drawn, first, &mut echoes);
        self.simulator
            .detections(self.cast, block, echoes, drawn, first)
    }

    /// Adds the noise that is not independent from shot to shot to the echoes that the receiver found.
    #[inline(always)]
    fn add_correlated_noise(
        &self,
        block: &ReturnBlock,
        drawn: Option<&BlockDraws>,
        first: usize,
        echoes: &mut EchoLanes,
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
        let errors = noise.errors(&self.numbers(first), objects);
        let calibrated = drawn.map_or(&[false; 16], |drawn| drawn.calibrated);
        for i in 0..16 {
            echoes.range[i] += if calibrated[i] { 0.0 } else { errors[i] };
        }
    }

    /// The echoes of sixteen shots: drawn from noise profiles, or found by the receiver.
    #[inline(always)]
    fn echoes(
        &self,
        block: &ReturnBlock,
        drawn: Option<&BlockDraws>,
        noise: &NormalPairs,
    ) -> EchoLanes {
        // Without draws, the receiver finds all echoes.
        let Some(drawn) = drawn else {
            return self.received(block, noise);
        };
        // If all are drawn, the receiver is not needed.
        if !has_others(block, drawn.calibrated) {
            return EchoLanes {
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
    fn received(&self, block: &ReturnBlock, noise: &NormalPairs) -> EchoLanes {
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
                let numbers = self.numbers(first + 16 * number);
                *noise = self.simulator.noise_draws(&numbers);
            }
        }
        noise
    }

    /// Indices in the sweep of sixteen shots.
    #[inline(always)]
    fn numbers(&self, first: usize) -> [u32; 16] {
        let mut numbers = [self.cast.number(first); 16];
        for (number, lane) in numbers.iter_mut().zip(0..) {
            *number += lane;
        }
        numbers
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
