//! Direct returns of sixteen rays from the first surface of each, with the derivatives of the poses that
//! fired the rays.
#![expect(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "loops over sixteen lanes become the caller's vector instructions"
)]

use super::pose_tile::{Twist, TwistTile, cross};
use super::tree::returned_power;
use super::world::World;
use crate::scalar_tile::{LaneScalar, ScalarTile};
use etendue_physics::surface::Side;
use etendue_scene::{HitTile, MaterialId, ObjectId, RayTile};
use nalgebra::try_convert;

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

/// Direct returns of sixteen rays from a sensor at one pose: derivatives are by the first-order motion of the sensor
/// (translation, then rotation) and by the backscatter of the surfaces. Zero in lanes without a return.
pub(crate) struct RigidReturnTile<S: LaneScalar> {
    /// Half the optical path, m.
    pub range: [f64; 16],
    /// Power, 1/(m² sr).
    pub power: [f64; 16],
    /// Ranges and incidences with their derivatives by the motion; values are those of surfaces without light, too.
    pub surfaces: RangeTile,
    /// Derivatives of the power by range, cosine of the incidence and backscatter.
    pub power_by_range: [f64; 16],
    pub power_by_cos: [f64; 16],
    pub power_by_scattered: [f64; 16],
    /// The backscatter, 1/sr; not set where it has no derivatives.
    pub scattered: S::Tile,
    /// Whether it has.
    pub has_scattered: bool,
    /// Whether the direct return is the whole ray tree, as of [`DirectReturnTile`].
    pub is_complete: [bool; 16],
    /// Whether light returns.
    pub has_return: [bool; 16],
}

impl<S: LaneScalar> RigidReturnTile<S> {
    /// No returns.
    pub fn nothing() -> Self {
        Self {
            range: [0.0; 16],
            power: [0.0; 16],
            surfaces: RangeTile::EMPTY,
            power_by_range: [0.0; 16],
            power_by_cos: [0.0; 16],
            power_by_scattered: [0.0; 16],
            scattered: S::Tile::plain([0.0; 16]),
            has_scattered: false,
            is_complete: [false; 16],
            has_return: [false; 16],
        }
    }

    /// Multiplies the power by a number.
    #[inline(always)]
    pub fn scale(&mut self, factor: f64) {
        if factor == 1.0 {
            return;
        }
        for i in 0..16 {
            self.power[i] *= factor;
            self.power_by_range[i] *= factor;
            self.power_by_cos[i] *= factor;
            self.power_by_scattered[i] *= factor;
        }
    }
}

/// Ranges and incidences of sixteen rays, with their derivatives by the first-order motion of the sensor.
#[derive(Clone, Copy)]
pub(crate) struct RangeTile {
    /// Distance of the surface, m; not a number without one.
    range: [f64; 16],
    /// Cosine of the incidence.
    cos_incidence: [f64; 16],
    /// Product of direction and normal: positive at the back of a surface.
    facing: [f64; 16],
    /// Derivatives of the range by translation and rotation.
    pub range_by: [[f64; 16]; 6],
    /// Derivatives of the cosine by the rotation.
    pub cos_by: [[f64; 16]; 3],
}

impl RangeTile {
    /// No surfaces.
    const EMPTY: Self = Self {
        range: [f64::NAN; 16],
        cos_incidence: [0.0; 16],
        facing: [0.0; 16],
        range_by: [[0.0; 16]; 6],
        cos_by: [[0.0; 16]; 3],
    };

    /// Computes ranges and incidences of rays with hits. For a surface of normal $n$ at the distance $t_0$ along a ray of
    /// origin $o_0$ and direction $d_0$, fired by a sensor at $c_0$,
    /// $$n\cdot d = n\cdot d_0 + \omega\cdot(d_0\times n),\qquad
    /// t = \frac{t_0\,n\cdot d_0 - n\cdot\delta c - \omega\cdot((o_0 - c_0)\times n)}{n\cdot d}$$
    /// with the change $\delta c$ of the sensor's origin and its rotation $\omega$. `centre` is $c_0$.
    #[inline(always)]
    fn set(&mut self, rays: &RayTile, hits: &HitTile, centre: &[[f64; 16]; 3]) {
        let d = &rays.direction;
        let n = &hits.normal;
        for i in 0..16 {
            // Evaluate the values.
            let facing = d[0][i] * n[0][i] + d[1][i] * n[1][i] + d[2][i] * n[2][i];
            let sign = if facing > 0.0 { 1.0 } else { -1.0 };
            let range = facing * hits.distance[i] / facing;
            self.facing[i] = facing;
            self.range[i] = range;
            self.cos_incidence[i] = facing * sign;

            // Evaluate the derivatives by the motion.
            let normal = [n[0][i], n[1][i], n[2][i]];
            let arm = [0, 1, 2].map(|k| rays.origin[k][i] - centre[k][i]);
            let of_direction = cross(&[d[0][i], d[1][i], d[2][i]], &normal);
            let of_origin = cross(&arm, &normal);
            let inverse = -1.0 / facing;
            for k in 0..3 {
                self.cos_by[k][i] = of_direction[k] * sign;
                self.range_by[k][i] = normal[k] * inverse;
                self.range_by[3 + k][i] = (of_origin[k] + of_direction[k] * range) * inverse;
            }
        }
    }

