//! Scanning lidars on the command line.

use crate::{
    FILES_OF_SIMULATE, etendue, fail, folder, names, refuse, stderr, stdout, succeed, write,
};

#[test]
fn a_scanner_writes_every_format_and_compares_with_itself() {
    let folder = folder();
    let arguments = [
        "simulate",
        "--sensor",
        "velodyne-vlp-16",
        "--waveform",
        "8,100",
        "--formats",
        "all",
        "-o",
        "out",
    ];
    let output = succeed(folder.path(), &arguments);
    assert!(stdout(&output).contains("Velodyne VLP-16"));
    let written = names(&folder.path().join("out"));
    let expected = [&FILES_OF_SIMULATE[..], &["waveform.svg"]].concat();
    assert_eq!(written, expected);
    let arguments = [
        "compare",
        "out/scan.pcd",
        "out/scan.ply",
        "--html",
        "page.html",
    ];
    let output = succeed(folder.path(), &arguments);
    assert!(
        stdout(&output).contains("F-score: 100.00 %"),
        "{}",
        stdout(&output)
    );
    let page = std::fs::read_to_string(folder.path().join("page.html")).expect("a page");
    assert!(page.contains("<svg") && page.ends_with("</html>\n"));
}

#[test]
fn a_recording_of_many_sweeps_is_written_sweep_by_sweep() {
    let folder = folder();
    let arguments = [
        "simulate",
        "--sensor",
        "hokuyo-ust-10lx",
        "--sweeps",
        "5",
        "-o",
        "run.mcap",
    ];
    succeed(folder.path(), &arguments);
    let recording = etendue::io::ros2::read_clouds(&folder.path().join("run.mcap"));
    assert_eq!(recording.expect("a recording").clouds.len(), 5);
}

/// Two lidars in one file, each with its own topic and frame, in a folder that ROS 2 opens.
#[test]
fn several_sensors_are_recorded_in_one_bag() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("bag")).expect("a folder");
    let simulate = |output: &str, second: &str| {
        let arguments = [
            "simulate",
            "--sensor",
            "hokuyo-ust-10lx",
            "--sensor",
            second,
            "--duration",
            "0.1",
            "-o",
            output,
        ];
        etendue(folder.path(), &arguments)
    };
    let output = simulate("bag/run.mcap", "hokuyo-ust-10lx@0.1,0,0,180");
    assert!(output.status.success(), "{}", stderr(&output));
    let recording = etendue::io::ros2::read_clouds(&folder.path().join("bag/run.mcap"));
    let clouds = recording.expect("a recording").clouds;
    let of = |topic: &str| clouds.iter().filter(|cloud| cloud.topic == topic).count();
    assert_eq!(of("/hokuyo_ust_10lx/points"), 4);
    assert_eq!(of("/hokuyo_ust_10lx_2/points"), 4);
    assert!(
        clouds
            .iter()
            .any(|cloud| cloud.frame == "hokuyo_ust_10lx_2")
    );
    assert!(clouds.windows(2).all(|pair| pair[0].time <= pair[1].time));
    let bag = std::fs::read_to_string(folder.path().join("bag/metadata.yaml")).expect("a bag");
    for part in [
        "storage_identifier: mcap",
        "    - \"run.mcap\"\n",
        "name: \"/hokuyo_ust_10lx_2/points\"\n        type: sensor_msgs/msg/PointCloud2",
        "      message_count: 4\n",
        "name: \"/hokuyo_ust_10lx/points/scan\"\n        type: sensor_msgs/msg/LaserScan",
        // Eight sweeps with a clock, a pose, a cloud and a scan each, and the last pose of each sensor
        "  message_count: 34\n",
    ] {
        assert!(bag.contains(part), "{part:?} in {bag}");
    }
    let phase = simulate("bag/other.mcap", "hokuyo-urg-04lx");
    assert!(phase.status.success(), "{}", stderr(&phase));
}

