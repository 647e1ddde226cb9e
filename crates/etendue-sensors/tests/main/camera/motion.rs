//! Motion within the exposure.

use super::stage::{Stage, at, facing, paint, settings, still, uniform};
use etendue_scene::primitive::rectangle;
use etendue_scene::{
    Deformation, KeyFrame, KeyFrameTrajectory, MeshId, ObjectId, Scene, Textures, Trajectory,
    VertexFrame,
};
use etendue_sensors::camera::{
    Camera, CameraFrame, CameraWorld, Exposure, FrameSettings, FrameTruth, LightTransport, Shutter,
};
use etendue_sensors::trajectory::constant_velocity;
use nalgebra::{Isometry3, Vector3};
use std::sync::atomic::{AtomicU32, Ordering};

const DIRECT: LightTransport = LightTransport::Direct { depth: 4 };
const DEPTH: f64 = 4.0;

fn camera(exposure: f64, line_time: f64) -> Camera {
    Camera {
        shutter: Shutter {
            exposure: Exposure::Fixed(exposure),
            line_time,
        },
        ..Camera::simple(160, 8, 0.8)
    }
}

fn take(
    board: Stage,
    camera: &Camera,
    samples: u32,
    pose: impl Fn(f64) -> Isometry3<f64> + Sync,
) -> CameraFrame {
    let scene = board.build();
    let textures = Textures::default();
    let camera_world = CameraWorld::new(&scene, &uniform(1e6), &textures, camera).unwrap();
    camera_world.expose(camera, &settings(samples, DIRECT), pose)
}

/// A black board in white light whose left edge is in the middle of the image at time zero.
fn board() -> Stage {
    Stage::default().with(
        rectangle([9.0, 4.0]).unwrap(),
        facing([DEPTH, -2.0, 0.0]),
        paint(0.0),
    )
}

/// Share of white light in each pixel of a row.
fn row_of(frame: &CameraFrame, camera: &Camera, row: u32) -> Vec<f64> {
    let white = 1e6 * camera.bands[0].width;
    (0..frame.width)
        .map(|column| at(frame, column, row) / white)
        .collect()
}

/// How long the ramp of an edge is: its variance is that of a uniform distribution, L²/12, and a
/// pixel's own, 1/12.
fn ramp(row: &[f64]) -> f64 {
    let weights: Vec<f64> = row
        .windows(2)
        .map(|pair| (pair[0] - pair[1]).abs())
        .collect();
    let sum: f64 = weights.iter().sum();
    assert!((sum - 1.0).abs() < 1e-6, "one edge: {sum}");
    let moment = |power| -> f64 {
        weights
            .iter()
            .enumerate()
            .map(|(i, w)| w * (i as f64).powi(power))
            .sum()
    };
    let variance = moment(2) - moment(1).powi(2);
    (12.0 * variance - 1.0).max(0.0).sqrt()
}

#[test]
fn the_blur_of_a_moving_camera_is_speed_times_exposure() {
    let (speed, exposure) = (5.0, 0.02);
    let camera = camera(exposure, 0.0);
    let velocity = Vector3::new(0.0, speed, 0.0);
    let pose = constant_velocity(Isometry3::identity(), velocity, Vector3::zeros());
    let frame = take(board(), &camera, 256, pose);
    let expected = camera.intrinsics.focal[0] * speed * exposure / DEPTH;
    let found = ramp(&row_of(&frame, &camera, 4));
    // Measured: 4.80 for 4.73 pixels: the pixels' own width is not quite taken off.
    assert!(
        expected > 4.0 && (found / expected - 1.0).abs() < 0.02,
        "{found} {expected}"
    );
    let sharp = take(board(), &camera, 256, still);
    assert!(ramp(&row_of(&sharp, &camera, 4)) < 0.7);
}

#[test]
fn the_blur_of_a_moving_object_is_speed_times_exposure() {
    let (speed, exposure) = (5.0, 0.02);
    let camera = camera(exposure, 0.0);
    let keys = [0.0, 1.0].map(|time| KeyFrame {
        time,
        pose: facing([DEPTH, -2.0 - speed * time, 0.0]),
    });
    let frame = take(
        board().moving(Trajectory::KeyFrames(
            KeyFrameTrajectory::new(keys.to_vec()).unwrap(),
        )),
        &camera,
        256,
        still,
    );
    let expected = camera.intrinsics.focal[0] * speed * exposure / DEPTH;
    let found = ramp(&row_of(&frame, &camera, 4));
    // Measured: 4.80 for 4.73 pixels: the pixels' own width is not quite taken off.
    assert!((found / expected - 1.0).abs() < 0.02, "{found} {expected}");
}

