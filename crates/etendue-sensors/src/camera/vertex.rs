//! Light at a surface, in all bands.
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
use etendue_physics::surface::{Material, Passage, Sample, Side, sample_cosine_hemisphere};
use etendue_scene::{Hit, MaterialId, Ray};
use nalgebra::{Matrix3, Point3, Vector3};
use std::borrow::Cow;
use std::f64::consts::PI;

/// A surface that a ray, followed backwards from the camera, met.
pub(super) struct Vertex<'s, const N: usize> {
    pub ray: &'s Ray,
    pub hit: &'s Hit,
    pub point: Point3<f64>,
    /// Unit, towards where the ray came from.
    normal: Vector3<f64>,
    /// Between the normal and back along the ray.
    cos: f64,
    side: Side,
    skin: Skin<'s, N>,
}

/// What the surface is made of.
enum Skin<'s, const N: usize> {
    /// Ideally diffuse in all bands, of that BRDF (1/sr): most surfaces, and quickly done.
    Matt(Bands<N>),
    /// Anything, band by band.
    Whole([Cow<'s, Material<f64>>; N]),
}

/// Local axes at a vertex.
struct Local {
    /// From the axes, z the normal, to the world.
    frame: Matrix3<f64>,
    /// Unit: back along the ray.
    back: Vector3<f64>,
}

/// How a path goes on.
pub(super) struct Onward<const N: usize> {
    /// Unit, in the world.
    pub direction: Vector3<f64>,
    pub weight: Bands<N>,
    pub event: Event<N>,
}

/// What happened at a surface.
pub(super) enum Event<const N: usize> {
    /// Scattered: density of the direction, 1/sr.
    Scattered {
        pdf: f64,
    },
    Mirrored,
    /// Straight on through a thin sheet.
    Passed,
    /// Into another medium of that absorption, 1/m.
    Refracted {
        absorption: Bands<N>,
    },
}

impl<const N: usize> SpectralScene<'_, N> {
    pub fn meet<'s>(&'s self, ray: &'s Ray, hit: &'s Hit) -> Vertex<'s, N> {
        let point = ray.origin + ray.direction * hit.distance;
        let cos = -ray.direction.dot(&hit.normal);
        let (side, normal) = if cos < 0.0 {
            (Side::Back, -hit.normal)
        } else {
            (Side::Front, hit.normal)
        };
        let tint = self.textures.of(hit.object).and_then(|textured| {
            let pose = self.scene().world_from_object(hit.object, ray.time);
            let place = pose.inverse_transform_point(&point);
            let normal = pose.inverse_transform_vector(&hit.normal);
            let colour = textured.colour(hit, &place, &normal)?;
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
            skin: self.skin(self.scene().material_of(hit), tint),
        }
    }

    fn skin(&self, material: MaterialId, tint: Option<Bands<N>>) -> Skin<'_, N> {
        match (self.matt[material.0 as usize], tint) {
            (Some(reflectance), None) => Skin::Matt(reflectance / PI),
            (Some(reflectance), Some(tint)) => Skin::Matt(reflectance.component_mul(&tint) / PI),
            (None, tint) => Skin::Whole(std::array::from_fn(|band| {
                let material = self.worlds[band].material(material);
                match tint {
                    None => Cow::Borrowed(material),
                    Some(tint) => Cow::Owned(material.tinted(tint[band])),
                }
            })),
        }
    }

    /// The ray that leaves a vertex.
    pub fn leave(&self, vertex: &Vertex<N>, direction: Vector3<f64>, far: f64) -> Ray {
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
    /// Whether it sends light anywhere but as a mirror or a window does.
    pub fn scatters(&self) -> bool {
        match &self.skin {
            Skin::Matt(_) => true,
            Skin::Whole(materials) => materials.iter().any(|m| !m.is_delta_only()),
        }
    }

    /// Whether it is ideally diffuse.
    pub fn is_matt(&self) -> bool {
        matches!(self.skin, Skin::Matt(_))
    }

    fn local(&self) -> Local {
        let frame = shading_frame(&self.normal);
        let back = frame.tr_mul(&-self.ray.direction);
        Local { frame, back }
    }

    /// BSDF times cosine towards a unit direction of the world, and the density with which
    /// [`Vertex::sample`] draws it.
    pub fn scattered(&self, towards: &Vector3<f64>) -> (Bands<N>, f64) {
        match &self.skin {
            Skin::Matt(brdf) => self.matt(brdf, towards),
            Skin::Whole(materials) => {
                let local = self.local();
                let towards = local.frame.tr_mul(towards);
                let values = self.values(materials, &local, &towards);
                (values, self.pdf(materials, &local, &towards))
            }
        }
    }

    /// Only BSDF times cosine.
    pub fn reflected(&self, towards: &Vector3<f64>) -> Bands<N> {
        match &self.skin {
            Skin::Matt(brdf) => self.matt(brdf, towards).0,
            Skin::Whole(materials) => {
                let local = self.local();
                let towards = local.frame.tr_mul(towards);
                self.values(materials, &local, &towards)
            }
        }
    }

    fn matt(&self, brdf: &Bands<N>, towards: &Vector3<f64>) -> (Bands<N>, f64) {
        let cos = self.normal.dot(towards);
        if self.cos <= 0.0 || cos <= 0.0 {
            return (Bands::zeros(), 0.0);
        }
        (brdf * cos, share_of_bands(brdf) * cos / PI)
    }

    fn values(
        &self,
        materials: &[Cow<Material<f64>>; N],
        local: &Local,
        towards: &Vector3<f64>,
    ) -> Bands<N> {
        if local.back.z <= 0.0 || towards.z == 0.0 {
            return Bands::zeros();
        }
        Bands::from_fn(|band, _| {
            materials[band].evaluate(&local.back, towards, self.side) * towards.z.abs()
        })
    }

    /// Mean over the bands: any of them draws the direction.
    fn pdf(
        &self,
        materials: &[Cow<Material<f64>>; N],
        local: &Local,
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

    /// Draws how the path goes on: a band drawn at random draws the direction, and the weights of
    /// all are over the mean of their densities.
    pub fn sample(&self, stream: &mut Stream) -> Option<Onward<N>> {
        let uniform = [stream.uniform(), stream.uniform(), stream.uniform()];
        if self.cos <= 0.0 {
            return None;
        }
        let whole = uniform[0] * N as f64;
        let band = (whole as usize).min(N - 1);
        let materials = match &self.skin {
            Skin::Matt(brdf) if brdf[band] > 0.0 => {
                let direction = sample_cosine_hemisphere([uniform[1], uniform[2]]);
                return self.scatter(shading_frame(&self.normal) * direction, None);
            }
            Skin::Matt(_) => return None,
            Skin::Whole(materials) => materials,
        };
        let uniform = [
            (whole - band as f64).clamp(0.0, 1.0 - 1e-16),
            uniform[1],
            uniform[2],
        ];
        let local = self.local();
        let sample = materials[band].sample(&local.back, self.side, uniform)?;
        let direction = local.frame * sample.direction;
        if sample.is_delta {
            return Some(self.go_on(materials, direction.normalize(), &sample));
        }
        self.scatter(direction, sample.passage)
    }

    fn scatter(&self, direction: Vector3<f64>, passage: Option<Passage<f64>>) -> Option<Onward<N>> {
        let direction = direction.normalize();
        let (values, pdf) = self.scattered(&direction);
        let event = match passage {
            Some(Passage::Interface { .. }) => Event::Refracted {
                absorption: self.absorption_behind(),
            },
            _ => Event::Scattered { pdf },
        };
        (pdf > 0.0).then(|| Onward {
            direction,
            weight: values / pdf,
            event,
        })
    }

    fn go_on(
        &self,
        materials: &[Cow<Material<f64>>; N],
        direction: Vector3<f64>,
        sample: &Sample,
    ) -> Onward<N> {
        let passes = usize::from(sample.passage.is_some());
        let chances = materials
            .iter()
            .map(|m| m.delta_chances(self.cos, self.side)[passes]);
        let chance = chances.sum::<f64>() / N as f64;
        let (reflected, transmitted) = self.specular();
        let (fraction, event) = match sample.passage {
            None => (reflected, Event::Mirrored),
            Some(Passage::Sheet { .. }) => (transmitted, Event::Passed),
            Some(Passage::Interface { .. }) => {
                let absorption = self.absorption_behind();
                (transmitted, Event::Refracted { absorption })
            }
        };
        Onward {
            direction,
            weight: fraction / chance,
            event,
        }
    }

    /// Fractions that the mirror-like lobes reflect and let pass.
    pub fn specular(&self) -> (Bands<N>, Bands<N>) {
        let (mut reflected, mut transmitted) = (Bands::zeros(), Bands::zeros());
        if let Skin::Whole(materials) = &self.skin {
            for (band, material) in materials.iter().enumerate() {
                let specular = material.specular(self.cos, self.side);
                reflected[band] = specular.reflected;
                transmitted[band] = specular.transmitted.map_or(0.0, |passed| passed.fraction);
            }
        }
        (reflected, transmitted)
    }

    /// How a mirror-like lobe sends the path on: mirrored, and straight or refracted.
    pub fn branches(&self) -> [Option<Onward<N>>; 2] {
        if self.is_matt() || self.cos <= 0.0 {
            return [None, None];
        }
        let (reflected, transmitted) = self.specular();
        let local = self.local();
        let mirrored = Vector3::new(-local.back.x, -local.back.y, local.back.z);
        let mirror = (reflected.max() > 0.0).then(|| Onward {
            direction: (local.frame * mirrored).normalize(),
            weight: reflected,
            event: Event::Mirrored,
        });
        [mirror, self.passing(&local, transmitted)]
    }

    fn passing(&self, Local { frame, back }: &Local, transmitted: Bands<N>) -> Option<Onward<N>> {
        let passage = self.passage()?;
        if transmitted.max() <= 0.0 {
            return None;
        }
        let (direction, event) = match passage {
            Passage::Sheet { .. } => (-back, Event::Passed),
            Passage::Interface { index_ratio, .. } => {
                let sin2 = (1.0 - back.z * back.z).max(0.0) * index_ratio * index_ratio;
                let cos = (1.0 - sin2).max(0.0).sqrt();
                let [x, y] = [-back.x * index_ratio, -back.y * index_ratio];
                let absorption = self.absorption_behind();
                (Vector3::new(x, y, -cos), Event::Refracted { absorption })
            }
        };
        let direction = (frame * direction).normalize();
        Some(Onward {
            direction,
            weight: transmitted,
            event,
        })
    }

    /// How light of the middle band passes.
    fn passage(&self) -> Option<Passage<f64>> {
        let Skin::Whole(materials) = &self.skin else {
            return None;
        };
        let specular = materials[N / 2].specular(self.cos, self.side);
        specular.transmitted.map(|transmitted| transmitted.passage)
    }

    /// Absorption of what is behind the surface in each band, 1/m.
    fn absorption_behind(&self) -> Bands<N> {
        let Skin::Whole(materials) = &self.skin else {
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

    /// Whether light passes straight on, and what fraction.
    pub fn sheet(&self) -> Option<Bands<N>> {
        matches!(self.passage()?, Passage::Sheet { .. }).then(|| self.specular().1)
    }
}

/// Which share of the bands reflects at all.
fn share_of_bands<const N: usize>(brdf: &Bands<N>) -> f64 {
    brdf.iter().filter(|value| **value > 0.0).count() as f64 / N as f64
}
