//! Sweeps that are read one after another are those of the whole file.

use crate::readers::moving_mcap;
use etendue_io::FormatError;
use etendue_io::packets::PacketSource;
use etendue_io::points::{
    McapSweeps, ReadOptions, RecordedSweep, for_each_sweep, parse_points, read_points,
};
use etendue_io::ros2::{LidarRecorder, LidarTopics};
use etendue_io::sequence::{SequenceSource, for_each_scan, read_sequence, survey_sequence};
use etendue_io::table::{ColumnData, PointColumn, PointTable};
use nalgebra::{Isometry3, Vector3};
use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::Path;

/// The first sweeps of a file, at most `most`.
fn first_sweeps(path: &Path, most: usize) -> Result<Vec<RecordedSweep>, FormatError> {
    let device = PacketSource::default();
    let mut sweeps = Vec::new();
    for_each_sweep(path, ReadOptions::new(&device), |sweep| {
        sweeps.push(sweep);
        Ok::<_, FormatError>(if sweeps.len() < most {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        })
    })?;
    Ok(sweeps)
}

#[test]
fn sweeps_of_a_recording_are_those_of_the_whole_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mcap");
    std::fs::write(&path, moving_mcap(true)).unwrap();
    let whole = read_points(&path, &PacketSource::default()).unwrap();
    let in_memory = parse_points(&path, moving_mcap(true), &PacketSource::default()).unwrap();
    assert_eq!(whole, in_memory);
    let sweeps = first_sweeps(&path, usize::MAX).unwrap();
    assert_eq!(sweeps.len(), 3);
    for (number, sweep) in sweeps.into_iter().enumerate() {
        assert_eq!(sweep.number, number);
        assert_eq!(sweep.table, whole.sweeps[number]);
        assert_eq!(
            sweep.stamp,
            whole.stamps.as_ref().map(|stamps| stamps[number])
        );
        let poses = whole.world_from_sensor.as_ref();
        assert_eq!(sweep.world_from_sensor, poses.map(|poses| poses[number]));
        assert_eq!(sweep.motion.as_deref(), whole.motion.as_ref());
    }
}

/// A sweep before the first transform has no pose, and the others keep theirs in a copy.
#[test]
fn a_copy_has_the_poses_that_are_known() {
    let folder = tempfile::tempdir().unwrap();
    let [path, copy] = ["a.mcap", "b.mcap"].map(|name| folder.path().join(name));
    let column = |name| PointColumn::new(name, ColumnData::F32(vec![1.0, 2.0]));
    let table = PointTable {
        points: 2,
        height: 1,
        columns: ["x", "y", "z"].map(column).into(),
    };
    let mut recorder = LidarRecorder::in_memory(LidarTopics::default()).unwrap();
    let known = [1.0, 2.0, 3.0].map(|time| Isometry3::translation(time, 0.0, 0.0));
    recorder.record_cloud(&table, 0.0, None).unwrap();
    for (time, pose) in [1.0, 2.0, 3.0].iter().zip(&known) {
        recorder
            .record_cloud(&table, *time, Some(&|_| *pose))
            .unwrap();
    }
    std::fs::write(&path, recorder.into_bytes().unwrap()).unwrap();
    let mut recording = McapSweeps::new(&copy, std::fs::File::create(&copy).unwrap()).unwrap();
    for sweep in first_sweeps(&path, usize::MAX).unwrap() {
        recording.add(sweep).unwrap();
    }
    recording.finish().unwrap();
    for path in [&path, &copy] {
        let sweeps = first_sweeps(path, usize::MAX).unwrap();
        let poses: Vec<_> = sweeps.iter().map(|sweep| sweep.world_from_sensor).collect();
        assert_eq!(
            poses,
            [None, Some(known[0]), Some(known[1]), Some(known[2])]
        );
    }
}

/// A scan log whose robot moves by 0.1 m and turns by 0.1 rad from scan to scan, and its poses.
fn moving_log(folder: &Path) -> (std::path::PathBuf, Vec<Isometry3<f64>>) {
    let mut text = "sweep,time_s,azimuth_deg,range_m,odom_x_m,odom_y_m,odom_yaw_rad\n".to_owned();
    let mut poses = Vec::new();
    for sweep in 0..4 {
        let (time, x, yaw) = (
            10.0 + 0.2 * f64::from(sweep),
            0.1 * f64::from(sweep),
            0.1 * f64::from(sweep),
        );
        for azimuth in [0, 90] {
            writeln!(text, "{sweep},{time},{azimuth},2,{x},-1,{yaw}").unwrap();
        }
        poses.push(Isometry3::new(
            Vector3::new(x, -1.0, 0.0),
            Vector3::z() * yaw,
        ));
    }
    let path = folder.join("log.csv");
    std::fs::write(&path, text).unwrap();
    (path, poses)
}

/// The odometry of a scan log is that of its copy as a recording, whose root is `odom` (REP 105). Sequences have it as odometry,
/// not as the poses with which a map is compared.
#[test]
fn a_copy_of_a_scan_log_has_its_odometry() {
    let folder = tempfile::tempdir().unwrap();
    let (log, poses) = moving_log(folder.path());
    let copy = folder.path().join("copy.mcap");
    let mut recording = McapSweeps::new(&copy, std::fs::File::create(&copy).unwrap()).unwrap();
    for sweep in first_sweeps(&log, usize::MAX).unwrap() {
        recording.add(sweep).unwrap();
    }
    recording.finish().unwrap();
    for path in [&log, &copy] {
        let sweeps = first_sweeps(path, usize::MAX).unwrap();
        assert_eq!(sweeps.len(), poses.len());
        for (sweep, expected) in sweeps.iter().zip(&poses) {
            assert_eq!(sweep.world_from_sensor, None);
            let found = sweep.odometry.unwrap().to_homogeneous();
            // Measured: 3e-16
            assert!(
                (found - expected.to_homogeneous()).norm() < 1e-14,
                "{found}"
            );
            let middle = sweep
                .motion
                .as_ref()
                .unwrap()
                .world_from_sensor(10.3)
                .unwrap();
            assert!((middle.translation.x - 0.15).abs() < 1e-7, "{middle}");
        }
        let device = PacketSource::default();
        let source = SequenceSource {
            path,
            poses: None,
            options: ReadOptions::new(&device),
        };
        let sequence = read_sequence(source, &mut |_, _| {}).unwrap();
        assert!(sequence.world_from_lidar.is_none());
        assert_eq!(sequence.odometry.map(|poses| poses.len()), Some(4));
    }
}

