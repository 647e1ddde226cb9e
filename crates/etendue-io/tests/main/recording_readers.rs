//! Recordings in bags and folders.

use crate::recordings::recording;
use etendue_io::packets::PacketSource;
use etendue_io::recording::{Content, read_recording};
use etendue_io::scan_log::parse_scan_log;

pub fn block(bytes: &[u8]) -> Vec<u8> {
    let mut out = u32::try_from(bytes.len()).unwrap().to_le_bytes().to_vec();
    out.extend(bytes);
    out
}

pub fn record(fields: &[(&str, &[u8])], data: &[u8]) -> Vec<u8> {
    let header: Vec<u8> = { fields.iter() }
        .flat_map(|(name, value)| {
            let mut field = format!("{name}=").into_bytes();
            field.extend(*value);
            block(&field)
        })
        .collect();
    [block(&header), block(data)].concat()
}

pub fn laser_scan(ranges: &[f32]) -> Vec<u8> {
    let mut data = Vec::new();
    for word in [7_u32, 12, 500_000_000] {
        data.extend(word.to_le_bytes());
    }
    data.extend(block(b"laser"));
    for number in [-1.0_f32, 1.0, 0.5, 0.0, 0.1, 0.15, 12.0] {
        data.extend(number.to_le_bytes());
    }
    for list in [ranges, &[47.0; 5][..ranges.len()]] {
        data.extend(u32::try_from(list.len()).unwrap().to_le_bytes());
        data.extend(list.iter().flat_map(|v| v.to_le_bytes()));
    }
    data
}

/// A bag built from the description of the format.
#[test]
fn a_laser_scan_of_a_ros_1_bag_is_read() {
    let connection = record(
        &[("op", &[7]), ("conn", &[0; 4]), ("topic", b"/scan")],
        &block(b"type=sensor_msgs/LaserScan"),
    );
    let scan = laser_scan(&[0.5, f32::INFINITY, 0.1, 0.7, f32::NAN]);
    let message = record(&[("op", &[2]), ("conn", &[0; 4]), ("time", &[0; 8])], &scan);
    let inner = [connection, message.clone(), message].concat();
    let chunk = record(&[("op", &[5]), ("compression", b"none")], &inner);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.bag");
    let whole = [b"#ROSBAG V2.0\n".as_slice(), &chunk].concat();
    std::fs::write(&path, &whole).unwrap();
    let read = read_recording(&path, &PacketSource::default(), None).unwrap();
    let Content::Scans(log) = read.content else {
        panic!("no scans");
    };
    assert_eq!(log.scans.len(), 2);
    let ranges: Vec<_> = log.scans[0].readings.iter().map(|r| r.rep117()).collect();
    assert_eq!(ranges[..2], [0.5, f64::INFINITY]);
    assert_eq!(ranges[2], f64::NEG_INFINITY);
    assert!((log.scans[0].azimuths[4] - 1.0).abs() < 1e-6 && log.scans[0].time == 12.5);
    std::fs::write(&path, &whole[..whole.len() - 9]).unwrap();
    let cut = read_recording(&path, &PacketSource::default(), None).unwrap_err();
    assert!(cut.to_string().contains("neither a LaserScan"), "{cut}");
}

/// Scans of a front lidar and a rear lidar: the error lists both topics, and a topic
/// selects one.
#[test]
fn one_of_several_topics_is_selected_by_name() {
    let connection = |number: u8, topic: &[u8]| {
        let fields = [
            ("op", &[7][..]),
            ("conn", &[number, 0, 0, 0]),
            ("topic", topic),
        ];
        record(&fields, &block(b"type=sensor_msgs/LaserScan"))
    };
    let message = |number: u8, range: f32| {
        let fields = [
            ("op", &[2][..]),
            ("conn", &[number, 0, 0, 0]),
            ("time", &[0; 8]),
        ];
        record(&fields, &laser_scan(&[range; 5]))
    };
    let inner = [
        connection(0, b"/front"),
        connection(1, b"/rear"),
        message(0, 0.5),
        message(1, 0.7),
        message(0, 0.5),
    ];
    let chunk = record(&[("op", &[5]), ("compression", b"none")], &inner.concat());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("two.bag");
    std::fs::write(&path, [b"#ROSBAG V2.0\n".as_slice(), &chunk].concat()).unwrap();
    let device = PacketSource::default();
    let error = read_recording(&path, &device, None)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("/front") && error.contains("/rear"),
        "{error}"
    );
    let ranges = |topic: &str| {
        let Content::Scans(log) = read_recording(&path, &device, Some(topic)).unwrap().content
        else {
            panic!("no scans");
        };
        let ranges = log.scans.iter().map(|scan| scan.readings[0].rep117());
        ranges.collect::<Vec<f64>>()
    };
    assert_eq!(ranges("/front"), [0.5, 0.5]);
    assert_eq!(ranges("/rear"), [f64::from(0.7_f32)]);
    let error = read_recording(&path, &device, Some("/left")).unwrap_err();
    assert!(
        error.to_string().contains("no points of the topic /left"),
        "{error}"
    );
}

