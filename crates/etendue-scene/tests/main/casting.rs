//! Claims about rays and their hits.

use crate::shapes::{
    cuboid, edge_rays, moved, noisy_sphere, object, random, scene_of, scene_with, spin, way,
};
use etendue_scene::{CastScratch, Hit, HitTile, Mesh, Ray, RayTile, Scene};
use etendue_simd::Isa;
use nalgebra::{Isometry3, Point3, Vector3};
use proptest::prelude::*;
use rayon::prelude::*;

/// Every triangle of every object tested in `f64`, in the fixed order.
fn brute_force(scene: &Scene, ray: &Ray) -> Option<Hit> {
    scene.exhaustive_hits(ray).first().copied()
}

fn batch(scene: &Scene, rays: &[Ray]) -> Vec<Option<Hit>> {
    let mut hits = vec![];
    scene.closest_hits(rays, &mut hits, &mut CastScratch::new());
    hits
}

/// Sixteen by sixteen, in the order they are in.
fn by_tiles(scene: &Scene, rays: &[Ray]) -> Vec<Option<Hit>> {
    let mut scratch = CastScratch::new();
    let tiles: Vec<RayTile> = rays.chunks(16).map(RayTile::of).collect();
    let mut hits = vec![HitTile::NONE; tiles.len()];
    scene.closest_hits_of_tiles(&tiles, &mut hits, &mut scratch);
    let hit = |ray: usize| hits[ray / 16].hit(ray % 16);
    (0..rays.len()).map(hit).collect()
}

/// [`by_tiles`] where each `per_beam` tiles are taken as the rays of sixteen beams.
fn by_beams(scene: &Scene, rays: &[Ray], per_beam: usize) -> Vec<Option<Hit>> {
    let mut scratch = CastScratch::new();
    let tiles: Vec<RayTile> = rays.chunks(16).map(RayTile::of).collect();
    let mut hits = vec![HitTile::NONE; tiles.len()];
    scene.closest_hits_of_beams(&tiles, per_beam, &mut hits, &mut scratch);
    let hit = |ray: usize| hits[ray / 16].hit(ray % 16);
    (0..rays.len()).map(hit).collect()
}

fn assert_all_agree(scene: &Scene, rays: &[Ray]) -> usize {
    let expected: Vec<Option<Hit>> = rays.iter().map(|ray| brute_force(scene, ray)).collect();
    assert_every_query_gives(scene, rays, &expected);
    let packed = scene.clone().edit().with_packed_trees().finish();
    assert_every_query_gives(&packed, rays, &expected);
    expected.iter().flatten().count()
}

fn assert_every_query_gives(scene: &Scene, rays: &[Ray], expected: &[Option<Hit>]) {
    let mut scratch = CastScratch::new();
    for isa in Isa::available() {
        let scene = scene.clone().edit().with_isa(isa).finish();
        let single: Vec<Option<Hit>> = rays
            .iter()
            .map(|ray| scene.closest_hit(ray, &mut scratch))
            .collect();
        assert_same(&single, expected, rays, &format!("{isa}, single"));
        assert_same(
            &batch(&scene, rays),
            expected,
            rays,
            &format!("{isa}, batch"),
        );
        assert_same(
            &by_tiles(&scene, rays),
            expected,
            rays,
            &format!("{isa}, tiles"),
        );
        for per_beam in [2, 7, 19] {
            let how = format!("{isa}, beams of {per_beam} rays");
            assert_same(&by_beams(&scene, rays, per_beam), expected, rays, &how);
        }
        let mut occluded = vec![];
        scene.occlusions(rays, &mut occluded, &mut scratch);
        for (i, ray) in rays.iter().enumerate() {
            assert_eq!(
                occluded[i],
                expected[i].is_some(),
                "{isa}, occlusions, ray {i}"
            );
            assert_eq!(
                scene.occluded(ray, &mut scratch),
                occluded[i],
                "{isa}, occluded, ray {i}"
            );
        }
    }
}

