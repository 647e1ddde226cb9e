//! `etendue calibrate`: files, and messages about recordings without a profile.

use crate::{etendue, fail, fail_with, folder, names, refuse, stderr, stdout, succeed, write};
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;

/// Board: distance (m), bearing of its centre (degrees) and width (m).
type Board = [f64; 3];

const PANEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/panel.toml");

const ONE: Board = [0.5, 20.0, 0.8];

/// Rows of range, quality and angle, as the driver of an RPLIDAR writes them: 720 beams per rotation,
/// errors of about a millimetre, every fortieth beam dropped.
fn rows_of(scans: u32, hit_range: impl Fn(u32, f64) -> f64) -> String {
    let mut state = 1_u64;
    let mut chance = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        f64::from(u32::try_from(state >> 32).expect("half of it")) / f64::from(u32::MAX)
    };
    let mut text = String::new();
    for beam in (0..scans).flat_map(|_| 0..720) {
        let azimuth = f64::from(beam).mul_add(0.5, -180.0).to_radians();
        let error = 1e-3 * (chance() + chance() + chance() - 1.5) * 2.0;
        let dropped = chance() < 0.025;
        let range = if dropped {
            f64::INFINITY
        } else {
            hit_range(beam, azimuth) + error
        };
        let quality = if range.is_finite() { 47 } else { 0 };
        writeln!(text, "{range:.4},{quality},{azimuth:.5}")
            .expect("writing to a string does not fail");
    }
    text
}

fn rows(boards: &[Board], scans: u32) -> String {
    rows_of(scans, |_, azimuth| {
        let hit_range = boards.iter().filter_map(|board| hit_range(board, azimuth));
        hit_range.fold(f64::INFINITY, f64::min)
    })
}

fn hit_range([distance, bearing, width]: &Board, azimuth: f64) -> Option<f64> {
    let off = (azimuth.to_degrees() - bearing + 180.0).rem_euclid(360.0) - 180.0;
    let half = (0.5 * width / distance).atan().to_degrees();
    (off.abs() < half).then(|| distance / off.to_radians().cos())
}

fn in_folder(text: &str) -> tempfile::TempDir {
    let folder = folder();
    write(folder.path(), "a.txt", text);
    folder
}

const ARGUMENTS: [&str; 7] = [
    "calibrate",
    "--recording",
    "a.txt",
    "--material",
    "wood",
    "-o",
    "profiles",
];

/// Error message for a recording; no output is written.
fn error_of(text: &str, more: &[&str]) -> String {
    let folder = in_folder(text);
    message(folder.path(), more)
}

fn message(folder: &Path, more: &[&str]) -> String {
    fail(folder, &[&ARGUMENTS, more].concat())
}

#[test]
fn a_recording_gives_a_profile_for_a_scene() {
    let folder = in_folder(&rows(&[ONE], 20));
    let more = ["--width", "0.8", "--sensor", "RPLIDAR A1", "--json"];
    let output = succeed(folder.path(), &[&ARGUMENTS[..], &more].concat());
    let report: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let panel = &report["materials"][0]["panels"][0];
    assert!((panel["distance_m"].as_f64().expect("a number") - 0.5).abs() < 5e-4);
    assert!((panel["tilt_deg"].as_f64().expect("a number") - 20.0).abs() < 0.1);
    assert_eq!(report["materials"][0]["verdict"]["grade"], "good");
    let files = ["wood-panel.png", "wood-panel.svg", "wood.toml"];
    assert_eq!(names(&folder.path().join("profiles")), files);

    let scene = "version = 1\n[sensor]\nposition_m = [0.0, 0.0, 0.0]\n[materials.board]\nprofile = \"profiles/wood.toml\"\n\
        [[objects]]\nname = \"board\"\nshape.box = { size_m = [0.02, 0.8, 0.4] }\n\
        position_m = [0.51, 0.0, 0.0]\nmaterial = \"board\"\n";
    write(folder.path(), "scene.toml", scene);
    let simulate = |sensor| {
        let words = ["simulate", "scene.toml", "--sensor", sensor, "-o", "a.csv"];
        let output = succeed(folder.path(), &words);
        stderr(&output)
    };
    assert!(!simulate("slamtec-rplidar-a1").contains("was recorded with"));
    let other = simulate("hokuyo-urg-04lx");
    let words = "the noise of material \"board\" was recorded with a RPLIDAR A1, not with a Hokuyo";
    assert!(other.contains(words), "{other}");

    let run = |sensor: &str| {
        let robot = format!(
            "version = 1\nscene = \"scene.toml\"\nduration_s = 0.2\n[[sensors]]\nname = \"lidar\"\n\
             device.lidar = {{ preset = \"{sensor}\" }}\n"
        );
        write(folder.path(), "robot.toml", robot);
        let output = succeed(folder.path(), &["run", "robot.toml"]);
        stderr(&output)
    };
    assert!(!run("slamtec-rplidar-a1").contains("was recorded with"));
    let other = run("hokuyo-urg-04lx");
    assert!(other.contains(words), "{other}");
}

