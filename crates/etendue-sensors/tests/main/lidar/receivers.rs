//! Triangulation and FMCW receivers.

use super::stage::{Stage, at_origin, lambert, one_shot, pulsed, quiet};
use etendue_physics::pulse::{Fmcw, ReturnMode};
use etendue_scene::Scene;
use etendue_sensors::lidar::{EchoModel, Lidar, Receiver, Triangulation};
use etendue_sensors::lidar::{Outcome, SweepSettings, simulate};
use etendue_sensors::transport::World;
use nalgebra::Isometry3;

fn with(receiver: Receiver) -> Lidar {
    Lidar {
        receiver,
        ..one_shot(pulsed(EchoModel::Analytic, ReturnMode::Last))
    }
}

fn wall(range: f64) -> Scene {
    let size = [8.0, 8.0];
    Stage::default()
        .panel([range, 0.0, 0.0], [-1.0, 0.0, 0.0], size, lambert(0.5))
        .build()
}

const CAMERA: Triangulation = Triangulation {
    baseline: 0.05,
    angle_noise: 1e-5,
    angle_step: 0.0,
    threshold: 1e-6,
};

/// The standard deviation of 4,000 ranges at 1, 2 and 4 m is d^2 sigma / b within 6 % (5 standard errors).
#[test]
fn triangulation_spreads_with_the_square_of_the_range() {
    for range in [1.0, 2.0, 4.0] {
        let (scene, scanner) = (wall(range), with(Receiver::Triangulation(CAMERA)));
        let world = World::at_wavelength(&scene, scanner.wavelength).unwrap();
        let readings: Vec<f64> = (0..4000)
            .map(|seed| {
                let run = SweepSettings {
                    seed,
                    ..SweepSettings::default()
                };
                simulate(&world, &scanner, &run, |_| Isometry3::identity()).points[0].range
            })
            .collect();
        let variance = readings.iter().map(|r| (r - range).powi(2)).sum::<f64>() / 4000.0;
        let expected = range * range * CAMERA.angle_noise / CAMERA.baseline;
        assert!((variance.sqrt() / expected - 1.0).abs() < 0.06, "{range}");
    }
}

#[test]
fn steps_of_the_spots_direction_are_steps_of_range_that_grow_with_its_square() {
    let stepped = Triangulation {
        angle_step: 1e-4,
        ..CAMERA
    };
    for range in [0.5, 2.0, 5.0] {
        let step = stepped.read(range, 0.0);
        assert!((step - range).abs() <= 0.51 * range * range * 1e-4 / 0.05 * 1.02);
    }
}

/// A post beside the beam occludes the spot from the lens, which is to the left.
#[test]
fn what_hides_the_spot_from_the_lens_leaves_no_return() {
    let post = |y| {
        Stage::default()
            .panel([1.0, y, 0.0], [-1.0, 0.0, 0.0], [0.02, 2.0], lambert(0.5))
            .panel([3.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [8.0, 8.0], lambert(0.5))
            .build()
    };
    let scanner = with(Receiver::Triangulation(CAMERA));
    // The line from the lens at y = 0.05 to the spot at 3 m passes (1, 0.0333).
    assert_eq!(
        at_origin(&post(0.0333), &scanner, &quiet()).outcomes,
        [Outcome::NoReturn]
    );
    assert!((at_origin(&post(-0.0333), &scanner, &quiet()).points[0].range - 3.0).abs() < 1e-9);
}

#[test]
fn a_moving_fmcw_lidar_measures_its_own_approach() {
    let fmcw = Fmcw {
        wavelength: 1550e-9,
        bandwidth: 1e9,
        chirp: 10e-6,
        noise: 1e-9,
        threshold: 10.0,
    };
    let (scene, scanner) = (wall(50.0), with(Receiver::Fmcw(fmcw)));
    let world = World::at_wavelength(&scene, scanner.wavelength).unwrap();
    let sweep = simulate(&world, &scanner, &quiet(), |t| {
        Isometry3::translation(15.0 * t, 0.0, 0.0)
    });
    assert!((sweep.points[0].velocity.unwrap() + 15.0).abs() < 1e-6);
    assert!((sweep.points[0].range - 50.0).abs() < 1e-6);
}
