//! `etendue correct` and `etendue slam`.

use crate::{etendue, folder, names, stderr, stdout, succeed};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// A room of 5 x 4 m with a cabinet.
const PLANAR_ROOM: &str = r#"
version = 1
[[objects]]
name = "room"
flip_normals = true
shape.box = { size_m = [5, 4, 1] }
position_m = [0, 0, 0.2]
material = "white-paper"
[[objects]]
name = "cabinet"
shape.box = { size_m = [0.8, 0.5, 1] }
position_m = [1.2, -1.4, 0.2]
material = "wood"
"#;

/// Scans of a room from positions half a metre apart, as KITTI files, with a known bias
/// of 0.005 m times the fourth power of the incidence.
fn sequence(folder: &Path, scans: u32, inverse: bool) {
    fs::create_dir_all(folder).expect("a folder");
    let mut poses = String::new();
    for number in 0..scans {
        let at = [
            0.6 * f64::from(number) - 1.5,
            0.3 * f64::from(number % 2),
            0.1,
        ];
        fs::write(folder.join(format!("scan{number}.bin")), scan(at)).expect("written");
        let sign = if inverse { -1.0 } else { 1.0 };
        let [x, y, z] = at.map(|v| sign * v);
        writeln!(poses, "1 0 0 {x} 0 1 0 {y} 0 0 1 {z}").expect("text");
    }
    fs::write(folder.join("poses.txt"), poses).expect("written");
}

/// A room of 8 x 4 x 3 m about the origin, 64 channels of 180 columns.
fn scan(at: [f64; 3]) -> Vec<u8> {
    let half = [4.0_f64, 2.0, 1.5];
    let mut bytes = Vec::new();
    for beam in 0..64 * 180_u32 {
        let elevation = (f64::from(beam / 180) / 63.0 - 0.5) * 1.5;
        let (sin, cos) = (f64::from(beam % 180).to_radians() * 2.0).sin_cos();
        let way = [
            elevation.cos() * cos,
            elevation.cos() * sin,
            elevation.sin(),
        ];
        let walls = (0..3).map(|i| ((half[i].copysign(way[i]) - at[i]) / way[i], way[i].abs()));
        let (depth, cosine) = walls.min_by(|a, b| a.0.total_cmp(&b.0)).expect("three");
        let read = depth + 0.005 * cosine.min(1.0).acos().powi(4);
        for value in way.map(|w| w * read).into_iter().chain([0.5]) {
            #[expect(clippy::cast_possible_truncation, reason = "the format's precision")]
            bytes.extend((value as f32).to_le_bytes());
        }
    }
    bytes
}

/// Measured: a weight of 0.00499 for 0.005; the thickness falls from 0.60 to 0.09 mm.
#[test]
fn a_bias_is_learnt_corrected_and_evaluated() {
    let folder = folder();
    sequence(&folder.path().join("room"), 8, false);
    let run = |words: &str| {
        let words: Vec<&str> = words.split_whitespace().collect();
        let output = etendue(folder.path(), &words);
        assert!(output.status.success(), "{words:?}: {}", stderr(&output));
        output
    };
    run(
        "correct train room -o model.toml --sensor test-64 --exponents 4 \
         --poses-move fixed --pictures pictures",
    );
    assert!(names(&folder.path().join("pictures")).contains(&"bias-curve.png".to_owned()));
    let text = fs::read_to_string(folder.path().join("model.toml")).expect("a model");
    let weight = text
        .split("weights = [")
        .nth(1)
        .and_then(|t| t.split(']').next());
    let weight: f64 = weight.and_then(|w| w.parse().ok()).expect("one weight");
    assert!((weight - 0.005).abs() < 1e-4, "{weight}");
    assert!(
        text.contains("verdict = \"the bias is determined"),
        "{text}"
    );
    assert!(text.contains("status = \"usable\""), "{text}");

    let applied = run("correct apply --model model.toml room corrected --json");
    assert_eq!(names(&folder.path().join("corrected")).len(), 8);
    let report: serde_json::Value = serde_json::from_str(&stdout(&applied)).expect("JSON");
    assert_eq!(report["scans"], 8);
    assert!(report["warnings"].as_array().expect("a list").is_empty());
    let evaluated = run("correct eval room --model model.toml --json");
    let report: serde_json::Value = serde_json::from_str(&stdout(&evaluated)).expect("JSON");
    let thickness = |i: usize| report["thickness_m"][i].as_f64().expect("a number");
    assert!(thickness(1) < 0.3 * thickness(0), "{report}");

    let other = run("correct apply --model model.toml --sensor vlp-16 room/scan0.bin one.bin");
    assert!(
        stderr(&other).contains("learnt from a test-64"),
        "{}",
        stderr(&other)
    );
}

