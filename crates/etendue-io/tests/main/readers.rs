//! One set of readers for all kinds of recordings: [`read_points`] and [`read_sequence`].

use crate::recording_readers::{block, laser_scan, record};
use crate::recordings::recording;
use etendue_io::FormatError;
use etendue_io::bag::{Measurement, read_topics};
use etendue_io::packets::PacketSource;
use etendue_io::points::{McapSweeps, Placement, ReadOptions, parse_points, read_points_with};
use etendue_io::ros2::{LidarRecorder, LidarTopics};
use etendue_io::sequence::{Sequence, SequenceSource, read_sequence};
use etendue_io::table::{ColumnData, ColumnType, PointColumn, PointSweeps, PointTable};
use nalgebra::{Isometry3, Point3, Vector3};
use std::f64::consts::TAU;
use std::fs::File;
use std::io::Cursor;

fn parse(name: &str, bytes: impl Into<Vec<u8>>) -> PointSweeps {
    parse_points(name.as_ref(), bytes.into(), &PacketSource::default()).unwrap()
}

/// A bag of ROS 1 with scans of one topic.
pub fn bag_of_scans(scans: usize) -> Vec<u8> {
    let connection = record(
        &[("op", &[7]), ("conn", &[0; 4]), ("topic", b"/scan")],
        &block(b"type=sensor_msgs/LaserScan"),
    );
    let mut inner = connection;
    for number in 0..scans {
        let mut time = u32::try_from(number).unwrap().to_le_bytes().to_vec();
        time.extend([0; 4]);
        let scan = laser_scan(&[0.5, f32::INFINITY, 0.6, 0.7, 0.8]);
        inner.extend(record(
            &[("op", &[2]), ("conn", &[0; 4]), ("time", &time)],
            &scan,
        ));
    }
    let chunk = record(&[("op", &[5]), ("compression", b"none")], &inner);
    [b"#ROSBAG V2.0\n".as_slice(), &chunk].concat()
}

/// The message has a time increment of zero; another value shifts every beam.
#[test]
fn the_beams_of_a_laser_scan_have_their_own_times() {
    let mut bag = bag_of_scans(1);
    let plain = parse("a.bag", bag.clone());
    assert_eq!(plain.sweeps[0].number("time", 3), Some(12.5));

    // The increment follows the azimuth step of 0.5 rad
    let step = 0.5_f32.to_le_bytes();
    let at = bag.windows(4).position(|four| four == step).unwrap() + 4;
    bag[at..at + 4].copy_from_slice(&0.01_f32.to_le_bytes());
    let table = &parse("a.bag", bag).sweeps[0];
    let beams: Vec<_> = (0..4).map(|point| table.number("beam", point)).collect();
    assert_eq!(beams, [Some(0.0), Some(2.0), Some(3.0), Some(4.0)]);
    let time = table.number("time", 3).unwrap();
    assert!((time - 12.54).abs() < 1e-8, "{time}");
}

#[test]
fn the_topics_of_a_bag_are_counted_with_their_rate() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.bag");
    std::fs::write(&path, bag_of_scans(5)).unwrap();
    let (topics, warnings) = read_topics(&path).unwrap();
    assert!(warnings.is_empty());
    let [topic] = &topics[..] else {
        panic!("{topics:?}");
    };
    assert_eq!((topic.name.as_str(), topic.messages), ("/scan", 5));
    assert_eq!(topic.kind, "sensor_msgs/LaserScan");
    assert_eq!((topic.times, topic.rate()), ([0.0, 4.0], Some(1.0)));
}

/// A bag, a scan log and a recorded sequence have the sweeps that their sensor made.
#[test]
fn scans_of_a_bag_and_of_a_log_are_a_sequence() {
    let folder = tempfile::tempdir().unwrap();
    let bag = folder.path().join("a.bag");
    std::fs::write(&bag, bag_of_scans(3)).unwrap();
    let log = folder.path().join("a.csv");
    let rows =
        "sweep,time_s,azimuth_deg,range_m\n0,0.0,-90,1.5\n0,0.0,0,2.0\n1,0.1,-90,1.5\n1,0.1,0,\n";
    std::fs::write(&log, rows).unwrap();
    let device = PacketSource::default();
    for (path, sizes) in [(&bag, vec![4, 4, 4]), (&log, vec![2, 1])] {
        let source = SequenceSource {
            path,
            poses: None,
            options: ReadOptions::new(&device),
        };
        let sequence = read_sequence(source, &mut |_, _| {}).unwrap();
        let found: Vec<usize> = sequence.scans.iter().map(Vec::len).collect();
        assert_eq!(found, sizes, "{}", path.display());
        assert_eq!(sequence.world_from_lidar, None);
    }
}