fn assert_same(found: &[Option<Hit>], expected: &[Option<Hit>], rays: &[Ray], how: &str) {
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert_eq!(found, expected, "{how}, ray {i}: {:?}", rays[i]);
    }
}

#[test]
fn a_closed_mesh_leaks_no_ray_at_its_edges() {
    let mut scratch = CastScratch::new();
    let mut cast = 0;
    for offset in [0.0, 2e3, 5e5] {
        let away = Vector3::new(offset, -0.7 * offset, 0.3 * offset);
        for shape in [cuboid([6.0, 4.0, 3.0]), noisy_sphere(5.0, 60, 90)] {
            let mesh = moved(shape, away);
            let inside = Point3::from(away) + Vector3::new(0.31, -0.27, 0.13);
            let rays = edge_rays(&mesh, inside, 400_000);
            let scene = scene_of(vec![(mesh, Isometry3::identity())]);
            for isa in Isa::available() {
                let scene = scene.clone().edit().with_isa(isa).finish();
                let mut hits = vec![];
                scene.closest_hits(&rays, &mut hits, &mut scratch);
                assert!(
                    hits.iter().all(Option::is_some),
                    "{isa}, packets, {offset} m"
                );
                let mut occluded = vec![];
                scene.occlusions(&rays, &mut occluded, &mut scratch);
                assert!(occluded.iter().all(|&o| o), "{isa}, occlusion, {offset} m");
                for (ray, hit) in rays.iter().zip(&hits).step_by(4) {
                    assert_eq!(
                        scene.closest_hit(ray, &mut scratch),
                        *hit,
                        "{isa}, {offset} m"
                    );
                    assert!(scene.occluded(ray, &mut scratch));
                }
                cast += rays.len();
            }
        }
    }
    assert!(cast >= 6 * 400_000);
}

#[test]
fn packets_aimed_at_neighbouring_edges_leak_nothing() {
    for offset in [0.0, 2e3, 5e5] {
        let away = Vector3::new(offset, -0.7 * offset, 0.3 * offset);
        let mesh = moved(noisy_sphere(5.0, 60, 90), away);
        let inside = Point3::from(away) + Vector3::new(0.31, -0.27, 0.13);
        let mut rays = vec![];
        for corners in &mesh.triangles {
            for i in 0..3 {
                let [a, b] = [corners[i], corners[(i + 1) % 3]].map(|v| mesh.vertices[v as usize]);
                let along = [0.0, 0.5, 0.37].map(|share| a + (b - a) * share);
                rays.extend(along.map(|target| Ray::new(inside, (target - inside).normalize())));
            }
        }
        let scene = scene_of(vec![(mesh, Isometry3::identity())]);
        for isa in Isa::available() {
            let scene = scene.clone().edit().with_isa(isa).finish();
            let hits = batch(&scene, &rays);
            assert!(hits.iter().all(Option::is_some), "{isa}, {offset} m");
            let how = format!("{isa}, {offset} m, tiles");
            assert_same(&by_tiles(&scene, &rays), &hits, &rays, &how);
        }
        let scene = scene.edit().with_packed_trees().finish();
        for isa in Isa::available() {
            let scene = scene.clone().edit().with_isa(isa).finish();
            let hits = batch(&scene, &rays);
            assert!(
                hits.iter().all(Option::is_some),
                "{isa}, {offset} m, packed"
            );
        }
    }
}

#[test]
fn packed_trees_take_two_thirds_of_the_memory_and_leak_nothing() {
    let mut scratch = CastScratch::new();
    let mesh = noisy_sphere(5.0, 100, 150);
    let triangles = mesh.triangles.len();
    let rays = edge_rays(&mesh, Point3::new(0.31, -0.27, 0.13), 40_000);
    let scene = scene_of(vec![(mesh, Isometry3::identity())]);
    let full = scene.tree_bytes() as f64 / triangles as f64;
    let scene = scene.edit().with_packed_trees().finish();
    let packed = scene.tree_bytes() as f64 / triangles as f64;
    assert!(full < 90.0 && packed < 0.7 * full, "{full}, {packed}");
    for isa in Isa::available() {
        let scene = scene.clone().edit().with_isa(isa).finish();
        assert!(batch(&scene, &rays).iter().all(Option::is_some), "{isa}");
    }
    for ray in &rays[..40] {
        assert_eq!(
            scene.closest_hit(ray, &mut scratch),
            brute_force(&scene, ray)
        );
    }
}