/// A board that turns by four degrees between the halves of the recording: doubtful, only the picture of the panel is
/// written unless the profile is accepted, and then it states its verdict.
#[test]
fn a_doubtful_profile_is_written_only_if_it_is_accepted() {
    let text = rows(&[ONE], 10) + &rows(&[[0.5, 24.0, 0.8]], 10);
    let folder = in_folder(&text);
    let message = fail_with(3, folder.path(), &ARGUMENTS);
    assert!(
        message.contains("doubtful, no profile was written"),
        "{message}"
    );
    assert!(message.contains("turned by 4."), "{message}");
    assert!(message.contains("--accept-doubtful"), "{message}");
    assert!(message.contains("wood-panel.png"), "{message}");
    let pictures = ["wood-panel.png", "wood-panel.svg"];
    assert_eq!(names(&folder.path().join("profiles")), pictures);
    let accepted = [&ARGUMENTS[..], &["--accept-doubtful"]].concat();
    succeed(folder.path(), &accepted);
    let profile = std::fs::read_to_string(folder.path().join("profiles/wood.toml"));
    let profile = profile.expect("it is written");
    assert!(profile.contains("grade = \"doubtful\""), "{profile}");
    assert!(profile.contains("turned by 4."), "{profile}");
}

/// Beams of 8 to 24 degrees of incidence return in the first 11 of 20 scans only: the drop-out changes by 87 %, and the
/// profile is refused also with `--accept-doubtful`. The picture of the selected surface is written.
#[test]
fn a_refused_panel_has_a_picture() {
    let lost = |azimuth: f64| (8.0..24.0).contains(&(azimuth.to_degrees() - ONE[1]).abs());
    let later = rows_of(9, |_, azimuth| match hit_range(&ONE, azimuth) {
        Some(range) if !lost(azimuth) => range,
        _ => f64::INFINITY,
    });
    let folder = in_folder(&(rows(&[ONE], 11) + &later));
    let arguments = [&ARGUMENTS[..], &["--accept-doubtful"]].concat();
    let message = fail_with(4, folder.path(), &arguments);
    assert!(
        message.contains("refused, no profile was written"),
        "{message}"
    );
    assert!(message.contains("the drop-out at 15 degrees"), "{message}");
    let pictures = ["wood-panel.png", "wood-panel.svg"];
    assert_eq!(names(&folder.path().join("profiles")), pictures);
}

/// A robot that turns by six degrees per scan is refused, and nothing is written.
#[test]
fn a_moving_robot_is_refused() {
    let board = |scan: u32| [0.5, 6.0 * f64::from(scan) - 60.0, 0.8];
    let behind = |scan: u32| [0.7, 6.0 * f64::from(scan) + 120.0, 1.2];
    let scans = (0..20).map(|scan| rows(&[board(scan), behind(scan)], 1));
    let folder = in_folder(&scans.collect::<String>());
    let message = message(folder.path(), &["--accept-doubtful"]);
    assert!(message.contains("move"), "{message}");
    assert!(message.contains("at rest"), "{message}");
    assert!(!folder.path().join("profiles").exists());
}