/// Clouds in frames that move: the poses of the recording survive reading.
#[test]
fn the_transforms_of_a_recording_are_the_poses_of_its_sweeps() {
    let table = PointTable {
        points: 2,
        height: 1,
        columns: ["x", "y", "z"]
            .map(|name| PointColumn::new(name, ColumnData::F32(vec![1.0, 2.0])))
            .into(),
    };
    let mut recorder = LidarRecorder::in_memory(LidarTopics::default()).unwrap();
    let poses =
        [0.0, 0.7, 1.9].map(|x| Isometry3::new(Vector3::new(x, 0.5, 0.0), Vector3::z() * x));
    for (number, pose) in poses.iter().enumerate() {
        recorder
            .record_cloud(&table, number as f64, Some(&|_| *pose))
            .unwrap();
    }
    let points = parse("a.mcap", recorder.into_bytes().unwrap());
    assert_eq!(points.stamps.as_deref(), Some(&[0.0, 1.0, 2.0][..]));
    let found = points.world_from_sensor.unwrap();
    for (found, pose) in found.iter().zip(&poses) {
        let difference = (found.inverse() * pose).to_homogeneous();
        let identity = Isometry3::<f64>::identity().to_homogeneous();
        assert!((difference - identity).norm() < 1e-12, "{found}");
    }
}

/// Speed (m/s) and rate of turn (rad/s) of the sensor of [`moving_recording`].
const MOTION: [f64; 2] = [2.0, 0.7];

/// Positions of the points of each sweep of [`moving_recording`] in the world, m.
const CORNERS: [[f64; 3]; 4] = [
    [5.0, -1.0, 0.0],
    [5.0, 1.0, 0.5],
    [-3.0, 2.0, 0.2],
    [0.5, 4.0, 1.0],
];

/// Pose of a sensor with constant velocity.
fn moving(time: f64) -> Isometry3<f64> {
    let [speed, turn] = MOTION;
    Isometry3::new(Vector3::x() * (speed * time), Vector3::z() * (turn * time))
}

/// Three sweeps at 0 s, 0.1 s and 0.2 s with their poses. The points are measured 25 ms apart.
fn moving_recording(has_times: bool) -> PointSweeps {
    parse("a.mcap", moving_mcap(has_times))
}

/// The bytes of that recording.
pub fn moving_mcap(has_times: bool) -> Vec<u8> {
    mcap_of(&moving, has_times).into_bytes().unwrap()
}

/// That recording with another motion, which goes on.
fn mcap_of(
    motion: &dyn Fn(f64) -> Isometry3<f64>,
    has_times: bool,
) -> LidarRecorder<Cursor<Vec<u8>>> {
    let mut recorder = LidarRecorder::in_memory(LidarTopics::default()).unwrap();
    for stamp in [0.0, 0.1, 0.2] {
        let times = [0.0, 0.025, 0.05, 0.075];
        let measured: Vec<_> = CORNERS
            .iter()
            .zip(times)
            .map(|(corner, time)| motion(stamp + time).inverse() * Point3::from(*corner))
            .collect();
        let axis = |(number, name)| {
            let values = measured.iter().map(|point| point[number]);
            PointColumn::new(name, ColumnData::F64(values.collect()))
        };
        let mut columns: Vec<_> = (0..).zip(["x", "y", "z"]).map(axis).collect();
        if has_times {
            let relative = ColumnData::of(ColumnType::F32, times.into());
            columns.push(PointColumn::new("time", relative));
        }
        let table = PointTable {
            points: measured.len(),
            height: 1,
            columns,
        };
        recorder.record_cloud(&table, stamp, Some(motion)).unwrap();
    }
    recorder
}

