//! Command-driven robots: URDF with masses and joints, and the `[dynamics]` table.

#[cfg(feature = "rapier")]
use etendue_config::robot::load;
use etendue_config::robot::{MoverModel, Orders, Urdf, parse};
use etendue_config::toml_file::Document;
use etendue_sensors::dynamics::jointed::JointKind;
use etendue_sensors::rig::nanoseconds;
#[cfg(feature = "rapier")]
use nalgebra::Isometry3;
use nalgebra::Vector3;
use std::path::Path;

const ARM: &str = r#"<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial>
      <origin xyz="0 0 0.5" rpy="0 0 1.5707963267948966"/>
      <mass value="2"/>
      <inertia ixx="0.1" iyy="0.2" izz="0.25" ixy="0" ixz="0" iyz="0"/>
    </inertial>
    <collision><geometry><cylinder radius="0.05" length="0.9"/></geometry></collision>
  </link>
  <link name="tip"/>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/>
    <origin xyz="0 0 1"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="2" effort="30" velocity="3"/>
    <dynamics damping="0.5"/>
  </joint>
  <joint name="end" type="fixed">
    <parent link="upper"/><child link="tip"/><origin xyz="0 0 1"/>
  </joint>
</robot>"#;

fn urdf(text: &str) -> Urdf {
    Urdf::parse(Path::new("arm.urdf"), text).expect("frames")
}

#[test]
fn a_urdf_file_gives_masses_shapes_and_joints() {
    let robot = urdf(ARM).robot(true).expect("a robot");
    assert_eq!(robot.bodies().len(), 2);
    let arm = &robot.bodies()[1];
    assert_eq!(arm.links.len(), 2);
    let inertia = arm.inertia.expect("it weighs");
    assert!((inertia.mass - 2.0).abs() < 1e-12);
    assert!((inertia.centre.z - 0.5).abs() < 1e-12);
    // After a rotation of 90 degrees about z, x and y are exchanged.
    assert!(
        (inertia.tensor[(0, 0)] - 0.2).abs() < 1e-12,
        "{}",
        inertia.tensor
    );
    let joint = robot.moving_joints().next().expect("a joint");
    assert_eq!(joint.kind, JointKind::Revolute);
    assert_eq!(joint.limits, Some([-1.0, 2.0]));
    assert_eq!(
        [joint.effort, joint.velocity, joint.damping],
        [30.0, 3.0, 0.5]
    );
    let poses = robot.poses(&[std::f64::consts::FRAC_PI_2]);
    let tip = poses[1] * arm.links[1].1;
    assert!((tip.translation.vector - Vector3::new(1.0, 0.0, 1.0)).norm() < 1e-12);
}

/// Each error contains the line.
#[test]
fn errors_give_the_line_of_unsupported_bodies() {
    let limit = "<limit lower=\"-1\" upper=\"2\" effort=\"30\" velocity=\"3\"/>";
    let cases = [
        (
            "<mass value=\"2\"/>",
            "<mass value=\"0\"/>",
            "line 3, column 3: the link \"upper\": its mass is 0 kg",
        ),
        (
            "ixx=\"0.1\"",
            "ixx=\"0\"",
            "its principal moment of inertia",
        ),
        (
            "izz=\"0.25\"",
            "izz=\"0.9\"",
            "one is more than the sum of the others",
        ),
        (
            limit,
            "",
            "line 12, column 3: the joint \"shoulder\": it has no limits",
        ),
        (
            "upper=\"2\" ",
            "upper=\"-3\" ",
            "its limits -1 to -3 are not ascending",
        ),
        (
            "<axis xyz=\"0 1 0\"/>",
            "<axis xyz=\"0 0 0\"/>",
            "has no axis",
        ),
        (
            "type=\"revolute\"",
            "type=\"floating\"",
            "of type \"floating\" is not supported",
        ),
        (
            limit,
            "<limit lower=\"-1\" upper=\"2\"/><mimic joint=\"end\"/>",
            "that mimics another",
        ),
    ];
    for (from, to, expected) in cases {
        assert!(ARM.contains(from), "{from}");
        let error = urdf(&ARM.replacen(from, to, 1)).robot(true);
        let error = error.expect_err("refused").to_string();
        assert!(error.contains(expected), "{error}");
    }
    let weightless = ARM.replace("type=\"fixed\"", "type=\"continuous\"");
    let error = urdf(&weightless).robot(true).expect_err("refused");
    assert!(
        error
            .to_string()
            .contains("the link \"tip\" moves and has no mass"),
        "{error}"
    );
    let free = urdf(ARM).robot(false).expect_err("refused").to_string();
    assert!(
        free.contains("the link \"base\" moves and has no mass"),
        "{free}"
    );
    for (from, to, expected) in [
        (
            "radius=\"0.05\"",
            "radius=\"-1\"",
            "the radius -1 m is not above zero",
        ),
        ("<mass value=\"2\"/>", "", "<inertial> has no <mass>"),
        (
            "<mass value=\"2\"/>",
            "<mass value=\"two\"/>",
            "value=\"two\" is not a number",
        ),
        (
            "type=\"revolute\"",
            "type=\"bendy\"",
            "unknown joint type \"bendy\"",
        ),
        (
            "<cylinder radius=\"0.05\" length=\"0.9\"/>",
            "<cone/>",
            "unknown shape <cone>",
        ),
    ] {
        let text = ARM.replacen(from, to, 1);
        let error = Urdf::parse(Path::new("arm.urdf"), &text)
            .expect_err("refused")
            .to_string();
        assert!(error.contains(expected), "{error}");
    }
}

