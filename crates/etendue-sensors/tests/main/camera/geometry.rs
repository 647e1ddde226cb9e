//! Where things are in the image: against lidar rays and by projection.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "pixels of a small image"
)]

use super::stage::{Stage, at, facing, paint, settings, still, uniform};
use etendue_physics::camera::lens::{BrownConrady, KannalaBrandt};
use etendue_physics::camera::{Lens, body_from_optical};
use etendue_scene::primitive::{cuboid, rectangle, sphere};
use etendue_scene::{CastScratch, ObjectId, Scene, Textures};
use etendue_sensors::camera::{
    Camera, CameraWorld, ClassMap, FrameSettings, FrameTruth, LightTransport,
};
use etendue_sensors::trajectory::constant_velocity;
use etendue_sensors::transport::{LightRay, TreeSettings, World, trace_tree};
use nalgebra::{Isometry3, Point2, Point3, Vector3};

const DIRECT: LightTransport = LightTransport::Direct { depth: 4 };

fn room() -> Scene {
    let walls = cuboid([8.0, 6.0, 4.0]).unwrap().inside_out();
    Stage::default()
        .with(walls, Isometry3::identity(), paint(0.5))
        .with(
            sphere(0.4, 1e-3).unwrap(),
            Isometry3::translation(2.0, 0.3, 0.1),
            paint(0.5),
        )
        .build()
}

fn look(
    scene: &Scene,
    camera: &Camera,
    world_from_camera: impl Fn(f64) -> Isometry3<f64> + Sync,
) -> FrameTruth {
    let textures = Textures::default();
    let camera_world = CameraWorld::new(scene, &uniform(1.0), &textures, camera).unwrap();
    camera_world.truth(
        camera,
        &FrameSettings::default(),
        0.0,
        camera.frame_time(),
        world_from_camera,
    )
}

fn lenses() -> [Camera; 3] {
    let plain = Camera::simple(40, 30, 1.1);
    let mut distorted = plain.clone();
    let lens = BrownConrady::from_opencv(&[-0.1, 0.01, 1e-3, -1e-3]).unwrap();
    distorted.intrinsics.lens = Lens::BrownConrady(lens);
    let mut fisheye = plain.clone();
    fisheye.intrinsics.focal = [12.0; 2];
    fisheye.intrinsics.lens = Lens::KannalaBrandt(KannalaBrandt {
        k: [0.02, -0.003, 0.0, 0.0],
    });
    [plain, distorted, fisheye]
}

/// Measured: 5.9e-8 relative, the rounding of f32.
#[test]
fn depth_is_the_range_of_the_lidar_times_the_cosine() {
    let mut scratch = CastScratch::new();
    let scene = room();
    let world = World::at_wavelength(&scene, 905e-9).unwrap();
    let pose = Isometry3::new(Vector3::new(-1.0, 0.2, 0.1), Vector3::new(0.05, -0.1, 0.2));
    for camera in lenses() {
        let truth = look(&scene, &camera, |_| pose);
        for row in 0..camera.height {
            for column in 0..camera.width {
                let pixel = Point2::new(f64::from(column), f64::from(row));
                let direction = camera.intrinsics.unproject(&pixel).unwrap();
                let ray = LightRay::new(
                    pose.translation.vector.into(),
                    pose * (body_from_optical() * direction),
                );
                let mut ranges = vec![];
                let tree = TreeSettings::default();
                trace_tree(&world, &ray, &tree, &mut scratch, |back| {
                    ranges.push(back.range);
                });
                let index = (row * camera.width + column) as usize;
                let expected = ranges[0] * direction.z;
                let depth = f64::from(truth.depth[index]);
                assert!(
                    (depth - expected).abs() < 1e-6 * ranges[0],
                    "{depth} {expected}"
                );
                assert!((f64::from(truth.range[index]) / ranges[0] - 1.0).abs() < 1e-6);
            }
        }
    }
}

#[test]
fn normals_face_the_camera_and_names_are_those_of_the_scene() {
    let scene = room();
    let camera = Camera::simple(41, 31, 1.1);
    let truth = look(&scene, &camera, |_| Isometry3::translation(-1.0, 0.0, 0.0));
    let classes = ClassMap::new(&scene, &[None, Some("ball".into())]);
    assert_eq!(
        classes.names,
        ["nothing", "ball", "material 0", "material 1"]
    );
    let mut balls = 0;
    for i in 0..truth.depth.len() {
        let normal = Vector3::from(truth.normal[i]).map(f64::from);
        assert!((normal.norm() - 1.0).abs() < 1e-6);
        let class = classes.of(truth.object[i], truth.material[i]);
        match truth.object[i] {
            Some(ObjectId(1)) => {
                balls += 1;
                assert!(normal.x < 0.2 && class == 1, "{normal} {class}");
            }
            _ => assert_eq!(class, 2),
        }
    }
    // A ball of radius 0.4 at 3 m with a focal length of 33 pixels: a disc of 61 pixels.
    assert!((55..72).contains(&balls), "{balls}");
}