/// Largest distance of the points of a sweep to their positions in the world, m.
fn placement_error(sweep: &PointTable) -> f64 {
    let axes = ["x", "y", "z"];
    let error = |(point, corner): (usize, &[f64; 3])| {
        let position = axes.map(|axis| sweep.number(axis, point).unwrap());
        (Point3::from(position) - Point3::from(*corner)).norm()
    };
    CORNERS.iter().enumerate().map(error).fold(0.0, f64::max)
}

/// The sweeps in the world, and the warning about poses.
fn placed(points: PointSweeps) -> (Vec<PointTable>, Option<String>) {
    let mut placement = Placement::default();
    let sweeps = points.into_recorded().map(|mut sweep| {
        assert!(placement.place(&mut sweep, &Isometry3::identity()));
        assert_eq!(sweep.world_from_sensor, None);
        sweep.table
    });
    (sweeps.collect(), placement.warning())
}

/// Linear and spherical interpolation reproduce a constant velocity: the points are at their positions
/// in the world, except after the last pose. Times in single precision have errors of up to 3 ns, in
/// which the points move by less than 1e-8 m.
#[test]
fn points_are_placed_with_the_poses_at_their_times() {
    let (sweeps, warning) = placed(moving_recording(true));
    let warning = warning.unwrap();
    assert!(warning.starts_with("3 of 12 points"), "{warning}");
    assert!(warning.contains("0.000 s to 0.200 s"), "{warning}");
    for sweep in &sweeps[..2] {
        assert!(placement_error(sweep) < 1e-8, "{}", placement_error(sweep));
    }
    assert!(placement_error(&sweeps[2]) > 0.1);
    assert!((sweeps[2].number("x", 0).unwrap() - 5.0).abs() < 1e-8);
}

/// A sensor that turns by 5 degrees at 7 Hz and moves by 50 mm at 13 Hz within its sweeps of 0.1 s. The points are at
/// their positions in the world within 0.1 mm and 0.01 mrad (here 0.07 mm), in the recording and in a copy of it. The
/// poses at the stamps alone place them up to 0.8 m away.
#[test]
fn recorded_poses_follow_the_motion_within_a_sweep() {
    let shaking = |time: f64| {
        let yaw = 5_f64.to_radians() * (7.0 * TAU * time).sin();
        Isometry3::new(
            Vector3::x() * (0.05 * (13.0 * TAU * time).sin()),
            Vector3::z() * yaw,
        )
    };
    let mut recorder = mcap_of(&shaking, true);
    recorder.record_last_poses().unwrap();
    let bytes = recorder.into_bytes().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.mcap");
    let mut recording = McapSweeps::new(&copy, File::create(&copy).unwrap()).unwrap();
    for sweep in parse("a.mcap", bytes.clone()).into_recorded() {
        recording.add(sweep).unwrap();
    }
    recording.finish().unwrap();
    for bytes in [bytes, std::fs::read(copy).unwrap()] {
        let (sweeps, warning) = placed(parse("a.mcap", bytes));
        assert_eq!(warning, None);
        for sweep in &sweeps {
            assert!(placement_error(sweep) < 2e-4, "{}", placement_error(sweep));
        }
    }
}

/// Sweeps without times, and recordings with one pose, are moved as rigid bodies.
#[test]
fn sweeps_without_times_are_placed_with_their_stamps() {
    let mut single = moving_recording(true).only(1).unwrap();
    single.motion = None;
    for recorded in [moving_recording(false), single] {
        let (sweeps, warning) = placed(recorded.clone());
        assert_eq!(warning, None);
        let poses = recorded.world_from_sensor.unwrap();
        for ((placed, sweep), pose) in sweeps.iter().zip(recorded.sweeps).zip(&poses) {
            let mut expected = sweep;
            expected.transform(pose);
            assert_eq!(*placed, expected);
        }
    }
}

