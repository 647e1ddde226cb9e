//! Limits of formats: values are stored in another type, reported, or errors.

use etendue_io::output::OutputSet;
use etendue_io::packets::PacketSource;
use etendue_io::points::{PointFormat, lossy_fields, write_e57, write_las};
use etendue_io::points::{parse_points, read_points};
use etendue_io::ros2::{LidarRecorder, LidarTopics};
use etendue_io::scan_file::ScanFile;
use etendue_io::table::{ColumnData, PointColumn, PointTable};
use nalgebra::{Isometry3, Point3};

/// Points with these coordinates.
fn cloud(points: &[[f64; 3]]) -> PointTable {
    let axis = |axis: usize| ColumnData::F64(points.iter().map(|point| point[axis]).collect());
    PointTable {
        points: points.len(),
        height: 1,
        columns: vec![
            PointColumn::new("x", axis(0)),
            PointColumn::new("y", axis(1)),
            PointColumn::new("z", axis(2)),
        ],
    }
}

/// Map coordinates and coordinates of the size of the Earth are stored within half a step.
#[test]
fn las_stores_map_coordinates() {
    let folder = tempfile::tempdir().unwrap();
    for (points, half_step) in [
        (
            [
                [4_500_123.125, 5_400_000.25, 100.5],
                [4_500_124.0, 5_400_001.5, -3.0],
            ],
            0.5e-4,
        ),
        ([[-6.4e6, 6.4e6, 0.0], [6.4e6, 6.39e6, 0.125]], 0.5e-2),
    ] {
        for name in ["a.las", "a.laz"] {
            let path = folder.path().join(name);
            let mut outputs = OutputSet::new();
            write_las(&mut outputs, &path, &cloud(&points)).unwrap();
            outputs.commit().unwrap();
            let back = read_points(&path, &PacketSource::default())
                .unwrap()
                .together();
            for (point, expected) in points.iter().enumerate() {
                for (name, expected) in ["x", "y", "z"].into_iter().zip(expected) {
                    let found = back.number(name, point).unwrap();
                    assert!(
                        (found - expected).abs() < 1.01 * half_step,
                        "{found} {expected}"
                    );
                }
            }
        }
    }
}

/// Coordinates beyond every resolution are an error that names file and axis; no file is written.
#[test]
fn las_refuses_coordinates_beyond_its_limits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("far.las");
    for far in [1e9, 1e300, f64::MAX] {
        let table = cloud(&[[0.0, -far, 0.0], [1.0, far, 2.0]]);
        let error = write_las(&mut OutputSet::new(), &path, &table).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("far.las") && text.contains("store y from"),
            "{text}"
        );
        assert!(!error.remedy().is_empty());
        assert!(!path.exists());
    }
}

/// Points moved beyond the limits of the header of their LAS file are an error, not a panic.
#[test]
fn las_points_moved_too_far_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.las");
    let mut outputs = OutputSet::new();
    write_las(&mut outputs, &path, &cloud(&[[1.0, 2.0, 3.0]])).unwrap();
    outputs.commit().unwrap();
    let mut scan = ScanFile::read(&path).unwrap();
    scan.set_points(&[Point3::new(1e6, 0.0, 0.0)]);
    let error = scan.bytes(&path).unwrap_err();
    assert!(error.to_string().contains("a.las"), "{error}");
    assert!(error.remedy().contains("coarser scale"));
}

/// Integer epoch seconds and map metres keep their digits when they are read from text.
#[test]
fn whole_numbers_of_a_text_keep_their_digits() {
    let text = "x,y,z,time,range,intensity,ring\n16777217,2,3,1700000001,33554433,7,9\n\
                16777219,4,5,1700000002,1,8,10\n";
    let points = parse_points("a.csv".as_ref(), text.into(), &PacketSource::default()).unwrap();
    let table = points.together();
    for (name, expected) in [
        ("x", [16_777_217.0, 16_777_219.0]),
        ("time", [1_700_000_001.0, 1_700_000_002.0]),
        ("range", [33_554_433.0, 1.0]),
    ] {
        assert_eq!(
            [0, 1].map(|point| table.number(name, point).unwrap()),
            expected
        );
    }
    // Values that fit single precision are stored in it.
    let single = |name| matches!(table.column(name), Some(ColumnData::F32(_)));
    assert!(single("y") && single("intensity") && !single("ring"));
}

