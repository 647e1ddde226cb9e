//! Outputs of a run are read back unchanged.

use crate::recordings::recording;
use etendue_config::scene::{LoadedScene, arena};
use etendue_io::output::{OutputSet, ReadingCounts, RunMetadata, SimulatedSweeps, SourceMetadata};
use etendue_io::packets::PacketSource;
use etendue_io::points::{parse_cloud, read_cloud};
use etendue_io::points::{write_pcd, write_ply};
use etendue_io::scan_log::read_scan_log;
use etendue_io::scan_log::{write_sweeps_csv, write_sweeps_npz};
use etendue_io::table::{Encoding, PointTable};
use etendue_scene::{MaterialId, ObjectId};
use etendue_sensors::{BeamMeasurement, BeamSweep, RangeReading, Truth};
use nalgebra::{Isometry3, Point3, Vector3};
use proptest::prelude::*;
use std::io::Read;
use std::path::Path;

fn sweeps() -> Vec<BeamSweep> {
    let readings = [
        RangeReading::Range(1.25),
        RangeReading::NoReturn,
        RangeReading::TooNear,
        RangeReading::Error(7),
        RangeReading::Range(0.5),
    ];
    let beam = |(number, reading): (u16, &RangeReading)| BeamMeasurement {
        beam: u32::from(number),
        time: 0.01 * f64::from(number),
        azimuth: 0.3 * f64::from(number) - 0.6,
        elevation: 0.0,
        reading: *reading,
        position: { reading.range() }.map(|range| Point3::new(range, -0.5 * range, 0.25)),
        power: 0.125 * f64::from(number),
        returns: number,
        truth: (number != 1).then_some(Truth {
            range: 1.2,
            object: ObjectId(1),
            material: MaterialId(1),
            incidence: 0.7,
        }),
    };
    let sweep = |index: u32| BeamSweep {
        index,
        start: 0.1 * f64::from(index),
        world_from_sensor: Isometry3::new(Vector3::new(1.0, 2.0, 0.5), Vector3::z() * 0.25),
        measurements: (0..).zip(&readings).map(beam).collect(),
    };
    vec![sweep(0), sweep(1)]
}

fn write(scene: &LoadedScene, sweeps: &[BeamSweep], folder: &Path) {
    let run = SimulatedSweeps {
        scene: &scene.scene,
        sweeps,
    };
    let table = PointTable::of_run(run);
    let mut outputs = OutputSet::new();
    write_sweeps_csv(&mut outputs, &folder.join("scan.csv"), run).unwrap();
    write_sweeps_npz(&mut outputs, &folder.join("scan.npz"), run).unwrap();
    for (name, encoding) in [("binary", Encoding::Binary), ("ascii", Encoding::Ascii)] {
        write_pcd(
            &mut outputs,
            &folder.join(format!("{name}.pcd")),
            &table,
            encoding,
        )
        .unwrap();
        write_ply(
            &mut outputs,
            &folder.join(format!("{name}.ply")),
            &table,
            encoding,
        )
        .unwrap();
    }
    let source = |name: &str| SourceMetadata {
        name: name.into(),
        file: None,
        sha256: scene.sha256.clone(),
    };
    let metadata = RunMetadata::new(run, 42, source("arena"), source("sensor"));
    metadata
        .write(&mut outputs, &folder.join("run.json"))
        .unwrap();
    assert_eq!(outputs.commit().unwrap().len(), 7);

    // Metadata with a number that is not finite are not written
    let mut outputs = OutputSet::new();
    let mut metadata = metadata;
    metadata.position_m[1] = f64::NAN;
    let error = metadata.write(&mut outputs, &folder.join("bad.json"));
    let message = error.unwrap_err().to_string();
    assert!(
        message.contains("the position of the sensor is NaN"),
        "{message}"
    );
}

#[test]
fn a_csv_is_read_back_as_the_scans_that_were_written() {
    let folder = tempfile::tempdir().unwrap();
    let sweeps = sweeps();
    write(&arena(), &sweeps, folder.path());
    let log = read_scan_log(&folder.path().join("scan.csv")).unwrap();
    assert_eq!(log.scans.len(), 2);
    for (scan, sweep) in log.scans.iter().zip(&sweeps) {
        let readings: Vec<RangeReading> =
            sweep.measurements.iter().map(|beam| beam.reading).collect();
        assert_eq!(scan.readings, readings);
        let azimuths: Vec<f64> = sweep.measurements.iter().map(|beam| beam.azimuth).collect();
        // The file has nine decimals
        let written = azimuths
            .iter()
            .map(|azimuth| format!("{azimuth:.9}").parse().unwrap());
        assert_eq!(*scan.azimuths, written.collect::<Vec<f64>>());
        let pose = scan.odom_from_robot.unwrap();
        assert!((pose.rotation.angle() - 0.25).abs() < 1e-12 && pose.translation.x == 1.0);
    }
    let text = std::fs::read_to_string(folder.path().join("scan.csv")).unwrap();
    assert!(text.lines().nth(1).unwrap().contains(",mirror,mirror,0.7,"));
}

