//! Transmittance of a straight segment through thin sheets: shadow rays and connections.

use super::world::World;
use etendue_physics::Scalar;
use etendue_physics::surface::Passage;
use etendue_scene::{CastScratch, Ray};
use nalgebra::{Point3, Vector3};

/// Transmission of a straight segment.
pub(super) struct Transmission<S> {
    /// Fraction of the light that passes, in [0, 1].
    pub fraction: S,
    /// Optical path that the sheets add, m.
    pub extra_path: S,
}

/// Transmission along `ray`, whose origin and direction are given with their derivatives, through at most
/// `most_sheets` thin sheets; `None` where more sheets, or anything else, occlude it.
pub(super) fn transmission<S: Scalar>(
    world: &World<S>,
    mut ray: Ray,
    (mut origin, direction): (Point3<S>, Vector3<S>),
    most_sheets: u32,
    scratch: &mut CastScratch,
) -> Option<Transmission<S>> {
    let mut total = Transmission {
        fraction: S::one(),
        extra_path: S::zero(),
    };
    for _ in 0..=most_sheets {
        // Find the next surface.
        let Some(hit) = world.scene().closest_hit(&ray, scratch) else {
            return Some(total);
        };
        let interaction = world.interaction(&hit, &origin, &direction, ray.time);

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
        origin = interaction.surface.point;
        ray = Ray {
            origin: origin.map(Scalar::value),
            near: world.scene().spawn_near(&ray, &hit, &ray.direction),
            far: ray.far - hit.distance,
            ..ray
        };
    }
    None
}