#[test]
fn a_rolling_shutter_shears_moving_objects() {
    let (speed, line_time) = (3.0, 4e-3);
    let camera = camera(1e-6, line_time);
    let velocity = Vector3::new(0.0, speed, 0.0);
    let pose = constant_velocity(Isometry3::identity(), velocity, Vector3::zeros());
    let frame = take(board(), &camera, 256, pose);
    let edge = |row: u32| -> f64 { row_of(&frame, &camera, row).iter().sum() };
    let leaning = (edge(7) - edge(0)) / 7.0;
    let expected = camera.intrinsics.focal[0] * speed * line_time / DEPTH;
    // Measured: 0.5675 for 0.5677 pixels a row.
    assert!(
        (leaning / expected - 1.0).abs() < 0.01,
        "{leaning} {expected}"
    );
}

/// The board of `board`, its vertices carried to the left at `speed`.
fn carried(speed: f64) -> Scene {
    let scene = board().build();
    let rest = scene.mesh(MeshId(0)).vertices.clone();
    let frames = [0.0, 1.0].map(|time| VertexFrame {
        time,
        vertices: { &rest }
            .iter()
            .map(|vertex| vertex + Vector3::y() * speed * time)
            .collect(),
    });
    let deformation = Deformation::new(frames.to_vec(), false).unwrap();
    let edit = scene.edit().with_deformation(MeshId(0), deformation.into());
    edit.unwrap().finish()
}

/// A frame that begins at 0.3 s and its truth, whose flow is over 0.1 s.
fn late(scene: &Scene, camera: &Camera) -> (CameraFrame, FrameTruth) {
    let textures = Textures::default();
    let camera_world = CameraWorld::new(scene, &uniform(1e6), &textures, camera).unwrap();
    let settings = FrameSettings {
        start: 0.3,
        ..settings(256, DIRECT)
    };
    let frame = camera_world.expose(camera, &settings, still);
    let truth = camera_world.truth(camera, &settings, frame.exposure, 0.1, still);
    (frame, truth)
}

/// The image of moving vertices equals that of the same object displaced as a whole to its position at
/// the middle of the exposure.
#[test]
fn moving_vertices_are_evaluated_at_the_middle_of_the_exposure() {
    let (speed, exposure) = (0.8, 0.02);
    let camera = camera(exposure, 0.0);
    let (frame, truth) = late(&carried(speed), &camera);
    let moved = board().build();
    let place = facing([DEPTH, -2.0 + speed * (0.3 + 0.5 * exposure), 0.0]);
    let moved = moved.edit().with_pose(ObjectId(0), place).finish();
    let (expected, _) = late(&moved, &camera);
    let rows = [&frame, &expected].map(|frame| row_of(frame, &camera, 4));
    let worst = rows[0].iter().zip(&rows[1]);
    let worst = worst.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(worst < 1e-9, "{worst}");
    let flow = -camera.intrinsics.focal[0] * speed * 0.1 / DEPTH;
    let seen = { 0..truth.depth.len() }.filter(|i| !truth.depth[*i].is_nan());
    let mut count = 0;
    for i in seen {
        assert!((f64::from(truth.depth[i]) - DEPTH).abs() < 1e-6);
        let [right, down] = truth.flow[i].map(f64::from);
        assert!(
            (right - flow).abs() < 1e-4 && down.abs() < 1e-4,
            "{right} {flow}"
        );
        count += 1;
    }
    assert!(count > 200, "{count}");
}

/// Under a rolling shutter four rows see the same vertices.
#[test]
fn a_rolling_shutter_shears_moving_vertices_in_steps() {
    let (speed, line_time) = (0.8, 4e-3);
    let camera = camera(1e-6, line_time);
    let (frame, _) = late(&carried(speed), &camera);
    let edge = |row: u32| -> f64 { row_of(&frame, &camera, row).iter().sum() };
    let step = camera.intrinsics.focal[0] * speed * 4.0 * line_time / DEPTH;
    assert!((edge(3) - edge(0)).abs() < 0.02, "{} {}", edge(0), edge(3));
    assert!(
        (edge(3) - edge(4) - step).abs() < 0.02,
        "{} {} {step}",
        edge(3),
        edge(4)
    );
}

/// Of a frame whose rows are all rendered at once, and of one whose rows have vertices of their own time.
#[test]
fn the_observed_rows_are_those_of_the_frame() {
    for camera in [camera(1e-6, 0.0), camera(1e-6, 1e-3)] {
        let scene = carried(0.8);
        let textures = Textures::default();
        let camera_world = CameraWorld::new(&scene, &uniform(1e6), &textures, &camera).unwrap();
        let rows = AtomicU32::new(0);
        let observe = |more| {
            rows.fetch_add(more, Ordering::Relaxed);
        };
        let settings = settings(1, DIRECT);
        let observed = camera_world.expose_observed(&camera, &settings, still, &observe);
        assert_eq!(rows.into_inner(), camera.height);
        let frame = camera_world.expose(&camera, &settings, still);
        assert_eq!(observed.radiance, frame.radiance);
    }
}
