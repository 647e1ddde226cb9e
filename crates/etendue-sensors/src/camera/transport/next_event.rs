//! Next-event estimation: direct light of the lamps and the environment at a surface.

use super::tracer::Tracer;
use crate::camera::bands::Bands;
use crate::camera::illumination::LightSample;
use crate::camera::spectral_scene::SpectralScene;
use crate::camera::vertex::Vertex;
use etendue_physics::Stream;
use etendue_scene::Ray;

/// Maximum number of panes on a shadow ray.
const MOST_SHEETS: usize = 16;

/// A shadow ray and its contribution.
struct ShadowRay<const N: usize> {
    ray: Ray,
    /// Reflected radiance if the ray is not occluded.
    light: Bands<N>,
}

impl<const N: usize> Tracer<'_, '_, N> {
    /// Reflected radiance of direct light at each vertex, with one shadow ray per light and vertex.
    pub fn next_events(
        &mut self,
        vertices: &[Option<Vertex<N>>],
        streams: &mut [Stream],
    ) -> Vec<Bands<N>> {
        let mut sums = vec![Bands::zeros(); vertices.len()];
        let mut rays = Vec::new();
        let mut contributions = Vec::new();
        let mut occluded = Vec::new();
        for source in 0..self.sources() {
            // Sample the light from every vertex.
            rays.clear();
            contributions.clear();
            for (i, vertex) in vertices.iter().enumerate() {
                let Some(vertex) = vertex.as_ref().filter(|vertex| vertex.scatters()) else {
                    continue;
                };
                if let Some(shadow) = self.shadow_ray(vertex, source, &mut streams[i]) {
                    rays.push(shadow.ray);
                    contributions.push((i, shadow.light));
                }
            }

            // Cast the shadow rays.
            let scene = self.spectral_scene.scene();
            scene.occlusions(&rays, &mut occluded, self.scratch);
            for (((i, light), ray), occluded) in contributions.iter().zip(&rays).zip(&occluded) {
                sums[*i] += if *occluded {
                    light.component_mul(&self.sheet_transmittance(ray))
                } else {
                    *light
                };
            }
        }
        sums
    }

    /// Reflected radiance of direct light at one vertex.
    pub fn next_event(&mut self, vertex: &Vertex<N>, stream: &mut Stream) -> Bands<N> {
        if !vertex.scatters() {
            return Bands::zeros();
        }
        let contributions = (0..self.sources()).filter_map(|source| {
            let shadow = self.shadow_ray(vertex, source, stream)?;
            Some(shadow.light.component_mul(&self.transmittance(&shadow.ray)))
        });
        contributions.sum::<Bands<N>>()
    }

    /// Number of light sources: the lamps and the environment.
    fn sources(&self) -> usize {
        self.spectral_scene.lamps.len() + 1
    }

    /// Shadow ray to a light source; none without a contribution.
    fn shadow_ray(
        &self,
        vertex: &Vertex<N>,
        source: usize,
        stream: &mut Stream,
    ) -> Option<ShadowRay<N>> {
        match self.spectral_scene.lamps.get(source) {
            Some(lamp) => {
                let uniform = two_if(lamp.is_wide(), stream);
                let light_sample = lamp.sample(&vertex.point, uniform)?;
                let light = vertex.reflected(&light_sample.towards);
                self.spectral_scene.shadow_ray(vertex, &light_sample, light)
            }
            None => self.shadow_ray_to_environment(vertex, stream),
        }
    }

    /// Shadow ray to the environment, combined with directions drawn from the BSDF by the balance
    /// heuristic (Veach and Guibas 1995, doi:10.1145/218380.218498).
    fn shadow_ray_to_environment(
        &self,
        vertex: &Vertex<N>,
        stream: &mut Stream,
    ) -> Option<ShadowRay<N>> {
        let uniform = two_if(self.spectral_scene.backdrop.is_drawn(), stream);
        let (light_sample, drawn) = self.spectral_scene.backdrop.sample(uniform)?;
        let (light, pdf) = vertex.scattered(&light_sample.towards);
        self.spectral_scene
            .shadow_ray(vertex, &light_sample, light * (drawn / (drawn + pdf)))
    }

    /// Transmittance along a shadow ray.
    fn transmittance(&mut self, ray: &Ray) -> Bands<N> {
        if self.spectral_scene.scene().occluded(ray, self.scratch) {
            self.sheet_transmittance(ray)
        } else {
            Bands::repeat(1.0)
        }
    }

    /// Transmittance along an occluded shadow ray: thin sheets transmit light.
    fn sheet_transmittance(&mut self, ray: &Ray) -> Bands<N> {
        let spectral_scene = self.spectral_scene;
        let mut transmittance = Bands::repeat(1.0);
        if !spectral_scene.has_sheets {
            return Bands::zeros();
        }
        let mut ray = *ray;
        for _ in 0..MOST_SHEETS {
            let Some(hit) = spectral_scene.scene().closest_hit(&ray, self.scratch) else {
                return transmittance;
            };
            let vertex = spectral_scene.vertex(&ray, &hit);
            let Some(fraction) = vertex.sheet() else {
                return Bands::zeros();
            };
            transmittance.component_mul_assign(&fraction);
            ray = spectral_scene.ray_from(&vertex, ray.direction, ray.far - hit.distance);
        }
        Bands::zeros()
    }
}

/// The next two numbers of the stream; where they are not needed, they are skipped.
fn two_if(needed: bool, stream: &mut Stream) -> [f64; 2] {
    if needed {
        return [stream.uniform(), stream.uniform()];
    }
    stream.skip(2);
    [0.5; 2]
}

impl<const N: usize> SpectralScene<'_, N> {
    /// Shadow ray of a light sample, with the BSDF times cosine as `reflectance`.
    fn shadow_ray(
        &self,
        vertex: &Vertex<N>,
        light_sample: &LightSample<N>,
        reflectance: Bands<N>,
    ) -> Option<ShadowRay<N>> {
        let light = reflectance.component_mul(&light_sample.irradiance);
        (light.max() > 0.0).then(|| ShadowRay {
            ray: self.ray_from(vertex, light_sample.towards, light_sample.distance),
            light,
        })
    }

    /// Emitted radiance of the lamps along a ray up to `far`.
    pub(in crate::camera) fn lamp_radiance(&self, ray: &Ray, far: f64) -> Bands<N> {
        let radiance = self
            .lamps
            .iter()
            .map(|lamp| lamp.radiance_along(&ray.origin, &ray.direction, far));
        radiance.sum::<Bands<N>>()
    }
}
