//! Light at a surface, in all bands.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers of bands are not negative and small"
)]

use super::Bands;
use super::studio::Stage;
use crate::transport::frame_about;
use etendue_physics::Stream;
use etendue_physics::light::colour_at;
use etendue_physics::surface::{Material, Passage, Sample, Side};
use etendue_scene::{Hit, Ray};
use nalgebra::{Matrix3, Point3, Vector3};
use std::borrow::Cow;

/// A surface that a ray, followed backwards from the camera, met.
pub(super) struct Vertex<'s, const N: usize> {
    pub ray: Ray,
    pub hit: Hit,
    pub point: Point3<f64>,
    /// Local axes; z is the normal towards where the ray came from.
    frame: Matrix3<f64>,
    /// Unit, local: back along the ray.
    back: Vector3<f64>,
    side: Side,
    materials: [Cow<'s, Material<f64>>; N],
    /// Whether it sends light anywhere but as a mirror or a window does.
    pub scatters: bool,
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

impl<'a, const N: usize> Stage<'a, N> {
    pub fn meet(&self, ray: &Ray, hit: &Hit) -> Vertex<'_, N> {
        let scene: &'a etendue_scene::Scene = self.scene();
        let pose = scene.world_from_object(hit.object, ray.time);
        let surface = scene.surface_at(hit, &ray.origin, &ray.direction, &pose);
        let cos = -ray.direction.dot(&surface.normal);
        let (side, normal) = if cos < 0.0 {
            (Side::Back, -surface.normal)
        } else {
            (Side::Front, surface.normal)
        };
        let frame = frame_about(&normal);
        let colour = self.textures.of(hit.object).map(|textured| {
            let place = pose.inverse_transform_point(&surface.point);
            textured.colour(hit, &place, &pose.inverse_transform_vector(&surface.normal))
        });
        let materials = std::array::from_fn(|band| {
            let material = self.worlds[band].material(surface.material);
            match colour {
                None => Cow::Borrowed(material),
                Some(colour) => {
                    Cow::Owned(material.tinted(colour_at(colour, self.bands[band].wavelength)))
                }
            }
        });
        Vertex {
            ray: *ray,
            hit: *hit,
            point: surface.point,
            back: frame.tr_mul(&-ray.direction),
            frame,
            side,
            scatters: materials.iter().any(|material| !material.is_delta_only()),
            materials,
        }
    }

    /// The ray that leaves a vertex.
    pub fn leave(&self, vertex: &Vertex<N>, direction: Vector3<f64>, far: f64) -> Ray {
        Ray {
            origin: vertex.point,
            direction,
            near: self
                .scene()
                .spawn_near(&vertex.ray, &vertex.hit, &direction),
            far,
            ..vertex.ray
        }
    }
}

