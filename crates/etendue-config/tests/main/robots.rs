//! Robot files, device presets, URDF, NMEA and recordings of rigs.

use crate::recordings::recording;
use etendue_config::ConfigError;
use etendue_config::robot::{
    Registry, RobotTrajectory, Urdf, UserFilterMaker, device_presets, load, load_with, parse,
    preset_device,
};
use etendue_config::toml_file::Document;
use etendue_io::nmea::sentences;
use etendue_io::ros2::RigRecorder;
use etendue_physics::gnss::{Geodetic, GnssFix, GnssFixKind, GnssSolution, SkyView};
use etendue_sensors::filter::{FilterContext, FilterRun, UserFilter};
use etendue_sensors::rig::{Data, DataKind, Device, MountedSensor, RigRun, SECOND, replay};
use nalgebra::Vector3;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

const CART: &str = r#"
version = 1
scene = "arena"
motion.circle = { radius_m = 0.2, speed_mps = 0.1, position_m = [0.0, -0.2, 0.0] }

[place]
latitude_deg = 48.1
longitude_deg = 11.6
start = 2026-06-01T12:00:00Z

[[frames]]
name = "head"
parent = "mast"
position_m = [0.0, 0.0, 0.1]

[[frames]]
name = "mast"
position_m = [0.05, 0.0, 0.0]

[[sensors]]
name = "lidar"
frame = "head"
lag_ms = 20.0
device.lidar = { preset = "hokuyo-urg-04lx" }
filters = [{ tap = { name = "raw" } }, "to_cloud", { compensate = { at = 0.0 } }]

[[sensors]]
name = "imu"
rate_hz = 100.0
window_ms = 10.0
device.imu = { preset = "bosch-bmi088" }

[[sensors]]
name = "gnss"
rate_hz = 5.0
device.gnss = { preset = "ublox-neo-m8n" }
"#;

fn cart(text: &str) -> Document {
    Document::new("cart.toml", text)
}

fn error_of(from: &str, to: &str) -> ConfigError {
    assert!(CART.contains(from), "{from}");
    let text = CART.replacen(from, to, 1);
    parse(&cart(&text)).expect_err("it is invalid")
}

