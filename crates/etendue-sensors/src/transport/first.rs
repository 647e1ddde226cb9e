//! What the first surfaces of sixteen rays send straight back, with the derivatives of the poses
//! that fired the rays.
#![expect(
    clippy::inline_always,
    reason = "loops over sixteen lanes become the caller's vector instructions"
)]

use super::World;
use super::tree::power_back;
use crate::scalar_tile::{LaneScalar, ScalarTile};
use etendue_physics::surface::Side;
use etendue_scene::{HitTile, MaterialId, ObjectId, RayTile};
use nalgebra::{Isometry3, Quaternion, UnitQuaternion};

/// Sixteen poses of a sensor.
#[derive(Clone, Copy)]
pub(crate) struct PoseTile<S: LaneScalar> {
    /// The unit quaternions' i, j, k and real parts.
    rotation: [S::Tile; 4],
    translation: [S::Tile; 3],
}

/// How rays that leave a sensor's origin move with its pose, to first order: the origin by `shift`
/// (m), a direction $d$ by `turn` $\times d$ (rad). The values are zero.
pub(crate) struct TwistTile<S: LaneScalar> {
    shift: [S::Tile; 3],
    turn: [S::Tile; 3],
}

/// What the first surfaces on sixteen rays send straight back: zero where they send nothing.
pub(crate) struct FirstReturns<S: LaneScalar> {
    /// Half the optical path, m.
    pub range: S::Tile,
    /// Power, 1/(m² sr).
    pub power: S::Tile,
    pub cos_incidence: S::Tile,
    /// The lanes whose first surface is seen by its own light alone: all that a ray tree has.
    pub is_whole: [bool; 16],
    pub is_lit: [bool; 16],
    pub material: [MaterialId; 16],
}

impl<S: LaneScalar> PoseTile<S> {
    /// The sensor in the world's frame, sixteen times.
    pub fn identity() -> Self {
        let [zero, one] = [0.0, 1.0].map(|number| S::Tile::plain([number; 16]));
        Self {
            rotation: [zero, zero, zero, one],
            translation: [zero; 3],
        }
    }

    /// Replaces the pose of a lane.
    #[inline(always)]
    pub fn put(&mut self, lane: usize, pose: &Isometry3<S>) {
        for (own, part) in self.rotation.iter_mut().zip(pose.rotation.coords.iter()) {
            own.put(lane, *part);
        }
        let parts = pose.translation.vector.iter();
        for (own, part) in self.translation.iter_mut().zip(parts) {
            own.put(lane, *part);
        }
    }

    /// The pose of a lane.
    pub fn lane(&self, lane: usize) -> Isometry3<S> {
        let [i, j, k, w] = self.rotation.each_ref().map(|part| part.lane(lane));
        let [x, y, z] = self.translation.each_ref().map(|part| part.lane(lane));
        let rotation = UnitQuaternion::new_unchecked(Quaternion::new(w, i, j, k));
        Isometry3::from_parts(nalgebra::Translation3::new(x, y, z), rotation)
    }

    /// Where the sensor's origin is, m.
    #[inline(always)]
    pub fn origin(&self) -> [[f64; 16]; 3] {
        let [x, y, z] = &self.translation;
        [*x.values(), *y.values(), *z.values()]
    }

    /// Turns directions of the sensor's frame into the world:
    /// $v + 2w\,(u \times v) + 2u \times (u \times v)$ for the quaternion $(w, u)$, in the order of
    /// nalgebra's own product, so that the numbers come out the same.
    #[inline(always)]
    pub fn turned(&self, v: &[[f64; 16]; 3]) -> [[f64; 16]; 3] {
        let [ui, uj, uk, w] = self.rotation.each_ref().map(ScalarTile::values);
        let mut out = [[0.0; 16]; 3];
        for i in 0..16 {
            let (u, v) = ([ui[i], uj[i], uk[i]], [v[0][i], v[1][i], v[2][i]]);
            let twice = cross(&u, &v).map(|part| part * 2.0);
            let across = cross(&u, &twice);
            for axis in 0..3 {
                out[axis][i] = twice[axis] * w[i] + across[axis] + v[axis];
            }
        }
        out
    }

    /// How rays move with the poses: the turn is $2\,\mathrm{Im}(\delta q\,q^*)$.
    #[inline(always)]
    pub fn twist(&self) -> TwistTile<S> {
        let [di, dj, dk, dw] = &[
            change::<S>(&self.rotation[0]),
            change::<S>(&self.rotation[1]),
            change::<S>(&self.rotation[2]),
            change::<S>(&self.rotation[3]),
        ];
        let [i, j, k, w] = self.rotation.each_ref().map(ScalarTile::values);
        TwistTile {
            shift: [
                change::<S>(&self.translation[0]),
                change::<S>(&self.translation[1]),
                change::<S>(&self.translation[2]),
            ],
            turn: [
                turn_about::<S>([di, dj, dk, dw], [i, j, k, w]),
                turn_about::<S>([dj, dk, di, dw], [j, k, i, w]),
                turn_about::<S>([dk, di, dj, dw], [k, i, j, w]),
            ],
        }
    }
}