const CAR: &str = r#"
version = 1
scene = "arena"
[dynamics]
model = "bicycle"
position_m = [1.0, 2.0, 0.0]
rotation_deg = { yaw = 90 }
[dynamics.vehicle]
wheelbase_m = 2.0
[[dynamics.drive]]
at_s = 1.0
speed_mps = 2.0
steering_deg = 10.0
[[sensors]]
name = "imu"
rate_hz = 100.0
device.imu = { preset = "adis16470" }
"#;

fn refused(text: &str) -> (String, String) {
    let error = parse(&Document::new("car.toml", text)).expect_err("refused");
    (error.to_string(), error.remedy())
}

/// It is at rest for one second, accelerates to 2 m/s in one second, and drives on a radius of L /
/// tan(10 degrees) = 11.3 m.
#[test]
fn a_robot_file_s_bicycle_drives_by_its_schedule() {
    let robot = parse(&Document::new("car.toml", CAR)).expect("a car");
    let driven = robot.driven.expect("dynamics");
    assert!(matches!(driven.mover.model, MoverModel::Bicycle(_)));
    assert_eq!(driven.schedule.at(nanoseconds(0.999)), Orders::default());
    let mut car = driven
        .mover
        .start(&robot.scene.scene, robot.environment.gravity)
        .expect("it starts");
    for step in 0..4000_i64 {
        car.step(&driven.schedule.at(step * 1_000_000), 1e-3);
    }
    let state = car.state();
    let radius = state.velocity.norm() / state.angular_velocity.z;
    assert!((state.velocity.norm() - 2.0).abs() < 1e-9);
    assert!(
        (radius - 2.0 / 10.0_f64.to_radians().tan()).abs() < 1e-6,
        "{radius}"
    );
}

#[test]
fn dynamics_that_cannot_be_are_refused_at_their_place() {
    let cases = [
        (
            "wheelbase_m = 2.0",
            "wheelbase_m = 0.0",
            "wheelbase is 0, it must be above zero",
            "correct the parameters of the vehicle",
        ),
        (
            "model = \"bicycle\"",
            "model = \"bicycle\"\nrate_hz = 0",
            "the rate is 0 Hz",
            "give a rate above zero",
        ),
        (
            "speed_mps = 2.0",
            "speed_mps = nan",
            "speed_mps is nan m/s",
            "from -10000 to 10000 m/s",
        ),
        ("speed_mps = 2.0", "speed = 2.0", "speed", "speed_mps"),
        (
            "[dynamics]",
            "[motion]\nstill = {}\n[dynamics]",
            "both [motion] and [dynamics]",
            "remove [motion]",
        ),
        (
            "[[sensors]]",
            "[[dynamics.joints]]\nname = \"a\"\n[[sensors]]",
            "a vehicle has no joints",
            "model = \"urdf\"",
        ),
        ("\"bicycle\"", "\"tricycle\"", "tricycle", ""),
    ];
    for (from, to, message, remedy) in cases {
        let (said, help) = refused(&CAR.replacen(from, to, 1));
        assert!(said.contains(message), "{said}");
        assert!(help.contains(remedy), "{said}: {help}");
    }
}

/// Without the engine, its models are errors with a remedy.
#[test]
fn the_engine_s_models_need_the_engine() {
    let text = CAR.replace("\"bicycle\"", "\"rapier-vehicle\"");
    if cfg!(feature = "rapier") {
        let robot = parse(&Document::new("car.toml", text)).expect("a car");
        let driven = robot.driven.expect("dynamics");
        assert!(matches!(driven.mover.model, MoverModel::Vehicle(_)));
        return;
    }
    let (message, remedy) = refused(&text);
    assert!(
        message.contains("car.toml:5:9: this program was built without the physics engine"),
        "{message}"
    );
    assert!(remedy.contains("--features rapier"), "{remedy}");
}

