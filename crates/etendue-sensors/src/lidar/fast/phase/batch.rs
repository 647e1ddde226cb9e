//! Rays of sixteen beams, and the light that their first surfaces return.
#![expect(
    clippy::inline_always,
    reason = "loops over sixteen lanes become vector instructions"
)]

use super::air::PhaseAir;
use crate::phase_signal_tile::PhaseSignalTile;
use crate::scalar_tile::{LaneScalar, ScalarTile};
use crate::transport::{DirectReturnTile, PoseTile, ReturnFactor, World};
use etendue_physics::beam::{BeamFrame, SubRay};
use etendue_physics::phase::Modulation;
use etendue_scene::{HitTile, RayTile};
use etendue_simd::Vectorized;
use nalgebra::Point3;

/// Number of beams in a batch: one in each lane of a tile.
pub(super) const LANES: usize = 16;

/// Up to sixteen beams, their rays, hits and direct returns.
pub(super) struct Batch<S: LaneScalar> {
    pub poses: PoseTile<S>,
    /// Axes of each beam, in the sensor's frame.
    pub frames: Vec<BeamFrame>,
    /// Point that each beam leaves from, in the sensor's frame, m; none where all leave from the origin.
    pub exits: Option<[Point3<f64>; LANES]>,
    pub time: [f64; LANES],
    /// One ray of every beam in each: the axes first where the truth is wanted, then the sub-rays.
    pub rays: Vec<RayTile>,
    pub met: Vec<HitTile>,
    /// What comes straight back along the sub-rays, and the sum of it.
    pub back: Vec<DirectReturnTile<S>>,
    pub received: PhaseSignalTile<S>,
}

impl<S: LaneScalar> Default for Batch<S> {
    fn default() -> Self {
        Self {
            poses: PoseTile::identity(),
            frames: Vec::new(),
            exits: None,
            time: [0.0; LANES],
            rays: Vec::new(),
            met: Vec::new(),
            back: Vec::new(),
            received: PhaseSignalTile::nothing(),
        }
    }
}

/// Point in the world that a ray of each beam leaves from, m, with its offset at the exit to the left and
/// upwards.
#[inline(always)]
fn origins<S: LaneScalar>(
    poses: &PoseTile<S>,
    frames: &[BeamFrame],
    exits: Option<&[Point3<f64>; LANES]>,
    [left, up]: [f64; 2],
) -> [[f64; LANES]; 3] {
    let mut origin = poses.origin();
    if let Some(exits) = exits {
        for (lane, frame) in frames.iter().enumerate() {
            let exit = exits[lane] + frame.left * left + frame.up * up;
            let point = poses.lane(lane) * exit.map(S::from);
            for axis in 0..3 {
                origin[axis][lane] = point[axis].value();
            }
        }
    }
    origin
}

/// Makes the rays of a batch from its frames, poses and times.
pub(super) struct Aim<'a, S: LaneScalar> {
    pub batch: &'a mut Batch<S>,
    pub sub_rays: &'a [SubRay],
    /// Offsets of the rays at the exit, m; empty where there are none.
    pub offsets: &'a [[f64; 2]],
    pub half_tangent: f64,
    pub with_axes: bool,
}

impl<S: LaneScalar> Vectorized for Aim<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let batch = self.batch;
        let extra = usize::from(self.with_axes);
        batch
            .rays
            .resize(extra + self.sub_rays.len(), RayTile::EMPTY);
        batch.met.resize(batch.rays.len(), HitTile::NONE);
        let [axis, left, up] = spread(&batch.frames);
        let origins = |offset| origins(&batch.poses, &batch.frames, batch.exits.as_ref(), offset);
        let axes = origins([0.0; 2]);
        for (number, rays) in batch.rays.iter_mut().enumerate() {
            rays.used = batch.frames.len();
            rays.time = batch.time;
            let sub_ray = number.checked_sub(extra);
            let offset = sub_ray.and_then(|number| self.offsets.get(number));
            rays.origin = offset.map_or(axes, |offset| origins(*offset));
            rays.direction = match sub_ray {
                None => batch.poses.rotate(&axis),
                Some(number) => {
                    let sub_ray = &self.sub_rays[number];
                    let own = directions([&axis, &left, &up], self.half_tangent, sub_ray);
                    batch.poses.rotate(&own)
                }
            };
        }
    }
}