#[test]
fn an_archive_of_beams_has_the_scans_of_the_table() {
    let folder = tempfile::tempdir().unwrap();
    write(&arena(), &sweeps(), folder.path());
    let [table, archive] =
        ["scan.csv", "scan.npz"].map(|name| read_scan_log(&folder.path().join(name)).unwrap());
    assert_eq!(archive.scans.len(), 2);
    for (read, expected) in archive.scans.iter().zip(&table.scans) {
        assert_eq!(read.readings, expected.readings);
        assert_eq!(read.intensities, expected.intensities);
        let moved = read.odom_from_robot.unwrap() * expected.odom_from_robot.unwrap().inverse();
        assert!(moved.translation.vector.norm() < 1e-9 && moved.rotation.angle().abs() < 1e-9);
        // The table has nine decimals
        let pairs = read.azimuths.iter().zip(expected.azimuths.iter());
        let pairs = pairs.chain(read.elevations.iter().zip(expected.elevations.iter()));
        let all: Vec<f64> = pairs.map(|(a, b)| (a - b).abs()).collect();
        assert!(all.len() >= read.readings.len() && all.iter().all(|error| *error < 1e-9));
    }
}

#[test]
fn clouds_are_read_back_in_every_encoding() {
    let folder = tempfile::tempdir().unwrap();
    let sweeps = sweeps();
    write(&arena(), &sweeps, folder.path());
    let first = sweeps[0].measurements[0].position.unwrap();
    for name in ["binary.pcd", "ascii.pcd", "binary.ply", "ascii.ply"] {
        let cloud = read_cloud(&folder.path().join(name), &PacketSource::default()).unwrap();
        assert_eq!(cloud.points.len(), 4, "{name}");
        assert!((cloud.points[0] - first).norm() < 1e-6, "{name}");
        assert_eq!(cloud.intensities, [0.0, 0.5, 0.0, 0.5], "{name}");
    }
}

#[test]
fn the_npz_holds_the_documented_arrays() {
    let folder = tempfile::tempdir().unwrap();
    write(&arena(), &sweeps(), folder.path());
    let file = std::fs::File::open(folder.path().join("scan.npz")).unwrap();
    let mut archive = zip::ZipArchive::new(file).unwrap();
    let mut array = |name: &str| {
        let mut bytes = Vec::new();
        archive
            .by_name(name)
            .unwrap()
            .read_to_end(&mut bytes)
            .unwrap();
        bytes
    };
    let bytes = array("range_m.npy");
    let ranges = npyz::NpyFile::new(&bytes[..]).unwrap();
    assert_eq!(ranges.shape(), [2, 5]);
    let ranges: Vec<f64> = ranges.into_vec().unwrap();
    assert_eq!(ranges[..3], [1.25, f64::INFINITY, f64::NEG_INFINITY]);
    assert!(ranges[3].is_nan());
    let bytes = array("world_from_sensor.npy");
    let poses = npyz::NpyFile::new(&bytes[..]).unwrap();
    assert_eq!(poses.shape(), [2, 4, 4]);
    let poses: Vec<f64> = poses.into_vec().unwrap();
    assert_eq!(poses[3], 1.0);
    assert!((poses[4] - 0.25_f64.sin()).abs() < 1e-12);
    let bytes = array("point_m.npy");
    let points: Vec<f64> = npyz::NpyFile::new(&bytes[..]).unwrap().into_vec().unwrap();
    assert_eq!(points[..3], [1.25, -0.625, 0.25]);
    assert!(points[3].is_nan());
    let bytes = array("error_code.npy");
    let codes: Vec<i16> = npyz::NpyFile::new(&bytes[..]).unwrap().into_vec().unwrap();
    assert_eq!(codes[..5], [-1, -1, -1, 7, -1]);
    assert_eq!(archive.len(), 16);
}