#[test]
fn positions_in_upper_case_are_positions() {
    let pcd = "VERSION .7\nFIELDS X Y Z Intensity\nSIZE 4 4 4 4\nTYPE F F F F\nCOUNT 1 1 1 1\n\
               WIDTH 1\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS 1\nDATA ascii\n1 2 3 40\n";
    let table = parse("a.pcd", pcd).together();
    assert_eq!(table.number("y", 0), Some(2.0));
    assert_eq!(table.number("intensity", 0), Some(40.0));
}

/// An independent writer (the crate e57) makes a cloud with spherical coordinates.
#[test]
fn spherical_coordinates_of_an_e57_become_positions() {
    use e57::{E57Writer, Record, RecordDataType, RecordName, RecordValue};
    let mut file = Cursor::new(Vec::new());
    let mut writer = E57Writer::new(&mut file, "{file}").unwrap();
    let names = [
        RecordName::SphericalRange,
        RecordName::SphericalAzimuth,
        RecordName::SphericalElevation,
    ];
    let record = |name| Record {
        name,
        data_type: RecordDataType::F64,
    };
    let mut cloud = writer
        .add_pointcloud("{cloud}", names.map(record).into())
        .unwrap();
    let [range, azimuth, elevation] = [4.0, 0.3, -0.2_f64];
    cloud
        .add_point([range, azimuth, elevation].map(RecordValue::Double).into())
        .unwrap();
    cloud.finalize().unwrap();
    writer.finalize().unwrap();
    drop(writer);
    let table = parse("a.e57", file.into_inner()).together();
    let position = ["x", "y", "z"].map(|name| table.number(name, 0).unwrap());
    let expected = [
        range * elevation.cos() * azimuth.cos(),
        range * elevation.cos() * azimuth.sin(),
        range * elevation.sin(),
    ];
    for (found, expected) in position.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-12, "{position:?}");
    }
}