/// A mount does not show how the sensor moves: its poses are no trajectory. Recordings without poses have no transforms.
#[test]
fn a_constant_transform_is_no_trajectory() {
    let folder = tempfile::tempdir().unwrap();
    let column = |name| PointColumn::new(name, ColumnData::F32(vec![1.0, 2.0]));
    let table = PointTable {
        points: 2,
        height: 1,
        columns: ["x", "y", "z"].map(column).into(),
    };
    let mount = Isometry3::new(Vector3::new(0.1, 0.0, 1.5), Vector3::new(0.0, 0.2, 0.3));
    for (is_mounted, step, expected) in
        [(true, 0.0, false), (true, 0.01, true), (false, 0.0, false)]
    {
        let mut recorder = LidarRecorder::in_memory(LidarTopics::default()).unwrap();
        for number in 0..3 {
            let shift = Isometry3::translation(step * f64::from(number), 0.0, 0.0);
            let pose = |_| shift * mount;
            let pose = is_mounted.then_some(&pose as &dyn Fn(f64) -> Isometry3<f64>);
            recorder
                .record_cloud(&table, 0.1 * f64::from(number), pose)
                .unwrap();
        }
        let path = folder.path().join("a.mcap");
        std::fs::write(&path, recorder.into_bytes().unwrap()).unwrap();
        let device = PacketSource::default();
        let source = SequenceSource {
            path: &path,
            poses: None,
            options: ReadOptions::new(&device),
        };
        let sequence = read_sequence(source, &mut |_, _| {}).unwrap();
        assert_eq!(sequence.world_from_lidar.is_some(), expected, "{step}");
        let is_named = sequence
            .warnings
            .iter()
            .any(|warning| warning.contains("a mount"));
        assert_eq!(is_named, is_mounted && !expected);
        // The points can be placed by it
        let placed = first_sweeps(&path, 1).unwrap()[0].world_from_sensor;
        assert_eq!(placed.is_some(), is_mounted);
    }
}

/// A row that is no number ends a table: the sweeps of a folder before it are read.
#[test]
fn the_reading_ends_with_the_visitor() {
    let folder = tempfile::tempdir().unwrap();
    for (name, row) in [("0.csv", "1,2,3"), ("1.csv", "4,5,6"), ("2.csv", "7,8,x")] {
        let text = format!("x,y,z\n{row}\n");
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let two = first_sweeps(folder.path(), 2).unwrap();
    assert_eq!(two[1].table.number("x", 0), Some(4.0));
    let error = first_sweeps(folder.path(), 3).unwrap_err();
    assert!(error.to_string().contains("2.csv"), "{error}");
}

/// The numbers of the sweeps of a table are those of its column.
#[test]
fn a_table_is_split_by_its_numbers_of_sweeps() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    std::fs::write(&path, "x,y,z,sweep\n1,0,0,7\n2,0,0,3\n3,0,0,7\n").unwrap();
    let sweeps = first_sweeps(&path, usize::MAX).unwrap();
    let found: Vec<_> = { sweeps.iter() }
        .map(|sweep| (sweep.number, sweep.table.points))
        .collect();
    assert_eq!(found, [(3, 1), (7, 2)]);
}

/// A sequence in memory, and one that is surveyed and visited, are the same.
#[test]
fn a_surveyed_sequence_is_that_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let mcap = folder.path().join("a.mcap");
    std::fs::write(&mcap, moving_mcap(true)).unwrap();
    let clouds = folder.path().join("clouds");
    std::fs::create_dir(&clouds).unwrap();
    for number in 0..3 {
        let text = format!("x,y,z,time\n{number},2,3,0\n4,5,6,0.5\n");
        std::fs::write(clouds.join(format!("{number}.csv")), text).unwrap();
    }
    for path in [&mcap, &clouds] {
        let device = PacketSource::default();
        let source = SequenceSource {
            path,
            poses: None,
            options: ReadOptions::new(&device),
        };
        let whole = read_sequence(source, &mut |_, _| {}).unwrap();
        let mut observed = Vec::new();
        let observe = &mut |scan: &_| observed.push(Clone::clone(scan));
        let survey = survey_sequence(source, &mut |_, _| {}, observe).unwrap();
        assert_eq!(survey.times, whole.times);
        assert_eq!(survey.world_from_lidar, whole.world_from_lidar);
        assert_eq!(survey.warnings, whole.warnings);
        assert!(survey.are_timed);
        let mut visited = Vec::new();
        for_each_scan(source, |scan| {
            visited.push(scan);
            Ok::<_, FormatError>(ControlFlow::Continue(()))
        })
        .unwrap();
        assert_eq!(visited, observed);
        for (number, scan) in visited.into_iter().enumerate() {
            assert_eq!(scan.points, whole.scans[number]);
            assert_eq!(
                scan.point_times.as_ref(),
                whole.point_times.as_ref().map(|t| &t[number])
            );
        }
    }
}
