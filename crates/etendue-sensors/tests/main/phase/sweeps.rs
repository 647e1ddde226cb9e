//! Sweeps of a phase lidar: golden values, weather, labels, paths.

use super::scenes::{Wall, cuboid, planar, scene};
use super::{receiver, urg_columns};
use etendue_physics::atmosphere::Weather;
use etendue_physics::beam::SubRayPattern;
use etendue_physics::phase::PhaseReceiverNoise;
use etendue_sensors::lidar::{Air, Lidar, LightModel, Outcome, Sweep, SweepSettings, simulate};
use etendue_sensors::trajectory::constant_velocity;
use etendue_sensors::transport::{PathSettings, World};
use nalgebra::{Isometry3, Vector3};
use serde_json::Value;

/// The fan of the URG-04LX with noise, jitter and rounding.
fn urg() -> Lidar {
    let mut lidar = urg_columns(SubRayPattern::THREE);
    receiver(&mut lidar).noise = PhaseReceiverNoise {
        amplifier: 6.8e-4,
        converter: 0.0113,
        ..PhaseReceiverNoise::default()
    };
    receiver(&mut lidar).sufficient = 0.0073;
    lidar.beam.azimuth_jitter = 2.8e-3;
    lidar.limits.step = 1e-3;
    lidar.checked().expect("a lidar")
}

fn moving(time: f64) -> Isometry3<f64> {
    constant_velocity(
        planar(0.1, 0.0, 0.2),
        Vector3::new(0.3, 0.1, 0.0),
        Vector3::new(0.0, 0.0, 0.5),
    )(time)
}

fn settings(sweep: u32) -> SweepSettings {
    SweepSettings {
        seed: 11,
        sweep,
        with_truth: true,
        ..SweepSettings::default()
    }
}

/// Three sweeps of a moving lidar: ranges in steps of 1 mm, powers to 1e-12, the surface on each axis.
#[test]
fn sweeps_have_their_golden_ranges_powers_and_truths() {
    let golden: Value = serde_json::from_str(include_str!("../../golden/phase_sweeps.json"))
        .expect("the file is JSON");
    let golden = golden.as_array().expect("sweeps");
    assert_eq!(golden.len(), 3);
    let scene = scene(&cuboid());
    let world = World::at_wavelength(&scene, 785e-9).expect("grey walls");
    for (index, golden) in (0..).zip(golden) {
        let sweep = simulate(&world, &urg(), &settings(index), moving);
        assert_eq!(sweep.points.len(), 682);
        let number = |name: &str, shot: usize| golden[name][shot].as_f64().expect("a number");
        for (shot, point) in sweep.points.iter().enumerate() {
            assert!((point.range * 1e3 - number("ranges_mm", shot)).abs() < 1e-9);
            assert_eq!(f64::from(sweep.surfaces[shot]), number("surfaces", shot));
            let truth = sweep.axis_truths[shot].expect("a wall");
            assert_eq!(f64::from(truth.object.0), number("walls", shot));
        }
        for (place, shot) in (0..682).step_by(11).enumerate() {
            let power = number("powers_of_every_11th", place);
            assert!((sweep.powers[shot] / power - 1.0).abs() < 1e-12);
            let truth = sweep.axis_truths[shot].expect("a wall");
            let range = number("true_ranges_of_every_11th", place);
            assert!((truth.range - range).abs() < 1e-12);
        }
    }
}

/// The URG-04LX before two walls, one behind the other's edge.
fn sweep(air: Air, light: LightModel) -> Sweep {
    let walls = [
        Wall::between([2.0, -3.0], [2.0, 0.0], 0.8),
        Wall::between([3.0, -3.0], [3.0, 3.0], 0.8),
    ];
    let scene = scene(&walls);
    let world = World::at_wavelength(&scene, 785e-9).expect("grey walls");
    let mut lidar = urg();
    receiver(&mut lidar).full_overlap = 0.75;
    let settings = SweepSettings {
        air,
        light,
        without_noise: true,
        ..settings(0)
    };
    simulate(&world, &lidar, &settings, |_| Isometry3::identity())
}

/// Ahead, to the right of the edge: a wall at 2 m.
const RIGHT: usize = 300;

fn range(sweep: &Sweep, shot: usize) -> f64 {
    sweep.points_of(shot)[0].range
}

#[test]
fn labels_are_those_of_the_brightest_surface() {
    let sweep = sweep(Air::default(), LightModel::default());
    let object = |shot: usize| sweep.points_of(shot)[0].source.expect("a label").instance.0;
    assert_eq!((object(RIGHT), object(380)), (0, 1));
    let mixed: Vec<usize> = (0..682).filter(|shot| sweep.surfaces[*shot] > 1).collect();
    assert!(
        !mixed.is_empty() && mixed.iter().all(|shot| (330..350).contains(shot)),
        "{mixed:?}"
    );
}

/// Fog weakens the wall and adds its own light in front of it: the range is pulled towards the sensor.
#[test]
fn fog_takes_light_from_the_wall_and_pulls_its_range_nearer() {
    let clear = sweep(Air::default(), LightModel::default());
    let thin = Air::of(vec![Weather::Fog { visibility: 200.0 }]);
    let foggy = sweep(thin, LightModel::default());
    let pulled = range(&clear, RIGHT) - range(&foggy, RIGHT);
    assert!((1e-3..0.5).contains(&pulled), "{pulled}");
    let dense = Air::of(vec![Weather::Fog { visibility: 1.0 }]);
    let dense = sweep(dense, LightModel::default());
    let of_wall = dense.points.iter().filter(|point| point.source.is_some());
    assert!(of_wall.count() < 10);
}

#[test]
fn drops_are_drawn_by_the_seed_and_change_few_beams() {
    let rain = || Air::of(vec![Weather::Rain { rate: 2.778e-6 }]);
    let (one, again) = (
        sweep(rain(), LightModel::default()),
        sweep(rain(), LightModel::default()),
    );
    assert_eq!(one, again);
    assert!(
        one.outcomes
            .iter()
            .any(|o| matches!(o, Outcome::Points { .. }))
    );
}

#[test]
fn random_paths_find_the_direct_light_of_ray_trees() {
    let trees = sweep(Air::default(), LightModel::default());
    let paths = LightModel::Paths(PathSettings {
        paths: 4,
        ..PathSettings::default()
    });
    let paths = sweep(Air::default(), paths);
    assert!(paths.powers[RIGHT] >= trees.powers[RIGHT] * 0.999);
}