/// Measured: 0.4 mm. Without odometry, steps of 0.6 m are too long for this room: the walls that
/// determine them are the farthest pairs, which are trimmed.
#[test]
fn slam_maps_a_sequence_and_reports_its_drift() {
    let folder = folder();
    sequence(&folder.path().join("room"), 4, false);
    let output = succeed(
        folder.path(),
        &["slam", "room", "--prior", "poses", "-o", "out", "--json"],
    );
    let files = names(&folder.path().join("out"));
    assert_eq!(
        files,
        [
            "map.csv",
            "report.json",
            "scans.csv",
            "slam.png",
            "slam.svg",
            "trajectory.tum",
            "trajectory_kitti.txt"
        ]
    );
    let report: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let error = report["drift"]["mean_translation_m"]
        .as_f64()
        .expect("a number");
    assert!(error < 5e-3, "{error}");
}

#[test]
fn inverse_poses_missing_poses_and_single_scans_are_errors() {
    let folder = folder();
    sequence(&folder.path().join("inverse"), 4, true);
    let train = |sequence: &str| {
        let output = etendue(folder.path(), &["correct", "train", sequence]);
        assert!(!output.status.success());
        stderr(&output)
    };
    let error = train("inverse");
    assert!(error.contains("the inverse"), "{error}");
    assert!(error.contains("--convention"), "{error}");

    sequence(&folder.path().join("bare"), 2, false);
    fs::remove_file(folder.path().join("bare/poses.txt")).expect("removed");
    assert!(train("bare").contains("no poses"));
    fs::write(
        folder.path().join("bare/poses.txt"),
        "1 0 0 0 0 1 0 0 0 0 1 0\n",
    )
    .expect("written");
    assert!(train("bare").contains("2 scans, but 1 poses"));

    sequence(&folder.path().join("single"), 1, false);
    assert!(train("single").contains("1 scans were given"));
    fs::write(folder.path().join("single/scan0.bin"), "").expect("written");
    assert!(train("single").contains("the file is empty"));
    assert!(!folder.path().join("model.toml").exists());
}

const MODEL: &str = "version = 1\nsensor = \"test-64\"\n[model.polynomial]\nexponents = [4.0]\n\
                     weights = [0.005]\n";

/// The points of a cloud, m.
fn positions(path: &Path) -> Vec<[f64; 3]> {
    let file = etendue::io::scan_file::ScanFile::read(path).expect("a scan");
    file.points().iter().map(|p| p.coords.into()).collect()
}

