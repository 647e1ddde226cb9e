//! Sensors, a controller and dynamics in a loop.

use super::{lidar, mount, rig, room};
use etendue_sensors::dynamics::{Bicycle, DriveCommand, Dynamics, Steering};
use etendue_sensors::rig::{
    ControlPlan, Data, Device, Environment, Event, Rate, RigRun, SECOND, drive,
};
use std::ops::ControlFlow;

fn car() -> Bicycle {
    let limits = Steering {
        wheelbase: 0.3,
        angle: 0.5,
        rate: 3.0,
        acceleration: 1.0,
    };
    Bicycle::new(limits, [-3.0, 0.0], 0.0)
}

fn plan(control: f64) -> ControlPlan {
    ControlPlan {
        dynamics: Rate::from_hertz(1000.0).expect("a rate"),
        control: Rate::from_hertz(control).expect("a rate"),
    }
}

/// A car that brakes for a wall at x = 4 m by its lidar only, with 0.5 s latency: the controller gets no data
/// before their arrival.
fn stop_before_the_wall() -> (Bicycle, Vec<Event>) {
    let mut car = car();
    let rig = rig([
        (mount("lidar", None, 0.5), lidar()),
        (mount("imu", Some(200.0), 0.0), Device::Imu(Box::default())),
    ]);
    let (scene, environment) = (room(), Environment::default());
    let mut run = RigRun::new(&rig, &scene, &environment, 1, 12 * SECOND).expect("it runs");
    let mut events = Vec::new();
    let controller = |latest: &etendue_sensors::rig::LatestData, now: i64| {
        let Some(event) = latest.of(0, 0) else {
            assert!(now < 700_000_000, "the first turn is there after 0.6 s");
            return DriveCommand::default();
        };
        assert!(event.capture.arrival <= now);
        assert!(now - event.capture.end >= 500_000_000);
        let Data::Points(sweep) = &event.data else {
            panic!("no sweep")
        };
        let free = sweep
            .points_of(45)
            .first()
            .map_or(10.0, |ahead| ahead.range);
        DriveCommand {
            speed: (0.5 * (free - 1.0)).clamp(0.0, 1.0),
            steering: 0.0,
        }
    };
    let mut keep = |event: &Event| {
        events.push(event.clone());
        ControlFlow::Continue(())
    };
    drive(&mut run, &mut car, &plan(50.0), controller, &mut keep);
    (car, events)
}

/// Stops 1.0 m before the wall less the overshoot due to latency: measured 0.98 m.
#[test]
fn a_car_stops_before_a_wall_by_delayed_lidar_data() {
    let (car, events) = stop_before_the_wall();
    let x = car.state().world_from_body.translation.x;
    assert!((2.8..3.3).contains(&x), "{x}");
    assert!(car.speed() < 0.05, "{}", car.speed());
    assert_eq!(events.iter().filter(|event| event.sensor == 0).count(), 120);
    assert_eq!(
        events.iter().filter(|event| event.sensor == 1).count(),
        2400
    );
    assert!(events == stop_before_the_wall().1, "not the same again");
}
