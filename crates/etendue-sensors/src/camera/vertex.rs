//! Interaction of light with a surface, in all bands.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers of bands are not negative and small"
)]

use super::bands::Bands;
use super::spectral_scene::SpectralScene;
use crate::transport::shading_frame;
use etendue_physics::Stream;
use etendue_physics::light::colour_at;
use etendue_physics::surface::{
    BsdfSample, Passage, PreparedMaterial, Side, sample_cosine_hemisphere,
};
use etendue_scene::{Hit, MaterialId, Ray};
use nalgebra::{Matrix3, Point3, Vector3};
use std::borrow::Cow;
use std::f64::consts::PI;

/// A surface interaction of a path traced from the camera.
pub(super) struct Vertex<'s, const N: usize> {
    pub ray: &'s Ray,
    pub hit: &'s Hit,
    /// In the world, m.
    pub point: Point3<f64>,
    /// Unit normal on the side of the ray.
    normal: Vector3<f64>,
    /// Cosine of the incidence.
    cos: f64,
    side: Side,
    bsdf: VertexBsdf<'s, N>,
}

/// BSDF of a surface, in all bands.
enum VertexBsdf<'s, const N: usize> {
    /// Lambertian in all bands, with its BRDF (1/sr): the common case.
    Lambertian(Bands<N>),
    /// A material for each band.
    PerBand([Cow<'s, PreparedMaterial<f64>>; N]),
}

/// Shading frame at a vertex.
struct LocalFrame {
    /// Rotation from the frame, with z the normal, to the world.
    frame: Matrix3<f64>,
    /// Unit vector towards the origin of the ray, in the frame.
    back: Vector3<f64>,
}

/// Sample of the BSDF: the next direction of a path.
pub(super) struct SpectralSample<const N: usize> {
    /// Unit vector in the world.
    pub direction: Vector3<f64>,
    /// BSDF times cosine over the density.
    pub weight: Bands<N>,
    pub event: ScatterEvent<N>,
}

/// Kind of a scattering event.
pub(super) enum ScatterEvent<const N: usize> {
    /// Scattering by a diffuse or rough lobe.
    Scattered {
        /// Density of the direction, 1/sr.
        pdf: f64,
    },
    /// Specular reflection.
    Mirrored,
    /// Transmission through a thin sheet, without refraction.
    Passed,
    /// Refraction into another medium.
    Refracted {
        /// Absorption of the medium, 1/m.
        absorption: Bands<N>,
    },
}

impl<const N: usize> SpectralScene<'_, N> {
    /// Interaction of a ray at its hit.
    pub fn vertex<'s>(&'s self, ray: &'s Ray, hit: &'s Hit) -> Vertex<'s, N> {
        // Orient the normal towards the ray.
        let point = ray.origin + ray.direction * hit.distance;
        let cos = -ray.direction.dot(&hit.normal);
        let (side, normal) = if cos < 0.0 {
            (Side::Back, -hit.normal)
        } else {
            (Side::Front, hit.normal)
        };
        // Look up the texture.
        let texture = self.textures.of(hit.object).and_then(|textured| {
            let pose = self.scene().world_from_object(hit.object, ray.time);
            let point_in_object = pose.inverse_transform_point(&point);
            let normal = pose.inverse_transform_vector(&hit.normal);
            let colour = textured.colour(hit, &point_in_object, &normal)?;
            Some(Bands::from_fn(|band, _| {
                colour_at(colour, self.bands[band].wavelength)
            }))
        });
        Vertex {
            ray,
            hit,
            point,
            normal,
            cos: cos.abs(),
            side,
            bsdf: self.bsdf(self.scene().material_of(hit), texture),
        }
    }

    /// BSDF of a material, with the colour of a texture.
    fn bsdf(&self, material: MaterialId, texture: Option<Bands<N>>) -> VertexBsdf<'_, N> {
        match (self.lambertian[material.0 as usize], texture) {
            (Some(reflectance), None) => VertexBsdf::Lambertian(reflectance / PI),
            (Some(reflectance), Some(texture)) => {
                VertexBsdf::Lambertian(reflectance.component_mul(&texture) / PI)
            }
            (None, texture) => VertexBsdf::PerBand(std::array::from_fn(|band| {
                let material = self.worlds[band].prepared_material(material);
                match texture {
                    None => Cow::Borrowed(material),
                    Some(texture) => Cow::Owned(material.tinted(texture[band])),
                }
            })),
        }
    }

    /// The ray that leaves a vertex.
    pub fn ray_from(&self, vertex: &Vertex<N>, direction: Vector3<f64>, far: f64) -> Ray {
        Ray {
            origin: vertex.point,
            direction,
            near: self.scene().spawn_near(vertex.ray, vertex.hit, &direction),
            far,
            ..*vertex.ray
        }
    }
}