#[test]
fn the_description_counts_what_the_beams_gave() {
    let counts = ReadingCounts::of(&sweeps());
    assert_eq!((counts.beams, counts.ranges, counts.no_returns), (10, 4, 2));
    assert_eq!((counts.too_near, counts.errors, counts.mixed), (2, 2, 2));
    let folder = tempfile::tempdir().unwrap();
    write(&arena(), &sweeps(), folder.path());
    let text = std::fs::read_to_string(folder.path().join("run.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["seed"], 42);
    assert_eq!(json["counts"]["ranges"], 4);
    assert_eq!(json["objects"][1], "mirror");
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    for folder in &folders {
        write(&arena(), &sweeps(), folder.path());
    }
    for name in [
        "scan.csv",
        "scan.npz",
        "binary.pcd",
        "ascii.ply",
        "run.json",
    ] {
        let [a, b] = [0, 1].map(|i: usize| std::fs::read(folders[i].path().join(name)).unwrap());
        assert!(a == b && !a.is_empty(), "{name}");
    }
}

#[test]
#[ignore = "needs recordings: see CONTRIBUTING.md"]
fn recorded_clouds_are_read() {
    for (name, points) in [
        ("cloud.00000.vtk", 24989),
        ("cloud_0.vtk", 36674),
        ("trajectory.vtk", 525),
        ("2D_oneBox.csv", 361),
        ("2D_twoBoxes.csv", 361),
    ] {
        let path = recording(&format!("libpointmatcher_asl/{name}"));
        let cloud = read_cloud(&path, &PacketSource::default()).unwrap();
        assert_eq!(cloud.points.len(), points, "{name}");
    }
}

#[test]
fn damaged_clouds_are_refused_by_place() {
    let refusal = |bytes: &[u8]| {
        parse_cloud("a".as_ref(), bytes, &PacketSource::default())
            .expect_err("bad")
            .to_string()
    };
    let pcd = "VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nWIDTH 2\nHEIGHT 1\nPOINTS 2\nDATA ascii\n";
    assert!(
        refusal(format!("{pcd}1 2 3\n").as_bytes())
            .contains("counts 2 points, but the file contains 1")
    );
    assert!(refusal(format!("{pcd}1 2 3\n1 2,5 3\n").as_bytes()).contains("line 10: \"2,5\""));
    assert!(refusal(b"x,y,z\n1,2,3\n1,2\n").contains("line 3: the line has 2 columns"));
    let vtk = "# vtk DataFile Version 3.0\na\nASCII\nDATASET POLYDATA\nPOINTS 2 float\n1 2 3 4\n";
    assert!(refusal(vtk.as_bytes()).contains("line 6: the file ends before a coordinate"));
    for (table, missing) in [
        (
            "y,z,intensity\n1,2,3\n",
            "x; the columns are y, z, intensity",
        ),
        ("x,z,t,n,k\n1,2,3,4,5\n", "y; the columns are x, z, t, n, k"),
        (
            "range_m,intensity\n1,2\n",
            "azimuth_rad; the columns are range_m, intensity",
        ),
        (
            "azimuth_deg,range\n1,2\n",
            "range_m; the columns are azimuth_deg, range",
        ),
    ] {
        let words = format!("there is no column {missing}");
        let message = refusal(table.as_bytes());
        assert!(message.contains(&words), "{message}");
    }
    assert!(refusal(b"\x00\x01\x02").contains("not a point cloud of a known format"));
}

#[test]
fn points_that_are_nan_are_left_out_and_counted() {
    let cloud = parse_cloud(
        "a".as_ref(),
        b"x y z\n1 2 3\nnan nan nan\n",
        &PacketSource::default(),
    )
    .unwrap();
    assert_eq!(cloud.points.len(), 1);
    assert_eq!(
        cloud.warnings,
        ["1 points are not finite and were left out"]
    );
}

proptest! {
    #[test]
    fn a_damaged_cloud_never_panics(
        sample in 0..4_usize,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut binary = b"VERSION 0.7\nFIELDS x y z i\nSIZE 4 8 4 2\nTYPE F F F U\nCOUNT 1 1 1 1\nWIDTH 2\nHEIGHT 1\nPOINTS 2\nDATA binary\n".to_vec();
        binary.extend([7; 36]);
        let mut bytes = [
            binary,
            b"VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nWIDTH 1\nHEIGHT 1\nDATA ascii\n1 2 3\n".to_vec(),
            b"# vtk DataFile Version 3.0\na\nASCII\nDATASET POLYDATA\nPOINTS 2 float\n1 2 3 4 5 6\n".to_vec(),
            b"x,y,z,intensity\n1,2,3,4\n".to_vec(),
        ][sample].clone();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(cut.index(bytes.len()) + 1);
        let _ = parse_cloud("a".as_ref(), &bytes, &PacketSource::default());
    }
}
