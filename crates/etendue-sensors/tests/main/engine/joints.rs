//! Robots of links and joints.

use super::{G, STEP, down};
use etendue_sensors::dynamics::Dynamics;
use etendue_sensors::dynamics::jointed::{
    Inertia, Joint, JointCommand, JointKind, JointedRobot, Link, PlacedShape, Shape,
};
use etendue_sensors::dynamics::rapier::{Engine, RobotInEngine};
use nalgebra::{Isometry3, Point3, Vector3};
use std::f64::consts::TAU;

fn link(name: &str, inertia: Option<Inertia>) -> Link {
    Link {
        name: name.into(),
        inertia,
        shapes: vec![],
    }
}

/// A bob of 2 kg, 0.8 m below a hinge about y.
fn pendulum(damping: f64) -> JointedRobot {
    let bob = Inertia {
        centre: Point3::new(0.0, 0.0, -0.8),
        ..Inertia::of_cuboid(2.0, [0.1; 3])
    };
    let hinge = Joint {
        axis: Vector3::y(),
        damping,
        ..Joint::new("hinge", JointKind::Continuous, 0, 1)
    };
    let links = vec![link("post", None), link("bob", Some(bob))];
    JointedRobot::new(links, vec![hinge], true).expect("a robot")
}

fn inertia_about_hinge() -> f64 {
    2.0 * 0.8 * 0.8 + 2.0 * (0.01 + 0.01) / 12.0
}

/// Times at which a coordinate passes a level upwards.
fn crossings(robot: &mut RobotInEngine, level: f64, steps: u32) -> Vec<f64> {
    let mut last = robot.positions()[0];
    let mut times = Vec::new();
    for step in 0..steps {
        robot.step(&vec![JointCommand::Free], STEP);
        let now = robot.positions()[0];
        if last < level && now >= level {
            times.push((f64::from(step) + (level - last) / (now - last)) * STEP);
        }
        last = now;
    }
    times
}

/// From 0.05 rad: 2 pi sqrt(I / m g l) (1 + 0.05^2/16), and its energy stays.
#[test]
fn a_pendulum_swings_with_its_small_angle_period() {
    let start = Isometry3::rotation(Vector3::y() * 0.05);
    let mut robot =
        RobotInEngine::new(Engine::new(down()), &pendulum(0.0), &start, 5.0).expect("no mesh");
    let before = robot.energy();
    let times = crossings(&mut robot, -0.05, 10_000);
    let period = (times[times.len() - 1] - times[0]) / (times.len() - 1) as f64;
    let expected = TAU * (inertia_about_hinge() / (2.0 * G * 0.8)).sqrt() * (1.0 + 0.0025 / 16.0);
    let swing = 2.0 * G * 0.8 * (1.0 - 0.05_f64.cos());
    let lost = (robot.energy() - before) / swing;
    println!("period {period} s, expected {expected} s, energy changed by {lost} of the swing's");
    assert!(times.len() >= 5);
    assert!(
        (period / expected - 1.0).abs() < 1e-3,
        "{period} against {expected}"
    );
    assert!(lost.abs() < 0.02, "{lost}");
}

/// With damping c, the amplitude falls by exp(-c t / 2 I).
#[test]
fn the_damping_of_a_joint_is_that_of_its_description() {
    let start = Isometry3::rotation(Vector3::y() * 0.05);
    let damping = 0.5;
    let mut robot =
        RobotInEngine::new(Engine::new(down()), &pendulum(damping), &start, 5.0).expect("no mesh");
    let mut highest = 0.0_f64;
    for step in 0..8000 {
        robot.step(&vec![JointCommand::Free], STEP);
        if step > 6000 {
            highest = highest.max((robot.positions()[0] + 0.05).abs());
        }
    }
    // The highest point after 6 s is within the first half swing.
    let share = |time: f64| 0.05 * (-damping * time / (2.0 * inertia_about_hinge())).exp();
    println!("{highest} between {} and {}", share(6.95), share(6.0));
    assert!((share(6.95)..share(6.0)).contains(&highest), "{highest}");
}