#[test]
fn every_query_gives_the_result_of_testing_every_triangle() {
    for offset in [0.0, 2e3, 5e5] {
        let away = Vector3::new(offset, -0.7 * offset, 0.3 * offset);
        let turned = Isometry3::new(
            Vector3::new(1.5, 0.4, 0.2) + away,
            Vector3::new(0.3, 0.2, 1.0),
        );
        let scene = scene_of(vec![
            (
                moved(noisy_sphere(5.0, 20, 24), away),
                Isometry3::identity(),
            ),
            (cuboid([0.8, 1.1, 0.9]), turned),
            (
                cuboid([0.7, 0.5, 0.4]),
                Isometry3::translation(-1.0, -1.2, 0.3) * turned,
            ),
        ]);
        let mut rays = spin(Point3::from(away), 32, 64, 0.0);
        rays.extend(spin(Point3::from(away), 16, 64, 15.0));
        let mut draw = random(3);
        rays.extend(
            (0..500).map(|_| Ray::new(Point3::from(away) + way(&mut draw) * 9.0, way(&mut draw))),
        );
        let met = assert_all_agree(&scene, &rays);
        assert!(met > 3000, "{met}");
    }
}

/// Rays of beams around axes: for each sixteen axes the axes, then all first rays off the axis, and so on. The rays are up
/// to `divergence` (rad) from the axis and start up to `exit` (m) from its origin.
fn rays_of_beams(axes: &[Ray], per_beam: usize, divergence: f64, exit: f64) -> Vec<Ray> {
    let mut rays = vec![];
    for axes in axes.chunks(16) {
        for number in 0..per_beam {
            let size = if number == 0 { 0.0 } else { 0.9 };
            let angle = number as f64;
            rays.extend(axes.iter().map(|axis| {
                let left = axis.direction.cross(&Vector3::z()).normalize();
                let up = left.cross(&axis.direction);
                let aside = (left * angle.cos() + up * angle.sin()) * size;
                Ray {
                    origin: axis.origin + aside * exit,
                    direction: (axis.direction + aside * divergence).normalize(),
                    ..*axis
                }
            }));
        }
    }
    rays
}

#[test]
fn beams_over_walls_edges_and_furniture_hit_what_single_rays_hit() {
    // A room with furniture, from its middle and from a corner near the walls.
    let turned = |x, y, yaw| Isometry3::new(Vector3::new(x, y, -0.9), Vector3::new(0.02, 0.0, yaw));
    let mut meshes = vec![
        (cuboid([9.0, 7.0, 3.0]), Isometry3::identity()),
        (cuboid([0.8, 1.1, 0.9]), turned(2.0, 1.0, 0.4)),
        (noisy_sphere(0.4, 20, 24), turned(-2.0, 1.5, 0.0)),
        (cuboid([0.05, 0.05, 3.0]), turned(1.0, -1.0, 0.7)),
    ];
    // Copies of the walls: of equally near hits, that of the first object counts.
    meshes.push((cuboid([9.0, 7.0, 3.0]), Isometry3::identity()));
    let mut on_walls = 0;
    for offset in [0.0, 2e3] {
        let away = Vector3::new(offset, -0.7 * offset, 0.0);
        let placed = |(mesh, pose): &(Mesh, Isometry3<f64>)| {
            (
                mesh.clone(),
                Isometry3::translation(away.x, away.y, away.z) * pose,
            )
        };
        let several = scene_of(meshes.iter().map(placed).collect());
        let room = scene_of(meshes[..1].iter().map(placed).collect());
        for from in [Vector3::new(0.1, 0.2, 0.3), Vector3::new(4.49, 3.4, -1.4)] {
            for [divergence, exit] in [[0.0, 0.0], [1.5e-3, 3e-3], [15e-3, 4e-3], [0.1, 0.0]] {
                let axes = spin(Point3::from(away + from), 32, 256, 4.0);
                for per_beam in [7, 19] {
                    let rays = rays_of_beams(&axes, per_beam, divergence, exit);
                    for scene in [&several, &room] {
                        let mut scratch = CastScratch::new();
                        let single = rays.iter().map(|ray| scene.closest_hit(ray, &mut scratch));
                        let single: Vec<Option<Hit>> = single.collect();
                        let how = format!("{per_beam} rays of {divergence} rad, {exit} m");
                        assert_same(&by_beams(scene, &rays, per_beam), &single, &rays, &how);
                        on_walls += single
                            .iter()
                            .flatten()
                            .filter(|hit| hit.object.0 == 0)
                            .count();
                    }
                }
            }
        }
    }
    assert!(on_walls > 1_000_000, "{on_walls}");
}

