//! Phase receivers behind the one `simulate`: the numbers of the former pipeline, weather and labels.

use super::ideal;
use super::scenes::{Wall, cuboid, planar, scene};
use etendue_physics::atmosphere::Weather;
use etendue_physics::beam::SubRayPattern;
use etendue_physics::phase::Noise;
use etendue_physics::pulse::IntensityResponse;
use etendue_sensors::cw::{self, CwLidar, Turn};
use etendue_sensors::lidar::{
    Air, Beam, Channel, Encoder, Intensity, Lidar, LightModel, Outcome, RangeLimits, Receiver,
    ScanPattern, Sweep, SweepSettings, simulate,
};
use etendue_sensors::trajectory::constant_velocity;
use etendue_sensors::transport::{PathSettings, World};
use nalgebra::{Isometry3, Vector3};
use std::f64::consts::TAU;

/// The fan of the URG-04LX with noise, jitter and rounding.
fn urg() -> Lidar {
    let mut own = ideal(&[], SubRayPattern::THREE);
    own.receiver.noise = Noise {
        amplifier: 6.8e-4,
        converter: 0.0113,
        ..Noise::default()
    };
    own.receiver.sufficient = 0.0073;
    let step = TAU / 1024.0;
    let mut beam = Beam::cone(own.half_tangent, own.pattern);
    beam.azimuth_jitter = 2.8e-3;
    let lidar = Lidar {
        name: "URG-04LX".into(),
        source: String::new(),
        wavelength: own.wavelength,
        channels: vec![Channel::default()],
        pattern: ScanPattern::Encoder(Encoder {
            rate: 10.0,
            columns: 682,
            first: -340.0 * step,
            step,
        }),
        beam,
        receiver: Receiver::Phase(own.receiver),
        limits: RangeLimits {
            near: 0.0,
            far: 5.6,
            step: 1e-3,
        },
        intensity: Intensity {
            response: IntensityResponse::Power { counts: 1.0 },
            top: None,
        },
    };
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

#[test]
fn a_sweep_has_the_numbers_of_the_pipeline_of_its_own_bit_for_bit() {
    let scene = scene(&cuboid());
    let world = World::at_wavelength(&scene, 785e-9).expect("grey walls");
    let lidar = urg();
    let own = CwLidar::of(&lidar).expect("a phase lidar");
    for index in 0..3 {
        let turn = Turn {
            seed: 11,
            index,
            start: f64::from(index) * own.turn_time,
            with_truth: true,
            ..Turn::default()
        };
        let expected = cw::simulate(&world, &own, &turn, moving);
        let sweep = simulate(&world, &lidar, &settings(index), moving);
        assert_eq!(sweep.points.len(), 682);
        let found = sweep.first_echoes();
        assert_eq!(format!("{found:?}"), format!("{expected:?}"));
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
    if let Receiver::Phase(receiver) = &mut lidar.receiver {
        receiver.full_overlap = 0.75;
    }
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