/// The axes of beams by lane, x forward in the others.
#[inline(always)]
fn spread(frames: &[BeamFrame]) -> [[[f64; 16]; 3]; 3] {
    let mut axes = [[[0.0; 16]; 3]; 3];
    axes[0][0] = [1.0; 16];
    for (lane, frame) in frames.iter().enumerate() {
        for (own, part) in axes.iter_mut().zip([&frame.axis, &frame.left, &frame.up]) {
            for k in 0..3 {
                own[k][lane] = part[k];
            }
        }
    }
    axes
}

/// As [`BeamFrame::direction`], of every lane.
#[inline(always)]
fn directions(
    [axis, left, up]: [&[[f64; 16]; 3]; 3],
    half_tangent: f64,
    sub_ray: &SubRay,
) -> [[f64; 16]; 3] {
    let mut out = *axis;
    for i in 0..16 {
        let mut slanted = [0.0; 3];
        for k in 0..3 {
            let offset = left[k][i] * sub_ray.left + up[k][i] * sub_ray.up;
            slanted[k] = half_tangent * offset + axis[k][i];
        }
        let length =
            (slanted[0] * slanted[0] + slanted[1] * slanted[1] + slanted[2] * slanted[2]).sqrt();
        for k in 0..3 {
            out[k][i] = slanted[k] / length;
        }
    }
    out
}

/// Collects the direct returns along the sub-rays of a batch whose rays are cast.
pub(super) struct DirectReturns<'a, S: LaneScalar> {
    pub world: &'a World<'a, S>,
    pub batch: &'a mut Batch<S>,
    pub sub_rays: &'a [SubRay],
    pub modulation: &'a Modulation,
    /// Number of the first beam.
    pub first: usize,
    pub factor: Option<&'a ReturnFactor<'a, S>>,
    pub air: Option<&'a PhaseAir<S>>,
}

impl<S: LaneScalar> Vectorized for DirectReturns<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let batch = self.batch;
        batch.back.clear();
        batch.received = PhaseSignalTile::nothing();
        let extra = batch.rays.len() - self.sub_rays.len();
        let twist = batch.poses.twist();
        let tiles = batch.rays[extra..].iter().zip(&batch.met[extra..]);
        for (sub_ray, (rays, met)) in self.sub_rays.iter().zip(tiles) {
            let mut back = self.world.direct_returns_of_poses(rays, met, &twist);
            if let Some(factor) = self.factor {
                multiply(&mut back, self.first, met, factor);
            }
            if let Some(air) = self.air {
                weaken(&mut back, air);
            }
            let power = back.power.scaled(&[sub_ray.weight; 16]);
            batch.received.add(self.modulation, &back.range, &power);
            batch.back.push(back);
        }
    }
}

/// Applies the transmission of the air to the returns.
fn weaken<S: LaneScalar>(back: &mut DirectReturnTile<S>, air: &PhaseAir<S>) {
    for lane in (0..LANES).filter(|&lane| back.has_return[lane]) {
        let power = back.power.lane(lane) * air.transmission(back.range.lane(lane));
        back.power.put(lane, power);
    }
}

/// Applies the factor of each hit to the returns.
fn multiply<S: LaneScalar>(
    back: &mut DirectReturnTile<S>,
    first: usize,
    met: &HitTile,
    factor: &ReturnFactor<S>,
) {
    for lane in (0..LANES).filter(|&lane| back.has_return[lane]) {
        if let Some(hit) = met.hit(lane) {
            let power = back.power.lane(lane) * factor(first + lane, &hit);
            back.power.put(lane, power);
        }
    }
}
