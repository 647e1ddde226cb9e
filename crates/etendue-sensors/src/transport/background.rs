//! Ambient light: sun, sky and thermal emission.

use super::branch::Branch;
use super::shading_frame::shading_frame;
use super::transmittance::transmission;
use super::world::Interaction;
use super::{LightRay, TreeSettings, World};
use etendue_physics::light::ClearAir;
use etendue_physics::surface::{Ambient, Material, Side, planck_radiance};
use etendue_scene::{Hit, Ray, Scene};
use nalgebra::Vector3;
use std::f64::consts::PI;
use std::sync::Arc;

/// Knots of the tables over the cosine of incidence.
const KNOTS: usize = 32;

/// Most thin sheets on the way to the sun.
const MOST_SHEETS: u32 = 8;

/// Ambient light: sun, sky and thermal emission, independent of the sensor.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AmbientLight {
    /// The sun, or another distant light.
    pub sun: Option<Sun>,
    /// Irradiance from sky and surroundings, uniform over all directions and without shadows of the
    /// scene, W m⁻² per m of wavelength; none for that of a clear sky with the sun.
    pub sky_irradiance: Option<f64>,
    /// Attenuation and scattering of sunlight by a clear sky.
    pub air: ClearAir,
    /// Temperature of every surface, K; none without thermal emission.
    pub temperature: Option<f64>,
}

/// Directional light.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sun {
    /// Unit vector towards the light, in the world.
    pub towards: Vector3<f64>,
    /// Irradiance at normal incidence, W m⁻² per m of wavelength; none for the sun through a clear
    /// sky.
    pub irradiance: Option<f64>,
}

impl AmbientLight {
    /// Whether there is no ambient light.
    pub fn is_dark(&self) -> bool {
        self.sun.is_none() && self.sky_irradiance.is_none() && self.temperature.is_none()
    }

    /// Direct and diffuse irradiance at a wavelength (m), W m⁻² per m of wavelength. Outside the visible,
    /// [`ClearAir`] is evaluated beyond its domain: too bright in the absorption bands of water vapour,
    /// which it leaves out.
    pub fn at(&self, wavelength: f64) -> Ambient {
        let elevation = self.sun.map(|sun| sun.towards.z.clamp(-1.0, 1.0).asin());
        let clear = |of: fn(&ClearAir, f64, f64) -> f64| {
            elevation.map_or(0.0, |elevation| of(&self.air, wavelength, elevation))
        };
        let direct = self.sun.and_then(|sun| sun.irradiance);
        let sky = self.sky_irradiance;
        Ambient {
            direct: direct.unwrap_or_else(|| clear(ClearAir::sun)),
            diffuse: sky.unwrap_or_else(|| clear(ClearAir::sky)),
        }
    }
}

/// Ambient light prepared for a [`World`], by [`World::in_light`].
#[derive(Debug)]
pub struct Background<'a> {
    world: World<'a, f64>,
    ambient: Ambient,
    towards_sun: Vector3<f64>,
    /// Spectral radiance of a black body, W m⁻² sr⁻¹ m⁻¹.
    black_body: f64,
    surfaces: Arc<[SurfaceTable]>,
}

/// Albedo and emissivity of a material over the cosine of incidence, for each side.
#[derive(Debug)]
struct SurfaceTable {
    front: [SurfaceFractions; KNOTS],
    back: [SurfaceFractions; KNOTS],
}

/// Fractions of light at one incidence, in [0, 1].
#[derive(Clone, Copy, Debug, Default)]
struct SurfaceFractions {
    /// Albedo of the diffuse and rough lobes.
    scattered: f64,
    /// Emissivity.
    emitted: f64,
}

impl<'a> Background<'a> {
    /// Prepares ambient light for a world.
    pub(super) fn new(world: World<'a, f64>, light: &AmbientLight) -> Self {
        let wavelength = world.wavelength();
        let surfaces = (0..world.scene().materials().len())
            .map(|id| SurfaceTable::new(world.material_at(id)))
            .collect();
        Self {
            ambient: light.at(wavelength),
            towards_sun: light.sun.map_or_else(Vector3::z, |sun| sun.towards),
            black_body: light
                .temperature
                .map_or(0.0, |kelvin| planck_radiance(wavelength, kelvin)),
            surfaces,
            world,
        }
    }

