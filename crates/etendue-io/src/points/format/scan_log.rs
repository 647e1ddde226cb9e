//! Logs of scans, and the points of scans.

use super::{FormatEntry, PointReader, PointSource};
use crate::FormatError;
use crate::bag::SensorMotion;
use crate::precision::single;
use crate::scan_log::{is_scan_log, parse_scan_log};
use crate::table::{ColumnData, PointColumn, PointSweeps, PointTable};
use etendue_sensors::{RangeReading, Scan};
use nalgebra::{Isometry3, Point3, Vector3};

pub(super) const FORMAT: FormatEntry = FormatEntry {
    endings: &["log", "clf", "dat", "rawlog"],
    recognizes: |_, bytes| is_scan_log(bytes),
    points_only: false,
    in_folders: false,
    is_recorded_cloud: false,
    read: PointReader::Whole(|file| parse(&file)),
    write: None,
    capacity: None,
    editor: None,
};

/// Reads every scan of a log in the frame of its sensor.
fn parse(file: &PointSource) -> Result<PointSweeps, FormatError> {
    let log = parse_scan_log(file.path, &file.bytes)?;
    let numbered = (0..).zip(&log.scans);
    let timed = log.scans.iter();
    let timed = timed.filter_map(|scan| Some((scan.time, odometry(scan)?)));
    Ok(PointSweeps {
        sweeps: numbered
            .map(|(number, scan)| scan_table(number, scan))
            .collect(),
        stamps: Some(log.scans.iter().map(|scan| scan.time).collect()),
        odometry: log.scans.iter().map(odometry).collect(),
        motion: SensorMotion::of_odometry(timed),
        warnings: log.warnings,
        ..PointSweeps::default()
    })
}

/// Pose of the robot in space, at the height zero.
fn odometry(scan: &Scan) -> Option<Isometry3<f64>> {
    let pose = scan.odom_from_robot?;
    let [x, y] = pose.translation.vector.into();
    let turn = Vector3::z() * pose.rotation.angle();
    Some(Isometry3::new(Vector3::new(x, y, 0.0), turn))
}

/// A beam of a scan with a range.
struct BeamPoint {
    beam: u32,
    range: f64,
    position: Point3<f64>,
}

/// The points of a scan: the beams with a range, and their times.
pub(super) fn scan_table(number: u32, scan: &Scan) -> PointTable {
    // Select the beams with a range
    let beams = (0_u32..).zip(&scan.readings);
    let point = |(beam, reading): (u32, &RangeReading)| {
        Some(BeamPoint {
            beam,
            range: reading.range()?,
            position: scan.point(beam as usize)?,
        })
    };
    let points: Vec<BeamPoint> = beams.filter_map(point).collect();

    // Compute their columns
    let f32s = |value: &dyn Fn(&BeamPoint) -> f64| {
        ColumnData::F32(points.iter().map(|point| single(value(point))).collect())
    };
    let mut columns = vec![
        PointColumn::new("x", f32s(&|point| point.position.x)),
        PointColumn::new("y", f32s(&|point| point.position.y)),
        PointColumn::new("z", f32s(&|point| point.position.z)),
    ];
    if !scan.intensities.is_empty() {
        let intensity = |point: &BeamPoint| f64::from(scan.intensities[point.beam as usize]);
        columns.push(PointColumn::new("intensity", f32s(&intensity)));
    }
    let beams = points.iter().map(|point| point.beam).collect();
    let times = points.iter().map(|point| scan.time_of_beam(point.beam));
    columns.extend([
        PointColumn::new("range", f32s(&|point| point.range)),
        PointColumn::new("time", ColumnData::F64(times.collect())),
        PointColumn::new("beam", ColumnData::U32(beams)),
        PointColumn::new("sweep", ColumnData::U32(vec![number; points.len()])),
    ]);
    PointTable {
        points: points.len(),
        height: 1,
        columns,
    }
}