/// Bytes of a text and of a compressed file.
#[test]
fn a_file_of_other_bytes_is_no_scan_of_floats() {
    let text = "a text that is no scan\n".repeat(64).into_bytes();
    let mut state = 1_u64;
    let noise = (0..512).map(|_| {
        // A linear congruential generator (Knuth, The Art of Computer Programming 2, section 3.3.4)
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        state.to_be_bytes()
    });
    let noise: Vec<u8> = noise.flatten().collect();
    let device = PacketSource::default();
    for bytes in [text, noise] {
        let options = ReadOptions {
            columns: Some(4),
            ..ReadOptions::new(&device)
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        std::fs::write(&path, bytes).unwrap();
        let error = read_points_with(&path, options).unwrap_err().to_string();
        assert!(error.contains("no lengths in metres"), "{error}");
    }
}

/// Rings of a lidar in a room, as KITTI (four numbers), nuScenes (five, with a ring) and others store
/// them.
#[test]
fn the_numbers_per_point_of_a_scan_without_a_header_are_detected() {
    let directions = (0..4000_u16).map(|point| (point % 500, point / 500));
    let points = directions.map(|(column, ring)| {
        let (sin, cos) = (f32::from(column) * 0.0126).sin_cos();
        let range = 5.0 / sin.abs().max(cos.abs());
        let z = range * (f32::from(ring) * 0.05 - 0.2);
        let intensity = f32::from((column * 37 + ring * 11) % 90);
        [
            range * cos,
            range * sin,
            z,
            intensity,
            f32::from(ring),
            f32::from(column) * 1e-4,
        ]
    });
    let points: Vec<[f32; 6]> = points.collect();
    for columns in 3..=6 {
        let numbers = points.iter().flat_map(|point| &point[..columns]);
        let bytes: Vec<u8> = numbers.flat_map(|number| number.to_le_bytes()).collect();
        let read = parse("a.bin", bytes);
        assert_eq!(read.warnings.len(), usize::from(columns != 4), "{columns}");
        let table = &read.sweeps[0];
        assert_eq!((table.points, table.columns.len()), (4000, columns));
        assert_eq!(table.number("y", 700), Some(f64::from(points[700][1])));
    }

    // Noise has no neighbours
    let mut state = 1_u32;
    let noise = (0..2400).map(|_| {
        // Xorshift (Marsaglia 2003, doi:10.18637/jss.v008.i14)
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        (state >> 8) as f32
    });
    let noise: Vec<u8> = noise.flat_map(f32::to_le_bytes).collect();
    let device = PacketSource::default();
    let read = parse_points("a.bin".as_ref(), noise.clone(), &device);
    let error = read.map(|points| points.warnings).unwrap_err();
    assert!(error.remedy().contains("--columns"), "{error}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.bin");
    std::fs::write(&path, noise).unwrap();
    let options = ReadOptions {
        columns: Some(5),
        ..ReadOptions::new(&device)
    };
    assert_eq!(
        read_points_with(&path, options).unwrap().sweeps[0].points,
        480
    );
}

/// Recorded bags with the packets of a lidar (Hesai's need the channel table of a preset).
#[test]
#[ignore = "needs recordings: see CONTRIBUTING.md"]
fn recorded_bags_with_packets_have_a_topic_of_a_lidar() {
    for model in ["vlp16", "vlp32", "40p", "xt32", "xt16", "qt64"] {
        let folder = recording(&format!("nebula_lidar_packets/{model}"));
        let entries = std::fs::read_dir(&folder).unwrap();
        let mut bags = entries.map(|entry| entry.unwrap().path());
        let bag = bags.find(|path| path.is_dir()).unwrap();
        let (topics, _) = read_topics(&bag).unwrap();
        let [topic] = &topics[..] else {
            panic!("{topics:?}");
        };
        assert_eq!(topic.measurement(), Some(Measurement::Packets), "{topic:?}");
        assert!(topic.messages >= 4, "{topic:?}");
    }
}

/// Reads the sequence of a folder with clouds of two points each, whose times (s) begin at `starts`, and a trajectory.
fn folder_of_clouds(starts: &[f64], trajectory: Option<&str>) -> Result<Sequence, FormatError> {
    let folder = tempfile::tempdir().unwrap();
    for (number, start) in starts.iter().enumerate() {
        let rows = format!("x,y,z,time\n1,0,0,{start}\n0,1,0,{}\n", start + 0.08);
        std::fs::write(folder.path().join(format!("cloud{number}.csv")), rows).unwrap();
    }
    let poses = folder.path().join("path.tum");
    if let Some(text) = trajectory {
        std::fs::write(&poses, text).unwrap();
    }
    let device = PacketSource::default();
    let source = SequenceSource {
        path: folder.path(),
        poses: trajectory.map(|_| poses.as_path()),
        options: ReadOptions::new(&device),
    };
    read_sequence(source, &mut |_, _| {})
}

/// The times of a folder of clouds are those of its columns, and its points have times within their scan.
#[test]
fn clouds_of_a_folder_have_the_times_of_their_points() {
    let sequence = folder_of_clouds(&[5.0, 5.1, 5.2], None).unwrap();
    assert_eq!(sequence.times, [5.0, 5.1, 5.2]);
    let times = sequence.point_times.unwrap();
    for scan in &times {
        assert!(scan[0] == 0.0 && (scan[1] - 0.08).abs() < 1e-9, "{scan:?}");
    }
    assert_eq!(sequence.warnings, Vec::<String>::new());
}

/// Times that begin anew in each file are relative to its scan: the scans follow each other without a gap.
#[test]
fn clouds_with_times_within_their_scan_follow_each_other() {
    let sequence = folder_of_clouds(&[0.0, 0.0, 0.0], None).unwrap();
    for (number, time) in sequence.times.iter().enumerate() {
        assert!((time - 0.08 * number as f64).abs() < 1e-9, "{time}");
    }
    assert!(sequence.point_times.is_some());
    assert!(sequence.warnings[0].contains("begin anew"));
}

/// A trajectory of any rate gives the poses at the times of the scans: here 1 m/s along x, from poses 0.25 s apart.
#[test]
fn poses_of_another_rate_are_interpolated_at_the_times_of_the_scans() {
    let path = "4.75 0 0 0 0 0 0 1\n5 0.25 0 0 0 0 0 1\n5.25 0.5 0 0 0 0 0 1\n";
    let sequence = folder_of_clouds(&[5.0, 5.1, 5.2, 5.24], Some(path)).unwrap();
    let poses = sequence.world_from_lidar.unwrap();
    for (pose, time) in poses.iter().zip(&sequence.times) {
        assert!((pose.translation.x - (time - 4.75)).abs() < 1e-9);
    }
    assert_eq!(poses.len(), 4);
}

/// A trajectory of another clock has a pose for every scan, or is refused with both intervals.
#[test]
fn poses_that_do_not_span_the_scans_are_one_per_scan_or_refused() {
    let path = "100 0 0 0 0 0 0 1\n101 1 0 0 0 0 0 1\n";
    let sequence = folder_of_clouds(&[5.0, 5.1], Some(path)).unwrap();
    assert_eq!(sequence.world_from_lidar.unwrap()[1].translation.x, 1.0);
    let refused = folder_of_clouds(&[5.0, 5.1, 5.2], Some(path)).unwrap_err();
    let message = refused.to_string();
    assert!(message.contains("3 scans, but 2 poses"), "{message}");
    assert!(message.contains("from 5 s to 5.2 s"), "{message}");
    assert!(message.contains("from 100 s to 101 s"), "{message}");
}

/// The identifier of Ouster's OSF follows the size and the offset of a FlatBuffer.
#[test]
fn an_osf_file_is_refused_with_the_command_that_converts_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("drive.osf");
    let content = [&[0x34, 0, 0, 0, 0x14, 0, 0, 0][..], b"OSF$", &[0xff; 40]].concat();
    std::fs::write(&path, content).unwrap();
    let device = PacketSource::default();
    let error = read_points_with(&path, ReadOptions::new(&device)).unwrap_err();
    assert!(error.to_string().contains("OSF"), "{error}");
    assert!(error.remedy().contains("ouster-cli"), "{}", error.remedy());
}