/// A robot of a URDF file with sensors on its moving bodies.
#[test]
#[cfg(feature = "rapier")]
fn a_robot_of_links_follows_its_commands_and_carries_its_sensors() {
    let folder = tempfile::tempdir().expect("a folder");
    let write =
        |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    write("arm.urdf", ARM);
    let file = r#"
version = 1
scene = "arena"
urdf = "arm.urdf"
[dynamics]
model = "urdf"
fixed_base = true
ground = "plane"
[[dynamics.joints]]
name = "shoulder"
position_deg = 60
[[sensors]]
name = "imu"
frame = "tip"
rate_hz = 100.0
device.imu = { preset = "adis16470" }
"#;
    write("robot.toml", file);
    let path = folder.path().join("robot.toml");
    let robot = load(&path).expect("a robot");
    let bodies: Vec<&str> = robot.rig.frames.bodies().collect();
    assert_eq!(bodies, ["base", "upper"]);
    assert_eq!(robot.rig.sensors()[0].body(), 1);
    let driven = robot.driven.expect("dynamics");
    let mut arm = driven
        .mover
        .start(&robot.scene.scene, robot.environment.gravity)
        .expect("it starts");
    for _ in 0..2000 {
        arm.step(&driven.schedule.at(0), 1e-3);
    }
    let state = arm.states()[1];
    let place = state.world_from_body * Isometry3::translation(0.0, 0.0, 1.0);
    let (sin, cos) = 60.0_f64.to_radians().sin_cos();
    println!("{}", place.translation.vector);
    assert!((place.translation.vector - Vector3::new(sin, 0.0, 1.0 + cos)).norm() < 0.02);
    for (from, to, message) in [
        ("\"shoulder\"", "\"sholder\"", "unknown joint \"sholder\""),
        (
            "position_deg = 60",
            "position_deg = 160",
            "beyond the limits",
        ),
        (
            "position_deg = 60",
            "position_m = 1",
            "turns and takes one command at a time",
        ),
        (
            "ground = \"plane\"",
            "servo_hz = 0",
            "the natural frequency of the servos is 0",
        ),
        (
            "fixed_base = true",
            "",
            "the link \"base\" moves and has no mass",
        ),
    ] {
        write("robot.toml", &file.replacen(from, to, 1));
        let error = load(&path).expect_err("refused").to_string();
        assert!(error.contains(message), "{error}");
    }
    let without = file.replacen("urdf = \"arm.urdf\"", "", 1);
    write("robot.toml", &without.replacen("frame = \"tip\"", "", 1));
    let error = load(&path).expect_err("refused").to_string();
    assert!(error.contains("the robot has no URDF file"), "{error}");
}

#[cfg(feature = "rapier")]
const MJCF: &str = r#"<mujoco model="hopper">
  <compiler angle="degree"/>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="trunk" pos="0 0 1">
      <freejoint/>
      <geom type="box" size="0.2 0.1 0.05" density="500"/>
      <body name="leg" pos="0 0 -0.05">
        <joint name="hip" axis="0 1 0" range="-45 90" pos="0 0 0.01" damping="0.2"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.03" mass="0.8"/>
        <body name="foot" pos="0 0 -0.4">
          <joint name="slider" type="slide" axis="0 0 1" range="-0.05 0.05"/>
          <inertial mass="0.2" pos="0 0 0" diaginertia="1e-4 1e-4 1e-4"/>
          <geom type="sphere" size="0.04"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="hip"/></actuator>
</mujoco>"#;

#[test]
#[cfg(feature = "rapier")]
fn an_mjcf_file_gives_the_same_kind_of_robot() {
    use etendue_config::robot::Mjcf;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("hopper.xml");
    let read = |text: &str| {
        std::fs::write(&path, text).expect("written");
        Mjcf::load(&path)
    };
    let hopper = read(MJCF).expect("a robot");
    assert_eq!(hopper.root, "trunk");
    assert_eq!(hopper.warnings.len(), 2, "{:?}", hopper.warnings);
    let robot = &hopper.robot;
    assert!(!robot.base_is_fixed());
    let masses: Vec<f64> = robot
        .bodies()
        .iter()
        .map(|body| body.inertia.expect("heavy").mass)
        .collect();
    assert!(
        (masses[0] - 500.0 * 0.4 * 0.2 * 0.1).abs() < 1e-9,
        "{masses:?}"
    );
    assert!((masses[1] - 0.8).abs() < 1e-12 && (masses[2] - 0.2).abs() < 1e-12);
    let joints: Vec<_> = robot.moving_joints().collect();
    assert_eq!(joints[0].kind, JointKind::Revolute);
    assert!((joints[0].limits.expect("limits")[1] - std::f64::consts::FRAC_PI_2).abs() < 1e-12);
    assert_eq!(joints[1].kind, JointKind::Prismatic);
    // Rotation by 90 degrees about the hip, 1 cm above the leg's origin.
    let poses = robot.poses(&[std::f64::consts::FRAC_PI_2, 0.0]);
    let foot = poses[2].translation.vector;
    assert!(
        (foot - Vector3::new(-0.41, 0.0, -0.04)).norm() < 1e-9,
        "{foot}"
    );
    for (from, to, message) in [
        ("<freejoint/>", "<joint/><joint/>", "neither free nor fixed"),
        ("type=\"slide\"", "type=\"ball\"", "has a ball joint"),
        (
            "type=\"sphere\"",
            "type=\"mesh\" mesh=\"shoe\"",
            "uses the mesh \"shoe\", which does not exist",
        ),
        ("mass=\"0.2\"", "mass=\"0\"", "its mass is 0 kg"),
        ("</mujoco>", "", "XML"),
    ] {
        let error = read(&MJCF.replacen(from, to, 1))
            .expect_err("refused")
            .to_string();
        assert!(error.contains(message), "{error}");
    }
}
