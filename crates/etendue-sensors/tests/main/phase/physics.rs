//! Laws that a sweep obeys.

use super::scenes::{Wall, cuboid, planar, scene, scene_at};
use super::{Measured, ideal, measure, receiver, urg_columns};
use etendue_physics::beam::SubRayPattern;
use etendue_physics::phase::PhaseReceiverNoise;
use etendue_sensors::lidar::{
    Channel, Lidar, LightModel, Outcome, PhaseMethod, Sweep, SweepSettings, simulate,
};
use etendue_sensors::trajectory::{constant_velocity, stationary};
use etendue_sensors::transport::{PathSettings, World};
use nalgebra::{Isometry3, Vector3};

const PATTERNS: [SubRayPattern; 5] = [
    SubRayPattern::Centre,
    SubRayPattern::THREE,
    SubRayPattern::THREE_AT_EDGE,
    SubRayPattern::Rings { rings: 2 },
    SubRayPattern::Gaussian { rings: 3 },
];

fn world(scene: &etendue_scene::Scene) -> World<'_, f64> {
    World::at_wavelength(scene, 785e-9).expect("grey walls")
}

/// One shot ahead at a wall that fills the beam.
fn ahead(walls: &[Wall], lidar: &Lidar) -> Measured {
    still(walls, lidar, planar(0.0, 0.0, 0.0))[0]
}

/// A sweep at rest.
fn still(walls: &[Wall], lidar: &Lidar, pose: Isometry3<f64>) -> Vec<Measured> {
    let settings = SweepSettings::default();
    measure(&world(&scene(walls)), lidar, &settings, stationary(pose))
}

fn wall_at(distance: f64) -> Wall {
    Wall::between([distance, -1.0], [distance, 1.0], 0.8)
}

/// A noisy lidar like the URG-04LX.
fn noisy() -> Lidar {
    let mut lidar = urg_columns(SubRayPattern::THREE);
    lidar.beam.azimuth_jitter = 2e-3;
    receiver(&mut lidar).noise.amplifier = 1e-3;
    receiver(&mut lidar).noise.converter = 0.01;
    lidar.limits.step = 0.001;
    lidar
}

/// The beam's edge is h^2 = 2.5e-5 nearer to grazing: 1e-4 relative bounds every pattern.
#[test]
fn a_wall_that_fills_the_beam_returns_the_same_power_for_every_pattern() {
    for distance in [0.5, 2.0, 5.0] {
        let expected = 0.8 / std::f64::consts::PI / (distance * distance);
        for pattern in PATTERNS {
            let power = ahead(&[wall_at(distance)], &ideal(&[0.0], pattern)).power;
            let error = power / expected - 1.0;
            assert!(error.abs() < 1e-4, "{pattern:?} at {distance} m: {error}");
        }
    }
}

#[test]
fn power_falls_with_the_square_of_the_range() {
    let lidar = ideal(&[0.0], SubRayPattern::Centre);
    let near = ahead(&[wall_at(0.7)], &lidar).power;
    let far = ahead(&[wall_at(4.2)], &lidar).power;
    assert!((near / far - 36.0).abs() < 1e-9);
}

/// All lengths x k: powers x 1/k^2, incidence and shares unchanged.
#[test]
fn lengths_times_k_divide_powers_by_k_squared() {
    let lidar = ideal(&[-100.0, -33.0, 0.0, 21.0, 77.0], SubRayPattern::THREE);
    let sweep = |k: f64| {
        let scaled = cuboid().into_iter().map(|wall| Wall {
            centre: wall.centre.map(|x| k * x),
            edges: wall.edges.map(|edge| edge.map(|x| k * x)),
            ..wall
        });
        let walls: Vec<Wall> = scaled.collect();
        still(&walls, &lidar, planar(0.1 * k, 0.05 * k, 0.3))
    };
    for (small, large) in sweep(1.0).iter().zip(sweep(3.0)) {
        assert!((small.power / large.power - 9.0).abs() < 1e-9);
        let ratio = large.range() / small.range();
        // Ranges do not average alike: phases of a larger spread sum differently.
        assert!((ratio - 3.0).abs() < 1e-4, "{ratio}");
    }
}

