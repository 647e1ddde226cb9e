//! One random path.

use super::{LightTransport, Tracer};
use crate::camera::bands::Bands;
use crate::camera::spectral_scene::SpectralScene;
use crate::camera::vertex::{Event, Onward, Vertex};
use etendue_physics::Stream;
use etendue_scene::Ray;

/// A path with less than this share of its light goes on by chance.
const ROULETTE_BELOW: f64 = 0.1;

/// A path on its way.
#[derive(Clone, Copy)]
pub(super) struct Way<const N: usize> {
    pub ray: Ray,
    /// Share of the light from here that reaches the camera.
    pub throughput: Bands<N>,
    /// What the light travels in, 1/m.
    pub absorption: Bands<N>,
    /// Rough surfaces that it may still scatter from.
    pub scatterings: u32,
    /// Surfaces that it may still meet.
    pub depth: u32,
    /// Density of the direction in which a rough surface sent it, if that was the last to turn it:
    /// that surface asked the lamps itself.
    pub scattered: Option<f64>,
}

impl<const N: usize> Way<N> {
    pub fn from_camera(ray: Ray) -> Self {
        Self {
            ray,
            throughput: Bands::repeat(1.0),
            absorption: Bands::zeros(),
            scatterings: 0,
            depth: 0,
            scattered: None,
        }
    }

    /// The way after a turn at a vertex.
    pub fn after(
        &self,
        spectral_scene: &SpectralScene<N>,
        vertex: &Vertex<N>,
        onward: &Onward<N>,
    ) -> Self {
        let mut next = Self {
            ray: spectral_scene.leave(vertex, onward.direction, f64::INFINITY),
            throughput: self.throughput.component_mul(&onward.weight),
            depth: self.depth.saturating_sub(1),
            ..*self
        };
        match onward.event {
            Event::Scattered { pdf } => {
                next.scattered = Some(pdf);
                next.scatterings = self.scatterings.saturating_sub(1);
            }
            // Lines to the lamps pass sheets, too.
            Event::Passed => {}
            Event::Mirrored => next.scattered = None,
            Event::Refracted { absorption } => {
                next.scattered = None;
                next.absorption = absorption;
            }
        }
        next
    }

    /// Beer and Lambert's law.
    pub fn travel(&mut self, distance: f64) {
        for (throughput, absorption) in self.throughput.iter_mut().zip(&self.absorption) {
            if *absorption > 0.0 {
                *throughput *= (-absorption * distance).exp();
            }
        }
    }

    /// Russian roulette.
    fn survives(&mut self, stream: &mut Stream) -> bool {
        let share = self.throughput.max();
        if share >= ROULETTE_BELOW {
            return true;
        }
        if share <= 0.0 {
            return false;
        }
        let chance = share / ROULETTE_BELOW;
        let survives = stream.uniform() < chance;
        self.throughput /= chance;
        survives
    }
}

impl<const N: usize> Tracer<'_, '_, N> {
    /// Follows a path that has just left a surface to its end.
    pub(super) fn walk(&self, mut way: Way<N>, stream: &mut Stream) -> Bands<N> {
        let spectral_scene = self.spectral_scene;
        let mut sum = Bands::zeros();
        while way.survives(stream) {
            let hit = spectral_scene.scene().closest_hit(&way.ray);
            let far = hit.map_or(f64::INFINITY, |hit| hit.distance);
            if way.scattered.is_none() && self.sees_lamps() {
                let seen = spectral_scene.lamps_seen(&way.ray, far);
                sum += way.throughput.component_mul(&seen);
            }
            way.travel(far);
            let Some(hit) = hit else {
                return sum + self.escape(&way);
            };
            let vertex = spectral_scene.meet(&way.ray, &hit);
            if way.scatterings > 0 {
                let lit = self.next_event(&vertex, stream);
                sum += way.throughput.component_mul(&lit);
            }
            match vertex.sample(stream) {
                Some(onward) if way.may(&onward) => {
                    way = way.after(spectral_scene, &vertex, &onward);
                }
                _ => return sum,
            }
        }
        sum
    }

    /// Lamps that a rough surface sees in a mirror are no direct light.
    fn sees_lamps(&self) -> bool {
        matches!(self.light, LightTransport::Paths { .. })
    }

    /// Light of the surroundings.
    fn escape(&self, way: &Way<N>) -> Bands<N> {
        let direction = &way.ray.direction;
        let share = match way.scattered {
            Some(pdf) => pdf / (pdf + self.spectral_scene.backdrop.pdf(direction)),
            None => 1.0,
        };
        let sky = self.spectral_scene.backdrop.radiance(direction);
        way.throughput.component_mul(&sky) * share
    }
}
