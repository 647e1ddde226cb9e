//! What the first surfaces of sixteen rays send straight back.
#![expect(
    clippy::inline_always,
    clippy::needless_bitwise_bool,
    clippy::needless_range_loop,
    reason = "loops over sixteen lanes become the caller's vector instructions"
)]

use super::World;
use super::tree::power_back;
use etendue_physics::surface::{Lobe, Side};
use etendue_scene::{HitTile, MaterialId, ObjectId, RayTile};
use etendue_simd::{Isa, Vectorized};

/// What the first surfaces on the rays of a tile send straight back: all there is of the trees of
/// paths ([`trace_trees`](super::trace_trees)) where the surfaces' materials pass nothing on
/// ([`Material::ends_paths`](etendue_physics::surface::Material::ends_paths)), the same numbers sooner.
#[derive(Clone)]
pub(crate) struct TileReturns {
    /// Half the optical path, m.
    pub range: [f64; 16],
    /// Power, 1/(m² sr); 0 where nothing comes back.
    pub power: [f64; 16],
    pub cos_incidence: [f64; 16],
    /// Those of the surfaces met, the first where nothing was.
    pub material: [MaterialId; 16],
}

impl TileReturns {
    /// Nothing.
    pub const NONE: Self = Self {
        range: [0.0; 16],
        power: [0.0; 16],
        cos_incidence: [0.0; 16],
        material: [MaterialId(0); 16],
    };
}

impl World<'_, f64> {
    /// Whether all objects stand where rays meet them: none has a pose of its own
    /// ([`World::with_pose`]).
    pub(crate) fn stands_as_cast(&self) -> bool {
        self.lifted.iter().all(|lifted| *lifted)
    }

    /// What comes straight back along the rays of tiles, in a world that
    /// [stands as cast](World::stands_as_cast).
    pub(crate) fn first_returns(
        &self,
        isa: Isa,
        rays: &[RayTile],
        met: &[HitTile],
        back: &mut [TileReturns],
    ) {
        isa.run(Tiles {
            world: self,
            rays,
            met,
            back,
        });
    }

    #[inline(always)]
    fn first_returns_of(&self, rays: &RayTile, met: &HitTile, back: &mut TileReturns) {
        let [dx, dy, dz] = &rays.direction;
        let [nx, ny, nz] = &met.normal;
        let mut side = [0.0; 16];
        for i in 0..16 {
            let along = dx[i] * nx[i] + dy[i] * ny[i] + dz[i] * nz[i];
            side[i] = along;
            back.cos_incidence[i] = along.abs();
            back.range[i] = along * met.distance[i] / along;
        }
        let mut scattered = [0.0; 16];
        back.material = [MaterialId(0); 16];
        if let Some((paint, sent)) = self.only_paint(met) {
            for i in 0..16 {
                let is_met = met.is_hit(i);
                back.material[i] = if is_met { paint } else { MaterialId(0) };
                scattered[i] = if is_met { sent } else { 0.0 };
            }
        } else {
            self.scatter(rays.used, met, &side, back, &mut scattered);
        }
        for i in 0..16 {
            let power = power_back(1.0 / back.range[i], scattered[i], back.cos_incidence[i]);
            back.power[i] = if scattered[i] == 0.0 { 0.0 } else { power };
        }
    }

    /// The material of all that the rays of a tile met, and what it scatters back, where it is one
    /// and sends the same at any incidence.
    #[inline(always)]
    fn only_paint(&self, met: &HitTile) -> Option<(MaterialId, f64)> {
        let mut object = u32::MAX;
        for i in 0..16 {
            object = object.min(met.object[i]);
        }
        let mut differ = false;
        for i in 0..16 {
            differ |= met.is_hit(i) & (met.object[i] != object);
        }
        let known = self.scene().objects().get(object as usize)?;
        if differ || !self.scene().mesh(known.mesh).materials.is_empty() {
            return None;
        }
        let material = self.material(known.material);
        let is_even = |lobe: &Lobe<f64>| matches!(lobe, Lobe::Lambert(_));
        let even = material.lobes.iter().all(is_even);
        even.then(|| (known.material, material.backscatter(1.0, Side::Front)))
    }

    /// What each surface that was met scatters back.
    #[inline(always)]
    fn scatter(
        &self,
        used: usize,
        met: &HitTile,
        side: &[f64; 16],
        back: &mut TileReturns,
        scattered: &mut [f64; 16],
    ) {
        for i in (0..used).filter(|&lane| met.is_hit(lane)) {
            let (object, triangle) = (ObjectId(met.object[i]), met.triangle[i]);
            let material = self.scene().material_at(object, triangle);
            let side = if side[i] > 0.0 {
                Side::Back
            } else {
                Side::Front
            };
            back.material[i] = material;
            let surface = self.material(material);
            scattered[i] = surface.backscatter(back.cos_incidence[i], side);
        }
    }
}

/// Tiles of rays, what they met, and where what comes back goes.
struct Tiles<'s> {
    world: &'s World<'s, f64>,
    rays: &'s [RayTile],
    met: &'s [HitTile],
    back: &'s mut [TileReturns],
}

impl Vectorized for Tiles<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for ((rays, met), back) in self.rays.iter().zip(self.met).zip(self.back) {
            self.world.first_returns_of(rays, met, back);
        }
    }
}