/// 1e-9 m and 1e-9 relative; the noise is the same because its names are.
#[test]
fn moving_scene_and_sensor_together_changes_nothing() {
    let motion = Isometry3::new(Vector3::new(12.0, -7.0, 3.0), Vector3::new(0.3, -0.2, 1.1));
    let mut lidar = noisy();
    lidar.limits.step = 0.0;
    let sweep = |world_from_room: Isometry3<f64>| {
        let scene = scene_at(&cuboid(), world_from_room);
        let in_room = constant_velocity(
            planar(0.1, -0.1, 0.4),
            Vector3::new(0.4, 0.2, 0.0),
            Vector3::new(0.0, 0.0, 0.8),
        );
        let pose = move |time: f64| world_from_room * in_room(time);
        measure(&world(&scene), &lidar, &SweepSettings::default(), pose)
    };
    let (here, there) = (sweep(Isometry3::identity()), sweep(motion));
    assert_eq!(here.len(), 682);
    let mut near_edges = 0;
    for (a, b) in here.iter().zip(&there) {
        assert!((a.power / b.power - 1.0).abs() < 1e-9);
        assert!((a.range() - b.range()).abs() < 1e-9);
        near_edges += usize::from(a.surfaces > 1);
    }
    assert!(near_edges < 10);
}

#[test]
fn eight_threads_give_the_bytes_of_one() {
    let scene = scene(&cuboid());
    let world = world(&scene);
    let lidar = noisy();
    let sweep = |threads: usize| -> Sweep {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads");
        let settings = SweepSettings {
            seed: 11,
            with_truth: true,
            ..SweepSettings::default()
        };
        let pose = stationary(planar(0.1, 0.0, 0.2));
        pool.install(|| simulate(&world, &lidar, &settings, pose))
    };
    let one = sweep(1);
    assert_eq!(one.points.len(), 682);
    let is_return = |outcome: &Outcome| matches!(outcome, Outcome::Points { count: 1, .. });
    assert!(one.outcomes.iter().all(is_return));
    assert_eq!(format!("{one:?}"), format!("{:?}", sweep(8)));
}

/// Approaching a wall at 2 m/s: a beam ahead at time t reads d - v t.
#[test]
fn each_beam_is_fired_from_the_pose_at_its_own_time() {
    let mut lidar = ideal(&[], SubRayPattern::Centre);
    let times = [0.0, 0.02, 0.05];
    lidar.channels = times
        .map(|time| Channel {
            time,
            ..Channel::default()
        })
        .to_vec();
    let scene = scene(&[wall_at(3.0)]);
    let motion = constant_velocity(
        planar(0.0, 0.0, 0.0),
        Vector3::new(2.0, 0.0, 0.0),
        Vector3::zeros(),
    );
    let settings = SweepSettings {
        start: Some(0.3),
        ..SweepSettings::default()
    };
    let measured = measure(&world(&scene), &lidar, &settings, motion);
    assert_eq!(measured.len(), 3);
    for (time, shot) in times.iter().zip(measured) {
        let expected = 3.0 - 2.0 * (0.3 + time);
        assert!((shot.range() - expected).abs() < 1e-12);
    }
}

/// Standard deviation of `count` ranges of one beam, over sweeps.
fn spread(walls: &[Wall], lidar: &Lidar, count: u32) -> f64 {
    let scene = scene(walls);
    let world = world(&scene);
    let ranges: Vec<f64> = (0..count)
        .map(|index| {
            let settings = SweepSettings {
                sweep: index,
                ..SweepSettings::default()
            };
            let pose = stationary(planar(0.0, 0.0, 0.0));
            measure(&world, lidar, &settings, pose)[0].range()
        })
        .collect();
    let mean = ranges.iter().sum::<f64>() / f64::from(count);
    let square: f64 = ranges.iter().map(|r| (r - mean).powi(2)).sum();
    (square / f64::from(count - 1)).sqrt()
}

/// sd = 0.3405 m/rad sqrt(2/30) sigma/|L| for 2,000 sweeps, within 4.5 standard errors, and four
/// times as much at twice the distance; samples (400 sweeps) as well.
#[test]
fn noise_grows_with_the_square_of_the_range() {
    for (method, sweeps) in [(PhaseMethod::ClosedForm, 2000), (PhaseMethod::Sampled, 400)] {
        let mut lidar = ideal(&[0.0], SubRayPattern::Centre);
        receiver(&mut lidar).method = method;
        receiver(&mut lidar).noise = PhaseReceiverNoise {
            amplifier: 1e-3,
            ..PhaseReceiverNoise::default()
        };
        for distance in [1.0, 2.0] {
            let power = 0.8 / std::f64::consts::PI / (distance * distance);
            let theory = 0.340465745 * (2.0_f64 / 30.0).sqrt() * 1e-3 / power;
            let ratio = spread(&[wall_at(distance)], &lidar, sweeps) / theory;
            let bound = 4.5 / f64::from(2 * sweeps).sqrt();
            assert!((ratio - 1.0).abs() < bound, "{method:?}: {ratio}");
        }
    }
}