impl<const N: usize> Vertex<'_, N> {
    /// BSDF times cosine towards a unit direction of the world, and the density with which
    /// [`Vertex::sample`] draws it.
    pub fn scattered(&self, towards: &Vector3<f64>) -> (Bands<N>, f64) {
        let local = self.frame.tr_mul(towards);
        if self.back.z <= 0.0 || local.z == 0.0 {
            return (Bands::zeros(), 0.0);
        }
        let values = Bands::from_fn(|band, _| {
            self.materials[band].evaluate(&self.back, &local, self.side) * local.z.abs()
        });
        (values, self.pdf(&local))
    }

    /// Only BSDF times cosine.
    pub fn reflected(&self, towards: &Vector3<f64>) -> Bands<N> {
        let local = self.frame.tr_mul(towards);
        if self.back.z <= 0.0 || local.z == 0.0 {
            return Bands::zeros();
        }
        Bands::from_fn(|band, _| {
            self.materials[band].evaluate(&self.back, &local, self.side) * local.z.abs()
        })
    }

    /// Mean over the bands: any of them draws the direction.
    fn pdf(&self, local: &Vector3<f64>) -> f64 {
        let densities = self
            .materials
            .iter()
            .map(|m| m.pdf(&self.back, local, self.side));
        densities.sum::<f64>() / N as f64
    }

    /// Draws how the path goes on: a band drawn at random draws the direction, and the weights of
    /// all are over the mean of their densities.
    pub fn sample(&self, stream: &mut Stream) -> Option<Onward<N>> {
        let uniform = [stream.uniform(), stream.uniform(), stream.uniform()];
        if self.back.z <= 0.0 {
            return None;
        }
        let whole = uniform[0] * N as f64;
        let band = (whole as usize).min(N - 1);
        let uniform = [
            (whole - band as f64).clamp(0.0, 1.0 - 1e-16),
            uniform[1],
            uniform[2],
        ];
        let sample = self.materials[band].sample(&self.back, self.side, uniform)?;
        let direction = (self.frame * sample.direction).normalize();
        if sample.is_delta {
            return Some(self.go_on(direction, &sample));
        }
        let (values, pdf) = self.scattered(&direction);
        let event = match sample.passage {
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

    fn go_on(&self, direction: Vector3<f64>, sample: &Sample) -> Onward<N> {
        let passes = usize::from(sample.passage.is_some());
        let cos = self.back.z;
        let chances = self
            .materials
            .iter()
            .map(|m| m.delta_chances(cos, self.side)[passes]);
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
        for (band, material) in self.materials.iter().enumerate() {
            let specular = material.specular(self.back.z, self.side);
            reflected[band] = specular.reflected;
            transmitted[band] = specular.transmitted.map_or(0.0, |passed| passed.fraction);
        }
        (reflected, transmitted)
    }

    /// How a mirror-like lobe sends the path on: mirrored, and straight or refracted.
    pub fn branches(&self) -> [Option<Onward<N>>; 2] {
        if self.back.z <= 0.0 {
            return [None, None];
        }
        let (reflected, transmitted) = self.specular();
        let mirrored = Vector3::new(-self.back.x, -self.back.y, self.back.z);
        let mirror = (reflected.max() > 0.0).then(|| Onward {
            direction: (self.frame * mirrored).normalize(),
            weight: reflected,
            event: Event::Mirrored,
        });
        [mirror, self.passing(transmitted)]
    }

    fn passing(&self, transmitted: Bands<N>) -> Option<Onward<N>> {
        let middle = &self.materials[N / 2];
        let passage = middle.specular(self.back.z, self.side).transmitted?.passage;
        if transmitted.max() <= 0.0 {
            return None;
        }
        let (direction, event) = match passage {
            Passage::Sheet { .. } => (-self.back, Event::Passed),
            Passage::Interface { index_ratio, .. } => {
                let sin2 = (1.0 - self.back.z * self.back.z).max(0.0) * index_ratio * index_ratio;
                let cos = (1.0 - sin2).max(0.0).sqrt();
                let [x, y] = [-self.back.x * index_ratio, -self.back.y * index_ratio];
                let absorption = self.absorption_behind();
                (Vector3::new(x, y, -cos), Event::Refracted { absorption })
            }
        };
        let direction = (self.frame * direction).normalize();
        Some(Onward {
            direction,
            weight: transmitted,
            event,
        })
    }

    /// Absorption of what is behind the surface in each band, 1/m.
    fn absorption_behind(&self) -> Bands<N> {
        Bands::from_fn(|band, _| {
            let specular = self.materials[band].specular(1.0, self.side);
            match specular.transmitted.map(|transmitted| transmitted.passage) {
                Some(Passage::Interface { medium, .. }) => medium.absorption,
                _ => 0.0,
            }
        })
    }

    /// Whether light passes straight on, and what fraction.
    pub fn sheet(&self) -> Option<Bands<N>> {
        let passage = self.materials[N / 2]
            .specular(self.back.z, self.side)
            .transmitted?
            .passage;
        matches!(passage, Passage::Sheet { .. }).then(|| self.specular().1)
    }
}
