//! `etendue convert`, `compare` and `inspect` on unusual points.

use crate::{etendue, fail, folder, names, recording, results, stderr, stdout, succeed, write};
use std::path::Path;

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).expect("a file")
}

/// The summary has the points with a position, the fields that LAS stores, and what it omits; rounded
/// intensities give a warning.
#[test]
fn the_summary_describes_the_written_file() {
    let folder = folder();
    let text =
        "x,y,z,intensity,ring,incidence\n1,2,3,0.25,1,0.1\nnan,nan,nan,0,1,0.1\n4,5,6,1,2,0.2\n";
    write(folder.path(), "a.csv", text);
    let output = succeed(folder.path(), &["convert", "a.csv", "a.las"]);
    let message = stdout(&output);
    assert!(
        message.contains("2 points with x y z intensity ring, with"),
        "{message}"
    );
    let left_out = "left out 1 points without a position, and the fields incidence";
    assert!(message.contains(left_out), "{message}");
    let warned = stderr(&output);
    assert!(warned.contains("intensity is between 0 and 1"), "{warned}");
    let message = results(folder.path(), &["convert", "a.csv", "a.ply"]);
    assert!(
        message.contains("3 points with") && !message.contains("left out"),
        "{message}"
    );
}

#[test]
fn a_file_without_any_position_is_not_written() {
    let folder = folder();
    write(folder.path(), "nan.csv", "x,y,z\nnan,nan,nan\n");
    for name in ["a.las", "a.laz", "a.e57", "a.bin"] {
        let message = fail(folder.path(), &["convert", "nan.csv", name]);
        assert!(
            message.contains("no point of nan.csv has a position"),
            "{message}"
        );
        assert!(message.contains("write a .pcd"), "{message}");
    }
    assert_eq!(names(folder.path()), ["nan.csv"]);
}