#[test]
fn beams_with_limits_and_masks_hit_what_single_rays_hit() {
    let scene = scene_of(vec![
        (cuboid([9.0, 7.0, 3.0]), Isometry3::identity()),
        (
            noisy_sphere(1.0, 20, 24),
            Isometry3::translation(2.0, 0.0, 0.0),
        ),
    ]);
    let axes = spin(Point3::new(-1.0, 0.2, 0.3), 16, 256, 0.0);
    let rays = rays_of_beams(&axes, 7, 2e-3, 3e-3);
    let mut scratch = CastScratch::new();
    for (near, far) in [(0.0, 3.5), (2.5, f64::INFINITY), (4.0, 4.2)] {
        let limited: Vec<Ray> = rays.iter().map(|ray| Ray { near, far, ..*ray }).collect();
        let single = limited
            .iter()
            .map(|ray| scene.closest_hit(ray, &mut scratch));
        let single: Vec<Option<Hit>> = single.collect();
        assert!(single.iter().flatten().count() > 1000);
        let how = format!("from {near} to {far} m");
        assert_same(&by_beams(&scene, &limited, 7), &single, &limited, &how);
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let scene = scene_of(vec![(noisy_sphere(5.0, 60, 90), Isometry3::identity())]);
    let rays = spin(Point3::new(0.2, 0.1, 0.0), 64, 300, 15.0);
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| batch(&scene, &rays))
    };
    let one = on(1);
    assert!(one.iter().flatten().count() > 10_000);
    assert_eq!(one, on(8));
}

/// A list that is longer than a batch is cast on the threads of the pool. A thread that waits for
/// the other batches may begin another cast.
#[test]
fn casts_within_tasks_of_the_pool_equal_casts_one_after_the_other() {
    let scene = scene_of(vec![(noisy_sphere(5.0, 60, 90), Isometry3::identity())]);
    let rays = spin(Point3::new(0.2, 0.1, 0.0), 64, 300, 15.0);
    let alone = batch(&scene, &rays);
    let tasks = (0..64).into_par_iter();
    let casts: Vec<Vec<Option<Hit>>> = tasks.map(|_| batch(&scene, &rays)).collect();
    assert!(casts.iter().all(|cast| *cast == alone));
}

