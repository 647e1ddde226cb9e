//! Transmittance of a straight segment through thin sheets: shadow rays and connections.

use super::world::World;
use etendue_physics::surface::Passage;
use etendue_scene::{CastScratch, Ray};

/// Transmission of a straight segment.
pub(super) struct Transmission {
    /// Fraction of the light that passes, in [0, 1].
    pub fraction: f64,
    /// Optical path that the sheets add, m.
    pub extra_path: f64,
}

/// Transmission along `ray` through at most `most_sheets` thin sheets; `None` where more sheets, or
/// anything else, occlude it.
pub(super) fn transmission(
    world: &World<f64>,
    mut ray: Ray,
    most_sheets: u32,
    scratch: &mut CastScratch,
) -> Option<Transmission> {
    let mut total = Transmission {
        fraction: 1.0,
        extra_path: 0.0,
    };
    for _ in 0..=most_sheets {
        // Find the next surface.
        let Some(hit) = world.scene().closest_hit(&ray, scratch) else {
            return Some(total);
        };
        let interaction = world.interaction(&hit, &ray.origin, &ray.direction, ray.time);

        // Pass through it, if it is a thin sheet.
        let specular = interaction
            .material
            .specular(interaction.cos_incidence, interaction.side);
        let transmitted = specular.transmitted?;
        let Passage::Sheet { extra_path } = transmitted.passage else {
            return None;
        };
        total.fraction *= transmitted.fraction;
        total.extra_path += extra_path;

        // Continue behind it.
        ray = Ray {
            origin: interaction.surface.point,
            near: world.scene().spawn_near(&ray, &hit, &ray.direction),
            far: ray.far - hit.distance,
            ..ray
        };
    }
    None
}
