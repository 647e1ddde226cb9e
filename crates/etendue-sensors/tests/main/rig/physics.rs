//! What sensors on a moving robot read.

use super::{events, mount, rig, room};
use etendue_physics::gnss::{AxisError, GnssFixKind, GnssReceiver};
use etendue_physics::inertial::Triad;
use etendue_physics::odometry::WheelEncoder;
use etendue_sensors::dynamics::{CircularTrajectory, Stationary};
use etendue_sensors::rig::{Data, Device, Environment, Gnss, Mount, SECOND};
use nalgebra::{Isometry3, Vector3};

fn circle() -> CircularTrajectory {
    CircularTrajectory {
        start: Isometry3::identity(),
        radius: 2.0,
        speed: 3.0,
    }
}

/// A unit 0.5 m behind the base, turned to look left: on a circle to the left it reads the
/// centripetal acceleration along its x axis, and what the arm adds along its y axis.
#[test]
fn an_inertial_unit_measures_the_motion_of_its_mount() {
    let mounted = Mount {
        frame_from_sensor: Isometry3::new(
            Vector3::new(-0.5, 0.0, 0.0),
            Vector3::z() * std::f64::consts::FRAC_PI_2,
        ),
        ..mount("imu", Some(200.0), 0.0)
    };
    let rig = rig([(mounted, Device::Imu(Box::default()))]);
    let gravity = -Environment::default().gravity.z;
    let mut seen = 0;
    for event in events(&rig, &circle(), SECOND) {
        let Data::Imu(reading) = event.data else {
            panic!("not inertial");
        };
        let rate: f64 = 3.0 / 2.0;
        let expected = Vector3::new(rate * rate * 2.0, -rate * rate * 0.5, gravity);
        assert!(
            (reading.specific_force - expected).norm() < 1e-9,
            "{reading:?}"
        );
        assert!((reading.angular_velocity - Vector3::z() * rate).norm() < 1e-12);
        seen += 1;
    }
    assert_eq!(seen, 200);
}

/// A left and a right wheel 0.4 m from the middle roll 2.4 m and 3.6 m of a circle of 2 m at
/// 3 m/s in a second. Exact to a count of 0.6 mm.
#[test]
fn wheel_encoders_count_the_distance_of_their_mount() {
    let encoder = WheelEncoder {
        radius: 0.1,
        counts_per_turn: 1000,
        radius_spread: 0.0,
        slip: 0.0,
    };
    let wheel = |name, y| {
        let mounted = Mount {
            frame_from_sensor: Isometry3::translation(0.0, y, 0.1),
            ..mount(name, Some(50.0), 0.0)
        };
        (mounted, Device::WheelEncoder(encoder))
    };
    let rig = rig([wheel("left", 0.4), wheel("right", -0.4)]);
    let events = events(&rig, &circle(), SECOND + 1);
    let counts = |sensor| {
        let last = events.iter().rfind(|event| event.sensor == sensor);
        let Some(Data::WheelCounts(counts)) = last.map(|event| &event.data) else {
            panic!("no counts");
        };
        *counts as f64 / 1000.0 * std::f64::consts::TAU * 0.1
    };
    assert!((counts(0) - 2.4).abs() < 7e-4, "{}", counts(0));
    assert!((counts(1) - 3.6).abs() < 7e-4, "{}", counts(1));
}

#[test]
fn a_closed_room_blocks_the_sky() {
    let error = AxisError {
        white: 1.0,
        ..AxisError::default()
    };
    let device = |sky| {
        Device::Gnss(Gnss {
            receiver: GnssReceiver {
                horizontal: error,
                vertical: error,
                velocity: 0.1,
                mask: 0.1,
                kind: GnssFixKind::Autonomous,
            },
            has_occlusion: sky,
        })
    };
    let rig = rig([
        (mount("blocked", Some(1.0), 0.0), device(true)),
        (mount("open", Some(1.0), 0.0), device(false)),
    ]);
    let events = events(&rig, &Stationary(Isometry3::identity()), 3 * SECOND);
    assert_eq!(events.len(), 6);
    for event in events {
        let Data::Fix(fix) = event.data else {
            panic!("no fix")
        };
        assert_eq!(fix.solution.is_some(), event.sensor == 1);
        assert_eq!(fix.sky.used >= 4, event.sensor == 1);
    }
    assert!(room().bounds()[1].z > 2.9);
}

/// Turned by a quarter to the left, the field's north is to the right... of a robot that looks
/// west: y (left) looks south and reads minus.
#[test]
fn a_magnetometer_rotates_with_the_robot() {
    let rig = rig([(
        mount("compass", Some(10.0), 0.0),
        Device::Magnetometer(Triad::default()),
    )]);
    let west = Isometry3::rotation(Vector3::z() * std::f64::consts::PI);
    let events = events(&rig, &Stationary(west), SECOND / 10);
    let Data::MagneticField(read) = events[0].data else {
        panic!("no field")
    };
    let field = Environment::default().magnetic_field;
    assert!(field.y > 1e-5, "north");
    assert!((read - Vector3::new(-field.x, -field.y, field.z)).norm() < 1e-18);
}
