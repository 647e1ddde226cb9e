//! Results of valid commands.

use crate::{FILES_OF_SIMULATE, command, etendue, folder, names, stderr, stdout, succeed, write};
use serde_json::Value;
use std::fs::read;

#[test]
fn without_arguments_the_arena_is_simulated_and_few_files_are_written() {
    let folder = folder();
    let output = succeed(folder.path(), &["simulate"]);
    let few = [
        "beams.csv",
        "grid.pcd",
        "intensity.png",
        "range.png",
        "run.json",
        "scan.csv",
        "scan.pcd",
        "scan.png",
    ];
    assert_eq!(names(&folder.path().join("out/simulate")), few);
    assert!(
        stderr(&output).contains("million rays/s"),
        "{}",
        stderr(&output)
    );
    assert!(stdout(&output).contains("682 beams"), "{}", stdout(&output));
    // All formats
    succeed(
        folder.path(),
        &["simulate", "--formats", "all", "-o", "all"],
    );
    assert_eq!(names(&folder.path().join("all")), FILES_OF_SIMULATE);
    let svg = std::fs::read_to_string(folder.path().join("all/scan.svg")).expect("a picture");
    for text in ["mirror", "measured point", "mixed pixel", "x, m"] {
        assert!(svg.contains(text), "{text}");
    }
}

#[test]
fn one_thread_gives_the_bytes_of_eight_and_seeds_differ() {
    let folder = folder();
    let run = |out: &str, more: &[&str]| {
        let arguments = [
            &["simulate", "--sweeps", "3", "--formats", "all", "-o", out],
            more,
        ]
        .concat();
        succeed(folder.path(), &arguments);
    };
    run("one", &["--threads", "1"]);
    run("eight", &["--threads", "8"]);
    run("plain", &["--isa", "plain"]);
    run("other", &["--threads", "8", "--seed", "2"]);
    let file = |out: &str, name: &str| read(folder.path().join(out).join(name)).expect("a file");
    let written = names(&folder.path().join("one"));
    assert_eq!(written.len(), 17);
    for name in written {
        assert_eq!(file("one", &name), file("eight", &name), "{name}");
        assert_eq!(file("one", &name), file("plain", &name), "{name}");
        // The description of a recording names topics and counts, which no seed changes.
        if name == "metadata.yaml" {
            assert_eq!(file("one", &name), file("other", &name), "{name}");
        } else {
            assert_ne!(file("one", &name), file("other", &name), "{name}");
        }
    }
}

#[test]
fn an_environment_variable_selects_the_instruction_set_like_the_option() {
    let folder = folder();
    let with = |isa: &str| {
        command(folder.path(), &["simulate", "-o", "scan.csv"])
            .env("ETENDUE_ISA", isa)
            .output()
            .expect("it starts")
    };
    let plain = with("plain");
    assert!(plain.status.success(), "{}", stderr(&plain));
    let wrong = with("avx1024");
    assert!(!wrong.status.success());
    assert!(stderr(&wrong).contains("avx1024"), "{}", stderr(&wrong));
}

#[test]
fn random_paths_add_light_and_do_not_depend_on_threads() {
    let folder = folder();
    let run = |name: &str, more: &[&str]| {
        succeed(folder.path(), &[&["simulate", "-o", name], more].concat());
        read(folder.path().join(name)).expect("a file")
    };
    let one = run("one.csv", &["--paths", "8", "--threads", "1"]);
    let eight = run("eight.csv", &["--paths", "8", "--threads", "8"]);
    assert_eq!(one, eight);
    assert_ne!(one, run("tree.csv", &[]));
}

#[test]
fn an_output_with_an_extension_is_the_only_file() {
    let folder = folder();
    for name in [
        "a.csv", "a.npz", "a.pcd", "a.ply", "a.json", "a.png", "a.svg",
    ] {
        let output = etendue(folder.path(), &["simulate", "-o", name]);
        assert!(output.status.success(), "{name}: {}", stderr(&output));
    }
    assert_eq!(names(folder.path()).len(), 7);
}

#[test]
fn clouds_are_inspected_too() {
    let folder = folder();
    for name in ["scan.pcd", "scan.ply"] {
        let output = etendue(folder.path(), &["simulate", "-o", name]);
        assert!(output.status.success(), "{name}: {}", stderr(&output));
        let text = stdout(&etendue(folder.path(), &["inspect", name]));
        assert!(text.contains("cloud of 682 points"), "{name}: {text}");
        assert!(text.contains("extent "), "{name}: {text}");
    }
    // A table of returns is a cloud, one of beams a scan log.
    let scans = ["simulate", "--sensor", "slamtec-rplidar-c1", "-o", "c.csv"];
    succeed(folder.path(), &scans);
    let text = stdout(&etendue(folder.path(), &["inspect", "c.csv"]));
    assert!(text.contains("cloud of "), "{text}");
}

