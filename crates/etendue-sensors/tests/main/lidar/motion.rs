//! Motion of the sensor during a sweep: each shot has its own time and pose.

use super::passing::{RATE, angular_width, drive, fast_scanner};
use super::stage::{Stage, at_origin, lambert, pulsed, quiet, room, scanner};
use etendue_physics::pulse::ReturnMode;
use etendue_scene::{Scene, primitive};
use etendue_sensors::lidar::{Channel, Columns, EchoModel, ScanPattern};
use etendue_sensors::lidar::{Frame, SweepSettings, simulate};
use etendue_sensors::transport::World;
use nalgebra::{Isometry3, Vector3};

const SPEED: f64 = 20.0;

/// Cylinders of 1 m diameter every 2 m, at 4 m to either side of the x axis.
fn avenue() -> Scene {
    let mut stage = Stage::default();
    for i in -6..=6 {
        for side in [-4.0, 4.0] {
            let mesh = primitive::cylinder(0.5, 4.0, 1e-5).unwrap();
            let pose = Isometry3::translation(2.0 * f64::from(i), side, 0.0);
            stage = stage.add(mesh, pose, lambert(0.5));
        }
    }
    stage.build()
}

/// Elmquist et al. 2021, figure 5. A body abeam at the distance r passes the sensor with the angular speed
/// v/r. Where the scan (angular speed omega) moves in the same sense, the body appears 1 / (1 - v / omega r)
/// times as long; on the other side, 1 / (1 + v / omega r) times.
///
/// The scan is clockwise from the heading: at starboard it moves backwards, like the bodies.
/// Measured: 1.0415 (closed form 1.0414) at starboard, 0.9632 (0.9617) at port.
#[test]
fn cylinders_look_longer_where_the_scan_runs_with_them_and_shorter_on_the_other_side() {
    let (scene, scanner) = (avenue(), fast_scanner());
    let moving = drive(&scene, &scanner, &quiet(), SPEED);
    let still = |x: f64| {
        let world = World::at_wavelength(&scene, scanner.wavelength).unwrap();
        simulate(&world, &scanner, &quiet(), |_| {
            Isometry3::translation(x, 0.0, 0.0)
        })
    };
    let omega = std::f64::consts::TAU * RATE;
    for (side, quarter, sign) in [("starboard", 0.25, 1.0), ("port", 0.75, -1.0)] {
        // Position of the sensor when the scan passes abeam, and the cylinder abeam of it.
        let x = SPEED * quarter / RATE;
        let number = (x / 2.0).round() as i32 + 6;
        let instance = (2 * number + i32::from(sign < 0.0)) as u32;
        let ratio = angular_width(&moving, instance) / angular_width(&still(x), instance);
        // The silhouette is at the tangent points, at the distance sqrt(4^2 - 0.5^2).
        let closed = 1.0 / (1.0 - sign * SPEED / (omega * 4.0));
        let change = (ratio - 1.0) / (closed - 1.0);
        println!("{side}: {ratio:.4} against {closed:.4}");
        assert!(
            (ratio / closed - 1.0).abs() < 0.02,
            "{side}: {ratio} {closed} {change}"
        );
        assert!((change - 1.0).abs() < 0.2, "{side}: {ratio} {closed}");
    }
}

#[test]
fn motion_compensated_points_lie_on_the_room_and_raw_ones_do_not() {
    let scene = room([30.0, 20.0, 4.0], 0.5);
    let off_wall = |frame| {
        let run = SweepSettings { frame, ..quiet() };
        let sweep = drive(
            &scene,
            &scanner(pulsed(EchoModel::Analytic, ReturnMode::Last)),
            &run,
            10.0,
        );
        assert_eq!(sweep.points.len(), 3600);
        let worst = sweep.points.iter().map(|p| {
            let [x, y] = [p.position.x.abs() - 15.0, p.position.y.abs() - 10.0];
            x.abs().min(y.abs())
        });
        worst.fold(0.0, f64::max)
    };
    assert!(off_wall(Frame::SweepStart) < 1e-9);
    assert!(off_wall(Frame::World) < 1e-9);
    assert!(off_wall(Frame::Sensor) > 0.5);
}

#[test]
fn scene_and_sensor_moved_together_change_nothing() {
    let pose = Isometry3::new(
        Vector3::new(120.0, -40.0, 8.0),
        Vector3::new(0.1, 0.4, -1.1),
    );
    let scanner = scanner(pulsed(EchoModel::Waveform, ReturnMode::Last));
    let here = at_origin(&room([6.0, 9.0, 3.0], 0.4), &scanner, &quiet());
    let mesh = primitive::cuboid([6.0, 9.0, 3.0]).unwrap().inside_out();
    let there = Stage::default().add(mesh, pose, lambert(0.4)).build();
    let world = World::at_wavelength(&there, scanner.wavelength).unwrap();
    let there = simulate(&world, &scanner, &quiet(), |_| pose);
    assert_eq!(here.points.len(), there.points.len());
    for (a, b) in here.points.iter().zip(&there.points) {
        assert!((a.range - b.range).abs() < 1e-9);
        assert!((a.position - b.position).norm() < 1e-9);
    }
}

/// The firing clock of a VLP-16 is continuous over rotations: 1808 or 1809 columns of 55.296 us in 0.1 s,
/// without duplicate or missing shots.
#[test]
fn columns_by_a_clock_run_on_from_sweep_to_sweep() {
    let mut scanner = scanner(pulsed(EchoModel::Analytic, ReturnMode::Last));
    let period = 55.296e-6;
    if let ScanPattern::Spinning(spinning) = &mut scanner.pattern {
        spinning.columns = Columns::Period { seconds: period };
    }
    scanner.channels = vec![
        Channel::default(),
        Channel {
            time: 2.304e-6,
            elevation: 0.1,
            ..Channel::default()
        },
    ];
    let times: Vec<f64> = (0..5)
        .flat_map(|sweep| scanner.shots(sweep))
        .map(|shot| shot.time)
        .collect();
    assert!((2 * 5 * 1808..=2 * 5 * 1809).contains(&times.len()));
    assert_eq!(scanner.columns(), 1809);
    for (n, pair) in times.chunks(2).enumerate() {
        assert!((pair[0] - n as f64 * period).abs() < 1e-12);
        assert!((pair[1] - pair[0] - 2.304e-6).abs() < 1e-12);
    }
}

/// 20 rotations per second and 50 us per column are 1000 columns, also where rounding makes the quotient larger. Late
/// sweeps have as many as the first.
#[test]
fn a_period_that_divides_the_rotation_gives_a_whole_number_of_columns() {
    let mut scanner = scanner(pulsed(EchoModel::Analytic, ReturnMode::Last));
    for (rate, microseconds, columns) in [
        (20.0, 50.0, 1000),
        (10.0, 100.0, 1000),
        (5.0, 100.0, 2000),
        (30.0, 1e6 / 21600.0, 720),
    ] {
        if let ScanPattern::Spinning(spinning) = &mut scanner.pattern {
            spinning.rate = rate;
            spinning.columns = Columns::Period {
                seconds: microseconds * 1e-6,
            };
        }
        assert_eq!(scanner.columns(), columns, "{rate} Hz, {microseconds} us");
        for sweep in [0, 1, 7, 100_000, 1_000_000] {
            let shots = scanner.shots(sweep).len() / scanner.channels.len();
            assert_eq!(
                shots, columns as usize,
                "{rate} Hz, {microseconds} us, sweep {sweep}"
            );
        }
    }
}
