//! Sixteen beams at once.
#![expect(
    clippy::inline_always,
    reason = "loops over sixteen lanes become vector instructions"
)]

use crate::phase_signal_tile::PhaseSignalTile;
use crate::scalar_tile::{LaneScalar, ScalarTile};
use crate::transport::{DirectReturnTile, PoseTile, ReturnFactor, World};
use etendue_physics::beam::{BeamFrame, SubRay};
use etendue_physics::phase::Modulation;
use etendue_scene::{HitTile, RayTile};
use etendue_simd::Vectorized;

/// Beams that are handled together: one in each lane of a tile.
pub(super) const LANES: usize = 16;

/// Up to sixteen beams, their rays, what these meet and what comes straight back.
pub(super) struct Batch<S: LaneScalar> {
    pub poses: PoseTile<S>,
    /// Where each beam points, in the sensor's frame.
    pub frames: Vec<BeamFrame>,
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
            time: [0.0; LANES],
            rays: Vec::new(),
            met: Vec::new(),
            back: Vec::new(),
            received: PhaseSignalTile::nothing(),
        }
    }
}

/// Makes the rays of a batch's beams, from its frames, poses and times.
pub(super) struct Aim<'a, S: LaneScalar> {
    pub batch: &'a mut Batch<S>,
    pub sub_rays: &'a [SubRay],
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
        let origin = batch.poses.origin();
        for (number, rays) in batch.rays.iter_mut().enumerate() {
            rays.used = batch.frames.len();
            rays.time = batch.time;
            rays.origin = origin;
            rays.direction = match number.checked_sub(extra) {
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
        let mut way = [0.0; 3];
        for k in 0..3 {
            let offset = left[k][i] * sub_ray.left + up[k][i] * sub_ray.up;
            way[k] = half_tangent * offset + axis[k][i];
        }
        let length = (way[0] * way[0] + way[1] * way[1] + way[2] * way[2]).sqrt();
        for k in 0..3 {
            out[k][i] = way[k] / length;
        }
    }
    out
}

/// Collects what comes straight back along the sub-rays of a batch whose rays are cast.
pub(super) struct Straight<'a, S: LaneScalar> {
    pub world: &'a World<'a, S>,
    pub batch: &'a mut Batch<S>,
    pub sub_rays: &'a [SubRay],
    pub modulation: &'a Modulation,
    /// Number of the first beam.
    pub first: usize,
    pub factor: Option<&'a ReturnFactor<'a, S>>,
}

impl<S: LaneScalar> Vectorized for Straight<'_, S> {
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
            let power = back.power.scaled(&[sub_ray.weight; 16]);
            batch.received.add(self.modulation, &back.range, &power);
            batch.back.push(back);
        }
    }
}

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
