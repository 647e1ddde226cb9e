//! Moving objects: each ray hits them at their poses at the time of its shot.

use super::passing::{RATE, angular_width, drive, fast_scanner};
use super::stage::{Stage, lambert, one_shot, pulsed, quiet, scanner};
use etendue_physics::pulse::{Fmcw, ReturnMode};
use etendue_physics::surface::{Dielectric, Lobe, ThinDielectric};
use etendue_scene::{
    Interpolation, KeyFrame, KeyFrameTrajectory, ObjectId, Scene, Trajectory, Twist, primitive,
};
use etendue_sensors::lidar::{EchoModel, Receiver};
use etendue_sensors::lidar::{Sweep, SweepSettings, simulate};
use etendue_sensors::transport::World;
use nalgebra::{Isometry3, Vector3};

fn straight(start: Isometry3<f64>, velocity: [f64; 3]) -> Trajectory {
    Trajectory::Twist(Twist {
        start,
        velocity: velocity.into(),
        angular_velocity: Vector3::zeros(),
    })
}

/// Cylinders of 1 m diameter every 2 m, at 4 m to either side of the x axis, that move along it.
fn convoy(speed: f64) -> Scene {
    let mut stage = Stage::default();
    let mut motions = vec![];
    for i in -6..=6 {
        for side in [-4.0, 4.0] {
            let mesh = primitive::cylinder(0.5, 4.0, 1e-5).unwrap();
            let pose = Isometry3::translation(2.0 * f64::from(i), side, 0.0);
            motions.push(straight(pose, [speed, 0.0, 0.0]));
            stage = stage.add(mesh, pose, lambert(0.5));
        }
    }
    stage.build_moving(motions)
}

/// Elmquist et al. 2021, figure 5, with moving sensor and cylinders: at their relative speed v, a cylinder
/// abeam appears 1 / (1 -+ v / omega r) times as long. Measured, as
/// (sensor, cylinders): (0, -20) and (20, 0) 1.0415 (closed form 1.0414) at starboard, 0.9630
/// (0.9617) at port; (20, -20) 1.0835 (1.0865), 0.9278 (0.9263); (20, 20) 1.0000.
#[test]
fn cylinders_lengthen_and_shorten_by_the_relative_speed_of_sensor_and_cylinders() {
    let scanner = fast_scanner();
    let omega = std::f64::consts::TAU * RATE;
    let standing = convoy(0.0);
    for [sensor, cylinders] in [[20.0, 0.0], [0.0, -20.0], [20.0, -20.0], [20.0, 20.0]] {
        let moving = drive(&convoy(cylinders), &scanner, &quiet(), sensor);
        for (side, quarter, sign) in [("starboard", 0.25, 1.0), ("port", 0.75, -1.0)] {
            // Position of the sensor in the frame of the cylinders when the scan passes abeam.
            let x = (sensor - cylinders) * quarter / RATE;
            let number = (x / 2.0).round() as i32 + 6;
            let instance = (2 * number + i32::from(sign < 0.0)) as u32;
            let world = World::at_wavelength(&standing, scanner.wavelength).unwrap();
            let still = simulate(&world, &scanner, &quiet(), |_| {
                Isometry3::translation(x, 0.0, 0.0)
            });
            let ratio = angular_width(&moving, instance) / angular_width(&still, instance);
            let closed = 1.0 / (1.0 - sign * (sensor - cylinders) / (omega * 4.0));
            println!("{sensor} {cylinders} {side}: {ratio:.4} against {closed:.4}");
            assert!((ratio / closed - 1.0).abs() < 0.005, "{ratio} {closed}");
        }
    }
}

