//! Robots on the command line.

use crate::{etendue, fail, folder, names, stderr, stdout, succeed, write};
use std::path::Path;

const CART: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/cart.toml");

#[test]
fn a_run_of_a_robot_is_recorded_and_reproducible() {
    let folder = folder();
    let run = |name: &str, threads: &str| {
        let arguments = [
            "run",
            CART,
            "--duration",
            "1",
            "-o",
            name,
            "--nmea",
            "cart.nmea",
            "--threads",
            threads,
        ];
        let output = succeed(folder.path(), &arguments);
        stdout(&output)
    };
    let text = run("a.mcap", "1");
    for line in [
        "lidar (/lidar): 10",
        "scan (/scan): 10",
        "imu (/imu): 100",
        "gnss (/gnss): 5",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
    assert!(text.contains("times real time"), "{text}");
    run("b.mcap", "2");
    let bytes = |name: &str| std::fs::read(folder.path().join(name)).expect("a recording");
    assert!(bytes("a.mcap") == bytes("b.mcap"), "not the same bytes");
    let nmea = String::from_utf8(bytes("cart.nmea")).expect("text");
    assert_eq!(nmea.matches("$GPGGA,12000").count(), 5, "{nmea}");
}

#[test]
fn an_output_without_an_ending_is_the_folder_of_the_recording() {
    let folder = folder();
    let arguments = ["run", CART, "--duration", "0.2", "-o", "cart"];
    let text = stdout(&succeed(folder.path(), &arguments));
    let recording = Path::new("cart").join("run.mcap");
    assert!(text.contains(&recording.display().to_string()), "{text}");
    // With the file by which ROS 2 opens the folder
    assert_eq!(
        names(&folder.path().join("cart")),
        ["metadata.yaml", "run.mcap"]
    );
}

#[test]
fn an_error_in_a_robot_file_has_a_position_and_no_output() {
    let folder = folder();
    let text = std::fs::read_to_string(CART).expect("the example");
    let wrong = text.replace("frame = \"mast\"", "frame = \"mats\"");
    write(folder.path(), "cart.toml", wrong);
    let message = fail(folder.path(), &["run", "cart.toml", "-o", "cart.mcap"]);
    assert!(message.contains("unknown frame \"mats\""), "{message}");
    assert!(message.contains("did you mean \"mast\"?"), "{message}");
    assert_eq!(names(folder.path()), ["cart.toml"]);
    let output = etendue(folder.path(), &["run", CART, "-o", "cart.bag"]);
    assert!(stderr(&output).contains("does not end in .mcap"));
}

/// Two courses of one lap; BENCHMARKS.md has the result of `etendue demo course --seeds 20` (20 of
/// 20).
#[test]
fn a_car_drives_courses_by_lidar_only() {
    let folder = folder();
    let arguments = ["demo", "course", "--seeds", "2", "--laps", "1"];
    let output = succeed(folder.path(), &arguments);
    let text = stdout(&output);
    assert!(
        text.contains("2 of 2 finished 1 laps without contact"),
        "{text}"
    );
    let written = names(&folder.path().join("out/course"));
    assert_eq!(written, ["course.json", "course.png", "course.svg"]);
}

#[test]
fn a_drive_through_a_town_is_recorded_and_reproducible() {
    let folder = folder();
    let drive = |name: &str| {
        let arguments = ["demo", "street", "--duration", "0.3", "-o", name];
        let output = succeed(folder.path(), &arguments);
        assert!(
            stdout(&output).contains("lidar: 3 sweeps"),
            "{}",
            stdout(&output)
        );
        let path = folder.path().join(name).join("street.mcap");
        std::fs::read(Path::new(&path)).expect("a recording")
    };
    assert!(drive("a") == drive("b"), "not the same bytes");
    let replay = |file: &str| etendue(folder.path(), &["demo", "street", "--replay", file]);
    let again = replay("a/street.mcap");
    assert!(again.status.success(), "{}", stderr(&again));
    // A command every 20 ms of the 0.33 s until the arrival of the last sweep
    let text = stdout(&again);
    assert!(
        text.contains("all 17 commands are equal, byte for byte"),
        "{text}"
    );
    // A file that is no recording is an error
    std::fs::write(folder.path().join("no.mcap"), "no").expect("a file");
    assert!(!replay("no.mcap").status.success());
    let written = names(&folder.path().join("a"));
    assert_eq!(
        written,
        [
            "camera_000s.png",
            "street.json",
            "street.mcap",
            "street.png",
            "street.svg"
        ]
    );
}
