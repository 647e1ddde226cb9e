//! Claims about objects that move and meshes that change.

use crate::shapes::{cuboid, noisy_sphere, object, random, scene_with, spin, way};
use etendue_scene::{
    CastScratch, Hit, HitTile, KeyFrame, KeyFrameTrajectory, MeshError, MeshId, ObjectId, Ray,
    RayCasterError, RayTile, Scene, SceneError, Trajectory,
};
use nalgebra::{Isometry3, Point3, Vector3};

fn batch(scene: &Scene, rays: &[Ray]) -> Vec<Option<Hit>> {
    let mut scratch = CastScratch::new();
    let mut hits = vec![];
    scene.closest_hits(rays, &mut hits, &mut scratch);
    hits
}

fn motion() -> Trajectory {
    let frame = |time, x, yaw| KeyFrame {
        time,
        pose: Isometry3::new(Vector3::new(x, 2.0, 0.1), Vector3::new(0.1, 0.0, yaw)),
    };
    let frames = vec![
        frame(0.0, -2.0, 0.0),
        frame(0.05, 1.0, 1.5),
        frame(0.1, 3.0, -0.5),
    ];
    Trajectory::KeyFrames(KeyFrameTrajectory::new(frames).unwrap())
}

#[test]
fn a_moving_object_is_hit_at_its_pose_at_the_time_of_the_ray() {
    let mut scratch = CastScratch::new();
    let meshes = || vec![cuboid([12.0, 12.0, 4.0]), noisy_sphere(0.8, 12, 16)];
    let moving = scene_with(
        meshes(),
        vec![object(0), object(1)],
        vec![(ObjectId(1), motion())],
    );
    let rays = spin(Point3::new(0.1, 0.0, 0.0), 16, 200, 5.0);
    let together = batch(&moving, &rays);
    let mut met = 0;
    for (i, ray) in rays.iter().enumerate().step_by(7) {
        let mut frozen = object(1);
        frozen.world_from_object = motion().at(ray.time);
        let still = scene_with(meshes(), vec![object(0), frozen], vec![]);
        let expected = still.closest_hit(ray, &mut scratch);
        assert_eq!(moving.closest_hit(ray, &mut scratch), expected);
        assert_eq!(together[i], expected);
        assert_eq!(moving.occluded(ray, &mut scratch), expected.is_some());
        met += usize::from(expected.is_some_and(|hit| hit.object == ObjectId(1)));
    }
    assert!(met > 15, "{met}");
}

/// The rays of sixteen beams at a time have the times of their beams.
#[test]
fn beams_hit_moving_objects_as_single_rays_do() {
    let mut scratch = CastScratch::new();
    let meshes = vec![
        cuboid([12.0, 12.0, 4.0]),
        noisy_sphere(0.8, 12, 16),
        cuboid([1.5; 3]),
    ];
    let moving = scene_with(
        meshes,
        vec![object(0), object(1), object(2)],
        vec![(ObjectId(1), motion()), (ObjectId(2), motion())],
    );
    let axes = spin(Point3::new(0.1, 0.0, 0.0), 16, 200, 5.0);
    let mut met = 0;
    for axes in axes.chunks_exact(16) {
        let aside = |i: usize| Vector3::new(1e-3, 2e-3, -1e-3) * i as f64;
        let ray = |axis: &Ray, i: usize| Ray {
            direction: (axis.direction + aside(i)).normalize(),
            ..*axis
        };
        let tile = |i| RayTile::of(&axes.iter().map(|axis| ray(axis, i)).collect::<Vec<_>>());
        let tiles: Vec<RayTile> = (0..7).map(tile).collect();
        let mut hits = vec![HitTile::NONE; 7];
        moving.closest_hits_of_beams(&tiles, 7, &mut hits, &mut scratch);
        for (tile, hits) in tiles.iter().zip(&hits) {
            for lane in 0..16 {
                let expected = moving.closest_hit(&tile.ray(lane), &mut scratch);
                assert_eq!(hits.hit(lane), expected);
                met += usize::from(expected.is_some_and(|hit| hit.object != ObjectId(0)));
            }
        }
    }
    assert!(met > 700, "{met}");
}

#[test]
fn an_edited_pose_gives_the_hits_of_a_scene_built_with_it() {
    let meshes = || vec![noisy_sphere(2.0, 12, 16), cuboid([1.0, 2.0, 0.5])];
    let scene = scene_with(meshes(), vec![object(0), object(1)], vec![]);
    let pose = Isometry3::new(Vector3::new(3.0, 0.4, 0.0), Vector3::new(0.0, 0.3, 0.8));
    let scene = scene.edit().with_pose(ObjectId(1), pose).finish();
    let mut there = object(1);
    there.world_from_object = pose;
    let built = scene_with(meshes(), vec![object(0), there], vec![]);
    let rays = spin(Point3::new(0.1, 0.0, 0.0), 16, 200, 0.0);
    let hits = batch(&scene, &rays);
    assert!(hits.iter().flatten().count() > 1000);
    assert_eq!(hits, batch(&built, &rays));
    assert_eq!(scene.world_from_object(ObjectId(1), 3.0), pose);
}

#[test]
fn a_refitted_tree_gives_the_hits_of_a_new_one() {
    let mut draw = random(5);
    let mesh = noisy_sphere(2.0, 24, 30);
    let moved: Vec<Point3<f64>> = mesh
        .vertices
        .iter()
        .map(|v| Point3::new(v.x * 3.0, v.y - 1.0, v.z * 0.5) + way(&mut draw) * 0.3)
        .collect();
    let scene = scene_with(vec![mesh.clone()], vec![object(0)], vec![]);
    let edit = scene.edit().with_vertices(MeshId(0), moved.clone());
    let scene = edit.unwrap().finish();
    let mut changed = mesh;
    changed.vertices = moved;
    let built = scene_with(vec![changed], vec![object(0)], vec![]);
    let rays = spin(Point3::new(0.1, -1.0, 0.0), 32, 200, 0.0);
    let expected = batch(&built, &rays);
    assert!(expected.iter().flatten().count() > 5000);
    assert_eq!(batch(&scene, &rays), expected);
    let scene = scene.edit().with_rebuilt_tree(MeshId(0)).finish();
    assert_eq!(batch(&scene, &rays), expected);
}

#[test]
fn vertices_that_are_missing_or_not_finite_are_refused() {
    let mut scratch = CastScratch::new();
    let scene = scene_with(vec![cuboid([1.0; 3])], vec![object(0)], vec![]);
    let with_vertices = |vertices| scene.clone().edit().with_vertices(MeshId(0), vertices);
    let few = with_vertices(vec![Point3::origin(); 3]);
    assert!(matches!(
        few,
        Err(SceneError::Geometry(RayCasterError::VertexCount {
            vertices: 8,
            given: 3,
            ..
        }))
    ));
    let mut nan = vec![Point3::origin(); 8];
    nan[5].y = f64::NAN;
    let refused = with_vertices(nan);
    let Err(SceneError::Geometry(RayCasterError::Mesh {
        source: MeshError::NotFinite { vertex: 5, .. },
        ..
    })) = refused
    else {
        panic!("{refused:?}");
    };
    assert!(
        scene
            .closest_hit(&Ray::new(Point3::origin(), Vector3::x()), &mut scratch)
            .is_some()
    );
}
