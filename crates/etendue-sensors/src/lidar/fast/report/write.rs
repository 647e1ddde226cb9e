//! Results of a block of sixteen shots, written to returns and to the surfaces of noise profiles.
#![expect(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over sixteen lanes become vector instructions"
)]

use super::block::{BlockDetections, ReturnBlock};
use crate::calibrated::{CalibratedLanes, side_of};
use crate::lidar::batch_shots::BatchShots;
use crate::lidar::fast::cast_batch::CastBatch;
use crate::lidar::fast::simulator::FastSimulator;
use crate::lidar::frame::Frame;
use crate::lidar::output::{Return, Source};
use crate::lidar::sweep::shot_number;
use etendue_scene::ObjectId;
use nalgebra::{Point3, Vector3};

/// Writes the return of one shot to `place`, field by field: a copy of a whole `Return` would wait until
/// all its fields are stored.
#[inline(always)]
pub(in crate::lidar::fast) fn write_return(
    simulator: &FastSimulator,
    cast: &CastBatch,
    place: &mut Return,
    block: &ReturnBlock,
    measured: &BlockDetections,
    first: usize,
    lane: usize,
) {
    // Position.
    let offset = measured.offset[lane];
    let point = match cast.shots {
        BatchShots::Listed(shots) => shots[first + lane].point(measured.range[lane] - offset),
        BatchShots::Rotor { .. } => {
            let [x, y, z] = &measured.point;
            Point3::new(x[lane], y[lane], z[lane])
        }
    };
    match simulator.plain.settings.frame {
        Frame::Sensor => place.position = point,
        frame => {
            let pose = cast.poses.of(first + lane);
            place.position = frame.place(point, pose, &simulator.reporter.world_from_start);
        }
    }
    // Measured values.
    place.range = measured.range[lane];
    place.intensity = measured.intensity[lane];
    place.power = measured.echoes.power[lane];
    place.width = measured.echoes.width[lane];
    place.velocity = None;
    place.ambient = 0.0;
    place.shot = shot_number(cast.first + first + lane);
    place.return_number = 1;
    place.returns = 1;
    // Surface of origin.
    place.source = None;
    if measured.sourced[lane] {
        place.source = Some(Source {
            instance: ObjectId(block.object[lane]),
            mesh: measured.mesh[lane],
            material: block.material[lane],
            cos_incidence: block.cos_incidence[lane].min(1.0),
            range: block.range[lane] + offset,
        });
    }
}

/// Whether any shot with a direct return is not drawn from a noise profile.
#[inline(always)]
pub(in crate::lidar::fast) fn has_others(block: &ReturnBlock, calibrated: &[bool; 16]) -> bool {
    let mut others = false;
    for i in 0..16 {
        others |= block.power[i] > 0.0 && !calibrated[i];
    }
    others
}

/// Writes the profiled surfaces of a block to `surfaces`, starting with the lane `from`; equal to
/// [`ReturnSummary`](crate::calibrated::ReturnSummary) of each shot. Returns whether there are any.
#[inline(always)]
pub(in crate::lidar::fast) fn write_surfaces(
    surfaces: &mut CalibratedLanes<64>,
    from: usize,
    block: &ReturnBlock,
    calibrated: &[bool],
) -> bool {
    // Look up whether each material has a profile: once if all lanes have the same material.
    let first = block.material[0];
    let mut is_uniform = true;
    for i in 0..16 {
        is_uniform &= block.material[i].0 == first.0;
    }
    let mut is_calibrated = [calibrated[first.0 as usize]; 16];
    if !is_uniform {
        for i in 0..16 {
            is_calibrated[i] = calibrated[block.material[i].0 as usize];
        }
    }
    // Write the lanes.
    let mut any = false;
    for i in 0..16 {
        let is_drawn = (block.power[i] > 0.0) & is_calibrated[i];
        any |= is_drawn;
        surfaces.calibrated[from + i] = is_drawn;
    }
    for i in 0..16 {
        surfaces.material[from + i] = block.material[i];
        surfaces.range[from + i] = block.range[i];
        surfaces.cos_incidence[from + i] = block.cos_incidence[i].clamp(0.0, 1.0);
    }
    any
}

/// Signed side of the surface normal on which the light of a single-ray shot arrives, in [-1, 1].
#[inline(never)]
pub(in crate::lidar::fast) fn side(cast: &CastBatch, cos_incidence: f64, shot: usize) -> f64 {
    let place = cast.order.places[shot];
    let tile = place / 16;
    let lane = place % 16;
    let [x, y, z] = &cast.hits[tile].normal;
    let normal = Vector3::new(x[lane], y[lane], z[lane]);
    let up = cast.poses.of(shot) * Vector3::z();
    side_of(
        &up,
        &normal,
        &cast.tiles[tile].ray(lane).direction,
        cos_incidence,
    )
}