/// Points and fields that LAS, E57 and KITTI drop, and values that they change, are reported.
#[test]
fn dropped_fields_and_changed_values_are_reported() {
    let mut table = cloud(&[
        [1.0, 2.0, 3.0],
        [f64::NAN, 2.0, 3.0],
        [4_500_123.125, 2.0, 3.0],
    ]);
    table.columns.extend([
        PointColumn::new("intensity", ColumnData::F32(vec![0.0, 0.5, 0.9])),
        PointColumn::new("ring", ColumnData::U32(vec![1, 2, 70_000])),
        PointColumn::new("incidence", ColumnData::F32(vec![0.1; 3])),
    ]);
    let las = lossy_fields(&table, PointFormat::Las);
    assert_eq!(las.points, 2);
    assert_eq!(las.fields, ["x", "y", "z", "intensity", "ring"]);
    assert_eq!(las.dropped, ["incidence"]);
    let has_warning = |part: &str| las.warnings.iter().any(|warning| warning.contains(part));
    assert!(
        has_warning("ring is outside 0 to 65535, the limits of LAS, at 1 of 3 points"),
        "{las:?}"
    );
    assert!(has_warning("intensity is between 0 and 1"), "{las:?}");
    let kitti = lossy_fields(&table, PointFormat::Kitti);
    assert_eq!(kitti.dropped, ["ring", "incidence"]);
    assert!(
        kitti.warnings[0].contains("move by up to 0.125 m"),
        "{kitti:?}"
    );
    assert!(lossy_fields(&table, PointFormat::E57).warnings.is_empty());
    let all = lossy_fields(&table, PointFormat::Ply);
    assert_eq!((all.points, all.fields.len()), (3, 6));
    // Integer intensities are counts, including 0 and 1.
    table.columns[3] = PointColumn::new("intensity", ColumnData::F32(vec![0.0, 1.0, 1.0]));
    assert_eq!(lossy_fields(&table, PointFormat::Las).warnings.len(), 1);
}

/// LAS numbers the returns of a pulse by range. A lidar that reports the last return before the strongest one has other
/// numbers, and packets have no number of returns.
#[test]
fn las_numbers_returns_by_range() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.las");
    // Two shots of one column: the first with the returns at 30 m and 10 m
    let mut table = cloud(&[[30.0, 0.0, 0.0], [10.0, 0.0, 0.0], [0.0, 5.0, 0.0]]);
    table.columns.extend([
        PointColumn::new("range", ColumnData::F64(vec![30.0, 10.0, 5.0])),
        PointColumn::new("column", ColumnData::U32(vec![7; 3])),
        PointColumn::new("ring", ColumnData::U16(vec![0, 0, 1])),
        PointColumn::new("return_number", ColumnData::U16(vec![1, 2, 1])),
    ]);
    let mut outputs = OutputSet::new();
    write_las(&mut outputs, &path, &table).unwrap();
    outputs.commit().unwrap();
    let back = read_points(&path, &PacketSource::default())
        .unwrap()
        .together();
    let numbers = |name| [0, 1, 2].map(|point| back.number(name, point).unwrap());
    assert_eq!(numbers("return_number"), [2.0, 1.0, 1.0]);
    assert_eq!(numbers("returns"), [2.0, 2.0, 1.0]);
}

/// E57 preserves rings, columns and returns of any size.
#[test]
fn e57_stores_large_counts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.e57");
    let mut table = cloud(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    table.columns.extend([
        PointColumn::new("ring", ColumnData::U32(vec![3, 70_000])),
        PointColumn::new("returns", ColumnData::U16(vec![1, 300])),
        PointColumn::new("return_number", ColumnData::U16(vec![1, 299])),
    ]);
    let mut outputs = OutputSet::new();
    write_e57(&mut outputs, &path, &table).unwrap();
    outputs.commit().unwrap();
    let back = read_points(&path, &PacketSource::default())
        .unwrap()
        .together();
    for (name, expected) in [
        ("ring", [3.0, 70_000.0]),
        ("returns", [1.0, 300.0]),
        ("return_number", [1.0, 299.0]),
    ] {
        assert_eq!(
            [0, 1].map(|point| back.number(name, point).unwrap()),
            expected,
            "{name}"
        );
    }
}

/// A time outside of the range of ROS stamps is an error; it is not clamped to zero.
#[test]
fn recordings_refuse_times_without_a_stamp() {
    for time in [-1e-3, 5e9, f64::NAN] {
        let mut recorder = LidarRecorder::in_memory(LidarTopics::default()).unwrap();
        let table = cloud(&[[1.0, 2.0, 3.0]]);
        let error = recorder.record_cloud(&table, time, Some(&|_| Isometry3::identity()));
        let error = error.unwrap_err();
        assert!(
            error.to_string().contains("stamp cannot represent"),
            "{error}"
        );
        assert!(error.remedy().contains("begin at zero"));
    }
}

/// Errors of libraries contain the format of the truncated file.
#[test]
fn errors_name_the_kind_of_a_truncated_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.las");
    let mut outputs = OutputSet::new();
    write_las(&mut outputs, &path, &cloud(&[[1.0, 2.0, 3.0]])).unwrap();
    outputs.commit().unwrap();
    let las = std::fs::read(&path).unwrap();
    for (name, bytes) in [
        ("LAS", &las[..100]),
        ("NPZ", b"PK\x03\x04 and no more"),
        ("E57", b"ASTM-E57 and no more"),
    ] {
        let error = parse_points(
            "truncated".as_ref(),
            bytes.to_vec(),
            &PacketSource::default(),
        )
        .unwrap_err();
        let message = error.to_string();
        assert!(
            message.contains(name) && message.contains("truncated or damaged"),
            "{message}"
        );
    }
    let error = ScanFile::parse("a.las".as_ref(), las[..100].to_vec()).err();
    let message = error.unwrap().to_string();
    assert!(message.contains("this LAS file"), "{message}");
}