/// Elmquist et al. 2021, figures 6 and 7, with the edge or the sensor moving sideways: relative to the
/// sensor, the edge of the near wall is 3 cm to the left of the axis in the first sweep and moves 1 cm to the
/// right with every sweep, whichever of them moves.
#[test]
fn an_edge_that_drives_through_the_beam_gives_far_then_both_then_near() {
    let velocities = [[0.0, -0.1], [0.1, 0.0], [0.3, 0.2]];
    for pipeline in [EchoModel::Analytic, EchoModel::Waveform] {
        for [sensor, wall] in velocities {
            let scene = Stage::default()
                .panel(
                    [20.0, 2.03, 0.0],
                    [-1.0, 0.0, 0.0],
                    [4.0, 4.0],
                    lambert(0.5),
                )
                .panel(
                    [30.0, 0.0, 0.0],
                    [-1.0, 0.0, 0.0],
                    [20.0, 8.0],
                    lambert(0.5),
                );
            let place = scene.pose(0);
            // The motion is given along the y axis of the world, which is not that of the panel.
            let frames = [0.0, 10.0].map(|time| KeyFrame {
                time,
                pose: Isometry3::translation(0.0, wall * time, 0.0) * place,
            });
            let motion = Trajectory::KeyFrames(KeyFrameTrajectory::new(frames.into()).unwrap());
            let scene = scene.build_some_moving(vec![(ObjectId(0), motion)]);
            let mut scanner = one_shot(pulsed(pipeline, ReturnMode::All));
            scanner.beam = super::stage::beam(1e-3).with_rings(3);
            let world = World::at_wavelength(&scene, scanner.wavelength).unwrap();
            let seen = |sweep| {
                let run = SweepSettings { sweep, ..quiet() };
                let points = simulate(&world, &scanner, &run, |t| {
                    Isometry3::translation(0.0, sensor * t, 0.0)
                });
                let ranges = points.points.iter().map(|p| p.range.round() as u32);
                ranges.collect::<Vec<_>>()
            };
            assert_eq!(seen(0), [30], "{sensor} {wall}");
            assert_eq!(seen(3), [20, 30], "{sensor} {wall}");
            assert_eq!(seen(6), [20], "{sensor} {wall}");
        }
    }
}

/// A car on a curve (key frames with cubic interpolation) behind a rotating pane: every point equals that of a
/// static scene at the time of its shot, within 1e-12 m.
#[test]
fn every_point_is_that_of_the_scene_frozen_at_its_own_time() {
    let turned = |time: f64| KeyFrame {
        time,
        pose: Isometry3::new(
            Vector3::new(-5.0 + 20.0 * time, 6.0 - 60.0 * time, 0.0),
            Vector3::z() * (9.0 * time),
        ),
    };
    let frames = vec![turned(0.0), turned(0.03), turned(0.06), turned(0.1)];
    let car = KeyFrameTrajectory::interpolated(frames, Interpolation::Cubic).unwrap();
    let motions = [
        Trajectory::KeyFrames(car),
        Trajectory::Twist(Twist {
            start: Isometry3::translation(2.0, 0.0, 0.0),
            velocity: Vector3::zeros(),
            angular_velocity: Vector3::new(0.0, 0.0, 15.0),
        }),
    ];
    let pane = ThinDielectric {
        medium: Dielectric {
            index: 1.5,
            group_index: 1.52,
            absorption: 0.0,
        },
        thickness: 4e-3,
    };
    let stage = |poses: [Isometry3<f64>; 2]| {
        Stage::default()
            .add(
                primitive::cuboid([4.0, 1.8, 1.5]).unwrap(),
                poses[0],
                lambert(0.4),
            )
            .add(
                primitive::cuboid([0.01, 2.0, 2.0]).unwrap(),
                poses[1],
                Lobe::ThinDielectric(pane),
            )
            .add(
                primitive::cuboid([30.0, 20.0, 4.0]).unwrap().inside_out(),
                Isometry3::identity(),
                lambert(0.6),
            )
    };
    let place = |time: f64| [motions[0].at(time), motions[1].at(time)];
    let scene = stage(place(0.0)).build_moving(motions.to_vec());
    let scanner = scanner(pulsed(EchoModel::Analytic, ReturnMode::Last));
    let sweep = drive(&scene, &scanner, &quiet(), 3.0);
    let mut on_car = 0;
    for point in sweep.points.iter().step_by(23) {
        let time = sweep.shot_of(point).time;
        let frozen = stage(place(time)).build();
        let world = World::at_wavelength(&frozen, scanner.wavelength).unwrap();
        let pose = Isometry3::translation(3.0 * time, 0.0, 0.0);
        let again = simulate(&world, &scanner, &quiet(), |_| pose);
        let expected = again.points_of(point.shot as usize)[0];
        assert!((point.range - expected.range).abs() < 1e-12, "{time}");
        assert_eq!(
            point.source.unwrap().instance,
            expected.source.unwrap().instance
        );
        on_car += usize::from(point.source.unwrap().instance.0 == 0);
    }
    assert!(on_car > 5, "{on_car}");
}

