//! Every verb reads every kind of recording.

use crate::{etendue, fail, folder, recording, results, stderr, stdout, succeed, write};
use etendue::io::bag::RecordedCloud;
use std::path::Path;

/// A lidar that moves through a room with a box.
const ROOM: &str = r#"
version = 1
[[objects]]
name = "room"
shape.box = { size_m = [9, 6, 3] }
position_m = [0, 0, 1.5]
material = "white-paper"
[[objects]]
name = "box"
shape.box = { size_m = [0.6, 0.8, 1.2] }
position_m = [1.5, 1.2, 0.6]
material = "wood"
[sensor]
preset = "velodyne-vlp-16"
position_m = [-1, -0.5, 1]
motion.twist = { velocity_m_s = [0.8, 0, 0] }
"#;

fn block(bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).expect("a short block");
    [&length.to_le_bytes()[..], bytes].concat()
}

fn record(fields: &[(&str, &[u8])], data: &[u8]) -> Vec<u8> {
    let field = |(name, value): &(&str, &[u8])| block(&[name.as_bytes(), b"=", value].concat());
    let header: Vec<u8> = fields.iter().flat_map(field).collect();
    [block(&header), block(data)].concat()
}

/// Seconds and nanoseconds of a time, 32 bits each.
fn stamp(time: f64) -> Vec<u8> {
    let seconds = time.floor();
    let nanoseconds = ((time - seconds) * 1e9).round();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "small times"
    )]
    let words = [seconds as u32, nanoseconds as u32];
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// A `PointCloud2` of ROS 1 with x, y, z and time as big-endian 32-bit floats.
fn ros1_cloud(cloud: &RecordedCloud) -> Vec<u8> {
    let word = |value: usize| u32::try_from(value).expect("small").to_le_bytes();
    let fields = ["x", "y", "z", "time"];
    let columns = fields.map(|name| cloud.field(name).expect("a field"));
    let points = columns[0].len();
    let mut message = [&[0; 4][..], &stamp(cloud.time), &block(b"lidar")].concat();
    message.extend([word(1), word(points), word(fields.len())].concat());
    for (index, name) in fields.iter().enumerate() {
        message.extend(block(name.as_bytes()));
        message.extend(word(4 * index));
        message.push(7);
        message.extend(word(1));
    }
    message.push(1);
    message.extend([word(16), word(16 * points), word(16 * points)].concat());
    for point in 0..points {
        for column in &columns {
            #[expect(clippy::cast_possible_truncation, reason = "single precision")]
            message.extend((column[point] as f32).to_be_bytes());
        }
    }
    message.push(1);
    message
}

/// A bag of ROS 1 with the clouds of an MCAP recording.
fn ros1_bag(mcap: &Path) -> Vec<u8> {
    let clouds = etendue::io::ros2::read_clouds(mcap).expect("clouds").clouds;
    let connection = record(
        &[("op", &[7]), ("conn", &[0; 4]), ("topic", b"/points")],
        &block(b"type=sensor_msgs/PointCloud2"),
    );
    let messages = clouds.iter().flat_map(|cloud| {
        let time = stamp(cloud.time);
        let header = [("op", &[2][..]), ("conn", &[0; 4]), ("time", &time)];
        record(&header, &ros1_cloud(cloud))
    });
    let inner = [connection, messages.collect()].concat();
    let chunk = record(&[("op", &[5]), ("compression", b"none")], &inner);
    [b"#ROSBAG V2.0\n".as_slice(), &chunk].concat()
}

/// A folder with the recording of four sweeps in the room.
fn drive() -> tempfile::TempDir {
    let folder = folder();
    write(folder.path(), "room.toml", ROOM);
    let words = "simulate room.toml --duration 0.35 --frame sensor -o run.mcap";
    let words: Vec<&str> = words.split(' ').collect();
    succeed(folder.path(), &words);
    folder
}