/// A recorded bag of an inertial unit, odometry and GNSS fixes.
#[test]
#[ignore = "needs recordings: see CONTRIBUTING.md"]
fn a_bag_without_a_scan_topic_is_an_error_that_lists_its_topics() {
    let bag = recording("husky_imu_odom_gps_bag/test1.bag");
    let error = read_recording(&bag, &PacketSource::default(), None)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("neither a LaserScan nor a PointCloud2"),
        "{error}"
    );
    assert!(error.contains("sensor_msgs/Imu"), "{error}");
}

#[test]
fn a_truncated_line_and_decimal_commas_are_errors_with_their_line() {
    let rows = "0.5,47,-1.0\n0.5,47\n0.5,47,0.0\n";
    let error = parse_scan_log("a.txt".as_ref(), rows)
        .unwrap_err()
        .to_string();
    assert!(error.contains("line 2"), "{error}");
    let commas = "0.5,47,-1.0\n0,5,47,0,0\n0.5,47,1.0\n";
    let error = parse_scan_log("a.txt".as_ref(), commas).unwrap_err();
    assert!(
        error.to_string().contains("line 2") && error.remedy().contains("points"),
        "{error}"
    );
}

#[test]
fn a_folder_of_clouds_is_one_scan_a_file() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["b.csv", "a.csv"] {
        let x = if name == "a.csv" { 1 } else { 2 };
        std::fs::write(folder.path().join(name), format!("x,y,z\n{x},0,0\n")).unwrap();
    }
    let Content::Clouds(clouds) = read_recording(folder.path(), &PacketSource::default(), None)
        .unwrap()
        .content
    else {
        panic!("no clouds");
    };
    assert_eq!(clouds.len(), 2);
    assert_eq!(clouds[0].0[0].x, 1.0, "by name");
    let empty = tempfile::tempdir().unwrap();
    let error = read_recording(empty.path(), &PacketSource::default(), None)
        .unwrap_err()
        .to_string();
    assert!(error.contains("contains no .pcd"), "{error}");
}

