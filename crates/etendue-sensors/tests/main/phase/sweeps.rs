//! Sweeps of a phase lidar: golden values, weather, labels, paths.

use super::scenes::{Wall, scene};
use super::{receiver, urg_columns};
use etendue_physics::atmosphere::Weather;
use etendue_physics::beam::SubRayPattern;
use etendue_physics::phase::Noise;
use etendue_sensors::lidar::{Air, Lidar, LightModel, Outcome, Sweep, SweepSettings, simulate};
use etendue_sensors::transport::{PathSettings, World};
use nalgebra::Isometry3;

/// The fan of the URG-04LX with noise, jitter and rounding.
fn urg() -> Lidar {
    let mut lidar = urg_columns(SubRayPattern::THREE);
    receiver(&mut lidar).noise = Noise {
        amplifier: 6.8e-4,
        converter: 0.0113,
        ..Noise::default()
    };
    receiver(&mut lidar).sufficient = 0.0073;
    lidar.beam.azimuth_jitter = 2.8e-3;
    lidar.limits.step = 1e-3;
    lidar.checked().expect("a lidar")
}

fn settings(sweep: u32) -> SweepSettings {
    SweepSettings {
        seed: 11,
        sweep,
        with_truth: true,
        ..SweepSettings::default()
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
