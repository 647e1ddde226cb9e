//! Counts, stamps and lags.
#![expect(clippy::cast_possible_truncation, reason = "rates are whole numbers")]

use super::{events, lidar, mount, rig, room};
use etendue_physics::ambient::Barometer;
use etendue_physics::gnss::{AxisError, GnssFixKind, GnssReceiver};
use etendue_physics::inertial::{Imu, Triad};
use etendue_sensors::dynamics::CircularTrajectory;
use etendue_sensors::filter::{Filter, LidarNoise};
use etendue_sensors::rig::{Device, Environment, Event, Gnss, Mount, Rig, RigRun, SECOND};
use nalgebra::Isometry3;

fn circle() -> CircularTrajectory {
    CircularTrajectory {
        start: Isometry3::translation(0.0, -1.0, 0.0),
        radius: 1.0,
        speed: 1.5,
    }
}

fn noisy() -> Triad {
    Triad {
        density: 1e-3,
        ..Triad::default()
    }
}

fn receiver() -> Device {
    let error = AxisError {
        white: 1.0,
        correlated: 1.0,
        time: 30.0,
    };
    Device::Gnss(Gnss {
        receiver: GnssReceiver {
            horizontal: error,
            vertical: error,
            velocity: 0.1,
            mask: 0.1,
            kind: GnssFixKind::Autonomous,
        },
        has_occlusion: false,
    })
}

const RATES: [f64; 5] = [10.0, 20.0, 30.0, 100.0, 1000.0];
const LAGS: [f64; 5] = [0.03, 0.0, 0.2, 0.001, 0.0005];

/// Five sensors, one at each rate.
fn five() -> Rig {
    let imu = Imu {
        gyroscope: noisy(),
        accelerometer: noisy(),
        ..Imu::default()
    };
    let barometer = Barometer {
        noise: 1.0,
        ..Barometer::default()
    };
    let noise = LidarNoise {
        range: 0.01,
        angle: 0.001,
        intensity: 0.1,
    };
    rig([
        (
            Mount {
                filters: vec![
                    Filter::LidarNoise(noise),
                    Filter::DropOut { probability: 0.1 },
                ],
                ..mount("lidar", None, LAGS[0])
            },
            lidar(),
        ),
        (
            mount("barometer", Some(RATES[1]), LAGS[1]),
            Device::Barometer(barometer),
        ),
        (mount("gnss", Some(RATES[2]), LAGS[2]), receiver()),
        (
            mount("magnetometer", Some(RATES[3]), LAGS[3]),
            Device::Magnetometer(noisy()),
        ),
        (
            Mount {
                window: Some(0.001),
                ..mount("imu", Some(RATES[4]), LAGS[4])
            },
            Device::Imu(Box::new(imu)),
        ),
    ])
}

#[test]
fn every_sensor_captures_at_exact_times_and_arrives_after_its_latency() {
    let rig = five();
    let events = events(&rig, &circle(), 60 * SECOND);
    for (number, (rate, lag)) in RATES.iter().zip(LAGS).enumerate() {
        let of: Vec<&Event> = events.iter().filter(|e| e.sensor == number).collect();
        assert_eq!(of.len() as f64, 60.0 * rate);
        for (k, event) in of.iter().enumerate() {
            // In whole numbers: no sum of rounded periods.
            let rate = *rate as i128;
            let exact = (k as i128 * 2_000_000_000 / rate + 1) / 2;
            assert_eq!(i128::from(event.capture.start), exact);
            assert_eq!(event.capture.number as usize, k);
            let window = [100_000_000, 0, 0, 0, 1_000_000][number];
            assert_eq!(event.capture.end - event.capture.start, window);
            let late = event.capture.arrival - event.capture.end;
            assert_eq!(late, (lag * 1e9_f64).round() as i64);
        }
    }
    let order = events.iter().map(|e| (e.capture.arrival, e.sensor));
    let order: Vec<_> = order.collect();
    assert!(order.is_sorted());
}

#[test]
fn data_do_not_depend_on_threads() {
    let rig = five();
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.expect("threads");
        pool.install(|| events(&rig, &circle(), 2 * SECOND))
    };
    let one = with(1);
    assert_eq!(one.len(), 2 * 1160);
    assert!(one == with(2));
    assert!(one == with(5));
}

/// A run that is fed with 0.7 ms, 13 ms and all at once gives the same.
#[test]
fn data_do_not_depend_on_the_steps_of_the_run() {
    let (rig, scene, environment) = (five(), room(), Environment::default());
    let fed = |step: i64| {
        let mut run = RigRun::new(&rig, &scene, &environment, 7, SECOND).expect("it runs");
        let mut events = Vec::new();
        let mut now = 0;
        while !run.is_done() {
            now += step;
            let early = run.next_arrival().expect("not done");
            events.extend(run.advance(&circle(), now));
            assert!(early > now - step || now == step);
        }
        events
    };
    let fine = fed(700_000);
    assert!(fine == fed(13_000_000));
    assert!(fine == fed(5 * SECOND));
}

#[test]
fn the_noise_of_a_sensor_depends_on_its_index_and_the_seed_only() {
    let imu = || {
        let imu = Imu {
            gyroscope: noisy(),
            ..Imu::default()
        };
        Device::Imu(Box::new(imu))
    };
    let alone = rig([(mount("a", Some(100.0), 0.0), imu())]);
    let two = rig([
        (mount("a", Some(100.0), 0.0), imu()),
        (mount("b", Some(100.0), 0.0), imu()),
    ]);
    let alone = events(&alone, &circle(), SECOND / 10);
    let two = events(&two, &circle(), SECOND / 10);
    let of = |sensor| two.iter().filter(move |e| e.sensor == sensor);
    assert!(alone.iter().eq(of(0)));
    assert!(of(0).zip(of(1)).all(|(a, b)| a.data != b.data));
}