#[test]
fn a_distance_declared_25_cm_wrong_gives_a_warning_and_is_not_used() {
    let folder = in_folder(&rows(&[ONE], 20));
    let more = ["--distance", "0.75", "--width", "0.8"];
    let output = succeed(folder.path(), &[&ARGUMENTS[..], &more].concat());
    let text = stderr(&output);
    let words = "declared distance 0.75 m, found 0.5";
    assert!(
        text.contains(words) && text.contains("250 mm nearer"),
        "{text}"
    );
}

/// The board is 0.8 m wide, 0.5 m away, at 20 degrees. Each declared value is in millimetres or 90 degrees off.
#[test]
fn declared_values_that_the_recording_contradicts_are_refused() {
    let folder = in_folder(&rows(&[ONE], 20));
    let cases = [
        (["--width", "800"], "declared width is 800 m, but only 0.8"),
        (
            ["--distance", "500"],
            "declared distance is 500 m, but the panel found is 0.500 m away",
        ),
        (
            ["--bearing", "95"],
            "declared bearing is 95 degrees, but the panel found is 36 degrees from there, with its normal at 20 degrees",
        ),
    ];
    for (declared, words) in cases {
        let arguments = [&ARGUMENTS[..], &declared, &["--accept-doubtful"]].concat();
        let message = fail_with(4, folder.path(), &arguments);
        assert!(message.contains(words), "{message}");
        assert!(message.contains(declared[0]), "{message}");
    }
    // A width of five times that seen, and a bearing 11 degrees beside the panel, which ends at 59 degrees
    for declared in [["--width", "4"], ["--bearing", "70"]] {
        let message = fail_with(3, folder.path(), &[&ARGUMENTS[..], &declared].concat());
        assert!(message.contains("doubtful"), "{message}");
    }
    // Nothing returns around the bearing
    let message = message(folder.path(), &["--bearing", "200"]);
    let words = "0 directions around the declared bearing of 200 degrees returned";
    assert!(message.contains(words), "{message}");
    assert!(message.contains("correct the bearing"), "{message}");
}

#[test]
fn a_recording_without_the_panel_is_an_error_with_its_content() {
    let scattered = rows_of(12, |beam, _| 0.4 + 0.37 * f64::from((7 * beam) % 9));
    let text = error_of(&scattered, &[]);
    assert!(text.contains("no panel found"), "{text}");
    assert!(text.contains("calibrate aim"), "{text}");
}

#[test]
fn two_panels_where_one_is_declared_are_an_error_with_their_positions() {
    let both = rows(&[[0.5, 0.0, 0.6], [0.6, 120.0, 0.6]], 15);
    let text = error_of(&both, &[]);
    assert!(text.contains("2 panels found, but 1 is declared"), "{text}");
    assert!(
        text.contains("0.500 m") && text.contains("0.600 m"),
        "{text}"
    );
    assert!(text.contains("--bearing"), "{text}");
    let folder = in_folder(&both);
    let output = succeed(
        folder.path(),
        &[&ARGUMENTS[..], &["--bearing", "120"]].concat(),
    );
    assert!(
        stdout(&output).contains("panel at 0.600"),
        "{}",
        stdout(&output)
    );
}

#[test]
fn recordings_without_returns_and_of_five_beams_are_errors() {
    let text = error_of(&rows(&[], 12), &[]);
    assert!(text.contains("none of 8640 beams"), "{text}");
    let narrow = [0.5, 20.0, 0.5 * 2.4_f64.to_radians()];
    let text = error_of(&rows(&[narrow], 12), &[]);
    assert!(
        text.contains("5 directions returned, but a panel requires at least 8"),
        "{text}"
    );
}