/// Topics without messages are not announced: sensors with several channels have no planar scans.
#[test]
fn a_bag_has_no_empty_topic() {
    let folder = folder();
    let words = "simulate --sensor velodyne-vlp-16 --sweeps 2 -o bag/run.mcap";
    std::fs::create_dir(folder.path().join("bag")).expect("a folder");
    succeed(folder.path(), &words.split(' ').collect::<Vec<_>>());
    let bag = std::fs::read_to_string(folder.path().join("bag/metadata.yaml")).expect("a bag");
    assert!(bag.contains("/points"), "{bag}");
    assert!(!bag.contains("message_count: 0"), "{bag}");
    assert!(!bag.contains("LaserScan"), "{bag}");

    // A converted recording is a bag, too; files of single sweeps are none
    succeed(folder.path(), &["convert", "bag/run.mcap", "copy/run.mcap"]);
    assert_eq!(
        names(&folder.path().join("copy")),
        ["metadata.yaml", "run.mcap"]
    );
    let per_sweep = ["convert", "bag/run.mcap", "single/run.mcap", "--per-sweep"];
    succeed(folder.path(), &per_sweep);
    assert_eq!(names(&folder.path().join("single")).len(), 2);
    assert!(!folder.path().join("single/metadata.yaml").exists());
}

#[test]
fn a_trajectory_shorter_than_the_run_is_rejected_and_nothing_is_written() {
    let folder = folder();
    let text = "0 0 0 0 0 0 0 1\n0.15 0.1 0 0 0 0 0 1\n";
    write(folder.path(), "drive.txt", text);
    let run = |sweeps| {
        let arguments = [
            "simulate",
            "--sensor",
            "velodyne-vlp-16",
            "--trajectory",
            "drive.txt",
            "--sweeps",
            sweeps,
        ];
        etendue(folder.path(), &arguments)
    };
    let output = run("2");
    assert!(!output.status.success());
    assert!(
        stderr(&output).contains("the run needs poses from 0 to 0.2 s"),
        "{}",
        stderr(&output)
    );
    assert_eq!(names(folder.path()), ["drive.txt"]);
    assert!(run("1").status.success());
}

#[test]
fn mistyped_presets_and_missing_beams_are_errors() {
    let folder = folder();
    let output = etendue(folder.path(), &["simulate", "--sensor", "velodyne-vlp16"]);
    assert!(
        stderr(&output).contains("did you mean \"velodyne-vlp-16\"?"),
        "{}",
        stderr(&output)
    );
    let arguments = [
        "simulate",
        "--sensor",
        "velodyne-vlp-16",
        "--waveform",
        "16,0",
    ];
    let output = etendue(folder.path(), &arguments);
    assert!(stderr(&output).contains("16 rings"), "{}", stderr(&output));
    assert!(
        names(folder.path()).is_empty(),
        "{:?}",
        names(folder.path())
    );
}

/// The files of a folder are in the frame of the world, except the recording, which is in the frame
/// of the sensor.
#[test]
fn a_folders_recording_is_in_the_sensors_frame() {
    let folder = folder();
    let simulate = |output: &str, more: &[&str]| {
        let sensor = "velodyne-vlp-16@0.3,0.2,0,70";
        let arguments = ["simulate", "--sensor", sensor, "-o", output];
        succeed(folder.path(), &[&arguments, more].concat());
    };
    simulate("out", &["--formats", "mcap"]);
    simulate("run.mcap", &[]);
    let [in_folder, alone] = ["out/scan.mcap", "run.mcap"].map(|path| {
        let path = folder.path().join(path);
        let recording = etendue::io::ros2::read_clouds(&path);
        recording.expect("a recording").clouds
    });
    assert!(alone[0].values.len() > 100_000 && alone[0].fields[..3] == ["x", "y", "z"]);
    assert_eq!(in_folder, alone);
}