    /// The ranges with the derivatives of the poses, m.
    #[inline(always)]
    fn ranges<S: LaneScalar>(&self, twist: &TwistTile<S>) -> S::Tile {
        let [x, y, z] = &twist.translation;
        let [u, v, w] = &twist.rotation;
        let [by_x, by_y, by_z, by_u, by_v, by_w] = &self.range_by;
        let parts = [
            (x, by_x),
            (y, by_y),
            (z, by_z),
            (u, by_u),
            (v, by_v),
            (w, by_w),
        ];
        S::Tile::chained(self.range, parts)
    }

    /// The cosines with the derivatives of the poses.
    #[inline(always)]
    fn cosines<S: LaneScalar>(&self, twist: &TwistTile<S>) -> S::Tile {
        let [u, v, w] = &twist.rotation;
        let [by_u, by_v, by_w] = &self.cos_by;
        S::Tile::chained(self.cos_incidence, [(u, by_u), (v, by_v), (w, by_w)])
    }
}

/// Power of sixteen returns, with its derivatives.
struct PowerTile {
    power: [f64; 16],
    by_range: [f64; 16],
    by_scattered: [f64; 16],
    by_cos: [f64; 16],
}

impl PowerTile {
    #[inline(always)]
    fn new(range: &[f64; 16], scattered: &[f64; 16], cos: &[f64; 16]) -> Self {
        let [mut power, mut by_range, mut by_scattered, mut by_cos] = [[0.0; 16]; 4];
        for i in 0..16 {
            let one_way = 1.0 / range[i];
            power[i] = returned_power(one_way, scattered[i], cos[i]);
            by_range[i] = -2.0 * power[i] * one_way;
            by_scattered[i] = one_way * one_way * cos[i];
            by_cos[i] = one_way * one_way * scattered[i];
        }
        Self {
            power,
            by_range,
            by_scattered,
            by_cos,
        }
    }
}

/// The surfaces that sixteen rays hit.
struct SurfaceTile<S: LaneScalar> {
    /// Their backscatter, 1/sr.
    scattered: Scattered<S>,
    material: [MaterialId; 16],
    is_complete: [bool; 16],
    has_return: [bool; 16],
}

/// Backscatter of sixteen surfaces, 1/sr.
enum Scattered<S: LaneScalar> {
    /// The same of all.
    Common(S),
    Each(S::Tile),
}

