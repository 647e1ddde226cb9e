//! Claims about rays and what they meet.

use crate::shapes::{cuboid, moved, noisy_sphere, scene_of};
use etendue_scene::{Mesh, Ray};
use nalgebra::{Isometry3, Point3, Unit, Vector3};

fn random(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn edge_rays(mesh: &Mesh, origin: Point3<f64>, count: usize) -> Vec<Ray> {
    let mut draw = random(count as u64);
    (0..count)
        .map(|i| {
            let pick = (draw() * mesh.triangles.len() as f64) as usize;
            let corners = mesh.triangles[pick].map(|v| mesh.vertices[v as usize]);
            let along = [0.0, 0.5, draw()][i % 3];
            let target = corners[i % 3] + (corners[(i + 1) % 3] - corners[i % 3]) * along;
            Ray::new(origin, Unit::new_normalize(target - origin).into_inner())
        })
        .collect()
}

#[test]
fn a_closed_mesh_leaks_no_ray_at_its_edges() {
    for offset in [0.0, 2e3, 5e5] {
        let away = Vector3::new(offset, -0.7 * offset, 0.3 * offset);
        for shape in [cuboid([6.0, 4.0, 3.0]), noisy_sphere(5.0, 60, 90)] {
            let mesh = moved(shape, away);
            let inside = Point3::from(away) + Vector3::new(0.31, -0.27, 0.13);
            let rays = edge_rays(&mesh, inside, 60_000);
            let scene = scene_of(vec![(mesh, Isometry3::identity())]);
            let leaks = rays
                .iter()
                .filter(|ray| scene.closest_hit(ray).is_none())
                .count();
            assert_eq!(leaks, 0, "of {} rays, {offset} m away", rays.len());
        }
    }
}

#[test]
fn a_spawned_ray_does_not_meet_the_triangle_it_leaves() {
    let mut draw = random(7);
    for offset in [0.0, 2e3, 5e5] {
        let pose = Isometry3::new(
            Vector3::new(offset, offset * 0.5, 1.0),
            Vector3::new(0.3, 0.2, 1.0),
        );
        let scene = scene_of(vec![(noisy_sphere(5.0, 30, 40), pose)]);
        let mut spawned = 0;
        for _ in 0..20_000 {
            let mut way =
                || Unit::new_normalize(Vector3::from_fn(|_, _| draw() - 0.5)).into_inner();
            let ray = Ray::new(pose * Point3::new(0.1, 0.2, 0.3), way());
            let hit = scene.closest_hit(&ray).unwrap();
            let direction = way();
            let near = scene.spawn_near(&ray, &hit, &direction);
            assert!(near > 0.0);
            let next = Ray {
                near,
                ..Ray::new(ray.origin + ray.direction * hit.distance, direction)
            };
            if let Some(second) = scene.closest_hit(&next) {
                assert_ne!(second.triangle, hit.triangle, "near {near}");
                spawned += 1;
            }
        }
        assert!(spawned > 5_000);
    }
}
