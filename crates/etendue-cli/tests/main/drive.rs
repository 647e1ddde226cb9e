//! Motion, weather, several sensors, and formats on the command line.

use crate::{etendue, folder, names, results, stderr, stdout, succeed, write};

const STREET: &str = r#"
version = 1
[[objects]]
name = "road"
shape.plane = { size_m = [80, 40] }
material = "wood"
[[objects]]
name = "car"
shape.box = { size_m = [4, 1.8, 1.5] }
position_m = [10, 3, 0.75]
motion.twist = { velocity_m_s = [10, 0, 0] }
material = "white-paper"
class = "vehicle"
[sensor]
preset = "slamtec-rplidar-c1"
position_m = [0, 0, 0.5]
motion.twist = { velocity_m_s = [10, 0, 0] }
"#;

/// The car and the sensor have the same velocity: in the frame of the sensor the car is at rest.
#[test]
fn a_car_at_the_velocity_of_the_sensor_is_at_rest_in_its_frame() {
    let folder = folder();
    write(folder.path(), "street.toml", STREET);
    let simulate = [
        "simulate",
        "street.toml",
        "--frame",
        "sensor",
        "--duration",
        "0.95",
    ];
    succeed(folder.path(), &[&simulate[..], &["-o", "a.csv"]].concat());
    let text = std::fs::read_to_string(folder.path().join("a.csv")).expect("a table");
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().expect("names").split(',').collect();
    let at = |name: &str| {
        header
            .iter()
            .position(|known| *known == name)
            .expect("a field")
    };
    let x = at("x");
    let instance = at("instance");
    let sweep = at("sweep");
    let class = at("class");
    let mut nearest = [f64::INFINITY; 10];
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        assert_eq!(
            fields[class],
            if fields[instance] == "1" { "0" } else { "-1" }
        );
        if fields[instance] == "1" {
            let sweep: usize = fields[sweep].parse().expect("a number");
            nearest[sweep] = nearest[sweep].min(fields[x].parse().expect("a number"));
        }
    }
    // Its back is 8 m ahead in every one of ten sweeps, to the noise of the sensor.
    assert!(nearest.iter().all(|x| (x - 8.0).abs() < 0.2), "{nearest:?}");
}

#[test]
fn a_trajectory_moves_a_continuous_wave_lidar_too() {
    let folder = folder();
    let text = "5 0 0 0 0 0 0 1\n6 0.2 0 0 0 0 0 1\n";
    write(folder.path(), "trajectory.tum", text);
    let simulate = [
        "simulate",
        "--trajectory",
        "trajectory.tum",
        "--interpolation",
        "cubic",
    ];
    succeed(
        folder.path(),
        &[&simulate[..], &["--sweeps", "4", "-o", "a.csv"]].concat(),
    );
    let output = etendue(
        folder.path(),
        &[&simulate[..], &["--sweeps", "20"]].concat(),
    );
    assert!(
        stderr(&output).contains("the run needs poses from 5 to 7"),
        "{}",
        stderr(&output)
    );
    let both = [
        "simulate",
        "--trajectory",
        "trajectory.tum",
        "--pose",
        "0,0,0,0",
    ];
    assert!(!etendue(folder.path(), &both).status.success());
    assert_eq!(names(folder.path()), ["a.csv", "trajectory.tum"]);
}

/// A trajectory of 0.3 s has time for three sweeps, although 3 x 0.1 s is larger in floating point. A recording has
/// them all; a folder has one, and a remark names the others.
#[test]
fn a_recording_follows_a_trajectory_to_its_end() {
    let folder = folder();
    let text = "0 0 0 0 0 0 0 1\n0.3 0.2 0 0 0 0 0 1\n";
    write(folder.path(), "trajectory.tum", text);
    let simulate = |output: &str| {
        let arguments = ["simulate", "--trajectory", "trajectory.tum", "-o", output];
        succeed(folder.path(), &arguments)
    };
    let output = simulate("a.mcap");
    assert!(stdout(&output).contains("3 sweeps"), "{}", stdout(&output));
    let output = simulate("a");
    assert!(
        stderr(&output).contains("one sweep of the 0.3 s of the trajectory: --sweeps 3 gives all"),
        "{}",
        stderr(&output)
    );
}