impl<S: LaneScalar> Scattered<S> {
    /// The backscatter of each lane.
    #[inline(always)]
    fn tile(&self) -> S::Tile {
        match self {
            Self::Common(scattered) => {
                let mut all = S::Tile::plain([0.0; 16]);
                all.fill(*scattered);
                all
            }
            Self::Each(all) => *all,
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
        let mut ranges = RangeTile::EMPTY;
        ranges.set(rays, hits, &twist.centre);
        let range = ranges.ranges::<S>(twist);
        let cos_incidence = ranges.cosines::<S>(twist);
        let cosines = CosinesOf::Tile(&cos_incidence);
        let surfaces = self.surfaces(rays.used, hits, &ranges.facing, &cosines);
        let scattered = surfaces.scattered.tile();

        // Evaluate the returned power.
        let cos = &ranges.cos_incidence;
        let of = PowerTile::new(&ranges.range, scattered.values(), cos);
        let parts = [
            (&range, &of.by_range),
            (&scattered, &of.by_scattered),
            (&cos_incidence, &of.by_cos),
        ];
        DirectReturnTile {
            range: range.only(&surfaces.has_return),
            power: S::Tile::chained(of.power, parts).only(&surfaces.has_return),
            cos_incidence: *cos,
            is_complete: surfaces.is_complete,
            has_return: surfaces.has_return,
            material: surfaces.material,
        }
    }

    /// Evaluates the direct returns of a tile of rays of a sensor at one pose: the values of
    /// [`World::direct_returns_of_poses`].
    #[inline(always)]
    pub(crate) fn rigid_returns(
        &self,
        rays: &RayTile,
        hits: &HitTile,
        twist: &Twist<S>,
        returns: &mut RigidReturnTile<S>,
    ) {
        // Evaluate range, incidence and backscatter.
        let ranges = &mut returns.surfaces;
        ranges.set(rays, hits, &twist.centre);
        let cosines = CosinesOf::Twist(ranges, twist);
        let surfaces = self.surfaces(rays.used, hits, &ranges.facing, &cosines);
        let scattered = match &surfaces.scattered {
            Scattered::Common(scattered) => [scattered.value(); 16],
            Scattered::Each(all) => *all.values(),
        };
        returns.has_scattered = match &surfaces.scattered {
            Scattered::Common(one) => try_convert::<S, f64>(*one).is_none(),
            Scattered::Each(_) => true,
        };
        if returns.has_scattered {
            returns.scattered = surfaces.scattered.tile();
        }
        returns.is_complete = surfaces.is_complete;
        returns.has_return = surfaces.has_return;

        // Evaluate the returned power.
        let of = PowerTile::new(&ranges.range, &scattered, &ranges.cos_incidence);
        let has_return = &surfaces.has_return;
        for i in 0..16 {
            returns.range[i] = if has_return[i] { ranges.range[i] } else { 0.0 };
            returns.power[i] = if has_return[i] { of.power[i] } else { 0.0 };
        }
        returns.power_by_range = of.by_range;
        returns.power_by_cos = of.by_cos;
        returns.power_by_scattered = of.by_scattered;
    }

    /// The surfaces of the hits of the first `used` lanes.
    #[inline(always)]
    fn surfaces(
        &self,
        used: usize,
        hits: &HitTile,
        facing: &[f64; 16],
        cosines: &CosinesOf<S>,
    ) -> SurfaceTile<S> {
        let mut surfaces = SurfaceTile {
            scattered: Scattered::Common(S::zero()),
            material: [MaterialId(0); 16],
            is_complete: [false; 16],
            has_return: [false; 16],
        };
        // All hits on one object, whose backscatter does not depend on the incidence.
        if let Some((object, id, scattered)) = self.common_material(hits) {
            let is_complete = self.has_pose_of_scene[object];
            let is_bright = is_complete && scattered.value() != 0.0;
            for lane in 0..16 {
                let is_hit = (lane < used) & hits.is_hit(lane);
                surfaces.material[lane] = if is_hit { id } else { MaterialId(0) };
                surfaces.is_complete[lane] = is_hit & is_complete;
                surfaces.has_return[lane] = is_hit & is_bright;
            }
            surfaces.scattered = Scattered::Common(scattered);
            return surfaces;
        }
        // Otherwise lane by lane.
        let cos_incidence = cosines.tile();
        let mut all = S::Tile::plain([0.0; 16]);
        for lane in (0..used).filter(|&lane| hits.is_hit(lane)) {
            // Find the material; paths have to end at it.
            let object = ObjectId(hits.object[lane]);
            let id = self.scene().material_at(object, hits.triangle[lane]);
            let material = self.prepared_material(id);
            surfaces.material[lane] = id;
            surfaces.is_complete[lane] =
                self.has_pose_of_scene[object.0 as usize] && material.ends_paths();
            if surfaces.is_complete[lane] {
                // Evaluate its backscatter.
                let side = if facing[lane] > 0.0 {
                    Side::Back
                } else {
                    Side::Front
                };
                let scattered = material.backscatter(cos_incidence.lane(lane), side);
                surfaces.has_return[lane] = scattered.value() != 0.0;
                all.put(lane, scattered);
            }
        }
        surfaces.scattered = Scattered::Each(all);
        surfaces
    }
}

/// Cosines of the incidence with derivatives, which only some surfaces need.
enum CosinesOf<'t, S: LaneScalar> {
    Tile(&'t S::Tile),
    /// Those of ranges, with the derivatives of a pose.
    Twist(&'t RangeTile, &'t Twist<S>),
}

impl<S: LaneScalar> CosinesOf<'_, S> {
    #[inline(always)]
    fn tile(&self) -> S::Tile {
        match self {
            Self::Tile(tile) => **tile,
            Self::Twist(of, twist) => {
                let [_, _, _, u, v, w] = twist.motion;
                S::Tile::chained_scalars(of.cos_incidence, &[u, v, w], &of.cos_by)
            }
        }
    }
}
