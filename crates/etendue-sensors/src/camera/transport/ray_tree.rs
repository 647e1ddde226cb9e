//! Ray trees through mirrors and glass, and the start of random paths.

use super::light_transport::LightTransport;
use super::path_state::PathState;
use super::tracer::Tracer;
use crate::camera::bands::Bands;
use crate::camera::vertex::{ScatterEvent, Vertex};
use etendue_physics::Stream;

/// Least throughput of a branch that is followed.
const LEAST_THROUGHPUT: f64 = 1e-3;

impl<const N: usize> Tracer<'_, '_, N> {
    /// Radiance of the first vertex without the direct light of [`Tracer::next_events`].
    pub(super) fn indirect(&mut self, vertex: &Vertex<N>, stream: &mut Stream) -> Bands<N> {
        match self.light {
            LightTransport::Direct { .. }
                if vertex.is_lambertian() && self.spectral_scene.backdrop.is_dark() =>
            {
                Bands::zeros()
            }
            LightTransport::Direct { depth } => {
                self.branch(vertex, &PathState::from_camera(*vertex.ray), depth, stream)
            }
            LightTransport::Paths { scatterings, depth } => {
                let path = PathState {
                    scatterings,
                    depth,
                    ..PathState::from_camera(*vertex.ray)
                };
                self.continue_randomly(vertex, path, stream)
            }
        }
    }

    /// Radiance of a vertex in a ray tree, without the direct light of [`Tracer::next_events`].
    fn branch(
        &mut self,
        vertex: &Vertex<N>,
        path: &PathState<N>,
        depth: u32,
        stream: &mut Stream,
    ) -> Bands<N> {
        let mut sum = Bands::zeros();
        if vertex.scatters() && !self.spectral_scene.backdrop.is_dark() {
            sum += self.scattered_once(vertex, path, stream);
        }
        if depth == 0 {
            return sum;
        }
        for sample in vertex.branches().into_iter().flatten() {
            let next = path.after(self.spectral_scene, vertex, &sample);
            if next.throughput.max() >= LEAST_THROUGHPUT {
                sum += self.follow(next, depth - 1, stream);
            }
        }
        sum
    }

    /// Radiance along a branch of the ray tree.
    fn follow(&mut self, mut path: PathState<N>, depth: u32, stream: &mut Stream) -> Bands<N> {
        let hit = self
            .spectral_scene
            .scene()
            .closest_hit(&path.ray, self.scratch);
        let far = hit.map_or(f64::INFINITY, |hit| hit.distance);
        let visible = self.spectral_scene.lamp_radiance(&path.ray, far);
        path.travel(far);
        let mut sum = path.throughput.component_mul(&visible);
        let Some(hit) = hit else {
            let sky = self.spectral_scene.backdrop.radiance(&path.ray.direction);
            return sum + path.throughput.component_mul(&sky);
        };
        let vertex = self.spectral_scene.vertex(&path.ray, &hit);
        let direct = self.next_event(&vertex, stream);
        sum += path.throughput.component_mul(&direct);
        sum + self.branch(&vertex, &path, depth, stream)
    }

    /// Light of the environment over one rough surface.
    fn scattered_once(
        &mut self,
        vertex: &Vertex<N>,
        path: &PathState<N>,
        stream: &mut Stream,
    ) -> Bands<N> {
        match vertex.sample(stream) {
            Some(sample) if matches!(sample.event, ScatterEvent::Scattered { .. }) => {
                let last = PathState {
                    scatterings: 1,
                    depth: 8,
                    ..*path
                };
                self.walk(last.after(self.spectral_scene, vertex, &sample), stream)
            }
            _ => Bands::zeros(),
        }
    }

    /// Radiance of the rest of a random path from a vertex, without its direct light.
    fn continue_randomly(
        &mut self,
        vertex: &Vertex<N>,
        path: PathState<N>,
        stream: &mut Stream,
    ) -> Bands<N> {
        match vertex.sample(stream) {
            Some(sample) if path.can_continue(&sample) => {
                self.walk(path.after(self.spectral_scene, vertex, &sample), stream)
            }
            _ => Bands::zeros(),
        }
    }
}