/// A slide that its motor moves: to a position within its limits, against its limits, and with a
/// force, a = F/m. The engine takes a new force up a quarter of a step late: 0.7995 m/s measured.
#[test]
fn motors_follow_their_commands() {
    let slide = || {
        let joint = Joint {
            limits: Some([-0.5, 0.5]),
            effort: 50.0,
            ..Joint::new("slide", JointKind::Prismatic, 0, 1)
        };
        let mass = Inertia::of_cuboid(2.0, [0.1; 3]);
        let links = vec![link("rail", None), link("sledge", Some(mass))];
        let robot = JointedRobot::new(links, vec![joint], true).expect("a robot");
        RobotInEngine::new(Engine::new(down()), &robot, &Isometry3::identity(), 5.0)
            .expect("no mesh")
    };
    let run = |command: JointCommand, steps: u32| {
        let mut robot = slide();
        for _ in 0..steps {
            robot.step(&vec![command], STEP);
        }
        (robot.positions()[0], robot.states()[1])
    };
    let (position, state) = run(JointCommand::Position(0.3), 1500);
    println!("position {position}");
    assert!((position - 0.3).abs() < 1e-4, "{position}");
    assert!((state.world_from_body.translation.x - position).abs() < 1e-9);
    let (position, _) = run(JointCommand::Velocity(2.0), 2000);
    println!("at its limit {position}");
    assert!((position - 0.5).abs() < 5e-3, "{position}");
    let (position, state) = run(JointCommand::Effort(4.0), 400);
    println!("pushed to {position} at {}", state.velocity.x);
    assert!(
        (state.velocity.x - 0.8).abs() < 1e-3,
        "{}",
        state.velocity.x
    );
    assert!((position - 0.16).abs() < 1e-3, "{position}");
    // Beyond what its motor can do.
    let (_, state) = run(JointCommand::Effort(1e4), 20);
    assert!(
        (state.velocity.x - 0.5).abs() < 0.01,
        "{}",
        state.velocity.x
    );
}

/// Two wheels of 0.1 m on the ground that turn at 5 rad/s carry their cart at 0.5 m/s.
#[test]
fn wheels_roll_without_slip() {
    let wheel = |name: &str| Link {
        shapes: vec![PlacedShape {
            link_from_shape: Isometry3::rotation(Vector3::x() * std::f64::consts::FRAC_PI_2),
            shape: Shape::Cylinder {
                radius: 0.1,
                length: 0.04,
            },
        }],
        ..link(name, Some(Inertia::of_cuboid(0.5, [0.14, 0.04, 0.14])))
    };
    let caster = PlacedShape {
        link_from_shape: Isometry3::translation(0.3, 0.0, -0.05),
        shape: Shape::Sphere { radius: 0.05 },
    };
    let body = Link {
        shapes: vec![caster],
        ..link("body", Some(Inertia::of_cuboid(4.0, [0.4, 0.3, 0.1])))
    };
    let axle = |name: &str, child, y| Joint {
        axis: Vector3::y(),
        effort: 5.0,
        parent_from_joint: Isometry3::translation(-0.1, y, 0.0),
        ..Joint::new(name, JointKind::Continuous, 0, child)
    };
    let joints = vec![axle("left", 1, 0.2), axle("right", 2, -0.2)];
    let links = vec![body, wheel("left wheel"), wheel("right wheel")];
    let robot = JointedRobot::new(links, joints, false).expect("a robot");
    let mut engine = Engine::new(down());
    engine.add_ground_plane();
    let start = Isometry3::translation(0.0, 0.0, 0.1);
    let mut robot = RobotInEngine::new(engine, &robot, &start, 5.0).expect("no mesh");
    let command = vec![JointCommand::Velocity(5.0); 2];
    for _ in 0..2000 {
        robot.step(&command, STEP);
    }
    let state = robot.state();
    println!("{} at {}", state.velocity, state.world_from_body);
    assert!((state.velocity.x - 0.5).abs() < 0.01, "{}", state.velocity);
    assert!((state.world_from_body.translation.z - 0.1).abs() < 2e-3);
    assert!(state.velocity.yz().norm() < 0.01);
}