/// sd = jitter x |dR/d(azimuth)| = jitter x R tan(incidence): 2,000 sweeps, 4.5 standard errors.
#[test]
fn azimuth_jitter_spreads_slanted_walls() {
    let mut lidar = ideal(&[0.0], SubRayPattern::Centre);
    lidar.beam.azimuth_jitter = 2e-3;
    let slanted = Wall::between([1.0, -1.0], [3.0, 1.0], 0.8);
    let ratio = spread(&[slanted], &lidar, 2000) / (2e-3 * 2.0);
    assert!((ratio - 1.0).abs() < 4.5 / 4000_f64.sqrt(), "{ratio}");
    assert!(spread(&[wall_at(2.0)], &lidar, 200) < 2e-5);
}

/// One of three rays on the panel: its reflectance makes the two powers equal.
#[test]
fn equal_returns_from_one_and_two_metres_read_the_middle() {
    let walls = [
        Wall::between([1.0, 0.002], [1.0, 1.0], 0.4),
        Wall::between([2.0, -1.0], [2.0, 1.0], 0.8),
    ];
    let shot = ahead(&walls, &ideal(&[0.0], SubRayPattern::THREE_AT_EDGE));
    assert_eq!(shot.surfaces, 2);
    assert!((shot.range() - 1.5).abs() < 1e-4);
}

#[test]
fn readings_are_rounded_and_faults_are_codes() {
    let mut lidar = ideal(&[0.0, 180.0], SubRayPattern::Centre);
    lidar.limits.step = 0.001;
    receiver(&mut lidar).sufficient = 0.05;
    receiver(&mut lidar).detectable = 0.02;
    let read = |distance: f64| {
        let scene = scene(&[wall_at(distance)]);
        let settings = SweepSettings {
            with_truth: true,
            ..SweepSettings::default()
        };
        let pose = stationary(planar(0.0, 0.0, 0.0));
        let sweep = simulate(&world(&scene), &lidar, &settings, pose);
        assert_eq!(sweep.outcomes[1], Outcome::NoReturn);
        assert_eq!(sweep.axis_truths[1], None);
        sweep
    };
    let near = read(1.23456);
    let range = near.points_of(0)[0].range;
    assert!((range - 1.235).abs() < 1e-12);
    let truth = near.axis_truths[0].expect("a wall");
    assert!((truth.range - 1.23456).abs() < 1e-12);
    assert_eq!(read(3.0).outcomes[0], Outcome::Error(1));
    assert_eq!(read(5.0).outcomes[0], Outcome::NoReturn);
    assert_eq!(read(8.0).outcomes[0], Outcome::NoReturn);
}

fn paths(walls: &[Wall], lidar: &Lidar) -> Vec<Measured> {
    let settings = SweepSettings {
        light: LightModel::Paths(PathSettings::default()),
        ..SweepSettings::default()
    };
    let pose = stationary(planar(0.1, 0.05, 0.0));
    measure(&world(&scene(walls)), lidar, &settings, pose)
}

/// A plane lights no other surface: every path ends there. Measured 2e-15.
#[test]
fn paths_agree_with_the_tree_where_there_is_one_rough_surface() {
    let lidar = ideal(&[-30.0, 0.0, 20.0], SubRayPattern::THREE);
    let walls = [wall_at(2.0)];
    let tree = still(&walls, &lidar, planar(0.1, 0.05, 0.0));
    let mut met = 0;
    for (path, tree) in paths(&walls, &lidar).iter().zip(&tree) {
        assert!((path.power - tree.power).abs() <= 1e-12 * tree.power);
        assert_eq!(path.surfaces, tree.surfaces);
        met += usize::from(path.power > 0.0);
    }
    assert!(met >= 2);
}

/// In a corner light goes from wall to wall: longer ways, more power.
#[test]
fn paths_add_what_comes_back_over_two_walls() {
    let lidar = ideal(&[-40.0, 35.0], SubRayPattern::Centre);
    let tree = still(&cuboid(), &lidar, planar(0.1, 0.05, 0.0));
    for (path, tree) in paths(&cuboid(), &lidar).iter().zip(&tree) {
        assert!(path.power > 1.01 * tree.power, "{path:?} {tree:?}");
        assert!(path.range() > tree.range(), "{path:?} {tree:?}");
    }
}

#[test]
fn paths_do_not_depend_on_the_number_of_threads() {
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("threads")
            .install(|| paths(&cuboid(), &noisy()))
    };
    assert_eq!(on(1), on(8));
}
