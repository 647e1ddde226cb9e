//! Mistakes and wishes of somebody who uses the program for the first time.

use crate::{fail, folder, refuse, results, succeed, write};
use std::fs;

/// A board in front of a lidar that stands 0.3 m above the origin.
const BOARD: &str = "version = 1\n[sensor]\npreset = \"slamtec-rplidar-a1\"\nposition_m = [0, 0, 0.3]\n\
    [[objects]]\nname = \"board\"\nshape.plane = { size_m = [0.6, 1.25] }\nposition_m = [0.8, 0, 0.3]\n\
    rotation_deg = { pitch = -90 }\nmaterial = \"wood\"\n";

#[test]
fn points_of_a_planar_scanner_in_another_frame_are_refused_by_a_calibration() {
    let folder = folder();
    let path = folder.path();
    write(path, "board.toml", BOARD);
    let simulate = ["simulate", "board.toml", "--sweeps", "20", "-o"];
    succeed(path, &[&simulate[..], &["points.csv"]].concat());
    let calibrate = ["calibrate", "--material", "wood", "--recording"];
    let error = fail(path, &[&calibrate[..], &["points.csv"]].concat());
    assert!(error.contains("z = 0.300 m"), "{error}");
    assert!(error.contains("-beams.csv"), "{error}");
    // The same sweeps as a scan log
    succeed(path, &[&simulate[..], &["board-beams.csv"]].concat());
    let words = ["board-beams.csv", "--accept-doubtful"];
    succeed(path, &[&calibrate[..], &words].concat());
}

#[test]
fn a_recording_in_place_of_a_calibration_setup_is_named_as_such() {
    let folder = folder();
    write(folder.path(), "wood-beams.csv", "sweep,beam,time_s\n");
    let error = fail(folder.path(), &["calibrate", "wood-beams.csv"]);
    assert!(
        error.contains("wood-beams.csv is a recording, where a calibration setup file is expected"),
        "{error}"
    );
    assert!(error.contains("--recording wood-beams.csv"), "{error}");
}

#[test]
fn a_scene_in_place_of_points_is_named_as_such() {
    let folder = folder();
    let path = folder.path();
    write(path, "board.toml", BOARD);
    for words in [
        ["slam", "board.toml"].as_slice(),
        &["convert", "board.toml", "points.pcd"],
    ] {
        let error = fail(path, words);
        let expected = "board.toml is a scene file, where points or scans are expected";
        assert!(error.contains(expected), "{error}");
        assert!(error.contains("etendue simulate"), "{error}");
    }
}

#[test]
fn an_incomplete_path_of_a_parameter_is_completed() {
    let folder = folder();
    let path = folder.path();
    succeed(path, &["simulate", "-o", "beams.csv"]);
    let fit = |free| {
        fail(
            path,
            &["fit", "arena", "--scan", "beams.csv", "--free", free],
        )
    };
    let error = fit("pose");
    assert!(
        error.contains("give the complete path: sensor.pose, objects."),
        "{error}"
    );
    // Each part once
    let error = fit("nothing");
    assert_eq!(error.matches(" sensor,").count(), 1, "{error}");
}

#[test]
fn the_folder_of_a_rendered_picture_is_viewed() {
    let folder = folder();
    let path = folder.path();
    for name in ["views", "drive"] {
        fs::create_dir(path.join(name)).expect("a new folder");
    }
    write(path, "views/depth_0000.png", "");
    write(path, "views/picture_0000.png", "");
    write(path, "drive/street.png", "");
    for [name, picture] in [["views", "picture_0000"], ["drive", "street"]] {
        let text = results(path, &["view", name, "--no-open"]);
        assert_eq!(text, format!("{name}/{picture}.png\n"));
    }
}

#[test]
fn a_sensor_without_a_description_is_described_without_an_empty_line() {
    let folder = folder();
    let path = folder.path();
    let sensor = results(path, &["sensors", "velodyne-vlp-16"]);
    let lines = sensor
        .lines()
        .filter(|line| !line.starts_with("description"));
    write(path, "mine.toml", lines.collect::<Vec<_>>().join("\n"));
    let text = results(path, &["inspect", "mine.toml"]);
    assert!(text.lines().all(|line| !line.trim().is_empty()), "{text}");
    write(path, "board.toml", BOARD);
    let text = results(path, &["inspect", "board.toml"]);
    assert!(text.contains("scene, 1 object of 2 triangles"), "{text}");
    assert!(text.contains("read 1 file, sha256"), "{text}");
}

#[test]
fn a_second_run_writes_the_same_reports() {
    let folder = folder();
    let path = folder.path();
    let lidar = ["--sensor", "velodyne-vlp-16", "--sweeps", "3"];
    let simulate = ["simulate", "glass-door", "-o", "run.mcap"];
    succeed(path, &[&simulate[..], &lidar].concat());
    let reports = || {
        let slam = ["slam", "run.mcap", "-o", "map", "--json"];
        let printed = results(path, &slam);
        let course = ["demo", "course", "--laps", "1", "-o", "course"];
        succeed(path, &course);
        let file = |name| fs::read_to_string(path.join(name)).expect("a report");
        assert_eq!(printed, file("map/report.json"));
        [file("map/report.json"), file("course/course.json")]
    };
    assert_eq!(reports(), reports());
}

#[test]
fn slam_writes_a_folder_or_only_the_map() {
    let folder = folder();
    let path = folder.path();
    let words = "simulate glass-door --sensor velodyne-vlp-16 --sweeps 3 -o run.mcap";
    succeed(path, &words.split(' ').collect::<Vec<_>>());
    // A file of another kind is refused before the scans are read
    let error = refuse(path, &["slam", "run.mcap", "-o", "map.png"]);
    assert!(error.contains(".pcd"), "{error}");
    succeed(path, &["slam", "run.mcap", "--accept-doubtful"]);
    succeed(
        path,
        &["slam", "run.mcap", "--accept-doubtful", "-o", "map.ply"],
    );
    let points = |file: &str| {
        let text = results(path, &["inspect", "--json", file]);
        let found: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        found[0]["points"].as_u64().expect("a number of points")
    };
    assert!(points("map.ply") > 1000);
    assert_eq!(points("map.ply"), points("out/slam/map.csv"));
}