#[test]
fn millimetres_are_distinguished_from_metres() {
    let metres = rows(&[ONE], 12);
    let in_millimetres = |scan: fn(usize) -> bool| -> String {
        let line = |(number, line): (usize, &str)| {
            let (range, rest) = line.split_once(',').expect("columns");
            match range.parse::<f64>() {
                Ok(range) if scan(number / 720) => format!("{},{rest}\n", range * 1e3),
                _ => format!("{line}\n"),
            }
        };
        metres.lines().enumerate().map(line).collect()
    };
    let text = error_of(&in_millimetres(|scan| scan == 7), &[]);
    assert!(
        text.contains("scan 7") && text.contains("are mixed"),
        "{text}"
    );
    let text = error_of(&in_millimetres(|_| true), &[]);
    assert!(text.contains("the ranges are millimetres"), "{text}");
}

#[test]
fn truncated_lines_and_decimal_commas_are_errors_with_their_line() {
    let whole = rows(&[ONE], 12);
    let mut lines: Vec<&str> = whole.lines().collect();
    lines[5] = "0.51,47";
    let text = error_of(&lines.join("\n"), &[]);
    assert!(
        text.contains("line 6") && text.contains("2 columns"),
        "{text}"
    );
    lines[5] = "0,51,47,1,234";
    let text = error_of(&lines.join("\n"), &[]);
    assert!(
        text.contains("line 6") && text.contains("decimal points"),
        "{text}"
    );
}

#[test]
#[ignore = "needs recordings: see CONTRIBUTING.md"]
fn a_bag_without_a_scan_topic_is_an_error_with_its_topics() {
    let bag = crate::recording("husky_imu_odom_gps_bag/test1.bag");
    let folder = folder();
    std::fs::copy(bag, folder.path().join("a.txt")).expect("copies");
    let text = message(folder.path(), &[]);
    assert!(
        text.contains("neither a LaserScan nor a PointCloud2"),
        "{text}"
    );
    assert!(text.contains("sensor_msgs/Imu"), "{text}");
}

#[test]
fn view_identify_and_aim_work_on_one_recording() {
    let folder = in_folder(&rows(&[ONE], 20));
    succeed(folder.path(), &ARGUMENTS);
    let view = ["calibrate", "view", "profiles/wood.toml", "-o", "pictures"];
    succeed(folder.path(), &view);
    let pictures = names(&folder.path().join("pictures"));
    assert!(pictures.contains(&"above.png".into()), "{pictures:?}");
    let identify = [
        "calibrate",
        "identify",
        "a.txt",
        "--profiles",
        "profiles",
        "--json",
    ];
    let output = etendue(folder.path(), &identify);
    let found: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!(found["materials"][0]["material"], "wood");
    let aim = ["calibrate", "aim", "--source", "a.txt", "--every", "5"];
    let text = stdout(&etendue(folder.path(), &aim));
    assert_eq!(text.lines().count(), 4, "{text}");
    assert!(
        text.lines().all(|line| line.contains("panel at 0.500 m")),
        "{text}"
    );
    assert!(text.contains("too few beams yet"), "{text}");
}

/// The same lines come from a pipe and from a socket as from the file, and the picture is there.
#[test]
fn the_scans_of_a_driver_are_read_as_they_arrive() {
    use std::io::Write as _;
    let text = rows(&[ONE], 20);
    let folder = in_folder(&text);
    let aim = |source: &str| {
        let arguments = ["calibrate", "aim", "--every", "5", "-o", "aim", "--source"];
        let mut command = crate::command(folder.path(), &[&arguments[..], &[source]].concat());
        command.stdin(std::process::Stdio::piped());
        command.stdout(std::process::Stdio::piped());
        command.spawn().expect("it starts")
    };
    let from_file = stdout(&aim("a.txt").wait_with_output().expect("it ends"));
    assert!(
        from_file.contains("20 scans: panel at 0.500 m"),
        "{from_file}"
    );
    let mut piped = aim("-");
    let mut input = piped.stdin.take().expect("a pipe");
    input.write_all(text.as_bytes()).expect("it reads");
    drop(input);
    let last = |text: &str| text.lines().rev().nth(1).map(str::to_owned);
    let from_pipe = stdout(&piped.wait_with_output().expect("it ends"));
    assert_eq!(last(&from_pipe), last(&from_file), "{from_pipe}");
    assert!(from_pipe.lines().count() > 3, "{from_pipe}");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let following = aim(&address);
    let (mut socket, _) = listener.accept().expect("it connects");
    socket.write_all(text.as_bytes()).expect("it reads");
    drop(socket);
    let from_socket = stdout(&following.wait_with_output().expect("it ends"));
    assert_eq!(last(&from_socket), last(&from_file), "{from_socket}");
    assert!(names(&folder.path().join("aim")).contains(&"aim.png".into()));
}