/// The derivatives of sixteen scalars, with the value zero.
#[inline(always)]
fn change<S: LaneScalar>(part: &S::Tile) -> S::Tile {
    part.chain(&[0.0; 16], &[1.0; 16])
}

/// How far quaternions turn about the first axis, from their changes and their parts.
#[inline(always)]
fn turn_about<S: LaneScalar>(
    [d, dl, dm, dw]: [&S::Tile; 4],
    [u, l, m, w]: [&[f64; 16]; 4],
) -> S::Tile {
    let half = d.scaled(w) - dw.scaled(u) - dl.scaled(m) + dm.scaled(l);
    half.scaled(&[2.0; 16])
}

#[inline(always)]
fn cross(a: &[f64; 3], b: &[f64; 3]) -> [f64; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

impl<S: LaneScalar> World<'_, S> {
    /// What the surfaces on the rays of a tile send straight back: with a normal $n$ at $t_0$ along
    /// the ray,
    /// $$n\cdot d = n\cdot d_0 + \omega\cdot(d_0\times n),\qquad
    /// t = \frac{t_0\,n\cdot d_0 - n\cdot\delta o}{n\cdot d}$$
    /// where $\delta o$ and $\omega$ are the twist's shift and turn. The values are those of
    /// [`trace_tree`](super::trace_tree), bit for bit.
    #[inline(always)]
    pub(crate) fn returns_of_poses(
        &self,
        rays: &RayTile,
        met: &HitTile,
        twist: &TwistTile<S>,
    ) -> FirstReturns<S> {
        let (d, n) = (&rays.direction, &met.normal);
        let mut facing = [0.0; 16];
        let mut reach = [0.0; 16];
        let mut sign = [0.0; 16];
        let mut arm = [[0.0; 16]; 3];
        for i in 0..16 {
            facing[i] = d[0][i] * n[0][i] + d[1][i] * n[1][i] + d[2][i] * n[2][i];
            reach[i] = facing[i] * met.distance[i];
            sign[i] = if facing[i] > 0.0 { 1.0 } else { -1.0 };
            let across = cross(&[d[0][i], d[1][i], d[2][i]], &[n[0][i], n[1][i], n[2][i]]);
            for axis in 0..3 {
                arm[axis][i] = across[axis];
            }
        }
        let along = S::Tile::plain(facing) + dot::<S>(&twist.turn, &arm);
        let range = (S::Tile::plain(reach) - dot::<S>(&twist.shift, n)) / along;
        let cos_incidence = along.scaled(&sign);
        let mut back = FirstReturns {
            range,
            power: S::Tile::plain([0.0; 16]),
            cos_incidence,
            is_whole: [false; 16],
            is_lit: [false; 16],
            material: [MaterialId(0); 16],
        };
        self.put_scattered(rays.used, met, &facing, &mut back);
        let one_way = S::Tile::plain([1.0; 16]) / range;
        back.power = power_back(one_way, back.power, cos_incidence).only(&back.is_lit);
        back.range = range.only(&back.is_lit);
        back
    }

    /// Replaces the power by the light that the surfaces scatter back, 1/sr.
    #[inline(always)]
    fn put_scattered(
        &self,
        used: usize,
        met: &HitTile,
        facing: &[f64; 16],
        back: &mut FirstReturns<S>,
    ) {
        for lane in (0..used).filter(|&lane| met.is_hit(lane)) {
            let object = ObjectId(met.object[lane]);
            let id = self.scene().material_at(object, met.triangle[lane]);
            let material = self.material(id);
            back.material[lane] = id;
            back.is_whole[lane] = self.lifted[object.0 as usize] && material.ends_paths();
            if back.is_whole[lane] {
                let side = if facing[lane] > 0.0 {
                    Side::Back
                } else {
                    Side::Front
                };
                let scattered = material.backscatter(back.cos_incidence.lane(lane), side);
                back.is_lit[lane] = scattered.value() != 0.0;
                back.power.put(lane, scattered);
            }
        }
    }
}

#[inline(always)]
fn dot<S: LaneScalar>(a: &[S::Tile; 3], b: &[[f64; 16]; 3]) -> S::Tile {
    a[0].scaled(&b[0]) + a[1].scaled(&b[1]) + a[2].scaled(&b[2])
}
