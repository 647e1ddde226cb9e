//! Bodies that fall and meet.

use super::{G, STEP, down};
use etendue_sensors::dynamics::jointed::{Inertia, Shape};
use etendue_sensors::dynamics::rapier::{BodyNumber, Engine};
use nalgebra::{Isometry3, Matrix3, Point3, Vector3};

const RADIUS: f64 = 0.1;
const BALL: Shape = Shape::Sphere { radius: RADIUS };

/// A solid ball.
fn ball(mass: f64) -> Inertia {
    Inertia {
        mass,
        centre: Point3::origin(),
        tensor: Matrix3::identity() * (0.4 * mass * RADIUS * RADIUS),
    }
}

/// Semi-implicit Euler in four parts of a step is ahead by g t dt/8: 1.2 mm of 4.9 m after a second.
#[test]
fn a_body_falls_by_half_g_t_squared() {
    let mut engine = Engine::new(down());
    let start = Isometry3::translation(0.0, 0.0, 100.0);
    let thrown = Vector3::new(2.0, 0.0, 3.0);
    let body = engine
        .add_body(&ball(2.0), &BALL, 0.0, &start, &thrown)
        .expect("a ball");
    for _ in 0..1000 {
        engine.step(STEP);
    }
    let state = engine.state(body);
    let at = state.world_from_body.translation;
    println!("fell to {}, {}", at.x, at.z);
    assert!((at.z - (100.0 + 3.0 - 0.5 * G)).abs() < 2e-3, "{}", at.z);
    assert!((at.x - 2.0).abs() < 1e-9, "{}", at.x);
    assert!((state.velocity.z - (3.0 - G)).abs() < 1e-9);
    // An accelerometer on it reads nothing.
    assert!(state.specific_force(&down()).norm() < 1e-9);
}

/// Two balls of 1 and 3 kg that meet head on with a restitution.
fn collide(restitution: f64) -> [f64; 2] {
    let mut engine = Engine::new(Vector3::zeros());
    let mut add = |mass, x, speed: f64| -> BodyNumber {
        let place = Isometry3::translation(x, 0.0, 0.0);
        let velocity = Vector3::x() * speed;
        let added = engine.add_body(&ball(mass), &BALL, restitution, &place, &velocity);
        added.expect("a ball")
    };
    let balls = [add(1.0, -0.5, 2.0), add(3.0, 0.5, -1.0)];
    for _ in 0..1000 {
        engine.step(STEP);
    }
    balls.map(|body| engine.state(body).velocity.x)
}

/// Elastic: momentum and energy stay, so that velocities are mirrored at that of the centre of mass,
/// -0.25 m/s. Plastic: both go on with it.
#[test]
fn a_collision_conserves_momentum_and_has_the_energy_of_its_restitution() {
    let [light, heavy] = collide(1.0);
    println!("elastic: {light}, {heavy}");
    assert!((light + 3.0 * heavy + 1.0).abs() < 1e-9);
    let energy = 0.5 * light * light + 1.5 * heavy * heavy;
    assert!((energy - 3.5).abs() < 1e-6, "{energy}");
    assert!((light + 2.5).abs() < 1e-6 && (heavy - 0.5).abs() < 1e-6);
    let [light, heavy] = collide(0.0);
    println!("plastic: {light}, {heavy}");
    assert!((light + 3.0 * heavy + 1.0).abs() < 1e-9);
    assert!((light + 0.25).abs() < 1e-3 && (heavy + 0.25).abs() < 1e-3);
}

/// A ball that was laid on the plane stays there.
#[test]
fn bodies_on_the_ground_remain_at_rest() {
    let mut engine = Engine::new(down());
    engine.add_ground_plane();
    let place = Isometry3::translation(0.0, 0.0, RADIUS);
    let body = engine.add_body(&ball(1.0), &BALL, 0.0, &place, &Vector3::zeros());
    let body = body.expect("a ball");
    for _ in 0..1000 {
        engine.step(STEP);
    }
    let state = engine.state(body);
    println!("lies at {}", state.world_from_body.translation.z);
    assert!((state.world_from_body.translation.z - RADIUS).abs() < 1e-3);
    assert!(state.velocity.norm() < 1e-3);
}
