//! Light from the lamps to the camera, followed backwards.

mod next_event;
mod walk;

use super::bands::Bands;
use super::spectral_scene::SpectralScene;
use super::vertex::{Event, Onward, Vertex};
use etendue_physics::Stream;
use etendue_scene::{Hit, Ray};
use walk::Way;

/// What light is followed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LightTransport {
    /// From the lights and the surroundings over one rough surface, and mirrors and glass between
    /// that and the camera (Whitted's ray tree, as the lidars').
    Direct {
        /// Most mirrors and panes on a way.
        depth: u32,
    },
    /// Over any number of surfaces, on random paths (Kajiya 1986, doi:10.1145/15886.15902) with
    /// every light asked at each rough one.
    Paths {
        /// Most rough surfaces on a path.
        scatterings: u32,
        /// Most surfaces of all kinds on a path.
        depth: u32,
    },
}

impl Default for LightTransport {
    fn default() -> Self {
        Self::Direct { depth: 6 }
    }
}

impl LightTransport {
    /// Paths of up to 8 rough surfaces and 24 in all.
    pub fn paths() -> Self {
        Self::Paths {
            scatterings: 8,
            depth: 24,
        }
    }
}

/// Branches of less than this share of the light are not followed.
const LEAST_SHARE: f64 = 1e-3;

/// Follows light through a spectral_scene.
pub(super) struct Tracer<'s, 'a, const N: usize> {
    spectral_scene: &'s SpectralScene<'a, N>,
    light: LightTransport,
}

impl<'s, 'a, const N: usize> Tracer<'s, 'a, N> {
    pub fn new(spectral_scene: &'s SpectralScene<'a, N>, light: &LightTransport) -> Self {
        Self {
            spectral_scene,
            light: *light,
        }
    }

    /// Radiance that comes back along each ray, whose first hits are known. The shadows of the
    /// first surfaces are looked for together, in packets.
    pub fn trace(
        &self,
        rays: &[Ray],
        hits: &[Option<Hit>],
        streams: &mut [Stream],
    ) -> Vec<Bands<N>> {
        let vertices: Vec<Option<Vertex<N>>> = rays
            .iter()
            .zip(hits)
            .map(|(ray, hit)| hit.as_ref().map(|hit| self.spectral_scene.meet(ray, hit)))
            .collect();
        let mut found = self.next_events(&vertices, streams);
        for (i, vertex) in vertices.iter().enumerate() {
            let (ray, hit) = (&rays[i], &hits[i]);
            let far = hit.map_or(ray.far, |hit| hit.distance);
            found[i] += self.spectral_scene.lamps_seen(ray, far);
            match vertex {
                Some(vertex) => found[i] += self.beyond(vertex, &mut streams[i]),
                None if ray.mask == 0 => {}
                None => found[i] += self.spectral_scene.backdrop.radiance(&ray.direction),
            }
        }
        found
    }

    /// What the first vertex sends back but for what [`Tracer::next_events`] found.
    fn beyond(&self, vertex: &Vertex<N>, stream: &mut Stream) -> Bands<N> {
        match self.light {
            LightTransport::Direct { .. }
                if vertex.is_matt() && self.spectral_scene.backdrop.is_dark() =>
            {
                Bands::zeros()
            }
            LightTransport::Direct { depth } => {
                self.branch(vertex, &Way::from_camera(*vertex.ray), depth, stream)
            }
            LightTransport::Paths { scatterings, depth } => {
                let way = Way {
                    scatterings,
                    depth,
                    ..Way::from_camera(*vertex.ray)
                };
                self.go_on(vertex, way, stream)
            }
        }
    }

    /// What a vertex sends back of direct light but for what [`Tracer::next_events`] found.
    fn branch(
        &self,
        vertex: &Vertex<N>,
        way: &Way<N>,
        depth: u32,
        stream: &mut Stream,
    ) -> Bands<N> {
        let mut sum = Bands::zeros();
        if vertex.scatters() && !self.spectral_scene.backdrop.is_dark() {
            sum += self.scattered_once(vertex, way, stream);
        }
        if depth == 0 {
            return sum;
        }
        for onward in vertex.branches().into_iter().flatten() {
            let next = way.after(self.spectral_scene, vertex, &onward);
            if next.throughput.max() >= LEAST_SHARE {
                sum += self.follow(next, depth - 1, stream);
            }
        }
        sum
    }

    /// Takes a branch to the next surface.
    fn follow(&self, mut way: Way<N>, depth: u32, stream: &mut Stream) -> Bands<N> {
        let hit = self.spectral_scene.scene().closest_hit(&way.ray);
        let far = hit.map_or(f64::INFINITY, |hit| hit.distance);
        let seen = self.spectral_scene.lamps_seen(&way.ray, far);
        way.travel(far);
        let mut sum = way.throughput.component_mul(&seen);
        let Some(hit) = hit else {
            let sky = self.spectral_scene.backdrop.radiance(&way.ray.direction);
            return sum + way.throughput.component_mul(&sky);
        };
        let vertex = self.spectral_scene.meet(&way.ray, &hit);
        let lit = self.next_event(&vertex, stream);
        sum += way.throughput.component_mul(&lit);
        sum + self.branch(&vertex, &way, depth, stream)
    }

    /// Light of the surroundings over one rough surface.
    fn scattered_once(&self, vertex: &Vertex<N>, way: &Way<N>, stream: &mut Stream) -> Bands<N> {
        match vertex.sample(stream) {
            Some(onward) if matches!(onward.event, Event::Scattered { .. }) => {
                let last = Way {
                    scatterings: 1,
                    depth: 8,
                    ..*way
                };
                self.walk(last.after(self.spectral_scene, vertex, &onward), stream)
            }
            _ => Bands::zeros(),
        }
    }

    /// The rest of a random path from a vertex whose lights were asked.
    fn go_on(&self, vertex: &Vertex<N>, way: Way<N>, stream: &mut Stream) -> Bands<N> {
        match vertex.sample(stream) {
            Some(onward) if way.may(&onward) => {
                self.walk(way.after(self.spectral_scene, vertex, &onward), stream)
            }
            _ => Bands::zeros(),
        }
    }
}

impl<const N: usize> Way<N> {
    /// Whether the path may take that turn.
    fn may(&self, onward: &Onward<N>) -> bool {
        let is_rough = matches!(onward.event, Event::Scattered { .. });
        self.depth > 0 && (self.scatterings > 0 || !is_rough)
    }
}