/// One drive in five containers; every verb gives the same results for all of them.
#[test]
fn every_verb_reads_every_container() {
    let folder = drive();
    let at = folder.path();
    std::fs::write(at.join("run.bag"), ros1_bag(&at.join("run.mcap"))).expect("a bag");
    std::fs::create_dir(at.join("bag")).expect("a folder");
    std::fs::copy(at.join("run.mcap"), at.join("bag/run.mcap")).expect("a copy");
    succeed(at, &["convert", "run.mcap", "clouds/c.pcd", "--per-sweep"]);
    succeed(at, &["convert", "run.mcap", "table.csv"]);

    for input in ["run.mcap", "run.bag", "bag", "clouds", "table.csv"] {
        let report = stdout(&succeed(at, &["inspect", input]));
        assert!(report.contains("4 sweeps"), "{input}: {report}");
        let one = succeed(at, &["convert", input, "one.ply", "--sweep", "2"]);
        assert!(
            stdout(&one).contains("1 sweep,"),
            "{input}: {}",
            stdout(&one)
        );
        let text = stdout(&succeed(at, &["compare", "one.ply", "one.ply"]));
        assert!(text.contains("F-score: 100.00 %"), "{input}: {text}");
        let pair = [1, 0].map(|number| format!("{input}#{number}"));
        let register = ["register", &pair[0], &pair[1], "--method", "point-to-plane"];
        let moved = stdout(&succeed(at, &register));
        assert!(moved.contains("iterations"), "{input}: {moved}");
        let slam = etendue(at, &["slam", input, "--accept-doubtful"]);
        let text = stdout(&slam);
        assert!(
            text.contains("4 scans"),
            "{input}: {text} {}",
            stderr(&slam)
        );
    }
}

/// The lidar moves 0.08 m per sweep: the map of the world is as large as the room, the map of one frame
/// of the sensor is larger by its path.
#[test]
fn the_poses_of_a_recording_survive_conversion() {
    let folder = drive();
    let at = folder.path();
    let output = succeed(at, &["convert", "run.mcap", "pile.pcd"]);
    assert!(
        stderr(&output).contains("--frame world places them"),
        "{}",
        stderr(&output)
    );
    succeed(at, &["convert", "run.mcap", "copy.mcap"]);
    let largest_x = |input: &str, frame: &str| {
        succeed(at, &["convert", input, "out.pcd", "--frame", frame]);
        let report = succeed(at, &["inspect", "out.pcd", "--json"]);
        let json: serde_json::Value = serde_json::from_str(&stdout(&report)).expect("JSON");
        json[0]["to_m"][0].as_f64().expect("a number")
    };
    // Noise of the ranges: 30 mm at five standard deviations of 6 mm, and more of other presets
    for input in ["run.mcap", "copy.mcap"] {
        let output = succeed(at, &["convert", input, "out.pcd", "--frame", "world"]);
        let words = "outside of the poses of the recording";
        assert!(!stderr(&output).contains(words), "{}", stderr(&output));
        let world = largest_x(input, "world");
        assert!((world - 4.5).abs() < 0.1, "{input}: {world}");
        let first = largest_x(input, "first");
        assert!((first - 5.5).abs() < 0.1, "{input}: {first}");
    }
    let error = fail(at, &["convert", "pile.pcd", "out.pcd", "--frame", "world"]);
    assert!(error.contains("no poses"), "{error}");
}

/// The simulated points are where `simulate` places them in the frame of the world, also in the last sweep: the
/// recording ends with the pose at its end. Measured: 8e-7 m.
#[test]
fn points_of_a_moving_recording_are_placed_at_their_times() {
    let folder = drive();
    let at = folder.path();
    let output = succeed(at, &["convert", "run.mcap", "map.csv", "--frame", "world"]);
    assert!(
        !stderr(&output).contains("outside of the poses of the recording"),
        "{}",
        stderr(&output)
    );
    let words = "simulate room.toml --duration 0.35 -o truth.csv";
    succeed(at, &words.split(' ').collect::<Vec<_>>());

    // Both files have the points in the same order
    let rows = |name: &str| {
        let text = std::fs::read_to_string(at.join(name)).expect("a table");
        let names: Vec<&str> = text.lines().next().expect("a header").split(',').collect();
        let columns = ["x", "y", "z", "time"]
            .map(|name| names.iter().position(|it| *it == name).expect("a column"));
        let row = |line: &str| {
            let cells: Vec<&str> = line.split(',').collect();
            columns.map(|column| cells[column].parse::<f64>().expect("a number"))
        };
        // The first line is the header, read above
        text.lines().skip(1).map(row).collect::<Vec<_>>()
    };
    let [placed, truth] = ["map.csv", "truth.csv"].map(rows);
    assert_eq!(placed.len(), truth.len());
    let pairs = placed.iter().zip(&truth);
    let largest = pairs
        .flat_map(|(placed, truth)| (0..4).map(|axis| (placed[axis] - truth[axis]).abs()))
        .filter(|error| error.is_finite())
        .fold(0.0, f64::max);
    // The sensor moves 80 mm during a sweep. Times and positions are in single precision
    assert!(largest < 1e-5, "{largest}");
}

