//! Direct returns of sixteen rays from the first surface of each, with the derivatives of the poses that
//! fired the rays.
#![expect(
    clippy::inline_always,
    reason = "loops over sixteen lanes become the caller's vector instructions"
)]

use super::pose_tile::{TwistTile, cross};
use super::tree::returned_power;
use super::world::World;
use crate::scalar_tile::{LaneScalar, ScalarTile};
use etendue_physics::surface::Side;
use etendue_scene::{HitTile, MaterialId, ObjectId, RayTile};

/// Direct returns of sixteen rays, with derivatives: zero in lanes without a return.
pub(crate) struct DirectReturnTile<S: LaneScalar> {
    /// Half the optical path, m.
    pub range: S::Tile,
    /// Power, 1/(m² sr).
    pub power: S::Tile,
    /// Cosine of the incidence, in [0, 1].
    pub cos_incidence: S::Tile,
    /// Whether the direct return is the whole ray tree: no path continues at the first surface, and its
    /// pose is constant.
    pub is_complete: [bool; 16],
    /// Whether light returns.
    pub has_return: [bool; 16],
    /// Material of the first surface; the first material where there is none.
    pub material: [MaterialId; 16],
}

impl<S: LaneScalar> World<'_, S> {
    /// Direct returns of a tile of rays. For a surface of normal $n$ at the distance $t_0$ along a ray of
    /// direction $d_0$,
    /// $$n\cdot d = n\cdot d_0 + \omega\cdot(d_0\times n),\qquad
    /// t = \frac{t_0\,n\cdot d_0 - n\cdot\delta o}{n\cdot d}$$
    /// with $\delta o$ and $\omega$ of the [`TwistTile`]. The values equal those of
    /// [`trace_tree`](super::trace_tree) bit for bit.
    #[inline(always)]
    pub(crate) fn direct_returns_of_poses(
        &self,
        rays: &RayTile,
        hits: &HitTile,
        twist: &TwistTile<S>,
    ) -> DirectReturnTile<S> {
        let d = &rays.direction;
        let n = &hits.normal;
        // Evaluate products of directions and normals.
        let mut facing = [0.0; 16];
        let mut reach = [0.0; 16];
        let mut sign = [0.0; 16];
        let mut arm = [[0.0; 16]; 3];
        for i in 0..16 {
            facing[i] = d[0][i] * n[0][i] + d[1][i] * n[1][i] + d[2][i] * n[2][i];
            reach[i] = facing[i] * hits.distance[i];
            sign[i] = if facing[i] > 0.0 { 1.0 } else { -1.0 };
            let across = cross(&[d[0][i], d[1][i], d[2][i]], &[n[0][i], n[1][i], n[2][i]]);
            for axis in 0..3 {
                arm[axis][i] = across[axis];
            }
        }

        // Evaluate range and incidence with their derivatives.
        let along = S::Tile::plain(facing) + dot::<S>(&twist.rotation, &arm);
        let range = (S::Tile::plain(reach) - dot::<S>(&twist.translation, n)) / along;
        let cos_incidence = along.scaled(&sign);

        // Evaluate the returned power.
        let mut returns = DirectReturnTile {
            range,
            power: S::Tile::plain([0.0; 16]),
            cos_incidence,
            is_complete: [false; 16],
            has_return: [false; 16],
            material: [MaterialId(0); 16],
        };
        self.write_backscatter(rays.used, hits, &facing, &mut returns);
        let one_way = S::Tile::plain([1.0; 16]) / range;
        returns.power =
            returned_power(one_way, returns.power, cos_incidence).only(&returns.has_return);
        returns.range = range.only(&returns.has_return);
        returns
    }

    /// Writes the backscatter of the surfaces, 1/sr, in place of the power.
    #[inline(always)]
    fn write_backscatter(
        &self,
        used: usize,
        hits: &HitTile,
        facing: &[f64; 16],
        returns: &mut DirectReturnTile<S>,
    ) {
        for lane in (0..used).filter(|&lane| hits.is_hit(lane)) {
            // Find the material; paths have to end at it.
            let object = ObjectId(hits.object[lane]);
            let id = self.scene().material_at(object, hits.triangle[lane]);
            let material = self.material(id);
            returns.material[lane] = id;
            returns.is_complete[lane] =
                self.has_pose_of_scene[object.0 as usize] && material.ends_paths();
            if returns.is_complete[lane] {
                // Evaluate its backscatter.
                let side = if facing[lane] > 0.0 {
                    Side::Back
                } else {
                    Side::Front
                };
                let scattered = material.backscatter(returns.cos_incidence.lane(lane), side);
                returns.has_return[lane] = scattered.value() != 0.0;
                returns.power.put(lane, scattered);
            }
        }
    }
}

/// Dot product of a vector with derivatives and one of plain numbers.
#[inline(always)]
fn dot<S: LaneScalar>(a: &[S::Tile; 3], b: &[[f64; 16]; 3]) -> S::Tile {
    a[0].scaled(&b[0]) + a[1].scaled(&b[1]) + a[2].scaled(&b[2])
}