/// Arguments that convert `a.mcap`.
fn convert<'a>(to: &'a str, topic: &[&'a str]) -> Vec<&'a str> {
    [&["convert", "a.mcap", to], topic].concat()
}

/// Two lidars in one recording: their frames are never mixed.
#[test]
fn a_recording_of_several_sensors_is_read_topic_by_topic() {
    let folder = folder();
    let sensor = "hokuyo-ust-10lx";
    let second = format!("{sensor}@0.1,0,0,180");
    let arguments = [
        "simulate",
        "--sensor",
        sensor,
        "--sensor",
        &second,
        "--duration",
        "0.05",
        "-o",
        "a.mcap",
    ];
    succeed(folder.path(), &arguments);
    // Long lines are broken within names
    let message = fail(folder.path(), &convert("a.csv", &[])).replace(' ', "");
    for part in [
        "severalsensors",
        "/hokuyo_ust_10lx/points(sensor_msgs/PointCloud2)",
        "/hokuyo_ust_10lx_2/points(sensor_msgs/PointCloud2)",
        "--topicNAME",
    ] {
        assert!(message.contains(part), "{part:?} in {message}");
    }
    let cloud = "/hokuyo_ust_10lx_2/points";
    let message = results(folder.path(), &convert("cloud.csv", &["--topic", cloud]));
    assert!(message.contains("2 sweeps,"), "{message}");
    let scan = format!("{cloud}/scan");
    let message = results(folder.path(), &convert("scan.csv", &["--topic", &scan]));
    assert!(message.contains("2 sweeps,"), "{message}");
    // The sweeps of a table are numbered by its column
    let one = |sweep| ["convert", "cloud.csv", "scan.csv", "--sweep", sweep];
    let all = std::fs::read_to_string(folder.path().join("scan.csv")).expect("scans");
    succeed(folder.path(), &one("1"));
    let second = std::fs::read_to_string(folder.path().join("scan.csv")).expect("a scan");
    assert!(second.lines().count() > 100 && second.lines().count() < all.lines().count());
    let message = fail(folder.path(), &one("7"));
    assert!(
        message.contains("no sweep 7: its sweeps are 0 to 1"),
        "{message}"
    );
    succeed(folder.path(), &convert("scan.csv", &["--topic", &scan]));
    let message = results(folder.path(), &["compare", "cloud.csv", "scan.csv"]);
    assert!(message.contains("F-score: 100.00 %"), "{message}");

    let message = fail(folder.path(), &convert("a.csv", &["--topic", "/rear"])).replace(' ', "");
    assert!(
        message.contains("topic/rear") && message.contains(cloud),
        "{message}"
    );
    let message = fail(folder.path(), &["compare", "a.mcap", "cloud.csv"]);
    assert!(
        message.replace(' ', "").contains("--topicNAME"),
        "{message}"
    );
    let arguments = ["convert", "cloud.csv", "a.csv", "--topic", cloud];
    let message = fail(folder.path(), &arguments);
    assert!(message.contains("no topics"), "{message}");
    assert_eq!(names(folder.path()), ["a.mcap", "cloud.csv", "scan.csv"]);
    let whole = std::fs::read(folder.path().join("a.mcap")).expect("a recording");
    write(folder.path(), "cut.mcap", &whole[..whole.len() * 9 / 10]);
    let slam = |file, more: &[&str]| {
        let words = [&["slam", file, "-o", "map"], more].concat();
        stderr(&etendue(folder.path(), &words))
    };
    let mapped = slam("cut.mcap", &["--topic", cloud]);
    assert!(mapped.contains("the file is truncated"), "{mapped}");
    let refused = slam("a.mcap", &[]);
    assert!(
        refused.contains("choose one topic with --topic NAME"),
        "{refused}"
    );
    // A fit reads one of the two
    let fit = |more: &[&str]| {
        let words = "fit arena --scan a.mcap#0 --free sensor.pose --sensor";
        let words: Vec<&str> = words.split(' ').chain([sensor]).collect();
        etendue(folder.path(), &[&words, more].concat())
    };
    let refused = stderr(&fit(&[]));
    assert!(
        refused.contains("choose one topic with --topic NAME"),
        "{refused}"
    );
    let first = fit(&["--topic", "/hokuyo_ust_10lx/points"]);
    let text = stdout(&first);
    assert!(first.status.success(), "{text} {}", stderr(&first));
    assert!(text.contains("good"), "{text}");
}

/// Negative times shift all times of a recording, with a warning.
#[test]
fn negative_times_shift_all_times() {
    let folder = folder();
    let text = "x,y,z,time\n1,2,3,-0.5\n4,5,6,0.25\n";
    write(folder.path(), "a.csv", text);
    let output = succeed(folder.path(), &["convert", "a.csv", "a.mcap"]);
    assert!(stderr(&output).contains("the earliest time is -0.5 s"));
    succeed(folder.path(), &["convert", "a.mcap", "b.csv"]);
    let back = read(folder.path(), "b.csv");
    let lines: Vec<&str> = back.lines().skip(1).collect();
    assert_eq!(lines, ["1,2,3,0,0", "4,5,6,0.75,0"], "{back}");
}

#[test]
fn drop_outs_that_are_not_simulated_are_no_prediction() {
    let folder = folder();
    let cloud = |dropped: usize| {
        let row = |i: usize| {
            let (sin, cos) = (i as f64 + 0.5).to_radians().sin_cos();
            let returned = dropped == 0 || !i.is_multiple_of(dropped);
            returned.then(|| format!("{},{},0\n", 3.0 * cos, 3.0 * sin))
        };
        let rows: String = (0..360).filter_map(row).collect();
        format!("x,y,z\n{rows}")
    };
    write(folder.path(), "real.csv", cloud(10));
    write(folder.path(), "full.csv", cloud(0));
    let text = results(folder.path(), &["compare", "real.csv", "full.csv"]);
    assert!(
        text.contains("drop-outs: no prediction (36 real, 0 simulated, 0 both)"),
        "{text}"
    );
}

#[test]
fn tolerances_and_cells_of_compare_are_above_zero() {
    let folder = folder();
    write(folder.path(), "a.csv", "x,y,z\n1,2,3\n");
    for option in ["--tolerance", "--cell"] {
        for number in ["nan", "0", "-1", "inf"] {
            let option = format!("{option}={number}");
            let output = etendue(folder.path(), &["compare", "a.csv", "a.csv", &option]);
            assert_eq!(output.status.code(), Some(2), "{option}");
            let message = stderr(&output);
            let name = option.split('=').next().expect("a name");
            assert!(
                message.contains(name) && message.contains("above zero"),
                "{message}"
            );
        }
    }
}

/// A capture is compared with the metadata of its sensor, given, or found by Ouster's names of files.
#[test]
#[ignore = "needs recordings: see CONTRIBUTING.md"]
fn compare_accepts_the_metadata_of_a_capture() {
    let folder = folder();
    let at = folder.path();
    let data = "OS-1-128_v2.3.0_1024x10";
    let copy = |from: &str, to: &str| {
        let from = recording(&format!("ouster_sdk_samples/{from}"));
        std::fs::copy(from, at.join(to)).expect("a copy");
    };
    copy(&format!("{data}_lb_n3.pcap"), "lb_n3.pcap");
    copy(&format!("{data}.json"), "sensor.json");
    let with = ["--metadata", "sensor.json"];
    succeed(
        at,
        &[&["convert", "lb_n3.pcap", "a.pcd"][..], &with].concat(),
    );
    let compare = ["compare", "lb_n3.pcap", "a.pcd"];
    let message = fail(at, &compare);
    assert!(message.contains("--metadata"), "{message}");
    let message = results(at, &[&compare[..], &with].concat());
    assert!(message.contains("F-score: 100.00 %"), "{message}");

    let capture = recording(&format!("ouster_sdk_samples/{data}_lb_n3.pcap"));
    let message = results(at, &["compare", capture.to_str().expect("a name"), "a.pcd"]);
    assert!(message.contains("F-score: 100.00 %"), "{message}");
}

#[test]
fn clouds_of_every_ending_are_inspected() {
    let folder = folder();
    write(folder.path(), "a.csv", "x,y,z,time\n1,2,3,0\n4,5,6,0\n");
    for ending in ["las", "laz", "e57", "parquet", "npz", "bin", "mcap"] {
        let name = format!("a.{ending}");
        if ending == "parquet" && !cfg!(feature = "parquet") {
            let message = fail(folder.path(), &["convert", "a.csv", &name]);
            assert!(message.contains("--features parquet"), "{message}");
            continue;
        }
        succeed(folder.path(), &["convert", "a.csv", &name]);
        let message = results(folder.path(), &["inspect", &name]);
        assert!(message.contains("cloud of 2 points"), "{name}: {message}");
    }
}

/// The odometry of a scan log places its points, directly and by way of a recording; a capture has no poses, also as a recording.
#[test]
fn the_odometry_of_a_scan_log_places_its_points() {
    let folder = folder();
    let at = folder.path();
    let text = "sweep,time_s,azimuth_deg,range_m,odom_x_m,odom_y_m,odom_yaw_rad\n\
                0,0,0,2,1,5,0\n0,0,0,3,1,5,0\n1,0.1,0,2,1,5,1.5707963267948966\n";
    write(at, "log.csv", text);
    let output = succeed(at, &["convert", "log.csv", "log.mcap"]);
    assert!(!stderr(&output).contains("left out"), "{}", stderr(&output));
    assert!(results(at, &["inspect", "log.mcap"]).contains("with odometry"));
    for (from, to) in [("log.csv", "a.csv"), ("log.mcap", "b.csv")] {
        succeed(at, &["convert", from, to, "--frame", "world"]);
        let text = std::fs::read_to_string(at.join(to)).expect("points");
        // Without the heading
        let rows: Vec<Vec<f64>> = text
            .lines()
            .skip(1)
            .map(|row| {
                row.split(',')
                    .take(3)
                    .map(|number| number.parse().expect("a number"))
                    .collect()
            })
            .collect();
        for (row, expected) in rows
            .iter()
            .zip([[3.0, 5.0, 0.0], [4.0, 5.0, 0.0], [1.0, 7.0, 0.0]])
        {
            for (found, expected) in row.iter().zip(expected) {
                // Single precision
                assert!((found - expected).abs() < 1e-6, "{to}: {text}");
            }
        }
    }
    write(
        at,
        "points.csv",
        "x,y,z,sweep,time\n1,2,3,0,0\n4,5,6,1,0.1\n",
    );
    succeed(at, &["convert", "points.csv", "points.mcap"]);
    let message = fail(at, &["convert", "points.mcap", "c.csv", "--frame", "world"]);
    assert!(
        message.contains("points.mcap has no poses of the sensor"),
        "{message}"
    );
}

/// Fields of surveys are kept through LAS, LAZ, PLY, PCD and CSV. LAS cannot state that a value is missing: a field that a cloud does
/// not have is zero in the file, and absent when it is read.
#[test]
fn las_files_have_the_fields_that_were_written() {
    let folder = folder();
    let at = folder.path();
    let surveyed = "x,y,z,intensity,classification,scan_angle,user_data,point_source_id,red,green,blue\n\
                    1,2,3,10,2,-12,7,3,65535,0,256\n4,5,6,20,12,18,0,65535,0,1,2\n7,8,9,30,64,0,255,0,3,4,5\n";
    let simulated = "x,y,z,time,ring,material\n1,2,3,0.5,31,0\n4,5,6,0.25,0,-1\n7,8,9,1,15,300\n";
    for text in [surveyed, simulated, "x,y,z\n1,2,3\n4,5,6\n7,8,9\n"] {
        write(at, "a.csv", text);
        let mut from = "a.csv";
        for to in ["b.las", "c.laz", "d.ply", "e.pcd", "f.las", "g.csv"] {
            let message = results(at, &["convert", from, to]);
            assert!(!message.contains("left out"), "{message}");
            from = to;
        }
        let table = |name: &str| {
            let text = std::fs::read_to_string(at.join(name)).expect("points");
            let rows = text
                .lines()
                .map(|row| row.split(',').map(str::to_owned).collect());
            let rows: Vec<Vec<String>> = rows.collect();
            rows
        };
        let [before, after] = ["a.csv", "g.csv"].map(table);
        // LAS numbers returns, and the order of its fields is its own
        let places: Vec<_> = before[0]
            .iter()
            .map(|name| {
                after[0]
                    .iter()
                    .position(|other| other == name)
                    .unwrap_or_else(|| panic!("no {name}"))
            })
            .collect();
        let others = after[0]
            .iter()
            .enumerate()
            .filter(|(place, _)| !places.contains(place));
        let others: Vec<_> = others.map(|(_, name)| name.as_str()).collect();
        assert_eq!(others, ["return_number", "returns"]);
        // Without the headings
        for (row, expected) in after.iter().zip(&before).skip(1) {
            for (place, expected) in places.iter().zip(expected) {
                let [found, expected] =
                    [&row[*place], expected].map(|number| number.parse::<f64>().expect("a number"));
                // Positions have steps of 0.1 mm, angles of 0.006 degrees
                assert!((found - expected).abs() < 1e-4, "{found} {expected}");
            }
        }
    }
    write(at, "a.csv", surveyed);
    let message = results(at, &["convert", "a.csv", "h.e57"]);
    assert!(
        message.contains("left out the fields classification scan_angle"),
        "{message}"
    );
}

/// CloudCompare writes fields as `scalar_NAME`.
#[test]
fn fields_of_cloud_compare_have_their_names() {
    let folder = folder();
    let header = "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\n\
                  property float scalar_Intensity\nproperty float scalar_Classification\nend_header\n1 2 3 40 5\n";
    write(folder.path(), "a.ply", header);
    let message = results(folder.path(), &["inspect", "a.ply"]);
    assert!(message.contains("intensities from 40 to 40"), "{message}");
    assert!(
        message.contains("fields: x y z intensity classification"),
        "{message}"
    );
}

/// A folder with two recordings is no bag of the second one, and the metadata of the first one stay.
#[test]
fn the_metadata_of_a_bag_are_those_of_its_recording() {
    let folder = folder();
    let at = folder.path();
    write(at, "a.csv", "x,y,z\n1,2,3\n");
    succeed(at, &["convert", "a.csv", "bag/a.mcap"]);
    succeed(at, &["convert", "a.csv", "bag/a.mcap"]);
    let metadata = at.join("bag/metadata.yaml");
    let text = std::fs::read_to_string(&metadata).expect("metadata");
    let warned = stderr(&succeed(at, &["convert", "a.csv", "bag/aa.mcap"]));
    assert!(
        warned.contains("bag has other recordings than bag/aa.mcap"),
        "{warned}"
    );
    assert_eq!(std::fs::read_to_string(&metadata).expect("metadata"), text);
    assert!(results(at, &["inspect", "bag"]).contains("1 messages"));
}

/// Decimal commas are named by every command.
#[test]
fn decimal_commas_are_named() {
    let folder = folder();
    write(folder.path(), "de.csv", "x;y;z\n1,5;2,25;3,0\n");
    for words in [
        &["convert", "de.csv", "a.pcd"][..],
        &["inspect", "de.csv"],
        &["register", "de.csv", "de.csv"],
    ] {
        let message = fail(folder.path(), words);
        assert!(
            message.contains("the numbers have decimal commas: 1,5;2,25;3,0"),
            "{message}"
        );
    }
}

/// Points at the origin are named, as `register` does.
#[test]
fn inspect_names_points_at_the_origin() {
    let folder = folder();
    write(folder.path(), "a.csv", "x,y,z\n0,0,0\n1,2,3\n0,0,0\n");
    let message = results(folder.path(), &["inspect", "a.csv"]);
    assert!(message.contains("2 points are at the origin"), "{message}");
}
