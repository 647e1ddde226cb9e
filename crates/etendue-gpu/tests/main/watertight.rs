//! No ray passes between triangles.

use crate::bench_scenes::caster_of;
use crate::opened::device;
use etendue_gpu::GpuCaster;
use etendue_raycast::{Mesh, Ray};
use nalgebra::{Point3, Vector3};

/// A closed mesh around a point: a sphere by subdivision of an octahedron.
fn sphere(centre: Point3<f64>, radius: f64, divisions: u32) -> Mesh {
    let corner = |x: f64, y: f64, z: f64| Vector3::new(x, y, z);
    let mut faces = vec![];
    for x in [-1.0, 1.0] {
        for y in [-1.0, 1.0] {
            for z in [-1.0, 1.0] {
                faces.push([
                    corner(x, 0.0, 0.0),
                    corner(0.0, y, 0.0),
                    corner(0.0, 0.0, z),
                ]);
            }
        }
    }
    for _ in 0..divisions {
        faces = faces
            .iter()
            .flat_map(|[a, b, c]| {
                let [ab, bc, ca] = [(a + b), (b + c), (c + a)].map(|v| v.normalize());
                [[*a, ab, ca], [ab, *b, bc], [ca, bc, *c], [ab, bc, ca]]
            })
            .collect();
    }
    // Vertices of neighbours are equal to the last bit, as those of shared ones would be.
    let mut mesh = Mesh::default();
    for (number, face) in (0..).zip(&faces) {
        mesh.vertices
            .extend(face.iter().map(|v| centre + v * radius));
        mesh.triangles
            .push([3 * number, 3 * number + 1, 3 * number + 2]);
    }
    mesh
}

/// Rays from a point to places on all edges, about `count` in total.
fn rays_to_edges(mesh: &Mesh, from: Point3<f64>, count: usize) -> Vec<Ray> {
    let per_edge = count.div_ceil(3 * mesh.triangles.len());
    let edges = (0..mesh.triangles.len()).flat_map(|triangle| {
        let [a, b, c] = mesh.triangles[triangle].map(|v| mesh.vertices[v as usize]);
        [[a, b], [b, c], [c, a]]
    });
    edges
        .flat_map(|[a, b]| {
            (0..per_edge).map(move |i| {
                // From vertex to vertex, both included, at incommensurable places between.
                let along = match i {
                    0 => 0.0,
                    1 => 1.0,
                    _ => (i as f64 * 0.618_033_988_749_895).fract(),
                };
                Ray::new(from, (a + (b - a) * along - from).normalize())
            })
        })
        .collect()
}

/// 400,000 rays at edges and vertices of closed meshes: all hit, at the distance of the surface.
#[test]
fn no_ray_leaks_through_an_edge() {
    let Some(device) = device("no_ray_leaks_through_an_edge") else {
        return;
    };
    let far = Point3::new(6.4e6, -3.1e5, 2.2e4);
    for (name, centre, radius, divisions, offset) in [
        (
            "octahedron",
            Point3::origin(),
            4.0,
            0,
            Vector3::new(0.3, 0.2, 0.1),
        ),
        (
            "sphere",
            Point3::new(1.0, -2.0, 0.5),
            10.0,
            5,
            Vector3::new(1.0, 2.0, -3.0),
        ),
        (
            "sphere far from the origin",
            far,
            50.0,
            4,
            Vector3::new(-7.0, 11.0, 3.0),
        ),
        (
            "tiny sphere",
            Point3::new(0.1, 0.2, 0.3),
            1e-3,
            3,
            Vector3::new(2e-4, 0.0, 1e-4),
        ),
    ] {
        let mesh = sphere(centre, radius, divisions);
        let rays = rays_to_edges(&mesh, centre + offset, 100_000);
        let caster = caster_of(mesh);
        let hits = GpuCaster::new(device, &caster).unwrap();
        let hits = hits.closest_hits(device, &caster, &rays).unwrap();
        // The hit is between the spheres in and around the mesh.
        let is_leak = |ray: &Ray, hit: &Option<etendue_gpu::GpuHit>| {
            hit.is_none_or(|hit| {
                let height = (ray.origin + ray.direction * hit.distance - centre).norm() / radius;
                !(0.55..1.0 + 1e-7).contains(&height)
            })
        };
        let leaks = rays
            .iter()
            .zip(&hits)
            .filter(|(ray, hit)| is_leak(ray, hit));
        let leaks = leaks.count();
        println!("{name}: {leaks} of {} rays leak", rays.len());
        assert!(rays.len() >= 100_000);
        assert_eq!(leaks, 0);
    }
}
