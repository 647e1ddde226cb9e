//! Every invalid input is reported with its location and a remedy, and leaves no output files.

use crate::{
    command, etendue, fail, fail_as, fail_with, folder, names, refuse, results, stderr, stdout,
    succeed, write,
};
use std::path::Path;

const SCENE: &str = r#"
version = 1
name = "test"
[sensor]
position_m = [0.0, 0.0, 0.0]
[materials.paint]
diffuse = { reflectance = 0.8 }
[[objects]]
name = "room"
shape.box = { size_m = [2.0, 1.0, 0.5] }
flip_normals = true
material = "paint"
"#;

const MESH_SCENE: &str = r#"
version = 1
[sensor]
position_m = [0.0, 0.0, 0.0]
[[objects]]
name = "thing"
shape.mesh = { file = "thing.ply" }
material = "white-paint"
"#;

fn ply(vertices: &str, faces: &str) -> String {
    format!(
        "ply\nformat ascii 1.0\nelement vertex {}\nproperty float x\nproperty float y\n\
         property float z\nelement face {}\nproperty list uchar int vertex_indices\nend_header\n\
         {vertices}{faces}",
        vertices.lines().count(),
        faces.lines().count()
    )
}

const WALL: &str = "1 -1 -1\n1 1 -1\n1 0 1\n";

/// Simulates a scene that must fail, and returns the error message.
fn error_of(scene: &str, others: &[(&str, &str)]) -> String {
    let folder = folder();
    write(folder.path(), "scene.toml", scene);
    for (name, text) in others {
        write(folder.path(), name, text);
    }
    fail(folder.path(), &["simulate", "scene.toml"])
}

fn assert_contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "\"{part}\" is not in: {text}");
    }
}

#[test]
fn the_unmodified_scenes_are_valid() {
    let folder = folder();
    write(folder.path(), "a.toml", SCENE);
    write(folder.path(), "b.toml", MESH_SCENE);
    write(folder.path(), "thing.ply", ply(WALL, "3 0 1 2\n"));
    for scene in ["a.toml", "b.toml"] {
        succeed(folder.path(), &["simulate", scene]);
    }
}

#[test]
fn a_missing_file() {
    let folder = folder();
    let text = fail(folder.path(), &["simulate", "missing.toml"]);
    assert_contains(&text, &["missing.toml does not exist", "check the path"]);
    assert_contains(&error_of(MESH_SCENE, &[]), &["thing.ply"]);
    let text = fail(folder.path(), &["simulate", "no-such/folder/a.toml"]);
    assert_contains(&text, &["the folder no-such/folder does not exist"]);
}

#[test]
fn a_misspelt_file_name_gets_the_nearest_file() {
    let folder = folder();
    write(folder.path(), "mine.toml", "version = 2");
    write(folder.path(), "mine.csv", "x,y,z\n");
    let remedy = "did you mean mine.toml?";
    for arguments in [
        &["simulate", "--sensor", "mine.tml"][..],
        &["simulate", "nine.toml"],
        &["render", "--camera", "mine.tom"],
        &["run", "mnie.toml"],
        &["fit", "mine.tom"],
    ] {
        let text = fail(folder.path(), arguments);
        assert_contains(&text, &["does not exist", remedy]);
    }
    let text = fail(folder.path(), &["inspect", "mine.cvs"]);
    assert_contains(
        &text,
        &["mine.cvs does not exist", "did you mean mine.csv?"],
    );
}

#[test]
fn a_numbered_scan_outside_of_fit_is_explained() {
    let folder = folder();
    write(folder.path(), "log.csv", "x,y,z\n1,2,3\n");
    let text = fail(folder.path(), &["inspect", "log.csv#3"]);
    assert_contains(
        &text,
        &["log.csv#3 does not exist", "only `fit --scan FILE#N`"],
    );
}

#[test]
fn an_empty_file_is_named_as_such() {
    let folder = folder();
    for name in ["a.pcd", "a.csv", "a.bin", "a.mcap"] {
        write(folder.path(), name, "");
        let text = fail(folder.path(), &["inspect", name]);
        assert_contains(&text, &[name, "the file is empty"]);
    }
}