#[test]
fn a_robot_file_gives_a_rig() {
    let robot = parse(&cart(CART)).expect("a robot");
    let names: Vec<_> = robot
        .rig
        .sensors()
        .iter()
        .map(MountedSensor::name)
        .collect();
    assert_eq!(names, ["lidar", "imu", "gnss"]);
    assert_eq!(robot.topics[0], ["/lidar", "/raw"]);
    let lidar = &robot.rig.sensors()[0];
    assert!(
        (lidar.base_from_sensor().translation.vector - Vector3::new(0.05, 0.0, 0.1)).norm() < 1e-12
    );
    let kinds: Vec<_> = lidar.graph().outputs().collect();
    assert_eq!(kinds, [DataKind::Cloud, DataKind::Points]);
    assert_eq!(lidar.clock().latency, 20_000_000);
    assert!(matches!(robot.motion, RobotTrajectory::Circle(_)));
    assert!((robot.environment.gravity.z + 9.8085).abs() < 1e-3);
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table of cases")]
fn what_cannot_be_is_refused_at_its_place_with_a_remedy() {
    let cases = [
        (
            "frame = \"head\"",
            "frame = \"haed\"",
            "unknown frame \"haed\"",
            "did you mean \"head\"?",
        ),
        (
            "parent = \"mast\"",
            "parent = \"mats\"",
            "unknown frame \"mats\"",
            "did you mean \"mast\"?",
        ),
        (
            "name = \"mast\"",
            "name = \"mast\"\nparent = \"head\"",
            "is its own ancestor, through",
            "put one of these frames on the base",
        ),
        (
            "rate_hz = 100.0",
            "rate_hz = 0.0",
            "rate_hz is 0.0 Hz",
            "from 0.001 to 100000 Hz",
        ),
        (
            "lag_ms = 20.0",
            "lag_ms = -20.0",
            "lag_ms is -20.0 ms",
            "from 0 to 10000000 ms",
        ),
        (
            "window_ms = 10.0",
            "window_ms = 11.0",
            "the collection window is 0.011",
            "give a window that fits",
        ),
        ("rate_hz = 100.0\n", "", "has no rate", "add rate_hz"),
        (
            "lag_ms = 20.0",
            "rate_hz = 50.0",
            "is given by its description: 10 Hz",
            "remove this key",
        ),
        (
            "\"to_cloud\", ",
            "",
            "filter 1, compensate, does not accept sweeps of a lidar",
            "add a filter before it",
        ),
        (
            "compensate = { at",
            "compensat = { at",
            "unknown choice \"compensat\"",
            "did you mean \"compensate\"?",
        ),
        (
            "bosch-bmi088",
            "bosch-bmi08",
            "unknown device preset \"bosch-bmi08\"",
            "did you mean \"bosch-bmi088\"?",
        ),
        (
            "hokuyo-urg-04lx",
            "hokuyo-urg",
            "unknown sensor preset \"hokuyo-urg\"",
            "did you mean",
        ),
        (
            "\"arena\"",
            "\"aren\"",
            "unknown scene \"aren\"",
            "did you mean \"arena\"?",
        ),
        (
            "window_ms",
            "windw_ms",
            "unknown key \"windw_ms\"",
            "did you mean \"window_ms\"?",
        ),
        (
            "name = \"raw\"",
            "name = \"lidar\"",
            "two outputs are named \"lidar\"",
            "its own name",
        ),
        (
            "latitude_deg = 48.1",
            "latitude_deg = 148.1",
            "latitude_deg is 148.1 deg",
            "from -90 to 90",
        ),
        (
            "radius_m = 0.2",
            "radius_m = 0.0",
            "the radius of the circle is 0 m",
            "not zero",
        ),
        (
            "version = 1",
            "version = 3",
            "version 3 is not known",
            "write \"version = 1\"",
        ),
    ];
    for (from, to, message, remedy) in cases {
        let error = error_of(from, to);
        let text = error.to_string();
        assert!(text.starts_with("cart.toml:"), "{text}");
        assert!(text.contains(message), "{from} -> {to}: {text}");
        assert!(
            error.remedy().contains(remedy),
            "{text}: {}",
            error.remedy()
        );
        assert!(!text.starts_with("cart.toml:1:1:"), "no place: {text}");
    }
}

#[test]
fn every_device_that_comes_with_the_library_can_be_mounted() {
    assert_eq!(device_presets().len(), 8);
    for preset in device_presets() {
        assert!(preset_device(preset.name).is_some(), "{}", preset.name);
        assert!(preset.text.contains("sources = ["), "{}", preset.name);
    }
    let Some(Device::Imu(stim)) = preset_device("stim300") else {
        panic!("an inertial unit")
    };
    // 0.15 °/√h is 0.0025 °/s/√Hz; the minimum of the Allan deviation is 0.5 °/h.
    assert!((stim.gyroscope.density.to_degrees() * 60.0 - 0.15).abs() < 1e-9);
    // Up to 3000 s: the flicker noise spans 10,000 s, and the curve decreases beyond.
    let lowest = (0..44)
        .map(|i| stim.gyroscope.allan_variance(1.2_f64.powi(i)).sqrt())
        .fold(f64::INFINITY, f64::min);
    let per_hour = lowest.to_degrees() * 3600.0;
    assert!((per_hour / 0.5 - 1.0).abs() < 0.1, "{per_hour}");
}

const ARM: &str = r#"<robot name="arm">
  <link name="torso"/>
  <link name="upper"/>
  <link name="hand"><visual><geometry>MESH</geometry></visual></link>
  <joint name="shoulder" type="revolute">
    <parent link="torso"/><child link="upper"/>
    <origin xyz="0 0.2 0.4" rpy="0 0 1.5707963267948966"/>
  </joint>
  <joint name="wrist" type="fixed">
    <parent link="upper"/><child link="hand"/><origin xyz="0.3 0 0"/>
  </joint>
</robot>"#;

#[test]
fn a_urdf_file_gives_frames_and_errors_with_lines() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("arm.urdf");
    let plain = ARM.replace("MESH", "<box size=\"1 1 1\"/>");
    let urdf = Urdf::parse(&path, &plain).expect("an arm");
    assert_eq!(urdf.root(), "torso");
    let frames = urdf.frames_on("torso").expect("a link");
    let hand = frames
        .iter()
        .find(|frame| frame.name == "hand")
        .expect("there");
    let place = hand.parent_from_frame.translation.vector;
    assert!(
        (place - Vector3::new(0.0, 0.5, 0.4)).norm() < 1e-12,
        "{place}"
    );

    let error = |text: &str| Urdf::parse(&path, text).expect_err("refused").to_string();
    let mesh = ARM.replace("MESH", "<mesh filename=\"package://arm/hand.stl\"/>");
    let missing = error(&mesh);
    assert!(
        missing.contains("line 4, column 39: the mesh package://arm/hand.stl does not exist"),
        "{missing}"
    );
    std::fs::create_dir(folder.path().join("arm")).expect("a folder");
    std::fs::write(folder.path().join("arm/hand.stl"), "solid").expect("a file");
    assert!(Urdf::parse(&path, &mesh).is_ok());

    assert!(
        error(&plain.replace("child link=\"hand\"", "child link=\"hnad\""))
            .contains("there is no link \"hnad\"")
    );
    let circle = plain.replace("<child link=\"hand\"/>", "<child link=\"torso\"/>");
    assert!(
        error(&circle).contains("is its own ancestor"),
        "{}",
        error(&circle)
    );
    assert!(error(&plain.replace("0.3 0 0", "0.3 0")).contains("is not three numbers"));
    assert!(error("<robot><link name=\"a\"").contains("line 1"));
}