/// With a visibility of 12 m the car 8 m ahead has no returns (0.5 % of its light returns); the returns
/// are those of the fog. The seed determines the drops.
#[test]
fn weather_removes_points_depending_on_the_seed() {
    let folder = folder();
    write(folder.path(), "street.toml", STREET);
    let table = |air: &[&str]| {
        let simulate = ["simulate", "street.toml", "-o", "a.csv"];
        succeed(folder.path(), &[&simulate[..], air].concat());
        std::fs::read_to_string(folder.path().join("a.csv")).expect("points")
    };
    let on_car = |text: &str| text.lines().filter(|line| line.ends_with(",0")).count();
    let clear = on_car(&table(&[]));
    let fog = table(&["--fog", "12"]);
    assert!(
        clear > 10 && on_car(&fog) < clear / 2,
        "{clear} {}",
        on_car(&fog)
    );
    assert!(fog.lines().count() > 100, "the fog itself is seen");
    let rain = |seed| table(&["--rain", "50", "--drops-from", "1", "--seed", seed]);
    assert_eq!(rain("4"), rain("4"));
    assert_ne!(rain("4"), rain("5"));
    let from = |mm| table(&["--rain", "50", "--drops-from", mm]);
    assert_eq!(from("0.5"), table(&["--rain", "50"]));
    assert_ne!(from("10"), from("0.5"));
    // An option replaces the weather of the same kind in the scene, and keeps other kinds.
    let dry = table(&["--rain", "50"]);
    let foggy = format!("{STREET}[atmosphere]\nfog_visibility_m = 12\nrain_mm_h = 5\n");
    write(folder.path(), "street.toml", foggy);
    let both = table(&["--rain", "50"]);
    assert_ne!(both, dry);
    assert_eq!(both, table(&["--rain", "50", "--fog", "12"]));
    let simulate = ["simulate", "street.toml", "-o", "a.csv"];
    let message = results(folder.path(), &simulate);
    assert!(
        message.contains("ranges come from the air or from noise"),
        "{message}"
    );
    // Without a range of a surface, there is no range error
    assert!(!message.contains("range error"), "{message}");
    assert_eq!(table(&["--rain", "0"]), fog);
    let dense = ["--sensor", "velodyne-vlp-16", "--rain", "0", "--fog", "0.5"];
    let dense = [&simulate[..], &dense].concat();
    let message = stderr(&etendue(folder.path(), &dense));
    assert!(
        message.contains("the air too dense (fog of 0.5 m visibility)"),
        "{message}"
    );
    for (air, expected) in [
        (
            &["--rain", "-1"][..],
            "expected zero or a number above zero",
        ),
        (&["--fog", "0"], "expected a number above zero"),
        (&["--rain", "0", "--drops-from", "1"], "but there are none"),
    ] {
        let wrong = etendue(folder.path(), &[&simulate[..], air].concat());
        let message = stderr(&wrong);
        assert!(
            !wrong.status.success() && message.contains(expected),
            "{message}"
        );
    }
}

#[test]
fn several_sensors_get_a_folder_each() {
    let folder = folder();
    let arguments = [
        "simulate",
        "--sensor",
        "slamtec-rplidar-c1@0.1,0,0,0",
        "--sensor",
        "slamtec-rplidar-c1@-0.1,0,0,180",
        "--sensor",
        "hokuyo-urg-04lx",
        "-o",
        "rig",
    ];
    succeed(folder.path(), &arguments);
    let rig = folder.path().join("rig");
    assert_eq!(
        names(&rig),
        [
            "hokuyo-urg-04lx",
            "slamtec-rplidar-c1",
            "slamtec-rplidar-c1-2"
        ]
    );
    let cloud = |name: &str| std::fs::read(rig.join(name).join("scan.pcd")).expect("points");
    assert_ne!(cloud("slamtec-rplidar-c1"), cloud("slamtec-rplidar-c1-2"));
    for (last, expected) in [
        ("x@1,2", "x"),
        (
            "slamtec-rplidar-c1@1,2",
            "invalid mount of slamtec-rplidar-c1",
        ),
    ] {
        let output = etendue(
            folder.path(),
            &[
                "simulate",
                "--sensor",
                "sick-lms-111",
                "--sensor",
                last,
                "-o",
                "no",
            ],
        );
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    }
    assert_eq!(names(folder.path()), ["rig"]);
}

#[test]
fn formats_are_converted_in_a_chain() {
    let folder = folder();
    succeed(
        folder.path(),
        &[
            "simulate",
            "--sensor",
            "slamtec-rplidar-c1",
            "--sweeps",
            "3",
            "-o",
            "a.npz",
        ],
    );
    for pair in [
        "npz mcap", "mcap pcd", "pcd ply", "ply csv", "csv e57", "e57 laz", "laz las", "las bin",
    ] {
        let (from, to) = pair.split_once(' ').expect("two extensions");
        let message = results(
            folder.path(),
            &["convert", &format!("a.{from}"), &format!("a.{to}")],
        );
        assert!(message.contains("points with x y z intensity"), "{message}");
    }
    let message = results(
        folder.path(),
        &["convert", "a.mcap", "b.ply", "--sweep", "1"],
    );
    assert!(message.contains("1 sweep,"), "{message}");
    let message = results(folder.path(), &["compare", "a.npz", "a.bin"]);
    assert!(
        message.contains("F-score: 100.00 %") && message.contains("drop-outs:"),
        "{message}"
    );
    for (arguments, expected) in [
        (vec!["convert", "a.npz", "a.xyz"], "unknown file extension"),
        (
            vec!["convert", "a.mcap", "b.ply", "--sweep", "3"],
            "its sweeps are 0 to 2",
        ),
        (vec!["convert", "none.pcap", "b.ply"], "none.pcap"),
    ] {
        let output = etendue(folder.path(), &arguments);
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
        assert!(!output.status.success());
    }
}