    /// The same light for a scene that differs only in its deforming meshes.
    pub(super) fn with_scene<'b>(&self, scene: &'b Scene) -> Background<'b>
    where
        'a: 'b,
    {
        Background {
            world: self.world.with_scene(scene),
            surfaces: self.surfaces.clone(),
            ..*self
        }
    }

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
    ) -> f64 {
        let tree = BackgroundTree {
            background: self,
            settings,
            field_of_view,
        };
        tree.radiance_of_branch(&ray.values(), first, Branch::new(ray))
    }

    /// Radiance of a surface towards the sensor.
    fn surface(
        &self,
        interaction: &Interaction<f64>,
        arrived: &Branch<f64>,
        ray: &Ray,
        hit: &Hit,
    ) -> f64 {
        let table = &self.surfaces[interaction.surface.material.0 as usize];
        let fractions = table.at(interaction.cos_incidence, interaction.side);
        let frame = shading_frame(&interaction.normal);
        let sensor = frame.tr_mul(&-arrived.direction);
        let sun = frame.tr_mul(&self.towards_sun);
        let mut ambient = self.ambient;
        if ambient.direct > 0.0 && sun.z > 0.0 {
            ambient.direct *= self.sunlit(arrived, ray, hit);
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
    fn sunlit(&self, arrived: &Branch<f64>, ray: &Ray, hit: &Hit) -> f64 {
        let scene = self.world.scene();
        let shadow = Ray {
            origin: arrived.origin,
            direction: self.towards_sun,
            near: scene.spawn_near(ray, hit, &self.towards_sun),
            far: f64::INFINITY,
            ..*ray
        };
        transmission(&self.world, shadow, MOST_SHEETS).map_or(0.0, |passed| passed.fraction)
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
}

impl BackgroundTree<'_, '_> {
    fn radiance_of_branch(&self, ray: &Ray, hit: Option<Hit>, branch: Branch<f64>) -> f64 {
        let Some(hit) = hit else {
            return branch.throughput * self.background.sky(&branch, self.field_of_view);
        };
        let interaction =
            self.background
                .world
                .interaction(&hit, &branch.origin, &branch.direction, ray.time);
        let arrived = branch.arrive(&interaction);
        let own = self.background.surface(&interaction, &arrived, ray, &hit);
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

    fn spawn(&self, ray: &Ray, hit: &Hit, branch: Branch<f64>) -> f64 {
        let is_followed = branch.throughput >= self.settings.throughput_threshold
            && branch.throughput > 0.0
            && branch.depth < self.settings.max_depth;
        if !is_followed {
            return 0.0;
        }
        let scene = self.background.world.scene();
        let next = branch.cast(scene, ray, hit);
        self.radiance_of_branch(&next, scene.closest_hit(&next), branch)
    }
}

impl SurfaceTable {
    fn new(material: &Material<f64>) -> Self {
        let side = |side| {
            std::array::from_fn(|i| {
                let cos = (i as f64 / (KNOTS - 1) as f64).max(1e-3);
                SurfaceFractions {
                    scattered: material.scattered_albedo(cos, side),
                    emitted: material.emissivity(cos, side),
                }
            })
        };
        Self {
            front: side(Side::Front),
            back: side(Side::Back),
        }
    }

    /// Fractions at an incidence, interpolated.
    fn at(&self, cos: f64, side: Side) -> SurfaceFractions {
        let table = match side {
            Side::Front => &self.front,
            Side::Back => &self.back,
        };
        // Interpolate between knots.
        let place = cos.clamp(0.0, 1.0) * (KNOTS - 1) as f64;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from 0 to KNOTS - 1"
        )]
        let below = (place as usize).min(KNOTS - 2);
        let part = place - below as f64;
        let mix = |a: f64, b: f64| a + (b - a) * part;
        let [a, b] = [table[below], table[below + 1]];
        SurfaceFractions {
            scattered: mix(a.scattered, b.scattered),
            emitted: mix(a.emitted, b.emitted),
        }
    }
}