/// The cart with frames of the arm; the lidar is mounted on the hand.
#[test]
fn sensors_sit_on_links_of_a_urdf_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let write =
        |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    write("arm.urdf", &ARM.replace("MESH", "<box size=\"1 1 1\"/>"));
    let robot = CART
        .replace(
            "scene = \"arena\"",
            "scene = \"arena\"\nurdf = \"arm.urdf\"",
        )
        .replace("frame = \"head\"", "frame = \"hand\"");
    write("robot.toml", &robot);
    let robot = load(&folder.path().join("robot.toml")).expect("a robot");
    assert_eq!(robot.rig.frames.base(), "torso");
    let place = robot.rig.sensors()[0].base_from_sensor().translation.vector;
    assert!((place - Vector3::new(0.0, 0.5, 0.4)).norm() < 1e-12);
}

/// A user filter: pressures times a gain.
#[derive(Debug)]
struct Gain(f64);

impl UserFilter for Gain {
    fn name(&self) -> &'static str {
        "gain"
    }

    fn output(&self, input: DataKind) -> Option<DataKind> {
        (input == DataKind::Pressure).then_some(input)
    }

    fn start(&self) -> Box<dyn FilterRun> {
        let gain = self.0;
        Box::new(move |data, _: &FilterContext| match data {
            Data::Pressure(pressure) => Data::Pressure(gain * pressure),
            other => other,
        })
    }
}

fn make_gain(parameters: &BTreeMap<String, f64>) -> Result<Arc<dyn UserFilter>, String> {
    let gain = parameters.get("gain").ok_or("it needs a gain")?;
    Ok(Arc::new(Gain(*gain)))
}

/// A robot file refers to a filter of the program that reads it, with parameters.
#[test]
fn a_robot_file_names_filters_of_the_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("robot.toml");
    let registry = Registry::from([("gain".to_owned(), make_gain as UserFilterMaker)]);
    let load = |device: &str, filter: &str| {
        let text = format!(
            "version = 1\nscene = \"arena\"\n[[sensors]]\nname = \"air\"\nrate_hz = 10.0\n\
             device.{device}\nfilters = [{{ user = {filter} }}]\n"
        );
        std::fs::write(&path, text).expect("written");
        load_with(&path, &registry)
    };
    let barometer = "barometer = { preset = \"bosch-bmp388\" }";
    let robot = load(
        barometer,
        "{ name = \"gain\", parameters = { gain = 2.0 } }",
    );
    let robot = robot.expect("a robot");
    let environment = &robot.environment;
    let mut run =
        RigRun::new(&robot.rig, &robot.scene.scene, environment, 1, SECOND).expect("runs");
    let mut pressures = Vec::new();
    replay(&mut run, &robot.motion, |event| {
        if let Data::Pressure(pressure) = event.data {
            pressures.push(pressure);
        }
        ControlFlow::Continue(())
    });
    assert_eq!(pressures.len(), 10);
    assert!(
        pressures
            .iter()
            .all(|pressure| (1.8e5..2.2e5).contains(pressure))
    );
    let refused = |device, filter| load(device, filter).expect_err("refused").to_string();
    let unknown = refused(barometer, "{ name = \"gian\" }");
    assert!(
        unknown.contains("unknown user filter \"gian\""),
        "{unknown}"
    );
    let numberless = refused(barometer, "{ name = \"gain\" }");
    assert!(numberless.contains("it needs a gain"), "{numberless}");
    let imu = "imu = { preset = \"adis16470\" }";
    let misfit = refused(imu, "{ name = \"gain\", parameters = { gain = 2.0 } }");
    assert!(
        misfit.contains("gain, does not accept inertial readings"),
        "{misfit}"
    );
}

