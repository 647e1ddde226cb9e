//! `etendue correct` and `etendue slam`.

use crate::{etendue, folder, names, stderr, stdout};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Scans of a room from places half a metre apart, as KITTI files, with a known bias
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
fn a_bias_is_learnt_taken_off_and_judged() {
    let folder = folder();
    sequence(&folder.path().join("room"), 6, false);
    let run = |words: &str| {
        let words: Vec<&str> = words.split(' ').collect();
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

    let applied = run("correct apply --model model.toml room corrected --json");
    assert_eq!(names(&folder.path().join("corrected")).len(), 6);
    let report: serde_json::Value = serde_json::from_str(&stdout(&applied)).expect("JSON");
    assert_eq!(report["scans"], 6);
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

/// Measured: 0.4 mm. Without odometry steps of 0.6 m are too long for this room: the walls that tell
/// them are the farthest pairs, and those are trimmed.
#[test]
fn slam_maps_a_sequence_and_tells_its_drift() {
    let folder = folder();
    sequence(&folder.path().join("room"), 4, false);
    let output = etendue(
        folder.path(),
        &["slam", "room", "--prior", "poses", "-o", "out", "--json"],
    );
    assert!(output.status.success(), "{}", stderr(&output));
    let files = names(&folder.path().join("out"));
    assert_eq!(
        files,
        [
            "map.csv",
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
fn inverse_poses_missing_poses_and_single_scans_are_named() {
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
    assert!(train("single").contains("no point"));
    assert!(!folder.path().join("model.toml").exists());
}