#[test]
fn distances_are_those_of_the_plane_to_a_millionth_far_from_the_origin() {
    let mut scratch = CastScratch::new();
    for offset in [2e3, 5e5] {
        let away = Vector3::new(offset, -0.7 * offset, 0.3 * offset);
        let near = scene_of(vec![(noisy_sphere(5.0, 40, 60), Isometry3::identity())]);
        let far = scene_of(vec![(
            moved(noisy_sphere(5.0, 40, 60), away),
            Isometry3::identity(),
        )]);
        let mut worst = 0.0_f64;
        for ray in spin(Point3::new(0.2, 0.1, 0.0), 16, 128, 0.0) {
            let shifted = Ray {
                origin: ray.origin + away,
                ..ray
            };
            let [a, b] = [
                near.closest_hit(&ray, &mut scratch),
                far.closest_hit(&shifted, &mut scratch),
            ]
            .map(Option::unwrap);
            worst = worst.max((a.distance - b.distance).abs() / a.distance);
        }
        // 2.6e-10 at 500 km: the vertices themselves are rounded to 6e-11 m there.
        assert!(worst < 1e-8, "{worst}");
    }
}

#[test]
fn a_ray_hits_only_objects_that_share_a_bit_of_its_mask() {
    let mut scratch = CastScratch::new();
    let [mut housing, mut wall] = [object(0), object(1)];
    housing.mask = 0b01;
    wall.mask = 0b10;
    let meshes = vec![cuboid([1.0; 3]), cuboid([8.0; 3])];
    let scene = scene_with(meshes, vec![housing, wall], vec![]);
    let rays: Vec<Ray> = spin(Point3::origin(), 8, 32, 0.0)
        .into_iter()
        .enumerate()
        .map(|(i, ray)| Ray {
            mask: [0b01, 0b10, 0b11, 0b100][i % 4],
            ..ray
        })
        .collect();
    for (i, hit) in batch(&scene, &rays).iter().enumerate() {
        let expected = [Some(0), Some(1), Some(0), None][i % 4];
        assert_eq!(hit.map(|hit| hit.object.0), expected, "ray {i}");
        assert_eq!(*hit, scene.closest_hit(&rays[i], &mut scratch));
    }
}

#[test]
fn limits_hold_to_the_last_bit() {
    let mut scratch = CastScratch::new();
    let scene = scene_of(vec![(noisy_sphere(5.0, 30, 40), Isometry3::identity())]);
    let outside = Point3::new(-9.0, 0.3, 0.2);
    let mut pierced = 0;
    for ray in spin(outside, 64, 1024, 0.0) {
        let mut all = vec![];
        scene.first_hits(&ray, 9, &mut all, &mut scratch);
        let [first, .., last] = all[..] else { continue };
        pierced += 1;
        let on = Ray {
            near: first.distance,
            far: first.distance,
            ..ray
        };
        let beyond = Ray {
            near: first.distance.next_up(),
            ..ray
        };
        let short = Ray {
            far: first.distance.next_down(),
            ..ray
        };
        assert_eq!(scene.closest_hit(&on, &mut scratch), Some(first));
        assert_eq!(scene.closest_hit(&short, &mut scratch), None);
        assert!(!scene.occluded(&short, &mut scratch));
        assert!(scene.closest_hit(&beyond, &mut scratch).unwrap().distance <= last.distance);
        assert_eq!(
            batch(&scene, &[on, short, beyond, ray]),
            [
                Some(first),
                None,
                scene.closest_hit(&beyond, &mut scratch),
                Some(first)
            ]
        );
    }
    assert!(pierced > 1000, "{pierced}");
}

#[test]
fn several_hits_are_sorted_and_complete() {
    let mut scratch = CastScratch::new();
    let scene = scene_of(vec![
        (noisy_sphere(5.0, 30, 40), Isometry3::identity()),
        (
            noisy_sphere(3.0, 30, 40),
            Isometry3::translation(1.0, 0.0, 0.0),
        ),
    ]);
    let mut draw = random(11);
    let mut most = 0;
    for _ in 0..2000 {
        let ray = Ray::new(Point3::from(way(&mut draw) * 9.0), way(&mut draw));
        let all = scene.exhaustive_hits(&ray);
        most = most.max(all.len());
        for count in [1, 2, 3, 100] {
            let mut hits = vec![];
            scene.first_hits(&ray, count, &mut hits, &mut scratch);
            assert_eq!(hits, all[..count.min(all.len())]);
        }
    }
    assert!(most >= 4);
}