/// The same edge of a board, found by a lidar's rays and in the camera's picture through stated
/// extrinsics. Measured: 0.011 px apart at most.
#[test]
fn camera_and_lidar_locate_an_edge_at_the_same_pixel() {
    let board = rectangle([6.0, 1.2]).unwrap();
    let scene = Stage::default()
        .with(board, facing([3.0, 0.137, 0.0]), paint(0.0))
        .build();
    let world = World::at_wavelength(&scene, 905e-9).unwrap();
    let world_from_lidar =
        Isometry3::new(Vector3::new(0.2, -0.3, 0.4), Vector3::new(0.0, 0.0, 0.1));
    let lidar_from_camera = Isometry3::new(
        Vector3::new(0.1, 0.05, -0.08),
        Vector3::new(0.01, 0.05, -0.06),
    );
    let edge = lidar_edge(&world, &world_from_lidar);
    let point_in_lidar = edge;
    let in_camera = lidar_from_camera.inverse_transform_point(&point_in_lidar);
    for mut camera in lenses() {
        camera.width = 200;
        camera.height = 150;
        camera.intrinsics.centre = [99.5, 74.5];
        camera.intrinsics.focal = camera.intrinsics.focal.map(|focal| 5.0 * focal);
        let optical = body_from_optical().inverse() * in_camera.coords;
        let mut pixel = camera.intrinsics.project(&optical).unwrap();
        // Only the rows about the point are taken.
        let above = pixel.y.floor() - 1.0;
        camera.height = 4;
        camera.intrinsics.centre[1] -= above;
        pixel.y -= above;
        let textures = Textures::default();
        let camera_world = CameraWorld::new(&scene, &uniform(1e6), &textures, &camera).unwrap();
        let pose = world_from_lidar * lidar_from_camera;
        let frame = camera_world.expose(&camera, &settings(400, DIRECT), |_| pose);
        // The board is black and the surroundings are white: the dark fraction of a row up to the edge
        // gives the position of the edge, here in the row of the point.
        let edge_in_row = |row: u32| {
            let white = 1e6 * camera.bands[0].width;
            let from = (pixel.x - 6.0).round() as u32;
            let lit: f64 = (from..from + 13)
                .map(|column| at(&frame, column, row) / white)
                .sum();
            let left_is_lit = at(&frame, from, row) > at(&frame, from + 12, row);
            f64::from(from) - 0.5 + if left_is_lit { lit } else { 13.0 - lit }
        };
        let row = pixel.y.floor();
        let [above, below] = [row, row + 1.0].map(|row| edge_in_row(row as u32));
        let found = above + (below - above) * (pixel.y - row);
        assert!((found - pixel.x).abs() < 0.02, "{found} {}", pixel.x);
    }
}

/// Where the board's left edge is on the lidar's level, in its frame, by bisection of azimuth.
fn lidar_edge(world: &World<f64>, world_from_lidar: &Isometry3<f64>) -> Point3<f64> {
    let mut scratch = CastScratch::new();
    let mut range = |azimuth: f64| {
        let direction = Vector3::new(azimuth.cos(), azimuth.sin(), 0.0);
        let ray = LightRay::new(
            world_from_lidar.translation.vector.into(),
            world_from_lidar * direction,
        );
        let mut hit = world.scene().closest_hit(&ray.values(), &mut scratch);
        hit.take().map(|hit| hit.distance)
    };
    let (mut on, mut off) = (0.1, 0.6);
    assert!(range(on).is_some() && range(off).is_none());
    for _ in 0..50 {
        let middle = 0.5 * (on + off);
        if range(middle).is_some() {
            on = middle;
        } else {
            off = middle;
        }
    }
    let distance = range(on).unwrap();
    Point3::new(distance * on.cos(), distance * on.sin(), 0.0)
}

/// $\Delta u = f v\,\Delta t / z$. Measured: 4.3e-10 px.
#[test]
fn optical_flow_is_focal_length_times_motion_over_depth() {
    let scene = Stage::default()
        .with(
            rectangle([20.0, 20.0]).unwrap(),
            facing([4.0, 0.0, 0.0]),
            paint(0.5),
        )
        .build();
    let camera = Camera::simple(40, 30, 1.0);
    let velocity = Vector3::new(0.0, 1.5, 0.0);
    let pose = constant_velocity(Isometry3::identity(), velocity, Vector3::zeros());
    let truth = look(&scene, &camera, pose);
    let expected = camera.intrinsics.focal[0] * 1.5 * camera.frame_time() / 4.0;
    assert!(expected > 0.4);
    for [right, down] in &truth.flow {
        // The camera moves to the left, so its image moves to the right.
        assert!(
            (f64::from(*right) - expected).abs() < 1e-5,
            "{right} {expected}"
        );
        assert!(down.abs() < 1e-5);
    }
}

#[test]
fn pixels_outside_the_image_circle_are_black_without_depth() {
    let scene = room();
    let mut camera = Camera::simple(40, 30, 1.0);
    camera.intrinsics.image_circle = Some(14.0);
    let truth = look(&scene, &camera, still);
    assert!(truth.depth[0].is_nan() && truth.object[0].is_none());
    let textures = Textures::default();
    let camera_world = CameraWorld::new(&scene, &uniform(1.0), &textures, &camera).unwrap();
    let frame = camera_world.expose(&camera, &settings(1, DIRECT), still);
    assert_eq!(at(&frame, 0, 0), 0.0);
}

/// Threads that wait for others begin further tasks on top of their stack: large values in the loops of the pool overflowed
/// 2 MB on 16 processors.
#[test]
fn frames_need_little_stack_on_many_threads() {
    let scene = room();
    let camera = Camera::simple(320, 240, 1.0);
    let textures = Textures::default();
    let lighting = uniform(1.0);
    let camera_world = CameraWorld::new(&scene, &lighting, &textures, &camera).unwrap();
    let of_threads = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .stack_size(256 << 10)
            .build()
            .unwrap();
        pool.install(|| camera_world.expose(&camera, &settings(2, DIRECT), still))
    };
    assert_eq!(of_threads(16).radiance, of_threads(1).radiance);
}