/// The bag of Ouster's driver: the lidar, its metadata and the packets of its inertial unit have a topic each. Its 32
/// packets of 16 columns, which have 512 columns per turn, are one turn.
#[test]
#[ignore = "needs recordings: see CONTRIBUTING.md"]
fn a_bag_of_an_ouster_has_its_metadata() {
    let path = recording("ouster_sdk_samples/512x10_raw.bag");
    let points = read_points_with(&path, ReadOptions::new(&PacketSource::default())).unwrap();
    assert_eq!(points.sweeps.len(), 1);
    let sweep = &points.sweeps[0];
    assert_eq!(sweep.points, 28751);
    let columns = (0..sweep.points).map(|point| sweep.number("column", point).unwrap());
    assert_eq!(columns.fold(0.0, f64::max), 511.0);
}

/// A LAS file of another program: extra bytes with a scale, an offset and a missing value have their names and physical values.
#[test]
fn extra_bytes_of_las_are_fields() {
    let mut description = vec![0; 192];
    description[2] = 4; // Type i16
    description[3] = 1 | 8 | 16; // It has a missing value, a scale and an offset
    description[4..13].copy_from_slice(b"Amplitude");
    description[40..48].copy_from_slice(&(-1_i64).to_le_bytes());
    description[112..120].copy_from_slice(&0.5_f64.to_le_bytes());
    description[136..144].copy_from_slice(&100_f64.to_le_bytes());
    let mut builder = las::Builder::from((1, 4));
    builder.point_format = las::point::Format::new(6).unwrap();
    builder.point_format.extra_bytes = 2;
    builder.vlrs.push(las::Vlr {
        user_id: "LASF_Spec".to_owned(),
        record_id: 4,
        data: description,
        ..las::Vlr::default()
    });
    let bytes = Cursor::new(Vec::new());
    let mut writer = las::Writer::new(bytes, builder.into_header().unwrap()).unwrap();
    for number in [7_i16, -1] {
        writer
            .write_point(las::Point {
                gps_time: Some(1.0),
                return_number: 1,
                number_of_returns: 1,
                extra_bytes: number.to_le_bytes().to_vec(),
                ..las::Point::default()
            })
            .unwrap();
    }
    let bytes = writer.into_inner().unwrap().into_inner();
    let table = parse_points("a.las".as_ref(), bytes, &PacketSource::default())
        .unwrap()
        .together();
    assert_eq!(table.number("Amplitude", 0), Some(103.5));
    assert!(table.number("Amplitude", 1).unwrap().is_nan());
}