/// The complete messages of a truncated recording are converted, with a warning; a capture that ends in
/// its header is an error without output.
#[test]
fn truncated_recordings_give_their_complete_messages() {
    let folder = folder();
    succeed(
        folder.path(),
        &[
            "simulate",
            "--sensor",
            "slamtec-rplidar-c1",
            "--sweeps",
            "6",
            "-o",
            "a.mcap",
        ],
    );
    let path = folder.path().join("a.mcap");
    let bytes = std::fs::read(&path).expect("a recording");
    std::fs::write(&path, &bytes[..bytes.len() * 6 / 10]).expect("writes");
    let output = succeed(folder.path(), &["convert", "a.mcap", "a.csv"]);
    assert!(
        stderr(&output).contains("truncated or damaged"),
        "{}",
        stderr(&output)
    );
    write(folder.path(), "b.pcap", [0xd4, 0xc3, 0xb2, 0xa1, 2, 0]);
    let output = etendue(folder.path(), &["convert", "b.pcap", "b.csv"]);
    assert!(
        stderr(&output).contains("no complete UDP packet"),
        "{}",
        stderr(&output)
    );
    assert_eq!(names(folder.path()), ["a.csv", "a.mcap", "b.pcap"]);
}

/// Later echoes of light over several surfaces are those of a sampled waveform only.
#[test]
fn later_echoes_of_light_paths_in_closed_form_give_a_warning() {
    let folder = folder();
    let preset = results(folder.path(), &["sensors", "livox-avia"]);
    let (before, _) = preset
        .split_once("[receiver.pulsed.window]")
        .expect("a table of the receiver window");
    let warned = |sensor: &str| {
        write(folder.path(), "avia.toml", sensor);
        let simulate = [
            "simulate",
            "arena",
            "--pose",
            "0,0,0,0",
            "--sensor",
            "avia.toml",
        ];
        let output = succeed(
            folder.path(),
            &[&simulate[..], &["--paths", "1", "-o", "a.csv"]].concat(),
        );
        stderr(&output).contains("pipeline = \"waveform\"")
    };
    assert!(warned(before));
    let pulsed = "[receiver.pulsed]\n";
    assert!(!warned(
        &before.replace(pulsed, &format!("{pulsed}pipeline = \"waveform\"\n"))
    ));
    assert!(!warned(
        &before.replace("{ dual = \"two_first\" }", "\"strongest\"")
    ));
}

/// A beat frequency has no sign. If the Doppler shift of a receding car exceeds the beat frequency
/// of its range, ranges and velocities are wrong, and a warning is given. A car at the velocity of
/// the sensor has no shift.
#[test]
fn folded_beats_give_a_warning() {
    let folder = folder();
    let preset = results(folder.path(), &["sensors", "slamtec-rplidar-c1"]);
    let (before, _) = preset.split_once("[receiver").expect("a receiver");
    let (_, after) = preset.split_once("[intensity]").expect("intensity");
    let receiver = "[receiver.fmcw]\nbandwidth_ghz = 1\nchirp_us = 10\n\
                    found = { reflectance = 0.1, range_m = 20, threshold_over_noise = 10 }\n";
    let sensor = format!("{before}{receiver}[intensity]{after}");
    write(folder.path(), "fmcw.toml", sensor);
    let warnings = |scene: &str| {
        write(folder.path(), "street.toml", scene);
        let simulate = ["simulate", "street.toml", "--sensor", "fmcw.toml"];
        let output = succeed(folder.path(), &[&simulate[..], &["-o", "a.csv"]].concat());
        stderr(&output)
    };
    assert!(!warnings(STREET).contains("folds"));
    // The beat frequency of 8 m is 5.5 MHz, and the Doppler shift of 3.3 m/s is 7.3 MHz: the
    // measured range is 10.6 m.
    let (at_rest, _) = STREET.rsplit_once("motion.twist").expect("the sensor's");
    let folded =
        warnings(&at_rest.replace("velocity_m_s = [10, 0, 0]", "velocity_m_s = [3.3, 0, 0]"));
    assert!(folded.contains("wrong ranges and velocities"), "{folded}");
}