/// The same bag with its chunk compressed with LZ4 (frames, as written by `rosbag compress --lz4`).
#[test]
fn a_chunk_packed_with_lz4_is_read() {
    use std::io::Write;
    let connection = record(
        &[("op", &[7]), ("conn", &[0; 4]), ("topic", b"/scan")],
        &block(b"type=sensor_msgs/LaserScan"),
    );
    let scan = laser_scan(&[0.5, 0.25]);
    let message = record(&[("op", &[2]), ("conn", &[0; 4]), ("time", &[0; 8])], &scan);
    let mut packer = lz4_flex::frame::FrameEncoder::new(Vec::new());
    packer.write_all(&[connection, message].concat()).unwrap();
    let packed = packer.finish().unwrap();
    let bag = |data: &[u8]| {
        let chunk = record(&[("op", &[5]), ("compression", b"lz4")], data);
        [b"#ROSBAG V2.0\n".as_slice(), &chunk].concat()
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.bag");
    std::fs::write(&path, bag(&packed)).unwrap();
    let Content::Scans(log) = read_recording(&path, &PacketSource::default(), None)
        .unwrap()
        .content
    else {
        panic!("no scans");
    };
    assert_eq!(log.scans[0].readings[1].range(), Some(0.25));
    std::fs::write(&path, bag(&packed[..packed.len() / 2])).unwrap();
    let error = read_recording(&path, &PacketSource::default(), None)
        .unwrap_err()
        .to_string();
    assert!(error.contains("cannot be decompressed"), "{error}");
}

/// A serialised ROS 2 message (CDR, little endian).
#[derive(Default)]
struct Cdr(Vec<u8>);

impl Cdr {
    fn u32(mut self, value: u32) -> Self {
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self.0.extend(value.to_le_bytes());
        self
    }

    fn u8(mut self, value: u8) -> Self {
        self.0.push(value);
        self
    }

    fn text(mut self, text: &str) -> Self {
        self = self.u32(u32::try_from(text.len()).unwrap() + 1);
        self.0.extend(text.bytes());
        self.u8(0)
    }

    fn floats(self, values: &[f32]) -> Self {
        values.iter().fold(self, |cdr, v| cdr.u32(v.to_bits()))
    }

    fn list(self, values: &[f32]) -> Self {
        self.u32(u32::try_from(values.len()).unwrap())
            .floats(values)
    }

    fn header(self, second: u32) -> Self {
        self.u32(second).u32(500_000_000).text("laser")
    }

    fn message(self) -> Vec<u8> {
        [&[0, 1, 0, 0], &self.0[..]].concat()
    }
}

fn ros2_scan(second: u32, ranges: &[f32]) -> Vec<u8> {
    Cdr::default()
        .header(second)
        .floats(&[-1.0, 1.0, 0.5, 0.0, 0.1, 0.15, 12.0])
        .list(ranges)
        .list(&vec![47.0; ranges.len()])
        .message()
}

/// Four single-precision fields per point, as in most drivers.
fn ros2_cloud(points: &[[f32; 4]]) -> Vec<u8> {
    let count = u32::try_from(points.len()).unwrap();
    let mut cdr = Cdr::default().header(3).u32(1).u32(count).u32(4);
    for (number, name) in (0..).zip(["x", "y", "z", "intensity"]) {
        cdr = cdr.text(name).u32(4 * number).u8(7).u32(1);
    }
    cdr = cdr.u8(0).u32(16).u32(16 * count).u32(16 * count);
    for value in points.iter().flatten() {
        cdr.0.extend(value.to_le_bytes());
    }
    cdr.u8(0).message()
}

fn mcap_file(kind: &str, messages: &[Vec<u8>]) -> Vec<u8> {
    let mut file = std::io::Cursor::new(Vec::new());
    let mut writer = mcap::WriteOptions::new()
        .compression(None)
        .create(&mut file)
        .unwrap();
    let schema = writer.add_schema(kind, "ros2msg", b"").unwrap();
    let channel =
        { writer.add_channel(schema, "/lidar", "cdr", &std::collections::BTreeMap::new()) }
            .unwrap();
    for (number, data) in (0..).zip(messages) {
        let header = mcap::records::MessageHeader {
            channel_id: channel,
            sequence: number,
            log_time: u64::from(number),
            publish_time: u64::from(number),
        };
        writer.write_to_known_channel(&header, data).unwrap();
    }
    writer.finish().unwrap();
    drop(writer);
    file.into_inner()
}

#[test]
fn laser_scans_of_an_mcap_file_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mcap");
    let scans = [
        ros2_scan(7, &[0.5, f32::INFINITY, 0.1, 0.7, f32::NAN]),
        ros2_scan(8, &[0.6, 0.6, 0.6, 0.6, 13.0]),
    ];
    std::fs::write(&path, mcap_file("sensor_msgs/msg/LaserScan", &scans)).unwrap();
    let Content::Scans(log) = read_recording(&path, &PacketSource::default(), None)
        .unwrap()
        .content
    else {
        panic!("no scans");
    };
    let times: Vec<f64> = log.scans.iter().map(|scan| scan.time).collect();
    assert_eq!(times, [7.5, 8.5]);
    let rep117 = |scan: usize| -> Vec<f64> {
        let readings = log.scans[scan].readings.iter();
        readings.map(|reading| reading.rep117()).collect()
    };
    assert_eq!(rep117(0)[1..3], [f64::INFINITY, f64::NEG_INFINITY]);
    assert!((rep117(0)[3] - 0.7).abs() < 1e-6 && rep117(0)[4].is_nan());
    assert_eq!(rep117(1)[4], f64::INFINITY, "beyond the limit");
    assert_eq!(log.scans[0].intensities, [47.0; 5]);
}

