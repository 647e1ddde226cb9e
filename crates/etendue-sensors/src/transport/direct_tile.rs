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
#[derive(Clone, Copy)]
pub(crate) struct DirectReturnTile<S: LaneScalar> {
    /// Half the optical path, m.
    pub range: S::Tile,
    /// Power, 1/(m² sr).
    pub power: S::Tile,
    /// Cosine of the incidence, in [0, 1].
    pub cos_incidence: [f64; 16],
    /// Whether the direct return is the whole ray tree: no path continues at the first surface, and its
    /// pose is constant.
    pub is_complete: [bool; 16],
    /// Whether light returns.
    pub has_return: [bool; 16],
    /// Material of the first surface; the first material where there is none.
    pub material: [MaterialId; 16],
}

impl<S: LaneScalar> DirectReturnTile<S> {
    /// No returns.
    #[inline(always)]
    pub fn nothing() -> Self {
        Self {
            range: S::Tile::plain([0.0; 16]),
            power: S::Tile::plain([0.0; 16]),
            cos_incidence: [0.0; 16],
            is_complete: [false; 16],
            has_return: [false; 16],
            material: [MaterialId(0); 16],
        }
    }
}

/// Ranges and incidences of sixteen rays.
struct RangeTile<S: LaneScalar> {
    /// Distance of the surface, m; not a number without one.
    range: S::Tile,
    /// Cosine of the incidence.
    cos_incidence: S::Tile,
    /// Product of direction and normal: positive at the back of a surface.
    facing: [f64; 16],
}

impl<S: LaneScalar> RangeTile<S> {
    /// Ranges and incidences of rays with hits. For a surface of normal $n$ at the distance $t_0$ along a ray of
    /// origin $o_0$ and direction $d_0$, fired by a sensor at $c_0$,
    /// $$n\cdot d = n\cdot d_0 + \omega\cdot(d_0\times n),\qquad
    /// t = \frac{t_0\,n\cdot d_0 - n\cdot\delta c - \omega\cdot((o_0 - c_0)\times n)}{n\cdot d}$$
    /// with $\delta c$ and $\omega$ of the [`TwistTile`].
    #[inline(always)]
    fn new(rays: &RayTile, hits: &HitTile, twist: &TwistTile<S>) -> Self {
        // Evaluate the values.
        let d = &rays.direction;
        let n = &hits.normal;
        let mut facing = [0.0; 16];
        let mut sign = [0.0; 16];
        let mut range = [0.0; 16];
        let mut cos = [0.0; 16];
        for i in 0..16 {
            facing[i] = d[0][i] * n[0][i] + d[1][i] * n[1][i] + d[2][i] * n[2][i];
            sign[i] = if facing[i] > 0.0 { 1.0 } else { -1.0 };
            range[i] = facing[i] * hits.distance[i] / facing[i];
            cos[i] = facing[i] * sign[i];
        }

        // Evaluate the derivatives by the pose.
        let [mut turn, mut shift, mut lever] = [[[0.0; 16]; 3]; 3];
        for i in 0..16 {
            let normal = [n[0][i], n[1][i], n[2][i]];
            let arm = [0, 1, 2].map(|k| rays.origin[k][i] - twist.centre[k][i]);
            let of_direction = cross(&[d[0][i], d[1][i], d[2][i]], &normal);
            let of_origin = cross(&arm, &normal);
            let inverse = -1.0 / facing[i];
            for k in 0..3 {
                turn[k][i] = of_direction[k] * sign[i];
                shift[k][i] = normal[k] * inverse;
                lever[k][i] = (of_origin[k] + of_direction[k] * range[i]) * inverse;
            }
        }
        let [translation, rotation] = [&twist.translation, &twist.rotation];
        let [x, y, z] = translation;
        let [u, v, w] = rotation;
        let cos_incidence = S::Tile::chained(cos, [(u, &turn[0]), (v, &turn[1]), (w, &turn[2])]);
        let range = S::Tile::chained(
            range,
            [
                (x, &shift[0]),
                (y, &shift[1]),
                (z, &shift[2]),
                (u, &lever[0]),
                (v, &lever[1]),
                (w, &lever[2]),
            ],
        );
        Self {
            range,
            cos_incidence,
            facing,
        }
    }
}

impl<S: LaneScalar> World<'_, S> {
    /// Direct returns of a tile of rays. The values equal those of [`trace_tree`](super::trace_tree) bit for bit,
    /// the derivatives up to rounding.
    #[inline(always)]
    pub(crate) fn direct_returns_of_poses(
        &self,
        rays: &RayTile,
        hits: &HitTile,
        twist: &TwistTile<S>,
    ) -> DirectReturnTile<S> {
        // Evaluate range, incidence and backscatter.
        let RangeTile {
            range,
            cos_incidence,
            facing,
        } = RangeTile::<S>::new(rays, hits, twist);
        let cos = *cos_incidence.values();
        let mut returns = DirectReturnTile {
            cos_incidence: cos,
            ..DirectReturnTile::nothing()
        };
        let scattered = self.backscatters(rays.used, hits, &facing, &cos_incidence, &mut returns);

        // Evaluate the returned power.
        let [mut power, mut by_range, mut by_scattered, mut by_cos] = [[0.0; 16]; 4];
        for i in 0..16 {
            let one_way = 1.0 / range.values()[i];
            power[i] = returned_power(one_way, scattered.values()[i], cos[i]);
            by_range[i] = -2.0 * power[i] * one_way;
            by_scattered[i] = one_way * one_way * cos[i];
            by_cos[i] = one_way * one_way * scattered.values()[i];
        }
        let parts = [
            (&range, &by_range),
            (&scattered, &by_scattered),
            (&cos_incidence, &by_cos),
        ];
        returns.power = S::Tile::chained(power, parts).only(&returns.has_return);
        returns.range = range.only(&returns.has_return);
        returns
    }

    /// The backscatter of the surfaces, 1/sr. Writes materials and masks to `returns`.
    #[inline(always)]
    fn backscatters(
        &self,
        used: usize,
        hits: &HitTile,
        facing: &[f64; 16],
        cos_incidence: &S::Tile,
        returns: &mut DirectReturnTile<S>,
    ) -> S::Tile {
        let mut all = S::Tile::plain([0.0; 16]);
        // All hits on one object, whose backscatter does not depend on the incidence.
        if let Some((object, id, scattered)) = self.common_material(hits) {
            let is_complete = self.has_pose_of_scene[object];
            let is_bright = is_complete && scattered.value() != 0.0;
            for lane in 0..16 {
                let is_hit = (lane < used) & hits.is_hit(lane);
                returns.material[lane] = if is_hit { id } else { MaterialId(0) };
                returns.is_complete[lane] = is_hit & is_complete;
                returns.has_return[lane] = is_hit & is_bright;
            }
            all.fill(scattered);
            return all;
        }
        // Otherwise lane by lane.
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
                let scattered = material.backscatter(cos_incidence.lane(lane), side);
                returns.has_return[lane] = scattered.value() != 0.0;
                all.put(lane, scattered);
            }
        }
        all
    }
}
