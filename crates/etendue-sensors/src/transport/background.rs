//! Ambient light at a receiver: radiance from the ends of a ray tree.

use super::branch::Branch;
use super::light_ray::LightRay;
use super::shading_frame::shading_frame;
use super::surface_table::SurfaceFractions;
use super::transmittance::transmission;
use super::tree::TreeSettings;
use super::world::{Background, Interaction};
use etendue_physics::surface::{Ambient, Side};
use etendue_scene::{CastScratch, Hit, MaterialId, Ray};
use nalgebra::Vector3;
use std::f64::consts::PI;

/// Most thin sheets between a surface and the sun.
const MOST_SHEETS: u32 = 8;

impl Background<'_> {
    /// Mean spectral radiance at a receiver from its field of view around `ray`, W m⁻² sr⁻¹ m⁻¹.
    ///
    /// Radiance is constant along a ray, so the ray tree of the sensor's own light
    /// ([`trace_tree`](super::trace_tree)) weights the surfaces at its ends. Each surface scatters the
    /// sun (with shadows) and the sky, and emits. A branch that leaves the scene contributes the radiance
    /// of the sky, and of the sun where the sun is within the field of view. `first` is the first hit of
    /// the ray.
    ///
    /// Left out: interreflection between rough surfaces, and shadows of the sky.
    pub fn radiance(
        &self,
        ray: &LightRay<f64>,
        first: Option<Hit>,
        settings: &TreeSettings,
        field_of_view: FieldOfView,
        scratch: &mut CastScratch,
    ) -> f64 {
        let mut tree = BackgroundTree {
            background: self,
            settings,
            field_of_view,
            scratch,
        };
        tree.radiance_of_branch(&ray.values(), first, Branch::new(ray))
    }

    /// Irradiance by sun and sky.
    pub fn irradiance(&self) -> Ambient {
        self.ambient
    }

    /// Unit vector towards the sun, in the world.
    pub fn towards_sun(&self) -> Vector3<f64> {
        self.towards_sun
    }

    /// Spectral radiance of a black body at the temperature of the surfaces, W m⁻² sr⁻¹ m⁻¹.
    pub fn black_body(&self) -> f64 {
        self.black_body
    }

    /// Fractions of light that a side of a material scatters and emits, at equally spaced cosines of the incidence from 0 to
    /// 1, between which they are linear.
    pub fn fractions(&self, material: MaterialId, side: Side) -> &[SurfaceFractions] {
        self.surfaces[material.0 as usize].knots(side)
    }

    /// Radiance of a surface towards the sensor.
    fn surface(
        &self,
        interaction: &Interaction<f64>,
        arrived: &Branch<f64>,
        ray: &Ray,
        hit: &Hit,
        scratch: &mut CastScratch,
    ) -> f64 {
        let table = &self.surfaces[interaction.surface.material.0 as usize];
        let fractions = table.at(interaction.cos_incidence, interaction.side);
        let frame = shading_frame(&interaction.normal);
        let sensor = frame.tr_mul(&-arrived.direction);
        let sun = frame.tr_mul(&self.towards_sun);
        let mut ambient = self.ambient;
        if ambient.direct > 0.0 && sun.z > 0.0 {
            ambient.direct *= self.sunlit(arrived, ray, hit, scratch);
        }
        ambient.radiance(
            interaction.material,
            fractions.scattered,
            &sun,
            &sensor,
            interaction.side,
        ) + fractions.emitted * self.black_body
    }

    /// Fraction of sunlight that reaches a point, past occluders and through thin sheets.
    fn sunlit(
        &self,
        arrived: &Branch<f64>,
        ray: &Ray,
        hit: &Hit,
        scratch: &mut CastScratch,
    ) -> f64 {
        let scene = self.world.scene();
        let shadow = Ray {
            origin: arrived.origin,
            direction: self.towards_sun,
            near: scene.spawn_near(ray, hit, &self.towards_sun),
            far: f64::INFINITY,
            ..*ray
        };
        transmission(
            &self.world,
            shadow,
            (shadow.origin, shadow.direction),
            MOST_SHEETS,
            scratch,
        )
        .map_or(0.0, |passed| passed.fraction)
    }

    /// Radiance of sky and sun for a branch that leaves the scene.
    fn sky(&self, branch: &Branch<f64>, field_of_view: FieldOfView) -> f64 {
        let contains_sun =
            branch.direction.dot(&self.towards_sun) >= field_of_view.half_angle.cos();
        let sun = if contains_sun {
            self.ambient.direct / field_of_view.solid_angle
        } else {
            0.0
        };
        sun + self.ambient.diffuse / PI
    }
}

/// Field of view of a receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FieldOfView {
    /// Half angle from the axis, rad.
    pub half_angle: f64,
    /// Solid angle, sr.
    pub solid_angle: f64,
}

/// Recursive evaluation of the background at the ends of a ray tree.
struct BackgroundTree<'b, 'a> {
    background: &'b Background<'a>,
    settings: &'b TreeSettings,
    field_of_view: FieldOfView,
    scratch: &'b mut CastScratch,
}

impl BackgroundTree<'_, '_> {
    fn radiance_of_branch(&mut self, ray: &Ray, hit: Option<Hit>, branch: Branch<f64>) -> f64 {
        let Some(hit) = hit else {
            return branch.throughput * self.background.sky(&branch, self.field_of_view);
        };
        let interaction =
            self.background
                .world
                .interaction(&hit, &branch.origin, &branch.direction, ray.time);
        let arrived = branch.arrive(&interaction);
        let own = self
            .background
            .surface(&interaction, &arrived, ray, &hit, self.scratch);
        let specular = interaction
            .material
            .specular(interaction.cos_incidence, interaction.side);
        let reflected = arrived.reflect(&interaction, specular.reflected);
        let transmitted = specular
            .transmitted
            .map(|transmitted| arrived.transmit(&interaction, &transmitted));
        let branches = [Some(reflected), transmitted].into_iter().flatten();
        let continued: f64 = branches.map(|next| self.spawn(ray, &hit, next)).sum();
        arrived.throughput * own + continued
    }

    fn spawn(&mut self, ray: &Ray, hit: &Hit, branch: Branch<f64>) -> f64 {
        let is_followed = branch.throughput >= self.settings.throughput_threshold
            && branch.throughput > 0.0
            && branch.depth < self.settings.max_depth;
        if !is_followed {
            return 0.0;
        }
        let scene = self.background.world.scene();
        let next = branch.cast(scene, ray, hit);
        let hit = scene.closest_hit(&next, self.scratch);
        self.radiance_of_branch(&next, hit, branch)
    }
}
