//! Rays of sixteen shots and their direct returns.
#![expect(
    clippy::inline_always,
    reason = "loops over sixteen lanes become vector instructions"
)]

use crate::lidar::fast::received::Reception;
use crate::lidar::prepared_air::PreparedAir;
use crate::lidar::sensor_poses::is_same;
use crate::phase_signal_tile::PhaseSignalTile;
use crate::scalar_tile::{LaneScalar, ScalarTile};
use crate::transport::{PoseTile, ReturnFactor, TwistTile, World};
use etendue_physics::beam::{BeamFrame, SubRay};
use etendue_physics::phase::Modulation;
use etendue_scene::{HitTile, MaterialId, RayTile};
use etendue_simd::Vectorized;
use nalgebra::{Isometry3, Point3};

/// Number of shots in a batch: one in each lane of a tile.
pub(super) const LANES: usize = 16;

/// Up to sixteen shots, their rays, hits and direct returns.
pub(super) struct Batch<S: LaneScalar> {
    /// Pose of the sensor in each lane.
    pub poses: Vec<Isometry3<S>>,
    /// The pose of all lanes, while the sensor is at rest.
    still: Option<Isometry3<S>>,
    /// The poses by lane.
    pose_tile: PoseTile<S>,
    /// Their first-order changes.
    twist: TwistTile<S>,
    /// Coordinate axes of each beam, in the sensor's frame.
    pub frames: Vec<BeamFrame>,
    /// Origin of each beam in the sensor's frame, m; `None` if all are the sensor's origin.
    pub exits: Option<[Point3<f64>; LANES]>,
    /// Time of each shot, s.
    pub time: [f64; LANES],
    /// Tiles with one ray of every shot: first the axes, if they are cast, then the rays of the beams.
    pub rays: Vec<RayTile>,
    /// First hits of `rays`.
    pub hits: Vec<HitTile>,
    /// Direct returns along the rays of the beams, with their power at the receiver.
    pub direct: Vec<BatchReturn>,
    /// Superposition of the direct returns of each shot.
    pub sum: PhaseSignalTile<S>,
}

/// The direct returns along one ray of every shot ([`DirectReturnTile`]), without derivatives.
pub(super) struct BatchReturn {
    /// Half the optical path, m.
    pub range: [f64; LANES],
    /// Power at the receiver, 1/(m² sr).
    pub power: [f64; LANES],
    /// Cosine of the incidence, in [0, 1].
    pub cos_incidence: [f64; LANES],
    /// Whether the direct return is the whole ray tree.
    pub is_complete: [bool; LANES],
    /// Whether light returns.
    pub has_return: [bool; LANES],
    /// Material of the surface.
    pub material: [MaterialId; LANES],
}

impl<S: LaneScalar> Default for Batch<S> {
    fn default() -> Self {
        Self {
            poses: Vec::new(),
            still: None,
            pose_tile: PoseTile::identity(),
            twist: PoseTile::identity().twist(),
            frames: Vec::new(),
            exits: None,
            time: [0.0; LANES],
            rays: Vec::new(),
            hits: Vec::new(),
            direct: Vec::new(),
            sum: PhaseSignalTile::nothing(),
        }
    }
}

impl<S: LaneScalar> Batch<S> {
    /// Replaces the poses by that of a sensor at rest.
    pub fn set_still(&mut self, pose: &Isometry3<S>) {
        if (self.still.as_ref()).is_none_or(|own| !is_same(own, pose)) {
            self.set_poses([*pose; LANES].into_iter());
            self.still = Some(*pose);
        }
    }

    /// Replaces the poses.
    pub fn set_poses(&mut self, poses: impl Iterator<Item = Isometry3<S>>) {
        self.still = None;
        self.poses.clear();
        self.poses.extend(poses);
        for (lane, pose) in self.poses.iter().enumerate() {
            self.pose_tile.put(lane, pose);
        }
        self.twist = self.pose_tile.twist();
    }

    /// Origins of the beams in the world, m.
    #[inline(always)]
    fn origins(&self) -> [[f64; LANES]; 3] {
        let mut origins = self.pose_tile.origin();
        if let Some(exits) = &self.exits {
            for (lane, (pose, exit)) in self.poses.iter().zip(exits).enumerate() {
                let point = pose * exit.map(S::from);
                for axis in 0..3 {
                    origins[axis][lane] = point[axis].value();
                }
            }
        }
        origins
    }
}

/// Computes the rays of a batch from its frames, poses and times.
pub(super) struct AimBatch<'a, S: LaneScalar> {
    pub batch: &'a mut Batch<S>,
    pub sub_rays: &'a [SubRay],
    pub half_tangent: f64,
    /// Whether the only ray of a beam is that on its axis.
    pub only_axes: bool,
    pub with_axes: bool,
}

impl<S: LaneScalar> Vectorized for AimBatch<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let batch = self.batch;
        let extra = usize::from(self.with_axes);
        let tiles = extra + self.sub_rays.len();
        batch.rays.resize(tiles, RayTile::EMPTY);
        batch.hits.resize(tiles, HitTile::NONE);
        let origins = batch.origins();
        let [axis, left, up] = spread(&batch.frames);
        for (number, rays) in batch.rays.iter_mut().enumerate() {
            rays.used = batch.frames.len();
            rays.time = batch.time;
            rays.origin = origins;
            rays.direction = match number.checked_sub(extra) {
                None => batch.pose_tile.rotate(&axis),
                Some(_) if self.only_axes => batch.pose_tile.rotate(&axis),
                Some(number) => {
                    let sub_ray = &self.sub_rays[number];
                    let own = directions([&axis, &left, &up], self.half_tangent, sub_ray);
                    batch.pose_tile.rotate(&own)
                }
            };
        }
    }
}

/// Axis, left and up directions of the beams by lane; the axis of unused lanes is x.
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

/// [`BeamFrame::direction`] of every lane.
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

/// Evaluates and sums the direct returns along the rays of the beams of a batch.
pub(super) struct SumDirectReturns<'a, S: LaneScalar> {
    pub world: &'a World<'a, S>,
    pub batch: &'a mut Batch<S>,
    pub sub_rays: &'a [SubRay],
    pub modulation: &'a Modulation,
    /// Index of the first shot in the sweep.
    pub first: usize,
    pub factor: Option<&'a ReturnFactor<'a, S>>,
    pub air: &'a PreparedAir<S>,
}

impl<S: LaneScalar> Vectorized for SumDirectReturns<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let batch = self.batch;
        batch.direct.clear();
        batch.sum.clear();
        let extra = batch.rays.len() - self.sub_rays.len();
        let tiles = batch.rays[extra..].iter().zip(&batch.hits[extra..]);
        for (sub_ray, (rays, hits)) in self.sub_rays.iter().zip(tiles) {
            let mut direct = (self.world).direct_returns_of_poses(rays, hits, &batch.twist);
            let reception = Reception {
                factor: self.factor,
                weight: sub_ray.weight,
                air: self.air,
            };
            reception.apply(&mut direct, hits, |lane| self.first + lane);
            batch.sum.add(self.modulation, &direct.range, &direct.power);
            batch.direct.push(BatchReturn {
                range: *direct.range.values(),
                power: *direct.power.values(),
                cos_incidence: direct.cos_incidence,
                is_complete: direct.is_complete,
                has_return: direct.has_return,
                material: direct.material,
            });
        }
    }
}
