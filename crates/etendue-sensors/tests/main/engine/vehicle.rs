//! A car on ray-cast wheels.

use super::{STEP, down};
use etendue_physics::inertial::MotionState;
use etendue_sensors::dynamics::rapier::{Engine, RayCastVehicle};
use etendue_sensors::dynamics::{DriveCommand, Dynamics, Steering, Vehicle};
use nalgebra::Isometry3;

const CAR: Vehicle = Vehicle {
    steering: Steering {
        wheelbase: 2.6,
        angle: 0.55,
        rate: 0.8,
        acceleration: 2.0,
    },
    track: 1.5,
    size: [4.1, 1.75, 1.2],
    mass: 1200.0,
    centre_height: 0.5,
    wheel_radius: 0.3,
    suspension_frequency: 1.5,
    suspension_damping: 0.6,
    friction: 0.9,
};

fn car() -> RayCastVehicle {
    let mut engine = Engine::new(down());
    engine.add_ground_plane();
    RayCastVehicle::new(engine, &CAR, &Isometry3::identity())
}

fn drive(car: &mut RayCastVehicle, speed: f64, steering: f64, seconds: f64) -> Vec<MotionState> {
    let command = DriveCommand { speed, steering };
    let steps = (0..).take_while(|step| f64::from(*step) * STEP < seconds);
    let states = steps.map(|_| {
        car.step(&command, STEP);
        car.state()
    });
    states.collect()
}

#[test]
fn a_car_at_rest_remains_at_rest_on_its_suspension() {
    let mut car = car();
    let states = drive(&mut car, 0.0, 0.0, 2.0);
    let last = states[states.len() - 1];
    println!("{}, {}", last.world_from_body, last.velocity);
    assert!(last.world_from_body.translation.vector.norm() < 2e-3);
    assert!(last.velocity.norm() < 1e-3);
    assert!((last.specific_force(&down()) - -down()).norm() < 1e-2);
}

/// At 1.5 m/s the rear axle's middle turns about a circle of radius L / tan(steering), to either
/// side.
#[test]
fn the_turning_radius_of_a_slow_car_is_that_of_the_bicycle_model() {
    for steering in [0.2, 0.4, -0.4] {
        let mut car = car();
        let states = drive(&mut car, 1.5, steering, 8.0);
        let last = states[states.len() - 1];
        let radius = last.velocity.norm() / last.angular_velocity.z;
        let expected = 2.6 / f64::tan(steering);
        println!("steering {steering}: radius {radius} m, expected {expected} m");
        assert!(
            (radius / expected - 1.0).abs() < 0.01,
            "{radius} against {expected}"
        );
        assert!((car.speed() - 1.5).abs() < 0.02, "{}", car.speed());
    }
}

/// It reaches its speed with its acceleration, and stops with the same.
#[test]
fn the_speed_of_a_car_follows_its_command() {
    let mut car = car();
    let states = drive(&mut car, 8.0, 0.0, 6.0);
    let at = states[2000].velocity.x;
    println!("after 2 s {at} m/s, then {}", car.speed());
    assert!((at - 4.0).abs() < 0.05, "{at}");
    assert!((car.speed() - 8.0).abs() < 0.05);
    let from = car.state().world_from_body.translation.x;
    drive(&mut car, 0.0, 0.0, 6.0);
    let way = car.state().world_from_body.translation.x - from;
    println!("stops within {way} m");
    // v^2/2a, and what the controller's 0.2 s add.
    assert!((way - 16.0).abs() < 1.0, "{way}");
    assert!(car.speed().abs() < 0.05);
}

/// Friction of 0.9 holds 0.9 g at most.
#[test]
fn tyre_forces_are_limited_by_friction() {
    let mut car = car();
    drive(&mut car, 12.0, 0.0, 8.0);
    let states = drive(&mut car, 12.0, 0.5, 2.0);
    let across = |state: &MotionState| {
        (state.world_from_body.rotation.inverse() * state.acceleration)
            .xy()
            .norm()
    };
    let mean = states[1000..].iter().map(across).sum::<f64>() / 1000.0;
    println!(
        "{mean} m/s^2 across; L v^2/tan would be {}",
        144.0 * 0.5_f64.tan() / 2.6
    );
    assert!((0.5 * 8.83..1.1 * 8.83).contains(&mean), "{mean}");
}

#[test]
fn the_same_drive_gives_the_same_numbers() {
    let run = || {
        let mut car = car();
        let mut states = drive(&mut car, 6.0, 0.1, 1.5);
        states.extend(drive(&mut car, 3.0, -0.3, 1.5));
        states
    };
    let (first, second) = (run(), run());
    assert_eq!(first.len(), 3000);
    assert!(first == second, "not the same again");
}