#[test]
fn a_spawned_ray_does_not_hit_the_triangle_it_leaves() {
    let mut scratch = CastScratch::new();
    let mut draw = random(7);
    for offset in [0.0, 2e3, 5e5] {
        let shift = Vector3::new(offset, offset * 0.5, 1.0);
        let pose = Isometry3::new(shift, Vector3::new(0.3, 0.2, 1.0));
        let scene = scene_of(vec![(noisy_sphere(5.0, 30, 40), pose)]);
        let mut spawned = 0;
        for _ in 0..20_000 {
            let ray = Ray::new(pose * Point3::new(0.1, 0.2, 0.3), way(&mut draw));
            let hit = scene.closest_hit(&ray, &mut scratch).unwrap();
            let direction = way(&mut draw);
            let near = scene.spawn_near(&ray, &hit, &direction);
            assert!(near > 0.0);
            let next = Ray {
                near,
                ..Ray::new(ray.origin + ray.direction * hit.distance, direction)
            };
            if let Some(second) = scene.closest_hit(&next, &mut scratch) {
                assert_ne!(second.triangle, hit.triangle, "near {near}");
                spawned += 1;
            }
        }
        assert!(spawned > 5_000);
    }
}

/// Triangles as modellers and scanners leave them: needles, slivers, copies, huge next to tiny.
fn adversarial() -> impl Strategy<Value = Mesh> {
    let scale = prop::sample::select(vec![1e-4, 1e-2, 1.0, 30.0, 1e3]);
    let point = (-1.0..1.0, -1.0..1.0, -1.0..1.0_f64);
    let triangle = (point.clone(), point.clone(), point, scale, 0..6_u8);
    prop::collection::vec(triangle, 1..60).prop_map(|list| {
        let mut mesh = Mesh::default();
        for (a, b, c, scale, kind) in list {
            let [a, b, c] = [a, b, c].map(|(x, y, z)| Point3::new(x, y, z));
            let base = mesh.vertices.len() as u32;
            let middle = Point3::from(a.coords * 2.0);
            let corners = match kind {
                0 => [
                    middle,
                    middle + (b - a) * scale,
                    middle + (b - a) * scale * 0.5 + c.coords * 1e-7,
                ],
                1 => [middle, middle + b.coords * scale, middle],
                2 => [a, b, c].map(|p| Point3::new(p.x * scale, p.y * scale, 0.0)),
                3 if base >= 3 => [2, 1, 3].map(|back| mesh.vertices[(base - back) as usize]),
                4 if base >= 3 => [
                    mesh.vertices[(base - 1) as usize],
                    mesh.vertices[(base - 2) as usize],
                    middle + c.coords * scale,
                ],
                _ => [middle, middle + b.coords * scale, middle + c.coords * scale],
            };
            mesh.vertices.extend(corners);
            mesh.triangles.push([base, base + 1, base + 2]);
        }
        mesh
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn all_queries_agree_on_any_mesh(
        mesh in adversarial(),
        from in (-3.0..3.0, -3.0..3.0, -3.0..3.0_f64),
        seed in 0..1000_u64,
    ) {
        let origin = Point3::new(from.0, from.1, from.2);
        let mut rays = edge_rays(&mesh, origin, 96);
        let mut draw = random(seed);
        rays.extend((0..64).map(|_| Ray::new(origin, way(&mut draw))));
        rays.extend(spin(origin, 8, 16, 3.0));
        for axis in 0..3 {
            rays.push(Ray::new(origin, Vector3::ith(axis, 1.0)));
            rays.push(Ray::new(Point3::origin(), -Vector3::ith(axis, 1.0)));
        }
        rays.retain(|ray| ray.direction.iter().all(|d| d.is_finite()));
        let scene = scene_of(vec![(mesh, Isometry3::identity())]);
        assert_all_agree(&scene, &rays);
    }
}