#[test]
fn standard_output_contains_only_json() {
    let folder = folder();
    let output = etendue(folder.path(), &["simulate", "--json", "-o", "beams.csv"]);
    let summary: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(summary["counts"]["beams"], 682);
    let output = etendue(folder.path(), &["inspect", "--json", "beams.csv"]);
    let reports: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(reports[0]["kind"], "scan_log");
    assert_eq!(reports[0]["beams"], 682);
    assert!(
        reports[0]["valid_fraction"]
            .as_f64()
            .is_some_and(|part| part > 0.5)
    );
}

#[test]
fn a_stationary_sensor_has_a_noise_chart() {
    let folder = folder();
    succeed(
        folder.path(),
        &["simulate", "--sweeps", "12", "-o", "still-beams.csv"],
    );
    let output = etendue(
        folder.path(),
        &["inspect", "still-beams.csv", "--chart", "spread.svg"],
    );
    assert!(stdout(&output).contains("median sd"), "{}", stdout(&output));
    let svg = std::fs::read_to_string(folder.path().join("spread.svg")).expect("a chart");
    assert!(svg.contains("still-beams.csv: median"));
}

#[test]
fn every_command_has_help_with_an_example() {
    let folder = folder();
    for verb in [
        "simulate",
        "fit",
        "experiment",
        "register",
        "inspect",
        "sensors",
        "scenes",
        "cameras",
        "devices",
        "profiles",
        "materials",
        "schema",
        "completions",
        "man",
    ] {
        let output = etendue(folder.path(), &[verb, "--help"]);
        assert!(output.status.success(), "{verb}");
        let text = stdout(&output);
        assert!(text.contains("Example"), "{verb}: {text}");
        assert!(text.contains(&format!("etendue {verb}")), "{verb}: {text}");
    }
}

#[test]
fn a_printed_preset_is_a_sensor_file() {
    let folder = folder();
    let text = stdout(&etendue(folder.path(), &["sensors", "hokuyo-urg-04lx"]));
    write(folder.path(), "mine.toml", text);
    succeed(
        folder.path(),
        &["simulate", "--sensor", "mine.toml", "-o", "a.csv"],
    );
    let output = etendue(folder.path(), &["inspect", "mine.toml"]);
    assert!(stdout(&output).contains("682 beams"), "{}", stdout(&output));
}

#[test]
fn options_are_grouped_by_topic() {
    let folder = folder();
    let help = stdout(&etendue(folder.path(), &["simulate", "--help"]));
    for topic in [
        "\nOutput:\n",
        "\nResources:\n",
        "\nMotion:\n",
        "\nWeather (",
    ] {
        assert!(help.contains(topic), "{topic}: {help}");
    }
}

#[test]
fn the_noise_of_a_sensor_is_described() {
    let folder = folder();
    let text = stdout(&etendue(folder.path(), &["sensors", "velodyne-vlp-16"]));
    write(folder.path(), "mine.toml", text);
    let text = stdout(&etendue(folder.path(), &["inspect", "mine.toml"]));
    for part in [
        "16 channels, elevation -15.00 to 15.00°, azimuth -1",
        "mm at 5 m",
        "fixed pattern of the channels 5.7 mm",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Steps of 2 mm alone have the standard deviation 2 mm / sqrt(12)
    let json = stdout(&etendue(folder.path(), &["inspect", "mine.toml", "--json"]));
    let report: Value = serde_json::from_str(&json).expect("JSON");
    let noise = report[0]["noise"]["head_on"].as_array().expect("an array");
    let spreads = noise
        .iter()
        .map(|at| at["sd_mm"].as_f64().expect("a number"));
    assert!(spreads.clone().count() >= 4, "{json}");
    assert!(
        spreads.into_iter().all(|sd| sd > 2.0 / 12f64.sqrt()),
        "{json}"
    );
}

#[test]
fn materials_and_schemas_are_listed() {
    let folder = folder();
    let list = stdout(&etendue(folder.path(), &["materials"]));
    assert!(
        list.contains("window-glass") && list.lines().count() > 20,
        "{list}"
    );
    let header = list.lines().next().unwrap_or_default();
    assert!(
        header.contains("backscatter") && header.contains("wavelengths in nm"),
        "{header}"
    );
    let one = stdout(&etendue(folder.path(), &["materials", "white-paper"]));
    assert!(one.contains("source: "), "{one}");
    for kind in [
        "scene",
        "sensor",
        "fit",
        "material",
        "profile",
        "calibration-setup",
    ] {
        let output = etendue(folder.path(), &["schema", kind]);
        let schema: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert!(schema["properties"].is_object(), "{kind}");
    }
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_is_not_an_error() {
    let folder = folder();
    let mut child = command(folder.path(), &["materials"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    drop(child.stdout.take());
    assert!(child.wait().expect("it ends").success());
}
