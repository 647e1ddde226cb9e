//! Walls that move during a sweep.

use super::scenes::{cuboid, moving_scene, planar, scene_at};
use super::{encoder_lidar, measure};
use crate::Derivatives as D;
use etendue_physics::DualParts;
use etendue_physics::beam::SubRayPattern;
use etendue_scene::{ObjectId, Trajectory, Twist};
use etendue_sensors::lidar::{Hooks, Lidar, SweepSettings, predict};
use etendue_sensors::trajectory::stationary;
use etendue_sensors::transport::World;
use nalgebra::{Isometry3, Vector3};

fn turning_walls() -> Trajectory {
    Trajectory::Twist(Twist {
        start: planar(0.05, 0.02, 0.1),
        velocity: Vector3::new(0.8, -0.5, 0.0),
        angular_velocity: Vector3::new(0.0, 0.0, 1.5),
    })
}

/// A turn of 0.1 s.
fn lidar() -> Lidar {
    let step = std::f64::consts::TAU / 200.0;
    encoder_lidar(200, 0.0, step, SubRayPattern::THREE)
}

/// The box about the sensor drives and turns: each beam's range is that of the box frozen at its
/// own time, to 1e-12 m, and the truth of the axis likewise.
#[test]
fn each_beam_meets_the_walls_where_they_are_at_its_own_time() {
    let (walls, lidar) = (cuboid(), lidar());
    let motions = (0..4)
        .map(|wall| (ObjectId(wall), turning_walls()))
        .collect();
    let scene = moving_scene(&walls, Isometry3::identity(), motions);
    let world = World::at_wavelength(&scene, 785e-9).expect("grey walls");
    let begin = 0.2;
    let settings = SweepSettings {
        start: Some(begin),
        ..SweepSettings::default()
    };
    let still = stationary(Isometry3::identity());
    let shots = measure(&world, &lidar, &settings, &still);
    let mut moved = 0.0_f64;
    for (number, shot) in lidar.shots(0).iter().enumerate().step_by(11) {
        let frozen = scene_at(&walls, turning_walls().at(begin + shot.time));
        let world = World::at_wavelength(&frozen, 785e-9).expect("grey walls");
        let expected = measure(&world, &lidar, &settings, &still)[number];
        let range = shots[number].range();
        let difference = range - expected.range();
        assert!(difference.abs() < 1e-12, "{number}: {difference}");
        let [truth, same] = [shots[number], expected].map(|shot| shot.truth.expect("a wall"));
        assert!((truth.range - same.range).abs() < 1e-12);
        let start = scene_at(&walls, turning_walls().at(begin));
        let world = World::at_wavelength(&start, 785e-9).expect("grey walls");
        let first = measure(&world, &lidar, &settings, &still)[number];
        moved = moved.max((range - first.range()).abs());
    }
    assert!(moved > 0.02, "{moved}");
}

/// The derivative by a shift of a moving wall at time zero, along x in its own frame, is that by
/// central differences of the frozen wall.
#[test]
fn ranges_to_a_moving_wall_differentiate_by_its_pose_at_time_zero() {
    let (walls, lidar) = (cuboid(), lidar());
    let motions: Vec<_> = (0..4)
        .map(|wall| (ObjectId(wall), turning_walls()))
        .collect();
    let scene = moving_scene(&walls, Isometry3::identity(), motions);
    let world = World::at_wavelength(&scene, 785e-9).expect("grey walls");
    let start = turning_walls().at(0.0);
    let lifted = |shift: D| {
        let mut pose = etendue_pose(&start);
        pose.translation.vector.x += shift;
        pose
    };
    let shift = D::variable(0.0, 0);
    let differentiable = (0..4).fold(world.lift::<D>(), |world, wall| {
        world.with_pose(ObjectId(wall), lifted(shift))
    });
    let settings = SweepSettings::default();
    let expected = predict(
        &differentiable,
        &lidar.map(D::from),
        &settings,
        &lidar.shots(0),
        stationary(Isometry3::identity()),
        Hooks::default(),
    );
    let at = |x: f64| {
        let motion = turning_walls().within(&Isometry3::translation(x, 0.0, 0.0));
        let motions = (0..4)
            .map(|wall| (ObjectId(wall), motion.clone()))
            .collect();
        let scene = moving_scene(&walls, Isometry3::identity(), motions);
        let world = World::at_wavelength(&scene, 785e-9).expect("grey walls");
        measure(&world, &lidar, &settings, stationary(Isometry3::identity()))
    };
    let [less, more] = [-1e-6, 1e-6].map(at);
    for number in (3..200).step_by(7) {
        let difference = more[number].range() - less[number].range();
        let gradient = expected[number].expect("seen").range.gradient()[0];
        assert!(
            (gradient - difference / 2e-6).abs() < 1e-5,
            "{number}: {gradient} {}",
            difference / 2e-6
        );
    }
}

fn etendue_pose(pose: &Isometry3<f64>) -> Isometry3<D> {
    Isometry3::from_parts(
        pose.translation.vector.map(D::from).into(),
        nalgebra::UnitQuaternion::new_unchecked(pose.rotation.coords.map(D::from).into()),
    )
}