#[test]
fn a_misspelt_built_in_name_gets_the_nearest_one() {
    let folder = folder();
    for command in ["inspect", "view"] {
        let text = refuse(folder.path(), &[command, "ouster-os1-12"]);
        assert_contains(
            &text,
            &[
                "unknown file or built-in name",
                "did you mean \"ouster-os1-128\"?",
            ],
        );
    }
}

#[test]
fn a_value_of_another_form_is_explained_by_its_key() {
    for (line, wrong, expected) in [
        (
            "flip_normals = true",
            "flip_normals = \"yes\"",
            ["flip_normals is the text \"yes\"", "write true or false"],
        ),
        (
            "shape.box = { size_m = [2.0, 1.0, 0.5] }",
            "shape = \"box\"",
            [
                "\"box\" needs a value of its own",
                "write shape = { box = ... }",
            ],
        ),
        (
            "diffuse = { reflectance = 0.8 }",
            "diffuse = 0.8",
            [
                "diffuse is the number 0.8",
                "write diffuse = { reflectance = ... }",
            ],
        ),
    ] {
        let text = error_of(&SCENE.replace(line, wrong), &[]);
        assert_contains(&text, &expected);
    }
}

#[test]
fn half_a_ply() {
    let whole = ply(WALL, "3 0 1 2\n");
    let half = &whole[..whole.len() - 14];
    assert_contains(
        &error_of(MESH_SCENE, &[("thing.ply", half)]),
        &["thing.ply"],
    );
}

#[test]
fn a_vertex_that_is_not_a_number() {
    let mesh = ply("1 -1 -1\n1 nan -1\n1 0 1\n", "3 0 1 2\n");
    assert_contains(
        &error_of(MESH_SCENE, &[("thing.ply", &mesh)]),
        &["vertex 1"],
    );
}

#[test]
fn a_face_with_a_vertex_index_out_of_range() {
    let mesh = ply(WALL, "3 0 1 99\n");
    assert_contains(&error_of(MESH_SCENE, &[("thing.ply", &mesh)]), &["99", "3"]);
}

#[test]
fn an_undefined_material() {
    let text = error_of(
        &SCENE.replace("material = \"paint\"", "material = \"pant\""),
        &[],
    );
    assert_contains(&text, &["scene.toml:12", "pant", "did you mean", "paint"]);
}

#[test]
fn a_reflectance_above_one_and_a_negative_index() {
    let text = error_of(
        &SCENE.replace("reflectance = 0.8", "reflectance = 1.2"),
        &[],
    );
    assert_contains(&text, &["1.2", "reflectance"]);
    let glass = SCENE.replace("diffuse = { reflectance = 0.8 }", "glass = { ior = -1.5 }");
    assert_contains(&error_of(&glass, &[]), &["-1.5", "ior"]);
}

#[test]
fn an_unknown_key() {
    let text = error_of(&SCENE.replace("flip_normals", "flip_normal"), &[]);
    assert_contains(
        &text,
        &[
            "scene.toml:11",
            "flip_normal",
            "did you mean \"flip_normals\"?",
        ],
    );
}

#[test]
fn invalid_sensors() {
    let folder = folder();
    let preset = stdout(&etendue(folder.path(), &["sensors", "hokuyo-urg-04lx"]));
    let sensor = folder.path().join("mine.toml");
    for (from, to, expected) in [
        ("far_m = 5.6", "far_m = 0.01", "range"),
        (
            "divergence_mrad = 10.0",
            "divergence_mrad = -1.0",
            "divergence",
        ),
        ("columns = 682", "columns = 0", "columns is 0"),
        ("far_m", "fare_m", "did you mean \"far_m\"?"),
    ] {
        assert!(preset.contains(from), "{from}");
        std::fs::write(&sensor, preset.replace(from, to)).expect("writes");
        let text = fail(folder.path(), &["simulate", "--sensor", "mine.toml"]);
        assert_contains(&text, &["mine.toml", expected]);
    }
}

