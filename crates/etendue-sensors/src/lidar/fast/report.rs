//! Report of sixteen shots at a time, whose echoes are found.
#![expect(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over sixteen lanes become vector instructions"
)]

pub(super) mod block;
pub(super) mod write;

use super::cast_batch::CastBatch;
use super::simulator::FastSimulator;
use crate::lidar::batch_shots::BatchShots;
use crate::lidar::output::Outcome;
use crate::lidar::return_buffer::ReturnBuffer;
use block::{BlockDetections, BlockDraws, ReturnBlock};
use etendue_physics::pulse::EchoLanes;
use etendue_physics::{Draws, NormalPairs, Purpose};
use etendue_scene::MeshId;
use write::write_return;

impl FastSimulator<'_, '_> {
    /// Adds the returns of the first `count` shots of a block, none of which is reported apart. `first` is the index of the
    /// first shot in the batch.
    #[inline(always)]
    pub(super) fn report_block(
        &self,
        cast: &CastBatch,
        block: &ReturnBlock,
        measured: &BlockDetections,
        first: usize,
        count: usize,
        buffer: &mut ReturnBuffer,
    ) {
        buffer.extend(count, |lane, number, place| {
            if measured.within[lane] {
                write_return(self, cast, place, block, measured, first, lane);
            }
            measured.outcome(lane, number)
        });
    }

    /// Adds the returns of the first `count` shots of a block. `measured` is none without direct returns. `apart` reports a
    /// shot of the batch on its own, which has a number.
    #[inline(never)]
    #[expect(
        clippy::too_many_arguments,
        reason = "those of `report_block`, and the others"
    )]
    pub(super) fn report_each(
        &self,
        cast: &CastBatch,
        block: &ReturnBlock,
        measured: Option<&BlockDetections>,
        first: usize,
        count: usize,
        buffer: &mut ReturnBuffer,
        mut apart: impl FnMut(usize, usize, &mut ReturnBuffer) -> Outcome,
    ) {
        for lane in 0..count {
            let outcome = match (block.apart[lane], measured) {
                (0, Some(measured)) => {
                    let outcome = measured.outcome(lane, buffer.count());
                    if measured.within[lane] {
                        let place = buffer.place();
                        write_return(self, cast, place, block, measured, first, lane);
                    }
                    outcome
                }
                (0, None) => Outcome::NoReturn,
                (number, _) => apart(first + lane, number as usize - 1, buffer),
            };
            buffer.outcomes.push(outcome);
        }
    }

    /// Pairs of normal random numbers of sixteen shots for the receiver noise.
    #[inline(always)]
    pub(super) fn noise_draws(&self, numbers: &[u32; 16]) -> NormalPairs {
        let run = self.plain.settings;
        let draws = Draws {
            seed: run.seed,
            sensor: run.sensor,
            sweep: run.sweep,
            purpose: Purpose::ReceiverNoise,
        };
        draws.normal_pairs(numbers, 0)
    }

    /// The detections of the echoes of sixteen shots. `block` has the surface of origin of each, `drawn` the draws from noise
    /// profiles; `first` is the index of the first shot in the batch.
    #[inline(always)]
    pub(super) fn detections(
        &self,
        cast: &CastBatch,
        block: &ReturnBlock,
        echoes: EchoLanes,
        drawn: Option<&BlockDraws>,
        first: usize,
    ) -> BlockDetections {
        // Add the range offsets, round, and apply the range limits.
        let offsets = self.offsets(cast, first);
        let limits = self.plain.lidar.limits;
        let reach = self.plain.lidar.receiver.echo_reach();
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
            point: match cast.shots {
                BatchShots::Listed(_) => [[0.0; 16]; 3],
                BatchShots::Rotor { rotor, columns, .. } => rotor.points(columns, first, &distance),
            },
            sourced,
            mesh: self.meshes(block),
            within,
            too_near,
        }
    }

    /// The meshes of the objects that the shots of a block hit.
    #[inline(always)]
    fn meshes(&self, block: &ReturnBlock) -> [MeshId; 16] {
        let objects = self.plain.world.scene().objects();
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
        echoes: &EchoLanes,
        range: &[f64; 16],
        drawn: Option<&BlockDraws>,
    ) -> [f64; 16] {
        // Without draws, apply the response to all shots.
        let intensity = &self.plain.lidar.intensity;
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

    /// Range offsets of the channels of sixteen shots, m.
    #[inline(always)]
    fn offsets(&self, cast: &CastBatch, first: usize) -> [f64; 16] {
        let mut offsets = [0.0; 16];
        if self.direct.offset {
            let channels = &self.plain.lidar.channels;
            for (offset, shot) in offsets.iter_mut().zip(cast.first + first..) {
                *offset = channels[shot % channels.len()].range_offset;
            }
        }
        offsets
    }
}