/// A simulated board beside the profile that it has: the 95 % intervals contain at least 85 % of the figures at 8 to 40 degrees
/// (measured: 14 of 15), and no figure is more than 4.5 standard errors off (measured: 2.3). Beside another profile no figure is within.
#[test]
fn a_simulated_board_is_compared_with_its_own_profile() {
    let folder = folder();
    let simulate = ["simulate", PANEL, "--sweeps", "60", "-o", "beams.csv"];
    succeed(folder.path(), &simulate);
    let words = |profile: &'static str| {
        [
            "calibrate",
            "--recording",
            "beams.csv",
            "--material",
            "wood",
            "--truth",
            profile,
            "-o",
            "profiles",
        ]
    };
    // The own profile
    let own = words("rplidar-a1-wood");
    let output = succeed(folder.path(), &[&own[..], &["--json"]].concat());
    let report: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let truth = &report["materials"][0]["truth"];
    assert_eq!(truth["profile"], "rplidar-a1-wood");
    assert!(
        truth["rows"].as_array().expect("rows").len() >= 5,
        "{truth}"
    );
    let number = |value: &Value| value.as_f64().expect("a number");
    let within = number(&truth["within_95_percent_interval"]);
    assert!(within >= 0.85 * number(&truth["figures"]), "{truth}");
    assert!(
        number(&truth["largest"]["deviation"]).abs() < 4.5,
        "{truth}"
    );
    let picture = std::fs::read_to_string(folder.path().join("profiles/wood-curves.svg"));
    assert!(picture.expect("a picture").contains("truth"));
    // Another profile, and two recordings
    let text = stdout(&succeed(folder.path(), &words("rplidar-a1-metal")));
    assert!(
        text.contains("beside the true profile rplidar-a1-metal"),
        "{text}"
    );
    assert!(
        text.contains("; 0 of 15 figures within their 95 % interval"),
        "{text}"
    );
    let two = [&own[..], &["--recording", "beams.csv"]].concat();
    let message = refuse(folder.path(), &two);
    assert!(
        message.contains("--truth compares one recording"),
        "{message}"
    );
}

/// Points of a scanner without fixed azimuths do not contain the beams without a return: the verdict is doubtful, with the
/// remedy; an accepted profile has bias and spread, and no figure of the drop-out.
#[test]
fn points_of_a_scanner_do_not_determine_the_drop_out() {
    let folder = folder();
    let simulate = ["simulate", PANEL, "--sweeps", "60", "-o", "panel.csv"];
    succeed(folder.path(), &simulate);
    let calibrate = [
        "calibrate",
        "--recording",
        "panel.csv",
        "--material",
        "wood",
        "--truth",
        "rplidar-a1-wood",
    ];
    let message = fail_with(3, folder.path(), &calibrate);
    assert!(
        message.contains("the drop-out is not determined"),
        "{message}"
    );
    assert!(message.contains("-beams.csv"), "{message}");
    assert!(message.contains("do not (Livox)"), "{message}");

    let accepted = [&calibrate[..], &["--accept-doubtful", "--json"]].concat();
    let output = succeed(folder.path(), &accepted);
    let report: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let material = &report["materials"][0];
    assert_eq!(material["verdict"]["grade"], "doubtful", "{material}");
    for band in material["bands"].as_array().expect("bands") {
        assert!(band["bias_mm"].is_number(), "{band}");
        assert!(band["drop_out"].is_null() && band["drop_out_interval"].is_null());
    }
    for row in material["truth"]["rows"].as_array().expect("rows") {
        assert!(row["drop_out"].is_null(), "{row}");
    }
}