fn doppler(scene: &Scene, sensor: f64) -> Sweep {
    let fmcw = Fmcw {
        wavelength: 1550e-9,
        bandwidth: 1e9,
        chirp: 10e-6,
        noise: 1e-9,
        threshold: 10.0,
    };
    let mut scanner = one_shot(pulsed(EchoModel::Analytic, ReturnMode::Last));
    scanner.receiver = Receiver::Fmcw(fmcw);
    scanner.wavelength = 1550e-9;
    drive(scene, &scanner, &quiet(), sensor)
}

/// A wall that approaches at 8 m/s and a sensor that approaches it at 15 m/s: radial velocity -23 m/s.
#[test]
fn an_fmcw_lidar_measures_the_relative_speed() {
    let wall = Stage::default().panel([50.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [8.0, 8.0], lambert(0.5));
    let start = wall.pose(0);
    let frames = [0.0, 1.0].map(|time| KeyFrame {
        time,
        pose: Isometry3::translation(-8.0 * time, 0.0, 0.0) * start,
    });
    let motion = Trajectory::KeyFrames(KeyFrameTrajectory::new(frames.into()).unwrap());
    // The wall is static before its first key frame, at the time of the shot: the central difference of its
    // position gives half its velocity.
    let sweep = doppler(&wall.build_moving(vec![motion.clone()]), 15.0);
    let half = sweep.points[0].velocity.unwrap();
    assert!((half + 19.0).abs() < 1e-6, "{half}");
    let later = Trajectory::Twist(Twist {
        start,
        velocity: start.rotation.inverse() * Vector3::new(-8.0, 0.0, 0.0),
        angular_velocity: Vector3::zeros(),
    });
    let wall = Stage::default().panel([50.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [8.0, 8.0], lambert(0.5));
    let sweep = doppler(&wall.build_moving(vec![later]), 15.0);
    assert!((sweep.points[0].velocity.unwrap() + 23.0).abs() < 1e-6);
}

/// By way of a mirror at 45 degrees: a wall that moves away from the mirror at 5 m/s recedes at 5 m/s.
#[test]
fn an_fmcw_lidar_measures_what_it_sees_in_a_mirror() {
    let stage = Stage::default()
        .panel(
            [10.0, 0.0, 0.0],
            [-1.0, 1.0, 0.0],
            [4.0, 4.0],
            Lobe::mirror(0.9),
        )
        .panel(
            [10.0, 20.0, 0.0],
            [0.0, -1.0, 0.0],
            [4.0, 4.0],
            lambert(0.5),
        );
    let start = stage.pose(1);
    let motion = Trajectory::Twist(Twist {
        start,
        velocity: start.rotation.inverse() * Vector3::new(0.0, 5.0, 0.0),
        angular_velocity: Vector3::zeros(),
    });
    let sweep = doppler(&stage.build_some_moving(vec![(ObjectId(1), motion)]), 0.0);
    let point = sweep.points[0];
    assert!((point.range - 30.0).abs() < 1e-6, "{}", point.range);
    assert!((point.velocity.unwrap() - 5.0).abs() < 1e-6);
}