impl<const N: usize> Vertex<'_, N> {
    /// Whether the BSDF has a diffuse or rough lobe.
    pub fn scatters(&self) -> bool {
        match &self.bsdf {
            VertexBsdf::Lambertian(_) => true,
            VertexBsdf::PerBand(materials) => materials.iter().any(|m| !m.is_delta_only()),
        }
    }

    /// Whether the BSDF is Lambertian in all bands.
    pub fn is_lambertian(&self) -> bool {
        matches!(self.bsdf, VertexBsdf::Lambertian(_))
    }

    /// The shading frame.
    fn local(&self) -> LocalFrame {
        let frame = shading_frame(&self.normal);
        let back = frame.tr_mul(&-self.ray.direction);
        LocalFrame { frame, back }
    }

    /// BSDF times cosine towards a unit direction of the world, and the density with which
    /// [`Vertex::sample`] draws it.
    pub fn scattered(&self, towards: &Vector3<f64>) -> (Bands<N>, f64) {
        match &self.bsdf {
            VertexBsdf::Lambertian(brdf) => self.lambertian(brdf, towards),
            VertexBsdf::PerBand(materials) => {
                let local = self.local();
                let towards = local.frame.tr_mul(towards);
                let values = self.values(materials, &local, &towards);
                (values, self.pdf(materials, &local, &towards))
            }
        }
    }

    /// BSDF times cosine towards a unit direction of the world.
    pub fn reflected(&self, towards: &Vector3<f64>) -> Bands<N> {
        match &self.bsdf {
            VertexBsdf::Lambertian(brdf) => self.lambertian(brdf, towards).0,
            VertexBsdf::PerBand(materials) => {
                let local = self.local();
                let towards = local.frame.tr_mul(towards);
                self.values(materials, &local, &towards)
            }
        }
    }

    /// Lambertian BRDF times cosine, and its density.
    fn lambertian(&self, brdf: &Bands<N>, towards: &Vector3<f64>) -> (Bands<N>, f64) {
        let cos = self.normal.dot(towards);
        if self.cos <= 0.0 || cos <= 0.0 {
            return (Bands::zeros(), 0.0);
        }
        (brdf * cos, fraction_of_bands(brdf) * cos / PI)
    }

    /// BSDF times cosine in each band.
    fn values(
        &self,
        materials: &[Cow<PreparedMaterial<f64>>; N],
        local: &LocalFrame,
        towards: &Vector3<f64>,
    ) -> Bands<N> {
        if local.back.z <= 0.0 || towards.z == 0.0 {
            return Bands::zeros();
        }
        Bands::from_fn(|band, _| {
            materials[band].evaluate(&local.back, towards, self.side) * towards.z.abs()
        })
    }

    /// Density of a direction: the mean over the bands, one of which draws it.
    fn pdf(
        &self,
        materials: &[Cow<PreparedMaterial<f64>>; N],
        local: &LocalFrame,
        towards: &Vector3<f64>,
    ) -> f64 {
        if local.back.z <= 0.0 || towards.z == 0.0 {
            return 0.0;
        }
        let densities = materials
            .iter()
            .map(|m| m.pdf(&local.back, towards, self.side));
        densities.sum::<f64>() / N as f64
    }

    /// Samples the BSDF: a random band draws the direction, and the weights of all bands are divided by the
    /// mean of their densities.
    pub fn sample(&self, stream: &mut Stream) -> Option<SpectralSample<N>> {
        let uniform = [stream.uniform(), stream.uniform(), stream.uniform()];
        if self.cos <= 0.0 {
            return None;
        }
        // Choose the band.
        let scaled = uniform[0] * N as f64;
        let band = (scaled as usize).min(N - 1);

        // Sample a Lambertian BRDF directly.
        let materials = match &self.bsdf {
            VertexBsdf::Lambertian(brdf) if brdf[band] > 0.0 => {
                let direction = sample_cosine_hemisphere([uniform[1], uniform[2]]);
                return self.scattering_sample(shading_frame(&self.normal) * direction, None);
            }
            VertexBsdf::Lambertian(_) => return None,
            VertexBsdf::PerBand(materials) => materials,
        };

        // Sample the material of the band.
        let uniform = [
            (scaled - band as f64).clamp(0.0, 1.0 - 1e-16),
            uniform[1],
            uniform[2],
        ];
        let local = self.local();
        let sample = materials[band].sample(&local.back, self.side, uniform)?;
        let direction = local.frame * sample.direction;
        if sample.is_delta {
            return Some(self.specular_sample(materials, direction.normalize(), &sample));
        }
        self.scattering_sample(direction, sample.passage)
    }

    /// Sample of a diffuse or rough lobe in a direction.
    fn scattering_sample(
        &self,
        direction: Vector3<f64>,
        passage: Option<Passage<f64>>,
    ) -> Option<SpectralSample<N>> {
        let direction = direction.normalize();
        let (values, pdf) = self.scattered(&direction);
        let event = match passage {
            Some(Passage::Interface { .. }) => ScatterEvent::Refracted {
                absorption: self.absorption_behind(),
            },
            _ => ScatterEvent::Scattered { pdf },
        };
        (pdf > 0.0).then(|| SpectralSample {
            direction,
            weight: values / pdf,
            event,
        })
    }

    /// Sample of a specular lobe in a direction.
    fn specular_sample(
        &self,
        materials: &[Cow<PreparedMaterial<f64>>; N],
        direction: Vector3<f64>,
        sample: &BsdfSample,
    ) -> SpectralSample<N> {
        // Probability of the event, averaged over the bands.
        let transmits = usize::from(sample.passage.is_some());
        let probabilities = materials
            .iter()
            .map(|m| m.delta_chances(self.cos, self.side)[transmits]);
        let probability = probabilities.sum::<f64>() / N as f64;
        // Fraction of the light.
        let (reflected, transmitted) = self.specular();
        let (fraction, event) = match sample.passage {
            None => (reflected, ScatterEvent::Mirrored),
            Some(Passage::Sheet { .. }) => (transmitted, ScatterEvent::Passed),
            Some(Passage::Interface { .. }) => {
                let absorption = self.absorption_behind();
                (transmitted, ScatterEvent::Refracted { absorption })
            }
        };
        SpectralSample {
            direction,
            weight: fraction / probability,
            event,
        }
    }

    /// Specular reflectance and transmittance in each band.
    pub fn specular(&self) -> (Bands<N>, Bands<N>) {
        let mut reflected = Bands::zeros();
        let mut transmitted = Bands::zeros();
        if let VertexBsdf::PerBand(materials) = &self.bsdf {
            for (band, material) in materials.iter().enumerate() {
                let specular = material.specular(self.cos, self.side);
                reflected[band] = specular.reflected;
                transmitted[band] = specular.transmitted.map_or(0.0, |light| light.fraction);
            }
        }
        (reflected, transmitted)
    }

    /// Branches of the specular lobes: reflection and transmission.
    pub fn branches(&self) -> [Option<SpectralSample<N>>; 2] {
        if self.is_lambertian() || self.cos <= 0.0 {
            return [None, None];
        }
        let (reflected, transmitted) = self.specular();
        let local = self.local();
        let mirrored = Vector3::new(-local.back.x, -local.back.y, local.back.z);
        let mirror = (reflected.max() > 0.0).then(|| SpectralSample {
            direction: (local.frame * mirrored).normalize(),
            weight: reflected,
            event: ScatterEvent::Mirrored,
        });
        [mirror, self.transmitted_branch(&local, transmitted)]
    }

    /// The transmitted branch.
    fn transmitted_branch(
        &self,
        LocalFrame { frame, back }: &LocalFrame,
        transmitted: Bands<N>,
    ) -> Option<SpectralSample<N>> {
        // Check that light is transmitted.
        let passage = self.passage()?;
        if transmitted.max() <= 0.0 {
            return None;
        }
        // Pass straight through a sheet, refract at an interface.
        let (direction, event) = match passage {
            Passage::Sheet { .. } => (-back, ScatterEvent::Passed),
            Passage::Interface { index_ratio, .. } => {
                let sin2 = (1.0 - back.z * back.z).max(0.0) * index_ratio * index_ratio;
                let cos = (1.0 - sin2).max(0.0).sqrt();
                let x = -back.x * index_ratio;
                let y = -back.y * index_ratio;
                let absorption = self.absorption_behind();
                (
                    Vector3::new(x, y, -cos),
                    ScatterEvent::Refracted { absorption },
                )
            }
        };
        let direction = (frame * direction).normalize();
        Some(SpectralSample {
            direction,
            weight: transmitted,
            event,
        })
    }

    /// Passage of light in the middle band.
    fn passage(&self) -> Option<Passage<f64>> {
        let VertexBsdf::PerBand(materials) = &self.bsdf else {
            return None;
        };
        let specular = materials[N / 2].specular(self.cos, self.side);
        specular.transmitted.map(|transmitted| transmitted.passage)
    }

    /// Absorption of the medium behind the surface in each band, 1/m.
    fn absorption_behind(&self) -> Bands<N> {
        let VertexBsdf::PerBand(materials) = &self.bsdf else {
            return Bands::zeros();
        };
        Bands::from_fn(|band, _| {
            let specular = materials[band].specular(1.0, self.side);
            match specular.transmitted.map(|transmitted| transmitted.passage) {
                Some(Passage::Interface { medium, .. }) => medium.absorption,
                _ => 0.0,
            }
        })
    }

    /// Transmittance of a thin sheet; `None` for other surfaces.
    pub fn sheet(&self) -> Option<Bands<N>> {
        matches!(self.passage()?, Passage::Sheet { .. }).then(|| self.specular().1)
    }
}

/// Fraction of the bands with a BRDF above zero.
fn fraction_of_bands<const N: usize>(brdf: &Bands<N>) -> f64 {
    brdf.iter().filter(|value| **value > 0.0).count() as f64 / N as f64
}