/// `apply` gives the same points for a cloud of a recording and for the same scan in a file.
#[test]
fn clouds_of_a_recording_are_corrected_as_scans_are() {
    let folder = folder();
    sequence(&folder.path().join("room"), 2, false);
    fs::write(folder.path().join("model.toml"), MODEL).expect("written");
    for words in [
        "convert room/scan0.bin a.mcap",
        "correct apply --model model.toml a.mcap b.mcap --json",
        "convert b.mcap b.bin",
        "correct apply --model model.toml room/scan0.bin c.bin",
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let output = etendue(folder.path(), &words);
        assert!(output.status.success(), "{words:?}: {}", stderr(&output));
    }
    let [raw, recorded, single] =
        ["room/scan0.bin", "b.bin", "c.bin"].map(|name| positions(&folder.path().join(name)));
    assert_eq!(recorded.len(), raw.len());
    let apart = |a: &[[f64; 3]], b: &[[f64; 3]]| {
        let both = a.iter().flatten().zip(b.iter().flatten());
        both.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    assert!(apart(&recorded, &single) < 1e-6, "the file's precision");
    assert!(apart(&recorded, &raw) > 5e-3, "nothing was corrected");
    let clouds = |name| {
        let read = etendue::io::ros2::read_clouds(&folder.path().join(name));
        read.expect("a recording").clouds
    };
    let [before, after] = ["a.mcap", "b.mcap"].map(clouds);
    assert_eq!(before.len(), 1);
    assert_eq!(after.len(), 1);
}

#[test]
fn recordings_that_cannot_be_corrected_are_errors_without_output() {
    let folder = folder();
    fs::write(folder.path().join("model.toml"), MODEL).expect("written");
    fs::write(folder.path().join("a.mcap"), b"no recording").expect("written");
    let output = etendue(
        folder.path(),
        &[
            "correct",
            "apply",
            "--model",
            "model.toml",
            "a.mcap",
            "b.mcap",
        ],
    );
    assert!(!output.status.success());
    assert!(stderr(&output).contains("a.mcap"), "{}", stderr(&output));
    assert_eq!(names(folder.path()), ["a.mcap", "model.toml"]);
}

/// Points that are not finite are kept, beams of another sensor give a warning, and an unreadable model
/// or equal input and output are errors.
#[test]
fn invalid_corrections_are_errors_or_warnings() {
    let folder = folder();
    sequence(&folder.path().join("room"), 4, false);
    let run = |words: &str| {
        let words: Vec<&str> = words.split(' ').collect();
        etendue(folder.path(), &words)
    };
    let learnt = run("correct train room -o model.toml --exponents 4 --poses-move fixed");
    assert!(!learnt.status.success(), "four scans have no hold-out");
    let model = fs::read_to_string(folder.path().join("model.toml")).expect("a model");
    let usable = model.replace("status = \"not determined\"", "status = \"usable\"");
    assert_ne!(usable, model);
    fs::write(folder.path().join("model.toml"), usable).expect("written");

    let mut bytes = fs::read(folder.path().join("room/scan0.bin")).expect("a scan");
    bytes[..4].copy_from_slice(&f32::NAN.to_le_bytes());
    fs::write(folder.path().join("nan.bin"), &bytes).expect("written");
    let output = run("correct apply --model model.toml nan.bin out.bin --json");
    assert!(output.status.success(), "{}", stderr(&output));
    let corrected = positions(&folder.path().join("out.bin"));
    assert!(corrected[0][0].is_nan());
    assert!(corrected[1..].iter().flatten().all(|v| v.is_finite()));
    let report: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert!(report["left_as_measured"].as_u64() >= Some(1), "{report}");

    // Only beams that point downwards are left
    let low = |p: &&[u8]| f32::from_le_bytes([p[8], p[9], p[10], p[11]]) < 0.0;
    let below: Vec<u8> = bytes[16..]
        .chunks(16)
        .filter(low)
        .flatten()
        .copied()
        .collect();
    fs::write(folder.path().join("low.bin"), below).expect("written");
    let output = run("correct apply --model model.toml low.bin low-out.bin");
    let message = stderr(&output);
    assert!(
        message.contains("looks like one of another sensor"),
        "{message}"
    );

    for (words, expected) in [
        ("correct apply --model none.toml nan.bin x.bin", "none.toml"),
        (
            "correct apply --model model.toml nan.bin nan.bin",
            "input and output are the same",
        ),
        (
            "correct apply --model model.toml --cell 0 nan.bin x.bin",
            "'0' for '--cell",
        ),
        ("correct eval none --model model.toml", "none"),
        ("slam none", "none"),
    ] {
        let output = run(words);
        assert!(!output.status.success(), "{words}");
        assert!(
            stderr(&output).contains(expected),
            "{words}: {}",
            stderr(&output)
        );
    }
    fs::remove_file(folder.path().join("room/poses.txt")).expect("removed");
    let message = stderr(&run("slam room --prior poses"));
    assert!(message.contains("the sequence has none"), "{message}");
    fs::write(folder.path().join("room/scan2.bin"), "").expect("written");
    let message = stderr(&run("slam room"));
    assert!(message.contains("the file is empty"), "{message}");
}

/// A wall in front of two adjacent positions, at one incidence.
#[test]
fn a_wall_at_one_incidence_is_an_error() {
    let folder = folder();
    let sequence = folder.path().join("wall");
    fs::create_dir_all(&sequence).expect("a folder");
    for number in 0..2_u8 {
        let shift = f32::from(number);
        let grid = (0..40_u8).flat_map(|i| (0..40_u8).map(move |j| (f32::from(i), f32::from(j))));
        let values = grid.flat_map(|(i, j)| [20.0, 0.05 * i - 1.0 - shift, 0.05 * j - 1.0, 0.0]);
        let bytes: Vec<u8> = values.flat_map(f32::to_le_bytes).collect();
        fs::write(sequence.join(format!("scan{number}.bin")), bytes).expect("written");
    }
    let poses = "1 0 0 0 0 1 0 0 0 0 1 0\n1 0 0 0 0 1 0 1 0 0 1 0\n";
    fs::write(sequence.join("poses.txt"), poses).expect("written");
    let output = etendue(
        folder.path(),
        &["correct", "train", "wall", "--viewpoint-variance", "0.1"],
    );
    assert!(!output.status.success());
    let message = stderr(&output);
    assert!(message.contains("degrees of incidence"), "{message}");
    assert!(!folder.path().join("model.toml").exists());
}

/// Moves the scans from number `from` on, with their poses, to a folder of their own.
fn split(sequence: &Path, from: usize, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for name in names(sequence) {
        let number = name
            .strip_prefix("scan")
            .and_then(|n| n.strip_suffix(".bin"));
        if number.is_some_and(|n| n.parse::<usize>().expect("a number") >= from) {
            fs::rename(sequence.join(&name), to.join(&name)).expect("moved");
        }
    }
    for name in ["poses.txt", "poses_noisy.txt"] {
        let text = fs::read_to_string(sequence.join(name)).expect("poses");
        let (kept, moved): (Vec<_>, Vec<_>) =
            text.lines().enumerate().partition(|(line, _)| *line < from);
        let lines = |of: Vec<(usize, &str)>| of.iter().fold(String::new(), |t, l| t + l.1 + "\n");
        fs::write(sequence.join(name), lines(kept)).expect("written");
        fs::write(to.join(name), lines(moved)).expect("written");
    }
}

/// Four scans have no hold-out: the model is written with the reason, the exit code is that of a failure, and
/// `apply` and `slam` refuse it without `--force`. A trained model of version 1 is refused too.
#[test]
fn a_model_that_is_not_determined_is_written_and_refused() {
    let folder = folder();
    sequence(&folder.path().join("room"), 4, false);
    let run = |words: &str| {
        let words: Vec<&str> = words.split_whitespace().collect();
        etendue(folder.path(), &words)
    };
    let output = run("correct train room -o model.toml --exponents 4 --poses-move fixed --json");
    assert!(!output.status.success());
    let message = stderr(&output);
    assert!(message.contains("too few for a hold-out"), "{message}");
    assert!(message.contains("--force"), "{message}");
    let report: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!(report["usable"], false);
    let text = fs::read_to_string(folder.path().join("model.toml")).expect("a model");
    assert!(text.contains("status = \"not determined\""), "{text}");

    // Version 1 has no verdict
    let start = text.find("status = ").expect("a status");
    let end = text.find("verdict = ").expect("a verdict");
    let old = text
        .replace(&text[start..end], "")
        .replace("version = 2", "version = 1");
    fs::write(folder.path().join("old.toml"), old).expect("written");
    for (model, reason) in [
        ("model.toml", "too few for a hold-out"),
        ("old.toml", "the model is untested"),
    ] {
        let words = format!("correct apply --model {model} room fixed");
        let refused = run(&words);
        assert!(!refused.status.success(), "{model}");
        let message = stderr(&refused);
        assert!(message.contains(reason), "{message}");
        assert!(message.contains("--force"), "{message}");
        assert!(!folder.path().join("fixed").exists());

        let forced = run(&format!("{words}-{model} --force"));
        assert!(forced.status.success(), "{}", stderr(&forced));
        assert!(stderr(&forced).contains(reason), "{}", stderr(&forced));

        // The same for SLAM
        let words = format!("slam room --correction {model} --accept-doubtful");
        let refused = run(&words);
        assert!(!refused.status.success(), "{model}");
        let message = stderr(&refused);
        assert!(message.contains(reason), "{message}");
        assert!(message.contains("--force"), "{message}");
        let forced = run(&format!("{words} --force"));
        assert!(forced.status.success(), "{}", stderr(&forced));
        assert!(stderr(&forced).contains(reason), "{}", stderr(&forced));
    }
}

/// The uncertainty of the poses comes from the flag, then from the file of the sequence.
#[test]
fn the_uncertainty_of_the_poses_is_stated_by_a_file_or_a_flag() {
    let folder = folder();
    let room = folder.path().join("room");
    sequence(&room, 4, false);
    let file = room.join("pose_uncertainty.toml");
    fs::write(
        &file,
        "version = 1\nposition_sd_m = 0.02\nrotation_sd_deg = 0.1\n",
    )
    .expect("written");
    let sd = |words: &str| {
        let words: Vec<&str> = words.split_whitespace().collect();
        let output = etendue(folder.path(), &words);
        let report: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
        assert_eq!(report["poses"]["estimated"], false);
        report["poses"]["sd_m"].as_f64()
    };
    assert_eq!(sd("correct train room --exponents 4 --json"), Some(0.02));
    let flag = "correct train room --exponents 4 --json --pose-sd 0.03 0.2";
    assert_eq!(sd(flag), Some(0.03));

    fs::write(
        &file,
        "version = 1\nposition_sd_m = 0\nrotation_sd_deg = 0.1\n",
    )
    .expect("written");
    let output = etendue(folder.path(), &["correct", "train", "room"]);
    assert!(!output.status.success());
    assert!(
        stderr(&output).contains("position_sd_m is 0 m"),
        "{}",
        stderr(&output)
    );
}

mod long_tests {
    use super::*;

    /// Requirement: 1.5 mm over the used incidences, with jointly estimated poses with noise of 1 cm
    /// and 0.2 degrees, and a validation sequence with equal pose noise; measured 0.38 mm. The model is usable.
    #[test]
    #[ignore = "9 s on two cores: just long"]
    fn noisy_poses_are_learnt_with_the_bias_and_validated() {
        let folder = folder();
        let run = |words: &str| {
            let words: Vec<&str> = words.split_whitespace().collect();
            let output = etendue(folder.path(), &words);
            assert!(output.status.success(), "{words:?}: {}", stderr(&output));
            stdout(&output)
        };
        run("experiment corridor --export drive --known-bias --stops 12 --columns 256");
        let [drive, held_out] = ["drive", "held_out"].map(|name| folder.path().join(name));
        split(&drive, 8, &held_out);
        for name in [&drive, &held_out] {
            fs::copy(name.join("poses_noisy.txt"), name.join("poses.txt")).expect("copied");
            fs::remove_file(name.join("poses_noisy.txt")).expect("removed");
        }
        let text = run("correct train drive --validation held_out --json -o model.toml");
        let report: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let weight = |k: usize| report["weights"][k].as_f64().expect("a weight");
        let off = |degrees: f64| {
            let g = degrees.to_radians();
            (weight(0) - 0.004) * g.powi(2) + (weight(1) - 0.008) * g.powi(4)
        };
        let squares = (0..=75).map(|degrees| off(f64::from(degrees)).powi(2));
        let rms = (squares.sum::<f64>() / 76.0).sqrt();
        assert!(rms < 1.5e-3, "{rms} m, {report}");
    }
}

/// A planar lidar drives and turns in the arena: its recording as planar scans is mapped in the plane, at the poses of the
/// recording.
#[test]
fn slam_maps_the_scans_of_a_planar_lidar() {
    let folder = folder();
    let pose = |step: i32| {
        let time = 0.1 * f64::from(step);
        let (sin, cos) = (0.2 * time).sin_cos();
        format!("{time} {} 0.1 0.1 0 0 {sin} {cos}", 0.15 * time - 0.3)
    };
    let trajectory: Vec<String> = (0..=20).map(pose).collect();
    fs::write(folder.path().join("drive.tum"), trajectory.join("\n")).expect("written");
    let words = "simulate room.toml --sensor hokuyo-urg-04lx --trajectory drive.tum --duration 2 --frame sensor -o run.mcap";
    fs::write(folder.path().join("room.toml"), PLANAR_ROOM).expect("written");
    succeed(folder.path(), &words.split(' ').collect::<Vec<_>>());
    let words = "slam run.mcap --topic /points/scan -o map --json --accept-doubtful";
    let output = succeed(folder.path(), &words.split(' ').collect::<Vec<_>>());
    let report: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!(report["planar"], true);
    let error = report["drift"]["mean_translation_m"]
        .as_f64()
        .expect("a number");
    // Measured: 0.6 mm.
    assert!(error < 2e-3, "{error}");
    let poses = fs::read_to_string(folder.path().join("map/trajectory.tum")).expect("poses");
    let heights = poses
        .lines()
        .filter_map(|line| line.split(' ').nth(3)?.parse::<f64>().ok());
    assert!(
        heights.clone().count() >= 19 && heights.into_iter().all(|z| z == 0.0),
        "{poses}"
    );

    let words = "slam run.mcap --topic /points/scan --correction any.toml";
    let output = etendue(folder.path(), &words.split(' ').collect::<Vec<_>>());
    let message = stderr(&output);
    assert!(message.contains("are planar"), "{message}");
}