#[test]
fn unknown_names_get_a_suggestion() {
    let folder = folder();
    let text = refuse(folder.path(), &["simulate", "--sensor", "hokuyo-urg04lx"]);
    assert_contains(
        &text,
        &["unknown sensor preset", "did you mean \"hokuyo-urg-04lx\"?"],
    );
    let text = refuse(folder.path(), &["simulate", "arina"]);
    assert_contains(&text, &["did you mean \"arena\"?"]);
    let text = refuse(folder.path(), &["materials", "white-papr"]);
    assert_contains(&text, &["did you mean \"white-paper\"?"]);
}

#[test]
fn nothing_in_front_of_the_sensor() {
    let folder = folder();
    let text = fail(folder.path(), &["simulate", "--pose", "100,0,0,0"]);
    assert_contains(
        &text,
        &[
            "there is nothing in front of the sensor",
            "682 beams",
            "--pose",
        ],
    );
}

#[test]
fn surfaces_without_any_range_give_a_warning() {
    let folder = folder();
    let far = SCENE
        .replace("[2.0, 1.0, 0.5]", "[40.0, 40.0, 0.5]")
        .replace("0.8", "0.001");
    write(folder.path(), "far.toml", far);
    let output = succeed(folder.path(), &["simulate", "far.toml"]);
    assert_contains(
        &stderr(&output),
        &["warning: none of 682 beams has a range"],
    );
}

