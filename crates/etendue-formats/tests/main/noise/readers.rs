//! Recordings in bags and folders.

use crate::recordings::recording;
use etendue_formats::recording::{Content, read_recording};
use etendue_formats::scan_log::parse_scan_log;

fn block(bytes: &[u8]) -> Vec<u8> {
    let mut out = u32::try_from(bytes.len()).unwrap().to_le_bytes().to_vec();
    out.extend(bytes);
    out
}

fn record(fields: &[(&str, &[u8])], data: &[u8]) -> Vec<u8> {
    let header: Vec<u8> = { fields.iter() }
        .flat_map(|(name, value)| {
            let mut field = format!("{name}=").into_bytes();
            field.extend(*value);
            block(&field)
        })
        .collect();
    [block(&header), block(data)].concat()
}

fn laser_scan(ranges: &[f32]) -> Vec<u8> {
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

/// A bag written here byte by byte by the format's description.
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
    let read = read_recording(&path).unwrap();
    let Content::Scans(log) = read.content else {
        panic!("no scans");
    };
    assert_eq!(log.scans.len(), 2);
    let ranges: Vec<_> = log.scans[0].readings.iter().map(|r| r.rep117()).collect();
    assert_eq!(ranges[..2], [0.5, f64::INFINITY]);
    assert_eq!(ranges[2], f64::NEG_INFINITY);
    assert!((log.scans[0].azimuths[4] - 1.0).abs() < 1e-6 && log.scans[0].time == 12.5);
    std::fs::write(&path, &whole[..whole.len() - 9]).unwrap();
    let cut = read_recording(&path).unwrap_err();
    assert!(cut.to_string().contains("neither a LaserScan"), "{cut}");
}

/// A real bag of an inertial unit, odometry and positions.
#[test]
fn a_bag_without_a_scan_topic_is_told_with_its_topics() {
    let Some(bag) = recording("husky_imu_odom_gps_bag/test1.bag") else {
        return;
    };
    let error = read_recording(&bag).unwrap_err().to_string();
    assert!(
        error.contains("neither a LaserScan nor a PointCloud2"),
        "{error}"
    );
    assert!(error.contains("sensor_msgs/Imu"), "{error}");
}

#[test]
fn a_cut_line_and_decimal_commas_are_told_with_their_place() {
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
    let Content::Clouds(clouds) = read_recording(folder.path()).unwrap().content else {
        panic!("no clouds");
    };
    assert_eq!(clouds.len(), 2);
    assert_eq!(clouds[0].0[0].x, 1.0, "by name");
    let empty = tempfile::tempdir().unwrap();
    let error = read_recording(empty.path()).unwrap_err().to_string();
    assert!(error.contains("holds no .pcd"), "{error}");
}