#[test]
fn point_clouds_of_an_mcap_file_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mcap");
    let cloud = ros2_cloud(&[[1.0, 2.0, 3.0, 9.0], [f32::NAN; 4]]);
    let file = mcap_file("sensor_msgs/msg/PointCloud2", &[cloud.clone(), cloud]);
    std::fs::write(&path, &file).unwrap();
    let Content::Clouds(clouds) = read_recording(&path, &PacketSource::default(), None)
        .unwrap()
        .content
    else {
        panic!("no clouds");
    };
    assert_eq!(clouds.len(), 2);
    assert_eq!(clouds[1].0[0], nalgebra::Point3::new(1.0, 2.0, 3.0));
    assert!(clouds[1].0[1].x.is_nan(), "a dropped beam keeps its place");
    assert_eq!(clouds[1].1[0], 9.0);
    let other = mcap_file("sensor_msgs/msg/Imu", &[vec![0; 8]]);
    std::fs::write(&path, other).unwrap();
    let error = read_recording(&path, &PacketSource::default(), None)
        .unwrap_err()
        .to_string();
    assert!(error.contains("/lidar (sensor_msgs/Imu)"), "{error}");
}

/// A bag written by Python's SQLite (`scripts/rosbag2_golden.py`): pages of 512 bytes, messages on
/// overflow pages, a tree of two levels, a second topic.
#[test]
fn a_ros_2_bag_in_sqlite_is_read() {
    let bag = include_bytes!("../golden/scans.db3");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scans_0.db3");
    std::fs::write(&path, bag).unwrap();
    // ROS 2 names a bag by its folder.
    for name in [&path, folder.path()] {
        let read = read_recording(name, &PacketSource::default(), None).unwrap();
        assert!(read.warnings.is_empty());
        let Content::Scans(log) = read.content else {
            panic!("no scans");
        };
        assert_eq!(log.scans.len(), 12);
        for (number, scan) in (0_u32..).zip(&log.scans) {
            assert_eq!(scan.time, f64::from(number) + 0.25);
            assert_eq!(scan.readings.len(), 180);
            for (beam, reading) in (0_u32..).zip(&scan.readings) {
                let expected = 1.0 + 0.01 * f64::from(number) + 0.001 * f64::from(beam);
                assert!((reading.rep117() - expected).abs() < 1e-6);
            }
        }
    }
    std::fs::write(&path, &bag[..bag.len() / 2]).unwrap();
    let cut = read_recording(&path, &PacketSource::default(), None).unwrap();
    assert!(
        cut.warnings[0].contains("truncated or damaged"),
        "{:?}",
        cut.warnings
    );
    std::fs::write(&path, &bag[..300]).unwrap();
    let error = read_recording(&path, &PacketSource::default(), None)
        .unwrap_err()
        .to_string();
    assert!(error.contains("not a ROS 2 bag"), "{error}");
}

/// `ros2 bag record --compression-format zstd`, per file and per message.
#[test]
fn ros_2_bags_packed_with_zstd_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let plain = folder.path().join("plain.db3");
    let bag = include_bytes!("../golden/scans.db3");
    std::fs::write(&plain, bag).unwrap();
    let packed = folder.path().join("bag/scans_0.db3.zstd");
    std::fs::create_dir(folder.path().join("bag")).unwrap();
    std::fs::write(&packed, zstd::encode_all(&bag[..], 3).unwrap()).unwrap();
    let content = read_recording(&plain, &PacketSource::default(), None)
        .unwrap()
        .content;
    for name in [&packed, packed.parent().unwrap()] {
        assert_eq!(
            read_recording(name, &PacketSource::default(), None)
                .unwrap()
                .content,
            content
        );
    }
    std::fs::write(&packed, &std::fs::read(&packed).unwrap()[..200]).unwrap();
    let error = read_recording(&packed, &PacketSource::default(), None)
        .unwrap_err()
        .to_string();
    assert!(error.contains("cannot be decompressed"), "{error}");

    let cloud = ros2_cloud(&[[1.0, 2.0, 3.0, 9.0], [4.0; 4]]);
    let packed = zstd::encode_all(&cloud[..], 3).unwrap();
    let of = |messages: &[Vec<u8>]| {
        let path = folder.path().join("a.mcap");
        std::fs::write(&path, mcap_file("sensor_msgs/msg/PointCloud2", messages)).unwrap();
        read_recording(&path, &PacketSource::default(), None)
    };
    let expected = of(&[cloud.clone(), cloud]).unwrap().content;
    assert_eq!(
        of(&[packed.clone(), packed.clone()]).unwrap().content,
        expected
    );
    let error = of(&[packed[..packed.len() / 2].to_vec()]).unwrap_err();
    assert!(error.to_string().contains("is damaged"), "{error}");
}
