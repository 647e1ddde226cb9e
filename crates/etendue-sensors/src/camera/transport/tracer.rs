//! Radiance along camera rays.

use super::light_transport::LightTransport;
use crate::camera::bands::Bands;
use crate::camera::spectral_scene::SpectralScene;
use crate::camera::vertex::Vertex;
use etendue_physics::Stream;
use etendue_scene::{CastScratch, Hit, Ray};

/// Evaluates the radiance along camera rays.
pub(in crate::camera) struct Tracer<'s, 'a, const N: usize> {
    pub(super) spectral_scene: &'s SpectralScene<'a, N>,
    pub(super) light: LightTransport,
    /// Memory of the ray casts.
    pub(super) scratch: &'s mut CastScratch,
}

impl<'s, 'a, const N: usize> Tracer<'s, 'a, N> {
    pub fn new(
        spectral_scene: &'s SpectralScene<'a, N>,
        light: &LightTransport,
        scratch: &'s mut CastScratch,
    ) -> Self {
        Self {
            spectral_scene,
            light: *light,
            scratch,
        }
    }

    /// Finds the first hit of each ray.
    pub fn cast(&mut self, rays: &[Ray], hits: &mut Vec<Option<Hit>>) {
        let scene = self.spectral_scene.scene();
        scene.closest_hits(rays, hits, self.scratch);
    }

    /// Radiance along each ray, given its first hit. Shadow rays of the first surfaces are cast together,
    /// in packets.
    pub fn trace(
        &mut self,
        rays: &[Ray],
        hits: &[Option<Hit>],
        streams: &mut [Stream],
    ) -> Vec<Bands<N>> {
        let vertices: Vec<Option<Vertex<N>>> = rays
            .iter()
            .zip(hits)
            .map(|(ray, hit)| hit.as_ref().map(|hit| self.spectral_scene.vertex(ray, hit)))
            .collect();

        // Direct light at the first surfaces.
        let mut radiances = self.next_events(&vertices, streams);

        // Visible lights, specular and further paths, environment.
        for (i, vertex) in vertices.iter().enumerate() {
            let ray = &rays[i];
            let far = hits[i].map_or(ray.far, |hit| hit.distance);
            radiances[i] += self.spectral_scene.lamp_radiance(ray, far);
            match vertex {
                Some(vertex) => radiances[i] += self.indirect(vertex, &mut streams[i]),
                None if ray.mask == 0 => {}
                None => radiances[i] += self.spectral_scene.backdrop.radiance(&ray.direction),
            }
        }
        radiances
    }
}
