//! Hits on the device are those on the CPU.

use crate::bench_scenes::{caster_of, house, rays_of, scenes};
use crate::opened::{device, device_with, skipped};
use etendue_gpu::{GpuCaster, GpuDevice, GpuHit, ShaderChecks};
use etendue_raycast::{CastScratch, Hit, Ray, RayCaster};
use scenes::BenchScene;

/// Differences between the hits of the CPU and of the device.
#[derive(Debug, Default)]
pub struct Differences {
    pub rays: usize,
    pub hits: usize,
    /// Rays of which one hits and the other misses, or that hit different triangles.
    pub other_triangle: usize,
    /// Largest relative difference of the distance on the same triangle, for distances over 10 m; for nearer ones,
    /// the difference over 10 m.
    pub distance: f64,
    /// Largest difference of the cosine of the incidence.
    pub cos_incidence: f64,
}

impl Differences {
    pub fn count(rays: &[Ray], expected: &[Option<Hit>], found: &[Option<GpuHit>]) -> Self {
        let mut all = Self {
            rays: rays.len(),
            ..Self::default()
        };
        assert_eq!((expected.len(), found.len()), (rays.len(), rays.len()));
        for ((ray, expected), found) in rays.iter().zip(expected).zip(found) {
            let (Some(expected), Some(found)) = (expected, found) else {
                all.other_triangle += usize::from(expected.is_some() != found.is_some());
                continue;
            };
            all.hits += 1;
            if (expected.object, expected.triangle) != (found.object, found.triangle) {
                all.other_triangle += 1;
                continue;
            }
            let apart = (expected.distance - found.distance).abs();
            all.distance = all.distance.max(apart / expected.distance.max(10.0));
            let cos = ray.direction.dot(&expected.normal).abs();
            all.cos_incidence = all
                .cos_incidence
                .max((cos - f64::from(found.cos_incidence)).abs());
        }
        all
    }

    /// Casts rays on the CPU and on a device.
    pub fn of(device: &GpuDevice, caster: &RayCaster, rays: &[Ray]) -> Self {
        let mut expected = vec![];
        caster.closest_hits(rays, &mut expected, &mut CastScratch::new());
        let found = GpuCaster::new(device, caster).unwrap();
        let found = found.closest_hits(device, caster, rays).unwrap();
        Self::count(rays, &expected, &found)
    }
}

/// Compares a number of rays in a scene. The distance is stated to 1e-6; measured on lavapipe: 7e-13.
fn assert_agrees(device: &GpuDevice, scene: BenchScene, count: usize) {
    let rays = rays_of(&scene, count);
    let differences = Differences::of(device, &caster_of(scene.mesh), &rays);
    println!("{}: {differences:?}", scene.name);
    assert_eq!(differences.rays, count);
    assert!(differences.hits > count / 2);
    assert_eq!(differences.other_triangle, 0);
    assert!(differences.distance < 1e-9);
    assert!(differences.cos_incidence < 1e-5);
}

#[test]
fn rays_hit_the_triangles_of_the_cpu() {
    let Some(device) = device("rays_hit_the_triangles_of_the_cpu") else {
        return;
    };
    assert_agrees(device, scenes::room(), 60_000);
    assert_agrees(device, scenes::city(), 60_000);
}

#[test]
fn rays_in_a_house_hit_the_triangles_of_the_cpu() {
    let test = "rays_in_a_house_hit_the_triangles_of_the_cpu";
    let Some(device) = device(test) else { return };
    match house() {
        Some(house) => assert_agrees(device, house, 60_000),
        None => skipped(test, "no mesh mesh_aws_worlds/small_house_visual.ply"),
    }
}

/// The bounds of accesses and the ends of loops are checked in the shader.
#[test]
fn checked_shaders_give_the_same_hits() {
    let test = "checked_shaders_give_the_same_hits";
    let Some(plain) = device(test) else { return };
    let Some(checked) = device_with(test, ShaderChecks::On) else {
        return;
    };
    let scene = scenes::city();
    let rays = rays_of(&scene, 20_000);
    let caster = caster_of(scene.mesh);
    let hits = [plain, checked].map(|device| {
        let own = GpuCaster::new(device, &caster).unwrap();
        own.closest_hits(device, &caster, &rays).unwrap()
    });
    assert_eq!(hits[0], hits[1]);
    assert!(hits[0].iter().flatten().count() > 10_000);
}

/// A million rays in every scene: `just gpu-million`.
#[test]
#[ignore = "half a minute on software; just gpu-million"]
fn a_million_rays_hit_the_triangles_of_the_cpu() {
    let Some(device) = device("a_million_rays_hit_the_triangles_of_the_cpu") else {
        return;
    };
    let all = [
        Some(scenes::room()),
        Some(scenes::city()),
        Some(scenes::big()),
        house(),
    ];
    for scene in all.into_iter().flatten() {
        assert_agrees(device, scene, 1_000_000);
    }
}
