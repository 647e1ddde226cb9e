//! Absurd numbers, killed runs and large requests.

use crate::{fail, folder, names, results, succeed, write};
use std::fs;

/// Small camera for fast tests.
const CAMERA: &str = "version = 1\nname = \"small\"\nresolution_px = [24, 18]\n\
    lens.pinhole = { horizontal_fov_deg = 70 }\n\
    bands = [{ wavelength_nm = 540, width_nm = 100, quantum_efficiency = 0.5 }]\n\
    [optics]\nf_number = 2\npixel_um = [5, 5]\n\
    [shutter]\nexposure.auto = { mean = 0.2, shortest_ms = 0.01, longest_ms = 30 }\n\
    [detector.linear]\nfull_scale_e = 8000\nshot = 0.01\nbits = 10\n";

#[test]
fn absurd_numbers_are_errors_with_key_value_and_range() {
    let folder = folder();
    let path = folder.path();
    let sensor = results(path, &["sensors", "velodyne-vlp-16"]);
    for (key, value, range) in [
        ("far_m = ", "inf", "from 0.001 to 1000000 m"),
        ("rate_hz = ", "0", "from 0.001 to 1000000 Hz"),
        ("divergence_mrad = [", "nan", "from 0 to 10000 mrad"),
        ("sample_ns = ", "1e-308", "from 0.000001 to 1000000000 ns"),
    ] {
        let start = sensor.find(key).expect("a key of the sensor") + key.len();
        let length = sensor[start..]
            .find(|letter: char| ",\n ]".contains(letter))
            .expect("the end of a number");
        let changed = format!("{}{value}{}", &sensor[..start], &sensor[start + length..]);
        write(path, "mine.toml", &changed);
        let message = fail(path, &["simulate", "--sensor", "mine.toml", "-o", "out"]);
        let name = key.split(' ').next().expect("a name");
        assert!(message.contains(&format!("{name} is {value}")), "{message}");
        assert!(message.contains(range), "{message}");
        assert!(!path.join("out").exists());
    }
}

#[test]
fn a_request_beyond_the_memory_is_refused_before_it_begins() {
    let folder = folder();
    let path = folder.path();
    let many = [
        "simulate",
        "--sensor",
        "velodyne-vlp-16",
        "--sweeps",
        "100000",
    ];
    let message = fail(path, &[&many[..], &["-o", "out"]].concat());
    assert!(message.contains("GB of memory"), "{message}");
    assert!(
        message.contains(".mcap") && message.contains("--memory"),
        "{message}"
    );
    assert!(!path.join("out").exists());
    let message = fail(path, &["simulate", "--memory", "0.0001"]);
    assert!(message.contains("the limit of 0.0001 GB"), "{message}");
}

#[test]
fn a_cut_recording_is_repaired_and_a_whole_one_is_not_changed() {
    let folder = folder();
    let path = folder.path();
    let arguments = [
        "simulate",
        "--sensor",
        "velodyne-vlp-16",
        "--sweeps",
        "5",
        "-o",
        "a.mcap",
    ];
    succeed(path, &arguments);
    let whole = fs::read(path.join("a.mcap")).expect("reads");
    let text = results(path, &["repair", "a.mcap"]);
    assert!(text.starts_with("16 messages"), "{text}");
    assert_eq!(fs::read(path.join("a.mcap")).expect("reads"), whole);
    // Three messages per sweep: clock, transform, cloud; and the last transform
    for (share, messages) in [(0.5, 8), (0.9, 14), (0.999, 14)] {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a part of a file"
        )]
        let length = (whole.len() as f64 * share) as usize;
        fs::write(path.join("cut.mcap"), &whole[..length]).expect("writes");
        let text = results(path, &["repair", "cut.mcap"]);
        assert!(
            text.starts_with(&format!("{messages} messages")),
            "{share}: {text}"
        );
        let again = results(path, &["repair", "cut.mcap"]);
        assert!(again.contains("complete"), "{again}");
    }
    fs::write(path.join("cut.mcap"), &whole[..60]).expect("writes");
    let message = fail(path, &["repair", "cut.mcap"]);
    assert!(message.contains("cut.mcap"), "{message}");
}

#[test]
fn frames_are_recorded_one_by_one_and_equal_those_of_a_folder() {
    let folder = folder();
    let path = folder.path();
    write(path, "small.toml", CAMERA);
    let arguments = [
        "render",
        "--camera",
        "small.toml",
        "--samples",
        "2",
        "--frames",
        "3",
        "-o",
    ];
    succeed(path, &[&arguments[..], &["a.mcap"]].concat());
    succeed(path, &[&arguments[..], &["views"]].concat());
    let [file, of_folder] = ["a.mcap", "views/frames.mcap"].map(|name| fs::read(path.join(name)));
    assert_eq!(file.expect("reads"), of_folder.expect("reads"));
    // A black recording leaves no file
    let black = [
        "render",
        "--camera",
        "small.toml",
        "--pose",
        "0,0,-50,0",
        "-o",
        "b.mcap",
    ];
    let message = fail(path, &black);
    assert!(message.contains("black"), "{message}");
    assert!(!path.join("b.mcap").exists());
}

#[test]
fn the_next_run_ends_the_work_of_killed_runs() {
    let folder = folder();
    let path = folder.path();
    // Incomplete files, complete files, and a file of another program
    let left = |name: &str| {
        fs::create_dir_all(path.join(name)).expect("a folder");
        fs::write(path.join(name).join("left.csv"), name).expect("writes");
    };
    left("out/.etendue-killed.part");
    left("out/.etendue-late.done");
    fs::write(path.join("out/other.part"), "x").expect("writes");
    succeed(path, &["simulate", "-o", "out", "--formats", "csv"]);
    let left = names(&path.join("out"));
    assert!(
        !left.iter().any(|name| name.starts_with(".etendue")),
        "{left:?}"
    );
    assert!(left.contains(&"other.part".to_owned()), "{left:?}");
    let renamed = fs::read_to_string(path.join("out/left.csv")).expect("is there");
    assert_eq!(renamed, "out/.etendue-late.done");
    // As the recordings of a folder do
    fs::create_dir(path.join("out/.etendue-killed.part")).expect("a folder");
    succeed(path, &["simulate", "-o", "out/a.mcap"]);
    assert!(!path.join("out/.etendue-killed.part").exists());
}
