//! Sensors that ride on bodies of the engine.

use super::down;
use crate::rig::room;
use etendue_sensors::dynamics::jointed::{
    Inertia, Joint, JointCommand, JointKind, JointedRobot, Link,
};
use etendue_sensors::dynamics::rapier::{Engine, RobotInEngine};
use etendue_sensors::rig::{
    ControlPlan, Data, Device, Environment, Event, FrameDeclaration, FrameTree, LatestData, Mount,
    Rate, Rig, RigRun, SECOND, drive,
};
use nalgebra::{Isometry3, Vector3};
use std::ops::ControlFlow;

/// A turntable on a fixed post.
fn turntable() -> RobotInEngine {
    let link = |name: &str, inertia| Link {
        name: name.into(),
        inertia,
        shapes: vec![],
    };
    let table = Inertia::of_cuboid(3.0, [1.0, 1.0, 0.1]);
    let hinge = Joint {
        axis: Vector3::z(),
        ..Joint::new("hinge", JointKind::Continuous, 0, 1)
    };
    let links = vec![link("post", None), link("table", Some(table))];
    let robot = JointedRobot::new(links, vec![hinge], true).expect("a robot");
    let start = Isometry3::translation(0.0, 0.0, 1.0);
    RobotInEngine::new(Engine::new(down()), &robot, &start, 5.0).expect("no mesh")
}

/// An inertial unit on the post, and one 0.4 m out on the table.
fn units() -> Rig {
    let table = FrameDeclaration {
        name: "table".into(),
        parent: "post".into(),
        parent_from_frame: Isometry3::identity(),
        moves: true,
    };
    let frames = FrameTree::new("post", &[table]).expect("frames");
    let mut rig = Rig::new(frames);
    for (frame, x) in [("post", 0.0), ("table", 0.4)] {
        let mount = Mount {
            name: format!("imu on {frame}"),
            frame: frame.into(),
            frame_from_sensor: Isometry3::translation(x, 0.0, 0.0),
            rate: Some(100.0),
            offset: 0.0,
            window: Some(0.01),
            latency: 0.0,
            filters: vec![],
        };
        rig.mount(mount, Device::Imu(Box::default()))
            .expect("it fits");
    }
    rig
}

fn run(threads: usize) -> Vec<Event> {
    let (rig, scene, environment) = (units(), room(), Environment::default());
    let rate = |hertz| Rate::from_hertz(hertz).expect("a rate");
    let plan = ControlPlan {
        dynamics: rate(1000.0),
        control: rate(50.0),
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.expect("threads").install(|| {
        let mut run = RigRun::new(&rig, &scene, &environment, 1, SECOND).expect("it runs");
        let mut robot = turntable();
        let mut events = Vec::new();
        let mut keep = |event: &Event| {
            events.push(event.clone());
            ControlFlow::Continue(())
        };
        let told = |_: &LatestData, _: i64| vec![JointCommand::Velocity(3.0)];
        drive(&mut run, &mut robot, &plan, told, &mut keep);
        events
    })
}

/// The unit on the post reads gravity and nothing else, that on the table the table's rate and the
/// pull to its axis, w^2 r = 3.6 m/s^2.
#[test]
fn sensors_move_with_their_links() {
    let events = run(1);
    assert_eq!(events.len(), 200);
    let last = |sensor| {
        let found = events.iter().rfind(|event| event.sensor == sensor);
        match found.map(|event| &event.data) {
            Some(Data::Imu(reading)) => *reading,
            _ => panic!("an inertial reading"),
        }
    };
    let gravity = -Environment::default().gravity;
    let [post, table] = [0, 1].map(last);
    println!("{:?}, {:?}", post, table);
    assert!((post.specific_force - gravity).norm() < 1e-9);
    assert!(post.angular_velocity.norm() < 1e-9);
    assert!((table.angular_velocity - Vector3::z() * 3.0).norm() < 1e-3);
    let pull = Vector3::new(-9.0 * 0.4, 0.0, 0.0);
    assert!((table.specific_force - gravity - pull).norm() < 0.01);
}

#[test]
fn results_do_not_depend_on_threads() {
    assert!(run(1) == run(2), "threads show");
}
