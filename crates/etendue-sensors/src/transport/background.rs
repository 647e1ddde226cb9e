//! Light that is in the scene without the sensor: sun, sky and heat.

use super::branch::Branch;
use super::straight::{frame_about, see_through};
use super::world::Meeting;
use super::{LightRay, TreeSettings, World};
use etendue_physics::light::ClearAir;
use etendue_physics::surface::{Ambient, Material, Side, planck_radiance};
use etendue_scene::{Hit, Ray, Scene};
use nalgebra::Vector3;
use std::f64::consts::PI;
use std::sync::Arc;

/// Knots of the tables over the cosine of incidence.
const KNOTS: usize = 32;

/// Light that is in the scene without the sensor.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AmbientLight {
    /// The sun, or another lamp that is far away.
    pub sun: Option<Sun>,
    /// Irradiance from sky and surroundings, alike from all directions and not shadowed by the
    /// scene, W m⁻² per m of wavelength; none for that of a clear sky about the sun.
    pub sky_irradiance: Option<f64>,
    /// What a clear sky leaves of the sun.
    pub air: ClearAir,
    /// Temperature of every surface, K, where their own emission counts.
    pub temperature: Option<f64>,
}

/// Light from one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sun {
    /// Unit vector towards it, in the world.
    pub towards: Vector3<f64>,
    /// Irradiance on a surface that faces it, W m⁻² per m of wavelength; none for the sun through
    /// a clear sky.
    pub irradiance: Option<f64>,
}

impl AmbientLight {
    /// Whether there is none.
    pub fn is_dark(&self) -> bool {
        self.sun.is_none() && self.sky_irradiance.is_none() && self.temperature.is_none()
    }

    /// Both irradiances at a wavelength (m), W m⁻² per m of wavelength. Outside the visible the
    /// clear sky's are those of [`ClearAir`] beyond its domain: too bright in the bands of water
    /// vapour, which it leaves out.
    pub fn at(&self, wavelength: f64) -> Ambient {
        let elevation = self.sun.map(|sun| sun.towards.z.clamp(-1.0, 1.0).asin());
        let clear = |of: fn(&ClearAir, f64, f64) -> f64| {
            elevation.map_or(0.0, |elevation| of(&self.air, wavelength, elevation))
        };
        let direct = self.sun.and_then(|sun| sun.irradiance);
        Ambient {
            direct: direct.unwrap_or_else(|| clear(ClearAir::sun)),
            diffuse: { self.sky_irradiance }.unwrap_or_else(|| clear(ClearAir::sky)),
        }
    }
}

/// Ambient light in a [`World`]: made by [`World::in_light`].
#[derive(Debug)]
pub struct Background<'a> {
    world: World<'a, f64>,
    ambient: Ambient,
    towards_sun: Vector3<f64>,
    /// Radiance of a black body, W m⁻² sr⁻¹ m⁻¹.
    black_body: f64,
    surfaces: Arc<[SurfaceTable]>,
}

/// What a material scatters and absorbs, over the cosine of incidence, from either side.
#[derive(Debug)]
struct SurfaceTable {
    front: [Shares; KNOTS],
    back: [Shares; KNOTS],
}

#[derive(Clone, Copy, Debug, Default)]
struct Shares {
    scattered: f64,
    emitted: f64,
}

impl<'a> Background<'a> {
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