/// A wall of 4 m by 4 m, with its centre at a distance ahead of the origin, m.
fn wall(ahead: f64) -> String {
    format!(
        "version = 1\nname = \"wall\"\n[sensor]\npreset = \"sick-lms-111\"\nposition_m = [0, 0, 0]\n\
         [materials.white]\ndiffuse = {{ reflectance = 0.8 }}\n[[objects]]\nname = \"wall\"\n\
         shape.box = {{ size_m = [0.2, 4, 4] }}\nposition_m = [{ahead}, 0, 0]\nmaterial = \"white\"\n"
    )
}

/// A surface beyond the range of the sensor gives a scan without returns, and a warning.
#[test]
fn surfaces_that_are_hit_but_not_measured_give_a_warning() {
    let folder = folder();
    write(folder.path(), "wall.toml", wall(60.0));
    for output in ["out", "run.mcap"] {
        let output = succeed(folder.path(), &["simulate", "wall.toml", "-o", output]);
        let text = stderr(&output);
        assert!(text.contains("none of 541 beams has a"), "{text}");
    }
}

#[test]
fn a_recording_of_an_empty_view_is_an_error_and_keeps_an_older_file() {
    let folder = folder();
    write(folder.path(), "wall.toml", wall(6.0));
    let arguments = [
        "simulate",
        "wall.toml",
        "--pose",
        "0,0,9,0",
        "-o",
        "run.mcap",
    ];
    // An older recording with that name is kept.
    write(folder.path(), "run.mcap", "older");
    let text = fail(folder.path(), &arguments);
    assert!(text.contains("none of 541 beams hit a surface"), "{text}");
    let older = std::fs::read_to_string(folder.path().join("run.mcap"));
    assert_eq!(older.expect("it is there"), "older");
}

#[test]
fn no_sensor_has_files_if_one_of_several_fails() {
    let folder = folder();
    write(folder.path(), "wall.toml", wall(6.0));
    let arguments = [
        "simulate",
        "wall.toml",
        "--sensor",
        "hokuyo-ust-10lx",
        "--sensor",
        "sick-lms-111@0,0,9,0",
        "-o",
        "out",
    ];
    let text = fail(folder.path(), &arguments);
    assert!(text.contains("none of 541 beams hit a surface"), "{text}");
    assert_eq!(names(folder.path()), ["wall.toml"]);
}

#[test]
fn options_that_a_recording_does_not_support_are_rejected() {
    let folder = folder();
    for option in [
        &["--waveform", "8,100"][..],
        &["--frame", "world"],
        &["--formats", "las"],
        &["--json"],
    ] {
        let arguments = [
            &["simulate", "--sensor", "velodyne-vlp-16", "-o", "run.mcap"][..],
            option,
        ];
        let text = refuse(folder.path(), &arguments.concat());
        let expected = format!("{} does not apply to a recording", option[0]);
        assert!(text.contains(&expected), "{text}");
        assert!(names(folder.path()).is_empty());
    }
    let arguments = ["simulate", "--formats", "las", "-o", "scan.pcd"];
    let text = refuse(folder.path(), &arguments);
    assert!(
        text.contains("--formats does not apply to the file scan.pcd"),
        "{text}"
    );
}

/// The axes of most beams of a sensor between two mirrors hit a mirror, and their light returns from a wall.
#[test]
fn ranges_over_mirrors_are_no_range_errors() {
    let folder = folder();
    let arguments = ["simulate", "mirror-corridor", "-o", "beams.csv"];
    let output = succeed(folder.path(), &arguments);
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = |words: &str| report.lines().find(|line| line.contains(words));
    let number = |line: &str, before: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let place = words.iter().position(|word| *word == before);
        words[place.expect("the unit") - 1]
            .parse::<f64>()
            .expect("a number")
    };
    let error = line("median absolute range error").expect("an error");
    let difference = line("of other objects").expect("ranges over mirrors");
    // Measured: 4.0 mm and 2501 mm.
    assert!(number(error, "mm,") < 20.0, "{report}");
    assert!(number(difference, "mm") > 500.0, "{report}");
}