/// Sentences of real receivers: the computed checksum matches all 5748, and written sentences have
/// the same fields.
#[test]
#[ignore = "needs recordings: see CONTRIBUTING.md"]
fn sentences_are_built_as_those_of_real_receivers() {
    let path = recording("nmea_logs/signalk_gps.log");
    let log = std::fs::read_to_string(path).expect("a text");
    let recorded: Vec<(&str, usize)> = log.lines().filter_map(sentence).collect();
    assert_eq!(recorded.len(), 5748);
    let fix = GnssFix {
        solution: Some(GnssSolution {
            position: Geodetic::from_degrees(52.37, 4.91, 40.0),
            velocity: Vector3::new(1.0, 2.0, 0.0),
            variance: Vector3::new(4.0, 4.0, 9.0),
            kind: GnssFixKind::Autonomous,
        }),
        sky: SkyView {
            used: 4,
            horizontal: 2.0,
            vertical: 3.0,
        },
    };
    let own = sentences(&fix, 1_780_315_200.0);
    let own: Vec<(&str, usize)> = own.lines().filter_map(sentence).collect();
    assert_eq!(own.len(), 3);
    for kind in ["GPGGA", "GPRMC"] {
        let fields =
            |all: &[(&str, usize)]| all.iter().find(|(name, _)| *name == kind).map(|s| s.1);
        println!(
            "{kind}: {:?} fields, recorded {:?}",
            fields(&own),
            fields(&recorded)
        );
        assert!(fields(&own).is_some() && fields(&own) == fields(&recorded));
    }
}

/// Name and number of fields of a sentence with a valid checksum.
fn sentence(line: &str) -> Option<(&str, usize)> {
    let (body, sum) = line.trim().strip_prefix('$')?.split_once('*')?;
    let own = body.bytes().fold(0, |sum, byte| sum ^ byte);
    let is_good = u8::from_str_radix(sum, 16) == Ok(own);
    let name = body.split(',').next()?;
    is_good.then(|| (name, body.split(',').count()))
}

#[test]
fn a_fix_without_a_position_has_empty_fields() {
    let fix = GnssFix {
        solution: None,
        sky: SkyView {
            used: 2,
            horizontal: f64::INFINITY,
            vertical: f64::INFINITY,
        },
    };
    let text = sentences(&fix, 0.0);
    assert!(text.starts_with("$GPGGA,000000.00,,,,,0,02,"), "{text}");
    assert!(text.contains("$GPRMC,000000.00,V,"), "{text}");
    for line in text.lines() {
        let (body, sum) = line[1..].split_once('*').expect("a checksum");
        let own = body.bytes().fold(0, |sum, byte| sum ^ byte);
        assert_eq!(format!("{own:02X}"), sum);
    }
}

/// One second of the cart, recorded twice.
#[test]
fn a_rig_s_recording_is_the_same_again() {
    let record = || {
        let robot = parse(&cart(CART)).expect("a robot");
        let scene = &robot.scene.scene;
        let mut run =
            RigRun::new(&robot.rig, scene, &robot.environment, 5, SECOND).expect("it runs");
        let mut recorder = RigRecorder::in_memory(&robot.rig, &robot.topics).expect("memory");
        let mut events = 0;
        replay(&mut run, &robot.motion, |event| {
            recorder.record(&event).expect("memory");
            events += 1;
            ControlFlow::Continue(())
        });
        assert_eq!(events, 2 * 10 + 100 + 5);
        recorder.into_bytes().expect("memory")
    };
    let first = record();
    assert!(first == record());
    let summary = mcap::Summary::read(&first)
        .expect("an index")
        .expect("an index");
    let topics: Vec<_> = summary.channels.values().map(|c| c.topic.clone()).collect();
    for topic in [
        "/lidar",
        "/raw",
        "/imu",
        "/gnss",
        "/odom",
        "/tf",
        "/tf_static",
    ] {
        assert!(
            topics.iter().any(|known| known == topic),
            "{topic} of {topics:?}"
        );
    }
    let count = mcap::MessageStream::new(&first).expect("messages").count();
    // A lidar with one channel records its points as a cloud and as a scan.
    assert_eq!(count, 135 + 3);
}