/// A stray file beside a capture of a Velodyne lidar is not its metadata, and the packets of a bag are
/// those of a capture.
#[test]
#[ignore = "needs recordings: see CONTRIBUTING.md"]
fn recorded_packets_are_described() {
    let capture = recording("mrpt_velodyne_pcap/sample_velodyne_vlp16_gps.pcap");
    let bag = recording("nebula_lidar_packets/vlp16/1673400471837873222");
    let folder = folder();
    let at = folder.path();
    std::fs::copy(capture, at.join("a.pcap")).expect("a copy");
    write(at, "a.json", "{}");
    let report = stdout(&succeed(at, &["inspect", "a.pcap"]));
    assert!(report.contains("of velodyne-vlp-16"), "{report}");
    assert!(report.contains("rings: 16"), "{report}");
    let report = stdout(&succeed(at, &["inspect", bag.to_str().expect("UTF-8")]));
    assert!(
        report.contains("/velodyne_packets (velodyne_msgs/VelodyneScan): 4 messages"),
        "{report}"
    );
    assert!(report.contains("5 sweeps, 10.00 per second"), "{report}");
}

#[test]
fn files_of_etendue_are_described_by_their_kind() {
    let folder = folder();
    let at = folder.path();
    write(at, "robot.toml", "version = 1\nduration_s = 1\n");
    let report = stdout(&succeed(at, &["inspect", "robot.toml"]));
    assert!(
        report.contains("a robot file") && report.contains("etendue run"),
        "{report}"
    );
}

/// The points of a beams file are those of the points file: the origins of the beams of a VLP-16 are up to 11.2 mm from
/// that of the sensor, which the beams file does not have. Without elevations they were up to 1.3 m away.
#[test]
fn the_beams_of_several_channels_are_points_in_space() {
    let folder = folder();
    let path = folder.path();
    let words = "simulate arena --sensor velodyne-vlp-16 --sweeps 2 --frame sensor --formats csv,npz -o out";
    succeed(path, &words.split(' ').collect::<Vec<_>>());
    for beams in ["out/beams.csv", "out/beams.npz"] {
        let compare = ["compare", "out/scan.csv", beams, "--json"];
        let output = succeed(path, &compare);
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let farthest = found["hausdorff_m"].as_f64().expect("a distance");
        assert!(farthest < 0.0125, "{beams}: {farthest}");
        assert!(farthest > 0.001, "{beams}: {farthest}");
    }
    // Both are described as beams, with and without a return
    for beams in ["out/beams.csv", "out/beams.npz"] {
        let text = results(path, &["inspect", beams]);
        assert!(text.contains("2 scans of 28928 to 28944 beams"), "{text}");
    }
}

#[test]
fn a_large_mesh_may_be_in_millimetres() {
    let folder = folder();
    let path = folder.path();
    let triangle = |size: u32| format!("v 0 0 0\nv {size} 0 0\nv 0 1 0\nf 1 2 3\n");
    for (size, is_noted) in [(150, false), (3000, true)] {
        write(path, "hall.obj", triangle(size));
        for arguments in [
            &["inspect", "hall.obj"][..],
            &["inspect", "--json", "hall.obj"],
        ] {
            let text = results(path, arguments);
            assert_eq!(text.contains("scale = 0.001"), is_noted, "{text}");
        }
    }
}
