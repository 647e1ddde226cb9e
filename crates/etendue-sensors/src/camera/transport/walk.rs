//! Random paths.

use super::light_transport::LightTransport;
use super::path_state::PathState;
use super::tracer::Tracer;
use crate::camera::bands::Bands;
use etendue_physics::Stream;

impl<const N: usize> Tracer<'_, '_, N> {
    /// Radiance along a random path that leaves a surface.
    pub(super) fn walk(&mut self, mut path: PathState<N>, stream: &mut Stream) -> Bands<N> {
        let spectral_scene = self.spectral_scene;
        let mut sum = Bands::zeros();
        while path.survives(stream) {
            // Cast the segment; add visible lamps.
            let hit = spectral_scene.scene().closest_hit(&path.ray, self.scratch);
            let far = hit.map_or(f64::INFINITY, |hit| hit.distance);
            if path.scattered.is_none() && self.includes_lamps() {
                let visible = spectral_scene.lamp_radiance(&path.ray, far);
                sum += path.throughput.component_mul(&visible);
            }
            path.travel(far);

            // Add the environment where the path leaves the scene.
            let Some(hit) = hit else {
                return sum + self.escape(&path);
            };

            // Add direct light and continue.
            let vertex = spectral_scene.vertex(&path.ray, &hit);
            if path.scatterings > 0 {
                let direct = self.next_event(&vertex, stream);
                sum += path.throughput.component_mul(&direct);
            }
            match vertex.sample(stream) {
                Some(sample) if path.can_continue(&sample) => {
                    path = path.after(spectral_scene, &vertex, &sample);
                }
                _ => return sum,
            }
        }
        sum
    }

    /// Whether lamps in mirrors illuminate rough surfaces: they are not direct light.
    fn includes_lamps(&self) -> bool {
        matches!(self.light, LightTransport::Paths { .. })
    }

    /// Light of the environment, weighted by the balance heuristic.
    fn escape(&self, path: &PathState<N>) -> Bands<N> {
        let direction = &path.ray.direction;
        let weight = match path.scattered {
            Some(pdf) => pdf / (pdf + self.spectral_scene.backdrop.pdf(direction)),
            None => 1.0,
        };
        let sky = self.spectral_scene.backdrop.radiance(direction);
        path.throughput.component_mul(&sky) * weight
    }
}
