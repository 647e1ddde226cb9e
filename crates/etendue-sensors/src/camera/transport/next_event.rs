//! Light straight from the lamps to a surface.

use super::Tracer;
use crate::camera::bands::Bands;
use crate::camera::illumination::Arriving;
use crate::camera::spectral_scene::SpectralScene;
use crate::camera::vertex::Vertex;
use etendue_physics::Stream;
use etendue_scene::Ray;

/// Panes that a shadow ray passes at most.
const MOST_SHEETS: usize = 16;

/// A line to a light, and what it brings were it free.
struct Line<const N: usize> {
    ray: Ray,
    light: Bands<N>,
}

impl<const N: usize> Tracer<'_, '_, N> {
    /// What each vertex scatters back of every light, one line a light and vertex.
    pub fn next_events(
        &self,
        vertices: &[Option<Vertex<N>>],
        streams: &mut [Stream],
    ) -> Vec<Bands<N>> {
        let mut sums = vec![Bands::zeros(); vertices.len()];
        let (mut rays, mut lines, mut hidden) = (vec![], vec![], vec![]);
        for source in 0..self.sources() {
            rays.clear();
            lines.clear();
            for (i, vertex) in vertices.iter().enumerate() {
                let Some(vertex) = vertex.as_ref().filter(|vertex| vertex.scatters()) else {
                    continue;
                };
                if let Some(line) = self.line(vertex, source, &mut streams[i]) {
                    rays.push(line.ray);
                    lines.push((i, line.light));
                }
            }
            self.spectral_scene.scene().occlusions(&rays, &mut hidden);
            for (((i, light), ray), hidden) in lines.iter().zip(&rays).zip(&hidden) {
                sums[*i] += if *hidden {
                    light.component_mul(&self.spectral_scene.behind_sheets(ray))
                } else {
                    *light
                };
            }
        }
        sums
    }

    /// The same for one vertex.
    pub fn next_event(&self, vertex: &Vertex<N>, stream: &mut Stream) -> Bands<N> {
        if !vertex.scatters() {
            return Bands::zeros();
        }
        let lines = (0..self.sources()).filter_map(|source| {
            let line = self.line(vertex, source, stream)?;
            Some(
                line.light
                    .component_mul(&self.spectral_scene.passed(&line.ray)),
            )
        });
        lines.sum::<Bands<N>>()
    }

    /// The lamps, and the surroundings.
    fn sources(&self) -> usize {
        self.spectral_scene.lamps.len() + 1
    }

    fn line(&self, vertex: &Vertex<N>, source: usize, stream: &mut Stream) -> Option<Line<N>> {
        match self.spectral_scene.lamps.get(source) {
            Some(lamp) => {
                let uniform = two_if(lamp.is_wide(), stream);
                let arriving = lamp.arriving(&vertex.point, uniform)?;
                let light = vertex.reflected(&arriving.towards);
                self.spectral_scene.line(vertex, &arriving, light)
            }
            None => self.line_to_backdrop(vertex, stream),
        }
    }

    /// Directions drawn for the backdrop share its light with those drawn for the surface (the
    /// balance heuristic of Veach and Guibas 1995, doi:10.1145/218380.218498).
    fn line_to_backdrop(&self, vertex: &Vertex<N>, stream: &mut Stream) -> Option<Line<N>> {
        let uniform = two_if(self.spectral_scene.backdrop.is_drawn(), stream);
        let (arriving, drawn) = self.spectral_scene.backdrop.arriving(uniform)?;
        let (light, pdf) = vertex.scattered(&arriving.towards);
        self.spectral_scene
            .line(vertex, &arriving, light * (drawn / (drawn + pdf)))
    }
}

/// The stream's next two numbers; where they are of no use, they are passed over.
fn two_if(wanted: bool, stream: &mut Stream) -> [f64; 2] {
    if wanted {
        return [stream.uniform(), stream.uniform()];
    }
    stream.skip(2);
    [0.5; 2]
}

impl<const N: usize> SpectralScene<'_, N> {
    fn line(&self, vertex: &Vertex<N>, arriving: &Arriving<N>, share: Bands<N>) -> Option<Line<N>> {
        let light = share.component_mul(&arriving.irradiance);
        (light.max() > 0.0).then(|| Line {
            ray: self.leave(vertex, arriving.towards, arriving.distance),
            light,
        })
    }

    /// Fraction of light that passes along a ray.
    fn passed(&self, ray: &Ray) -> Bands<N> {
        if self.scene().occluded(ray) {
            self.behind_sheets(ray)
        } else {
            Bands::repeat(1.0)
        }
    }

    /// The same with occluders: thin sheets transmit light.
    fn behind_sheets(&self, ray: &Ray) -> Bands<N> {
        let mut passed = Bands::repeat(1.0);
        if !self.has_sheets {
            return Bands::zeros();
        }
        let mut ray = *ray;
        for _ in 0..MOST_SHEETS {
            let Some(hit) = self.scene().closest_hit(&ray) else {
                return passed;
            };
            let vertex = self.meet(&ray, &hit);
            let Some(fraction) = vertex.sheet() else {
                return Bands::zeros();
            };
            passed.component_mul_assign(&fraction);
            ray = self.leave(&vertex, ray.direction, ray.far - hit.distance);
        }
        Bands::zeros()
    }

    /// Radiance of the lamps themselves along a ray up to `far`.
    pub(in crate::camera) fn lamps_seen(&self, ray: &Ray, far: f64) -> Bands<N> {
        let seen = self
            .lamps
            .iter()
            .map(|lamp| lamp.seen(&ray.origin, &ray.direction, far));
        seen.sum::<Bands<N>>()
    }
}
