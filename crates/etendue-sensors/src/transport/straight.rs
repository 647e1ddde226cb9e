//! Straight lines of sight, and the frame of a surface that they leave.

use super::World;
use etendue_physics::surface::Passage;
use etendue_scene::Ray;
use nalgebra::{Matrix3, Vector3};

/// Fraction that thin sheets let pass along a ray, and what they add to its optical path; `None`
/// where anything else occludes the ray, or more sheets than `most_sheets`.
pub(super) fn see_through(
    world: &World<f64>,
    mut ray: Ray,
    most_sheets: u32,
) -> Option<(f64, f64)> {
    let (mut passed, mut extra) = (1.0, 0.0);
    for _ in 0..=most_sheets {
        let Some(hit) = world.scene().closest_hit(&ray) else {
            return Some((passed, extra));
        };
        let meeting = world.meet(&hit, &ray.origin, &ray.direction, ray.time);
        let specular = meeting
            .material
            .specular(meeting.cos_incidence, meeting.side);
        let transmitted = specular.transmitted?;
        let Passage::Sheet { extra_path } = transmitted.passage else {
            return None;
        };
        passed *= transmitted.fraction;
        extra += extra_path;
        ray = Ray {
            origin: meeting.surface.point,
            near: world.scene().spawn_near(&ray, &hit, &ray.direction),
            far: ray.far - hit.distance,
            ..ray
        };
    }
    None
}

/// A right-handed frame with unit `normal` as its z axis; columns are the axes (Duff et al. 2017,
/// "Building an orthonormal basis, revisited", JCGT 6(1)).
pub(crate) fn frame_about(normal: &Vector3<f64>) -> Matrix3<f64> {
    let sign = 1.0_f64.copysign(normal.z);
    let a = -1.0 / (sign + normal.z);
    let b = normal.x * normal.y * a;
    Matrix3::from_columns(&[
        Vector3::new(
            1.0 + sign * normal.x * normal.x * a,
            sign * b,
            -sign * normal.x,
        ),
        Vector3::new(b, sign + normal.y * normal.y * a, -normal.y),
        *normal,
    ])
}
