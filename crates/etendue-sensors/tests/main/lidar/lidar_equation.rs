//! Lidar equation of the whole pipeline: power over range and incidence, through glass, by way of a mirror,
//! and in fog.

use super::stage::{Stage, at_origin, lambert, one_shot, pulsed, quiet};
use etendue_physics::atmosphere::{Atmosphere, Weather};
use etendue_physics::pulse::{Echo, ReturnMode};
use etendue_physics::surface::{Dielectric, Lobe, Material, Retroreflector, Side, ThinDielectric};
use etendue_scene::Scene;
use etendue_sensors::lidar::SweepSettings;
use etendue_sensors::lidar::{EchoModel, PulsedReceiver};
use std::f64::consts::PI;

/// Range and power of the only echo along x, by both echo models, which must agree to 1e-3.
fn echo(scene: &Scene, run: &SweepSettings) -> Echo {
    echo_of(scene, run, |_| ())
}

/// The same with a modified receiver.
fn echo_of(scene: &Scene, run: &SweepSettings, change: impl Fn(&mut PulsedReceiver)) -> Echo {
    let [fast, full] = [EchoModel::Analytic, EchoModel::Waveform].map(|pipeline| {
        let mut receiver = pulsed(pipeline, ReturnMode::Last);
        change(&mut receiver);
        let sweep = at_origin(scene, &one_shot(receiver), run);
        assert_eq!(sweep.points.len(), 1);
        sweep.points[0]
    });
    assert!(
        (fast.power / full.power - 1.0).abs() < 1e-3,
        "{} {}",
        fast.power,
        full.power
    );
    assert!(
        (fast.range - full.range).abs() < 1e-3,
        "{} {}",
        fast.range,
        full.range
    );
    Echo {
        range: fast.range,
        power: fast.power,
        width: fast.width,
    }
}

#[test]
fn a_wall_falls_with_the_square_of_range_and_the_cosine_of_incidence() {
    for range in [1.0, 5.0, 40.0, 120.0] {
        for degrees in [0.0, 30.0, 60.0, 80.0_f64] {
            let (sin, cos) = degrees.to_radians().sin_cos();
            let towards = [-cos, sin, 0.0];
            let size = [8.0, 8.0];
            let scene = Stage::default()
                .panel([range, 0.0, 0.0], towards, size, lambert(0.6))
                .build();
            let found = echo(&scene, &quiet());
            let expected = 0.6 / PI * cos / (range * range);
            assert!(
                (found.power / expected - 1.0).abs() < 1e-9,
                "{range} {degrees}"
            );
            assert!((found.range - range).abs() < 1e-9);
        }
    }
}

#[test]
fn a_retro_reflector_outshines_white_paint_by_its_lobe() {
    let retro = Retroreflector {
        reflectance: 0.3,
        width: 0.005,
        half_entrance: 30_f64.to_radians(),
    };
    let material = Material {
        lobes: vec![Lobe::Retroreflector(retro)],
    };
    for range in [10.0, 80.0] {
        let size = [1.0, 1.0];
        let lobe = Lobe::Retroreflector(retro);
        let scene = Stage::default()
            .panel([range, 0.0, 0.0], [-1.0, 0.0, 0.0], size, lobe)
            .build();
        let expected = material.backscatter(1.0, Side::Front) / (range * range);
        let found = echo(&scene, &quiet());
        assert!((found.power / expected - 1.0).abs() < 1e-9);
        assert!(found.power > 1e3 / PI / (range * range));
    }
}

/// A thin pane transmits 0.848 at 60 degrees (n = 1.5, averaged after the slab's sum per
/// polarisation), once each way.
#[test]
fn a_wall_behind_a_pane_is_dimmed_twice() {
    let pane = ThinDielectric {
        medium: Dielectric {
            index: 1.5,
            group_index: 1.5,
            absorption: 0.0,
        },
        thickness: 0.005,
    };
    let (sin, cos) = 60_f64.to_radians().sin_cos();
    let scene = Stage::default()
        .panel(
            [5.0, 0.0, 0.0],
            [-cos, sin, 0.0],
            [4.0, 4.0],
            Lobe::ThinDielectric(pane),
        )
        .panel([20.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [4.0, 4.0], lambert(0.5))
        .build();
    let found = echo(&scene, &quiet());
    let transmission = (found.power / (0.5 / PI / 400.0)).sqrt();
    assert!((transmission - 0.848).abs() < 5e-4, "{transmission}");
    assert!((found.range - 20.0).abs() < 0.005);
}

#[test]
fn a_mirror_adds_no_second_inverse_square() {
    let side = std::f64::consts::FRAC_1_SQRT_2;
    let mirror = Lobe::mirror(0.9);
    let scene = Stage::default()
        .panel([10.0, 0.0, 0.0], [-side, side, 0.0], [2.0, 2.0], mirror)
        .panel(
            [10.0, 30.0, 0.0],
            [0.0, -1.0, 0.0],
            [6.0, 6.0],
            lambert(0.5),
        )
        .build();
    let found = echo(&scene, &quiet());
    let expected = 0.9 * 0.9 * 0.5 / PI / (40.0 * 40.0);
    assert!((found.power / expected - 1.0).abs() < 1e-9);
    assert!((found.range - 40.0).abs() < 1e-9);
}

/// Fog of 50 m visibility attenuates the echo of a wall by exp(-2 * 3.912 / 50 * R), and its backscatter adds
/// an echo in front of the wall.
#[test]
fn fog_dims_the_wall_by_beer_and_lambert() {
    for range in [5.0, 15.0, 30.0] {
        let size = [8.0, 8.0];
        let scene = Stage::default()
            .panel([range, 0.0, 0.0], [-1.0, 0.0, 0.0], size, lambert(0.8))
            .build();
        let mut run = quiet();
        run.air.atmosphere = Atmosphere {
            weather: vec![Weather::Fog { visibility: 50.0 }],
        };
        // The echo of the fog merges with that of the wall: exclude it by the overlap of the receiver.
        let found = echo_of(&scene, &run, |receiver| receiver.full_overlap = 1e9);
        let expected = 0.8 / PI / (range * range) * (-2.0 * 3.912 / 50.0 * range).exp();
        assert!((found.power / expected - 1.0).abs() < 1e-9);
    }
}

#[test]
fn fog_itself_is_the_first_echo() {
    let size = [8.0, 8.0];
    let scene = Stage::default()
        .panel([30.0, 0.0, 0.0], [-1.0, 0.0, 0.0], size, lambert(0.8))
        .build();
    let mut run = quiet();
    run.air.atmosphere = Atmosphere {
        weather: vec![Weather::Fog { visibility: 50.0 }],
    };
    let mut receiver = pulsed(EchoModel::Waveform, ReturnMode::First);
    receiver.threshold = 1e-5;
    let sweep = at_origin(&scene, &one_shot(receiver), &run);
    assert!(
        (0.3..3.0).contains(&sweep.points[0].range),
        "{}",
        sweep.points[0].range
    );
    assert!(sweep.points[0].source.is_none());
}
