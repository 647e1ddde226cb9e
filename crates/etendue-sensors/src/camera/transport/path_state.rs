//! State of a light path.

use crate::camera::bands::Bands;
use crate::camera::spectral_scene::SpectralScene;
use crate::camera::vertex::{ScatterEvent, SpectralSample, Vertex};
use etendue_physics::Stream;
use etendue_scene::Ray;

/// Throughput below which a path continues by Russian roulette.
const ROULETTE_BELOW: f64 = 0.1;

/// State of a light path, traced from the camera.
#[derive(Clone, Copy)]
pub(super) struct PathState<const N: usize> {
    /// Current segment.
    pub ray: Ray,
    /// Fraction of the light along the current segment that reaches the camera.
    pub throughput: Bands<N>,
    /// Absorption of the current medium, 1/m.
    pub absorption: Bands<N>,
    /// Remaining number of rough surfaces.
    pub scatterings: u32,
    /// Remaining number of surfaces.
    pub depth: u32,
    /// Density of the current direction, where it was drawn at a rough surface, which has evaluated the
    /// lamps itself.
    pub scattered: Option<f64>,
}

impl<const N: usize> PathState<N> {
    /// A path that starts at the camera.
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

    /// The path after a scattering event at a vertex.
    pub fn after(
        &self,
        spectral_scene: &SpectralScene<N>,
        vertex: &Vertex<N>,
        sample: &SpectralSample<N>,
    ) -> Self {
        let mut next = Self {
            ray: spectral_scene.ray_from(vertex, sample.direction, f64::INFINITY),
            throughput: self.throughput.component_mul(&sample.weight),
            depth: self.depth.saturating_sub(1),
            ..*self
        };
        match sample.event {
            ScatterEvent::Scattered { pdf } => {
                next.scattered = Some(pdf);
                next.scatterings = self.scatterings.saturating_sub(1);
            }
            // Shadow rays pass sheets too.
            ScatterEvent::Passed => {}
            ScatterEvent::Mirrored => next.scattered = None,
            ScatterEvent::Refracted { absorption } => {
                next.scattered = None;
                next.absorption = absorption;
            }
        }
        next
    }

    /// Attenuates the path over a distance, m (Beer-Lambert law).
    pub fn travel(&mut self, distance: f64) {
        for (throughput, absorption) in self.throughput.iter_mut().zip(&self.absorption) {
            if *absorption > 0.0 {
                *throughput *= (-absorption * distance).exp();
            }
        }
    }

    /// Russian roulette below a throughput.
    pub(super) fn survives(&mut self, stream: &mut Stream) -> bool {
        let throughput = self.throughput.max();
        if throughput >= ROULETTE_BELOW {
            return true;
        }
        if throughput <= 0.0 {
            return false;
        }
        let probability = throughput / ROULETTE_BELOW;
        let survives = stream.uniform() < probability;
        self.throughput /= probability;
        survives
    }

    /// Whether the path can continue by an event within its limits.
    pub(super) fn can_continue(&self, sample: &SpectralSample<N>) -> bool {
        let is_rough = matches!(sample.event, ScatterEvent::Scattered { .. });
        self.depth > 0 && (self.scatterings > 0 || !is_rough)
    }
}
