//! Direct returns of sixteen rays from the first surface of each.
#![expect(
    clippy::inline_always,
    clippy::needless_bitwise_bool,
    clippy::needless_range_loop,
    reason = "loops over sixteen lanes become the caller's vector instructions"
)]

use super::tree::returned_power;
use super::world::World;
use etendue_physics::Scalar;
use etendue_physics::surface::{Lobe, Side};
use etendue_scene::{HitTile, MaterialId, ObjectId, RayTile};
use etendue_simd::{Isa, Vectorized};

/// Direct returns of a tile of rays.
///
/// Where no path continues at the surfaces
/// ([`Material::ends_paths`](etendue_physics::surface::Material::ends_paths)), these are all returns of
/// the ray trees ([`trace_trees`](super::trace_trees)), bit for bit.
#[derive(Clone)]
pub(crate) struct DirectReturnLanes {
    /// Half the optical path, m.
    pub range: [f64; 16],
    /// Power, 1/(m² sr); 0 without a return.
    pub power: [f64; 16],
    /// Cosine of the incidence, in [0, 1].
    pub cos_incidence: [f64; 16],
    /// Material of the first surface; the first material where there is none.
    pub material: [MaterialId; 16],
}

impl DirectReturnLanes {
    /// No returns.
    pub const NONE: Self = Self {
        range: [0.0; 16],
        power: [0.0; 16],
        cos_incidence: [0.0; 16],
        material: [MaterialId(0); 16],
    };
}

impl World<'_, f64> {
    /// Whether all poses are those of the scene: none was replaced by [`World::with_pose`].
    pub(crate) fn has_poses_of_scene(&self) -> bool {
        self.has_pose_of_scene.iter().all(|is_same| *is_same)
    }

    /// Direct returns of tiles of rays, in a world that [has the poses of the
    /// scene](World::has_poses_of_scene).
    pub(crate) fn direct_returns(
        &self,
        isa: Isa,
        rays: &[RayTile],
        hits: &[HitTile],
        returns: &mut [DirectReturnLanes],
    ) {
        isa.run(Tiles {
            world: self,
            rays,
            hits,
            returns,
        });
    }

    /// Direct returns of one tile.
    #[inline(always)]
    fn direct_returns_of_tile(
        &self,
        rays: &RayTile,
        hits: &HitTile,
        returns: &mut DirectReturnLanes,
    ) {
        // Evaluate range and incidence.
        let [dx, dy, dz] = &rays.direction;
        let [nx, ny, nz] = &hits.normal;
        let mut side = [0.0; 16];
        for i in 0..16 {
            let along = dx[i] * nx[i] + dy[i] * ny[i] + dz[i] * nz[i];
            side[i] = along;
            returns.cos_incidence[i] = along.abs();
            returns.range[i] = along * hits.distance[i] / along;
        }

        // Evaluate the backscatter.
        let mut scattered = [0.0; 16];
        returns.material = [MaterialId(0); 16];
        if let Some((_, material, backscatter)) = self.common_material(hits) {
            for i in 0..16 {
                let is_hit = hits.is_hit(i);
                returns.material[i] = if is_hit { material } else { MaterialId(0) };
                scattered[i] = if is_hit { backscatter } else { 0.0 };
            }
        } else {
            self.scatter(rays.used, hits, &side, returns, &mut scattered);
        }

        // Evaluate the returned power.
        for i in 0..16 {
            let power = returned_power(
                1.0 / returns.range[i],
                scattered[i],
                returns.cos_incidence[i],
            );
            returns.power[i] = if scattered[i] == 0.0 { 0.0 } else { power };
        }
    }

    /// Writes the backscatter of each surface hit, 1/sr.
    #[inline(always)]
    fn scatter(
        &self,
        used: usize,
        hits: &HitTile,
        side: &[f64; 16],
        returns: &mut DirectReturnLanes,
        scattered: &mut [f64; 16],
    ) {
        for i in (0..used).filter(|&lane| hits.is_hit(lane)) {
            let object = ObjectId(hits.object[i]);
            let material = self.scene().material_at(object, hits.triangle[i]);
            let side = if side[i] > 0.0 {
                Side::Back
            } else {
                Side::Front
            };
            returns.material[i] = material;
            let surface = self.prepared_material(material);
            scattered[i] = surface.backscatter(returns.cos_incidence[i], side);
        }
    }
}

impl<S: Scalar> World<'_, S> {
    /// Index of the object that all hits of a tile are on, its material and its backscatter, 1/sr, where the
    /// backscatter does not depend on the incidence.
    #[inline(always)]
    pub(super) fn common_material(&self, hits: &HitTile) -> Option<(usize, MaterialId, S)> {
        let mut object = u32::MAX;
        for i in 0..16 {
            object = object.min(hits.object[i]);
        }
        let mut differ = false;
        for i in 0..16 {
            differ |= hits.is_hit(i) & (hits.object[i] != object);
        }
        let first = self.scene().objects().get(object as usize)?;
        if differ || !self.scene().mesh(first.mesh).materials.is_empty() {
            return None;
        }
        let material = self.prepared_material(first.material);
        let is_lambertian = |lobe: &Lobe<S>| matches!(lobe, Lobe::Lambert(_));
        let is_constant = (material.material().lobes.iter()).all(is_lambertian);
        let backscatter = || material.backscatter(S::one(), Side::Front);
        is_constant.then(|| (object as usize, first.material, backscatter()))
    }
}

/// Direct returns of tiles, as a task for an instruction set.
struct Tiles<'s> {
    world: &'s World<'s, f64>,
    rays: &'s [RayTile],
    hits: &'s [HitTile],
    returns: &'s mut [DirectReturnLanes],
}

impl Vectorized for Tiles<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for ((rays, hits), returns) in self.rays.iter().zip(self.hits).zip(self.returns) {
            self.world.direct_returns_of_tile(rays, hits, returns);
        }
    }
}