    /// The same light about a scene that differs in its deforming meshes alone.
    pub(super) fn about<'b>(&self, scene: &'b Scene) -> Background<'b>
    where
        'a: 'b,
    {
        Background {
            world: self.world.about(scene),
            surfaces: self.surfaces.clone(),
            ..*self
        }
    }

    /// Mean spectral radiance that reaches a receiver from a cone about `ray`, W m⁻² sr⁻¹ m⁻¹.
    ///
    /// Radiance is constant along a ray, so the tree of mirrors and glass that the sensor's own
    /// light takes ([`trace_tree`](super::trace_tree)) weighs the surfaces at its ends. Each
    /// scatters sun (with its shadow) and sky, and emits; where a branch leaves the scene it sees
    /// the sky, and the sun itself where it stands within the cone of half angle
    /// `half_field_of_view` (rad) and solid angle `solid_angle` (sr). `first` is the ray's first
    /// hit.
    ///
    /// Left out: light that several rough surfaces scatter, and the sky's shadows.
    pub fn radiance(
        &self,
        ray: &LightRay<f64>,
        first: Option<Hit>,
        settings: &TreeSettings,
        cone: Cone,
    ) -> f64 {
        let gathering = Gathering {
            background: self,
            settings,
            cone,
        };
        gathering.follow(&ray.values(), first, Branch::new(ray))
    }

    fn surface(&self, meeting: &Meeting<f64>, arrived: &Branch<f64>, ray: &Ray, hit: &Hit) -> f64 {
        let table = &self.surfaces[meeting.surface.material.0 as usize];
        let shares = table.at(meeting.cos_incidence, meeting.side);
        let frame = frame_about(&meeting.normal);
        let sensor = frame.tr_mul(&-arrived.direction);
        let sun = frame.tr_mul(&self.towards_sun);
        let mut ambient = self.ambient;
        if ambient.direct > 0.0 && sun.z > 0.0 {
            ambient.direct *= self.sunlit(arrived, ray, hit);
        }
        ambient.radiance(
            meeting.material,
            shares.scattered,
            &sun,
            &sensor,
            meeting.side,
        ) + shares.emitted * self.black_body
    }

    /// Fraction of the sun that reaches a point.
    fn sunlit(&self, arrived: &Branch<f64>, ray: &Ray, hit: &Hit) -> f64 {
        let scene = self.world.scene();
        let shadow = Ray {
            origin: arrived.origin,
            direction: self.towards_sun,
            near: scene.spawn_near(ray, hit, &self.towards_sun),
            far: f64::INFINITY,
            ..*ray
        };
        see_through(&self.world, shadow, 8).map_or(0.0, |(passed, _)| passed)
    }

    fn sky(&self, branch: &Branch<f64>, cone: Cone) -> f64 {
        let sees_sun = branch.direction.dot(&self.towards_sun) >= cone.half_angle.cos();
        let sun = if sees_sun {
            self.ambient.direct / cone.solid_angle
        } else {
            0.0
        };
        sun + self.ambient.diffuse / PI
    }
}

/// What a receiver sees at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cone {
    /// From its axis, rad.
    pub half_angle: f64,
    /// sr.
    pub solid_angle: f64,
}

struct Gathering<'b, 'a> {
    background: &'b Background<'a>,
    settings: &'b TreeSettings,
    cone: Cone,
}

impl Gathering<'_, '_> {
    fn follow(&self, ray: &Ray, hit: Option<Hit>, branch: Branch<f64>) -> f64 {
        let Some(hit) = hit else {
            return branch.throughput * self.background.sky(&branch, self.cone);
        };
        let meeting = self
            .background
            .world
            .meet(&hit, &branch.origin, &branch.direction, ray.time);
        let arrived = branch.arrive(&meeting);
        let own = self.background.surface(&meeting, &arrived, ray, &hit);
        let specular = meeting
            .material
            .specular(meeting.cos_incidence, meeting.side);
        let reflected = arrived.reflect(&meeting, specular.reflected);
        let transmitted = specular
            .transmitted
            .map(|transmitted| arrived.transmit(&meeting, &transmitted));
        let branches = [Some(reflected), transmitted].into_iter().flatten();
        let beyond: f64 = branches.map(|next| self.spawn(ray, &hit, next)).sum();
        arrived.throughput * own + beyond
    }

    fn spawn(&self, ray: &Ray, hit: &Hit, branch: Branch<f64>) -> f64 {
        let is_worth_it = branch.throughput >= self.settings.throughput_threshold
            && branch.throughput > 0.0
            && branch.depth < self.settings.max_depth;
        if !is_worth_it {
            return 0.0;
        }
        let scene = self.background.world.scene();
        let next = branch.cast(scene, ray, hit);
        self.follow(&next, scene.closest_hit(&next), branch)
    }
}

impl SurfaceTable {
    fn new(material: &Material<f64>) -> Self {
        let side = |side| {
            std::array::from_fn(|i| {
                let cos = (i as f64 / (KNOTS - 1) as f64).max(1e-3);
                Shares {
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

    fn at(&self, cos: f64, side: Side) -> Shares {
        let table = match side {
            Side::Front => &self.front,
            Side::Back => &self.back,
        };
        let place = cos.clamp(0.0, 1.0) * (KNOTS - 1) as f64;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from 0 to KNOTS - 1"
        )]
        let below = (place as usize).min(KNOTS - 2);
        let part = place - below as f64;
        let mix = |a: f64, b: f64| a + (b - a) * part;
        let (a, b) = (table[below], table[below + 1]);
        Shares {
            scattered: mix(a.scattered, b.scattered),
            emitted: mix(a.emitted, b.emitted),
        }
    }
}