#[test]
fn invalid_arguments() {
    let folder = folder();
    for arguments in [
        ["simulate", "--pose", "1,2,3"],
        ["simulate", "--pose", "1,2,nan,0"],
        ["simulate", "--sweeps", "0"],
        ["simulate", "--threads", "0"],
    ] {
        let output = etendue(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(
            stderr(&output).contains("error: invalid value"),
            "{}",
            stderr(&output)
        );
    }
    let text = refuse(folder.path(), &["simulate", "-o", "scan.bmp"]);
    assert_contains(&text, &["scan.bmp", ".pcd, .ply, .npz"]);
}

#[test]
fn an_option_of_another_kind_of_sensor_is_an_error() {
    let folder = folder();
    let words = ["simulate", "--waveform", "1,2"];
    let text = fail(folder.path(), &words);
    assert_contains(&text, &["--waveform", "no pulses", "omit the option"]);
}

/// Weather, random paths and frames are options of every lidar.
#[test]
fn every_lidar_has_the_options_of_light_and_weather() {
    let folder = folder();
    for sensor in ["hokuyo-urg-04lx", "slamtec-rplidar-a1"] {
        for option in [["--rain", "5"], ["--frame", "sensor"], ["--paths", "4"]] {
            let words = [
                &["simulate", "--sensor", sensor, "-o", "a.csv"][..],
                &option,
            ]
            .concat();
            let output = etendue(folder.path(), &words);
            assert!(
                output.status.success(),
                "{sensor} {option:?}: {}",
                stderr(&output)
            );
        }
    }
}

#[test]
fn an_output_folder_below_a_file() {
    let folder = folder();
    write(folder.path(), "taken", "x");
    let text = fail(folder.path(), &["simulate", "-o", "taken/deeper"]);
    assert_contains(&text, &["taken", "name another output folder"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk() {
    use std::process::Command;
    let folder = folder();
    let disk = folder.path().join("disk");
    std::fs::create_dir(&disk).expect("a folder");
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"])
        .arg(&disk)
        .output()
        .is_ok_and(|output| output.status.success());
    if !mounted {
        eprintln!("skipped: no right to mount a small disk");
        return;
    }
    let output = etendue(folder.path(), &["simulate", "-o", "disk/out"]);
    let left = names(&disk);
    let _ = Command::new("umount").arg(&disk).status();
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(output.stdout.is_empty());
    assert_eq!(names(folder.path()), ["disk"], "{text}");
    assert_contains(&text, &["disk/out", "make room on the disk"]);
    assert!(left.is_empty(), "{left:?}");
}

/// Output of a command that gets Ctrl-C while it runs.
#[cfg(unix)]
fn interrupted(folder: &Path, words: &[&str]) -> std::process::Output {
    use std::process::{Command, Stdio};
    let child = command(folder, words)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    std::thread::sleep(std::time::Duration::from_millis(700));
    let pid = child.id().to_string();
    let sent = Command::new("kill").args(["-INT", &pid]).status();
    assert!(sent.expect("kill is there").success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    output
}

#[cfg(unix)]
#[test]
fn ctrl_c_during_a_run_leaves_no_files() {
    let folder = folder();
    let words = ["simulate", "--sweeps", "1000000", "--memory", "1000"];
    let output = interrupted(folder.path(), &words);
    assert_eq!(names(folder.path()), [""; 0]);
    assert_states_that_nothing_was_written(&output);
}

/// The message of a stopped run, printed once.
#[cfg(unix)]
fn assert_states_that_nothing_was_written(output: &std::process::Output) {
    let text = stderr(output);
    let stopped = text.matches("stopped; nothing was written").count();
    assert_eq!(stopped, 1, "{text}");
}

/// Ctrl-C ends the computation of one file at once, and the message is that of runs that end themselves.
#[cfg(unix)]
#[test]
fn ctrl_c_during_one_computation_states_that_nothing_was_written() {
    let folder = folder();
    succeed(folder.path(), &["simulate", "-o", "beams.csv"]);
    for words in [
        "simulate --paths 1000000 -o scan.csv",
        "render arena --samples 1000000 -o frame.png",
        "fit arena --scan beams.csv --free sensor.pose --search 100000000",
    ] {
        let output = interrupted(folder.path(), &words.split(' ').collect::<Vec<_>>());
        assert_eq!(names(folder.path()), ["beams.csv"], "{words}");
        assert_states_that_nothing_was_written(&output);
    }
}

/// Files that a run has written are not denied when Ctrl-C ends it later.
#[cfg(unix)]
#[test]
fn ctrl_c_during_a_drive_states_that_its_recording_remains() {
    let folder = folder();
    let output = interrupted(
        folder.path(),
        &["demo", "street", "--duration", "1e4", "-o", "drive"],
    );
    assert_eq!(names(&folder.path().join("drive")), ["street.mcap"]);
    let text = stderr(&output);
    assert!(
        text.contains("stopped; files that were written before remain"),
        "{text}"
    );
}

/// The help of `completions` has commands that work where the folder of the completions does not exist.
#[cfg(unix)]
#[test]
fn the_example_of_completions_works_on_a_new_machine() {
    use std::process::Command;
    let folder = folder();
    let help = stdout(&succeed(folder.path(), &["completions", "--help"]));
    let (_, example) = help.split_once("Example: ").expect("an example");
    let program = Path::new(env!("CARGO_BIN_EXE_etendue"));
    let path = format!(
        "{}:{}",
        program.parent().expect("a folder").display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let shell = Command::new("sh")
        .args(["-e", "-c", example])
        .env("HOME", folder.path())
        .env("PATH", path)
        .output();
    let shell = shell.expect("a shell");
    assert!(shell.status.success(), "{}", stderr(&shell));
    let script = folder
        .path()
        .join(".local/share/bash-completion/completions/etendue");
    assert!(std::fs::read_to_string(script).is_ok_and(|script| script.contains("complete -F")));
}

/// A folder of results with a similar name is no remedy for a missing file.
#[test]
fn a_missing_cloud_is_answered_by_near_files_only() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("house")).expect("a folder");
    write(folder.path(), "target.ply", "ply");
    let message = fail(folder.path(), &["register", "source.ply", "target.ply"]);
    assert_contains(&message, &["source.ply does not exist", "check the path"]);
    assert!(!message.contains("house"), "{message}");
    let message = fail(folder.path(), &["register", "target.ply", "tarket.ply"]);
    assert!(message.contains("target.ply"), "{message}");
}

/// Ctrl-C and a request to end (`kill`) leave no partial files of a conversion, and no folder for them, whatever is written.
#[cfg(unix)]
#[test]
fn an_interrupted_conversion_leaves_nothing() {
    use std::process::{Command, Stdio};
    let folder = folder();
    let rows: Vec<String> = (0..3000)
        .map(|number| format!("{number},2,3,{number}\n"))
        .collect();
    let text = format!("x,y,z,sweep\n{}", rows.concat());
    write(folder.path(), "a.csv", text);
    for signal in ["-INT", "-TERM"] {
        let words = ["convert", "a.csv", "out/cloud.ply", "--per-sweep"];
        let mut child = command(folder.path(), &words)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        // Until files are written
        let out = folder.path().join("out");
        while !out.exists() && child.try_wait().expect("a state").is_none() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let pid = child.id().to_string();
        let sent = Command::new("kill").args([signal, &pid]).status();
        assert!(sent.expect("kill is there").success());
        assert_eq!(child.wait().expect("it ends").code(), Some(130), "{signal}");
        assert_eq!(names(folder.path()), ["a.csv"], "{signal}");
    }
}

/// An output that cannot be written is an error before the work, without the names of temporary files.
#[test]
fn outputs_that_cannot_be_written_are_refused_before_the_work() {
    let folder = folder();
    write(folder.path(), "taken", "a file");
    for words in [
        &[
            "simulate",
            "--sweeps",
            "1000000",
            "--memory",
            "1000",
            "-o",
            "taken/out",
        ][..],
        &["convert", "no-such.mcap", "taken/a.pcd"],
        &["slam", "no-such.mcap", "-o", "taken/map"],
        &["view", "no-such.pcd", "-o", "taken/a.png"],
    ] {
        let message = fail(folder.path(), words);
        assert!(message.contains("cannot write taken"), "{message}");
        assert!(
            !message.contains(".etendue") && !message.contains("no-such"),
            "{message}"
        );
    }
}

/// The ending of a folder is that of a file, unless a slash follows it.
#[test]
fn a_folder_whose_name_has_a_dot_is_written_with_a_slash() {
    let folder = folder();
    let message = refuse(folder.path(), &["simulate", "-o", "results-1.5"]);
    assert!(
        message.contains("a slash at its end: results-1.5/"),
        "{message}"
    );
    succeed(folder.path(), &["simulate", "-o", "results-1.5/"]);
    assert!(names(&folder.path().join("results-1.5")).contains(&"scan.csv".to_owned()));
}

/// A recording is streamed: Ctrl-C ends it after a complete sweep as a valid file.
#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_recording_after_a_whole_sweep() {
    let folder = folder();
    let arguments = [
        "simulate",
        "--sensor",
        "hokuyo-ust-10lx",
        "--sweeps",
        "1000000",
        "-o",
        "run.mcap",
    ];
    let output = interrupted(folder.path(), &arguments);
    let path = folder.path().join("run.mcap");
    let bytes = std::fs::read(&path).expect("a recording");
    assert!(bytes.ends_with(b"\x89MCAP0\r\n"), "its end is missing");
    let clouds = etendue::io::ros2::read_clouds(&path).expect("reads").clouds;
    let expected = format!("{} sweeps, ", clouds.len());
    assert!(
        stdout(&output).contains(&expected),
        "{expected}: {}",
        stdout(&output)
    );
    // Sweeps of 25 ms
    let until = clouds.len() as f64 * 0.025;
    let expected = format!("stopped; run.mcap is complete up to {until:.3} s");
    let message = stderr(&output);
    assert!(message.contains(&expected), "{expected}: {message}");
}

/// The files of a run that Ctrl-C ends have the data that its summary counts, up to the time that its message states.
#[cfg(unix)]
#[test]
fn ctrl_c_ends_the_run_of_a_robot_after_an_arrival() {
    let folder = folder();
    let cart = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/cart.toml");
    let words = "--duration 1e6 -o cart.mcap --nmea cart.nmea --json";
    let words: Vec<&str> = ["run", cart].into_iter().chain(words.split(' ')).collect();
    let output = interrupted(folder.path(), &words);

    // The message
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let until = report["duration_s"].as_f64().expect("a number");
    assert!(until > 0.0 && until < 1e6, "{until}");
    let expected = format!("stopped; cart.mcap is complete up to {until:.3} s");
    let message = stderr(&output);
    assert!(message.contains(&expected), "{expected}: {message}");

    // The files
    let topics = stdout(&succeed(folder.path(), &["inspect", "cart.mcap"]));
    for output in report["outputs"].as_array().expect("outputs") {
        let (topic, count) = (output["topic"].as_str().expect("a name"), &output["count"]);
        let line = topics
            .lines()
            .find(|line| line.contains(&format!("  {topic} (")));
        let line = line.unwrap_or_default();
        assert!(
            line.contains(&format!(": {count} messages")),
            "{output}: {line}"
        );
        if topic == "/gnss" {
            let fixes = std::fs::read_to_string(folder.path().join("cart.nmea")).expect("fixes");
            assert_eq!(
                fixes.matches("$GPGGA").count() as u64,
                count.as_u64().expect("a count")
            );
        }
    }
}

/// A file or a name of another kind is named with the option or the command that takes it.
#[test]
fn files_and_names_of_another_kind_are_named() {
    let folder = folder();
    let scene = results(folder.path(), &["scenes", "patio"]);
    write(folder.path(), "patio.toml", scene);
    let camera = results(folder.path(), &["cameras", "ideal"]);
    write(folder.path(), "ideal.toml", camera);
    for (arguments, expected) in [
        (
            &["simulate", "hokuyo-urg-04lx"][..],
            "hokuyo-urg-04lx is a built-in sensor, where a scene is expected give it with --sensor hokuyo-urg-04lx",
        ),
        (
            &["simulate", "--sensor", "arena"],
            "arena is a built-in scene, where a sensor is expected",
        ),
        (
            &["simulate", "--sensor", "fisheye"],
            "fisheye is a built-in camera, where a lidar is expected",
        ),
        (
            &["render", "--camera", "velodyne-vlp-16"],
            "velodyne-vlp-16 is a built-in lidar, where a camera is expected",
        ),
        (
            &["simulate", "--sensor", "patio.toml"],
            "this is a scene file, where a sensor file is expected",
        ),
        (
            &["simulate", "ideal.toml"],
            "this is a camera file, where a scene file is expected",
        ),
        (
            &["run", "patio.toml"],
            "this is a scene file, where a robot file is expected",
        ),
        (&["run", "arena"], "arena is built in, but no robot"),
        (
            &["fit", "arena"],
            "--scan and --free are missing: arena is a scene",
        ),
        (
            &["fit", "patio.toml"],
            "--scan and --free are missing: patio.toml is a scene",
        ),
        (&["scenes", "patoi"], "did you mean \"patio\"?"),
    ] {
        // The content of a file shows its kind
        let code = if expected.starts_with("this is a") {
            1
        } else {
            2
        };
        let text = fail_as(code, folder.path(), arguments);
        assert!(text.contains(expected), "{arguments:?}: {text}");
    }
}

/// Invalid values of options are errors of usage, and nothing is written.
#[test]
fn invalid_values_of_options_state_what_is_expected() {
    let folder = folder();
    for (arguments, expected) in [
        (
            &["simulate", "--threads", "0"][..],
            "'--threads <N>': expected a whole number of at least 1",
        ),
        (
            &["simulate", "--sweeps", "1.5"],
            "'--sweeps <SWEEPS>': expected a whole number",
        ),
        (&["simulate", "--sweeps", "-5"], "-5 is not in 1.."),
        (
            &["simulate", "--seed", "abc"],
            "'--seed <SEED>': expected a whole number",
        ),
        (
            &["simulate", "--fog", "50m"],
            "expected a number above zero without a unit, as in 50",
        ),
        (&["simulate", "--formats", "pdf"], "expected pcd, ply, npz"),
        (
            &["simulate", "-o", "no/such/scan.pcd"],
            "the folder no of --output does not exist",
        ),
        (
            &["render", "-o", "no/such/folder"],
            "the folder no/such of --output does not exist",
        ),
        (
            &["convert", "a.pcd", "no/such/b.pcd"],
            "the folder no of TO does not exist",
        ),
        (
            &["inspect", "a.csv", "--chart", "no/such/chart.png"],
            "the folder no of --chart does not exist",
        ),
    ] {
        let output = etendue(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(
            stderr(&output).contains(expected),
            "{arguments:?}: {}",
            stderr(&output)
        );
        assert!(names(folder.path()).is_empty(), "{arguments:?}");
    }
}

/// More threads than a multiple of the processors are not started.
#[test]
fn the_number_of_threads_is_limited_with_a_warning() {
    let folder = folder();
    let output = succeed(
        folder.path(),
        &["simulate", "--threads", "100000", "-o", "scan.csv"],
    );
    assert!(
        stderr(&output).contains("warning: --threads 100000:"),
        "{}",
        stderr(&output)
    );
}

/// `--quiet` leaves results and warnings only.
#[test]
fn quiet_commands_print_results_and_warnings_only() {
    let folder = folder();
    let arguments = [
        "--quiet",
        "simulate",
        "--threads",
        "100000",
        "-o",
        "scan.csv",
    ];
    let output = succeed(folder.path(), &arguments);
    assert!(stdout(&output).contains("682 beams"));
    let lines = String::from_utf8_lossy(&output.stderr).lines().count();
    assert_eq!(lines, 1, "{}", stderr(&output));
}

/// A command or an option of a feature that the program was built without names the build that has it.
#[test]
fn words_of_missing_features_name_the_build_that_has_them() {
    let folder = folder();
    let with_gpu = "`cargo build --release -p etendue-cli --features gpu`";
    for (is_there, arguments, remedy) in [
        (
            cfg!(feature = "studio"),
            ["studio", "arena"],
            "`just studio` builds it",
        ),
        (
            cfg!(feature = "gpu"),
            ["simulate", "--device=gpu"],
            with_gpu,
        ),
        (cfg!(feature = "gpu"), ["inspect", "--devices"], with_gpu),
    ] {
        if !is_there {
            let message = fail_with(2, folder.path(), &arguments);
            assert_contains(&message, &["this program was built without", remedy]);
        }
    }
}

#[test]
fn keys_of_a_table_in_braces_are_written_inside_it() {
    let folder = folder();
    let scene = "version = 1\n[[objects]]\nname = \"hall\"\nshape.mesh = { file = \"hall.obj\" }\n\
                 material = \"concrete\"\n[objects.shape.mesh.materials]\nDoor = \"wood\"\n";
    write(folder.path(), "hall.toml", scene);
    let text = fail(folder.path(), &["simulate", "hall.toml"]);
    assert_contains(&text, &["hall.toml:6", "write the keys inside the braces"]);
}

/// Errors that the words of a command alone show have the exit code of invalid arguments, whatever the inputs contain; errors
/// of the inputs have another.
#[test]
fn errors_of_the_words_alone_are_invalid_arguments() {
    let folder = folder();
    write(folder.path(), "a.csv", "x,y,z\n1,2,3\n2,3,4\n3,4,6\n");
    for words in [
        "simulate --sensor velodyne-vlp-16@1,2",
        "simulate --sensor velodine-vlp-16",
        "simulate arrena",
        "simulate -o a.xyz",
        "simulate --duration 0",
        "convert a.csv a.xyz",
        "render arena --camera hokuyo-urg-04lx",
        "inspect no-such-preset",
        "materials white-papr",
        "run robot.toml --duration 0",
        "demo street --duration nan",
        "correct apply a.csv b.csv --model model.toml --cell -1",
        "correct train a.csv --radius 0",
        "register a.csv a.csv --voxel -1",
        "register a.csv a.csv --voxel nan",
        "register a.csv a.csv --cell -1",
        "register a.csv a.csv --max-distance 0",
        "register a.csv a.csv --keep 5",
        "register a.csv a.csv --neighbours 2",
        "register a.csv a.csv --iterations 0",
    ] {
        refuse(folder.path(), &words.split(' ').collect::<Vec<_>>());
    }
    for words in [
        "simulate scene.toml",
        "convert b.csv b.pcd",
        "run robot.toml",
        "slam a.csv",
    ] {
        fail(folder.path(), &words.split(' ').collect::<Vec<_>>());
    }
}
