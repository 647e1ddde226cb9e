//! Sweeps as ROS 2 messages.

use super::cdr::CdrWriter;
use crate::precision::single;
use crate::table::{ColumnData, Encoding, PointTable};
use crate::{FileLocation, FormatError};
use etendue_physics::angle::wrap_to_pi;
use etendue_sensors::lidar::{Lidar, Shot};
use etendue_sensors::lidar::{Outcome, Sweep};
use nalgebra::Isometry3;
use std::path::Path;

/// Checks that a ROS stamp can represent a time (s): unsigned 32-bit seconds since 1970.
///
/// # Errors
/// If the time is negative, beyond the range or NaN.
pub(super) fn check_stamp(path: &Path, time: f64) -> Result<(), FormatError> {
    // Times that round to zero are valid.
    if (-0.5e-9..f64::from(u32::MAX)).contains(&time) {
        return Ok(());
    }
    let message =
        format!("a ROS stamp cannot represent the time {time} s: its range is 0 to 2^32 s");
    let remedy = "shift the times of the recording so that they begin at zero";
    Err(FormatError::malformed(
        path,
        FileLocation::File,
        message,
        remedy,
    ))
}

/// A time (s) in ns. Times outside of the range of [`check_stamp`] saturate.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "external times are checked, others saturate"
)]
pub(super) fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

fn stamp(message: &mut CdrWriter, time: f64) {
    let nanoseconds = nanoseconds(time);
    let seconds = u32::try_from(nanoseconds / 1_000_000_000).unwrap_or(u32::MAX);
    message
        .u32(seconds)
        .u32((nanoseconds % 1_000_000_000) as u32);
}

pub(super) fn header(message: &mut CdrWriter, time: f64, frame: &str) {
    stamp(message, time);
    message.text(frame);
}

/// A `sensor_msgs/msg/PointCloud2` in CDR with all fields of a table, stamped `time` (s, saturated
/// to 0..2^32).
pub fn cloud(table: &PointTable, time: f64, frame: &str) -> Vec<u8> {
    let mut message = CdrWriter::new();
    header(&mut message, time, frame);
    // Write the size and the layout of the fields
    let height = table.height.max(1);
    let width = table.points / height;
    message
        .length(height)
        .length(width)
        .length(table.columns.len());
    let mut offset = 0;
    for column in &table.columns {
        let (size, datatype) = match column.data {
            ColumnData::U16(_) => (2, 4),
            ColumnData::I32(_) => (4, 5),
            ColumnData::U32(_) => (4, 6),
            ColumnData::F32(_) => (4, 7),
            ColumnData::F64(_) => (8, 8),
        };
        message.text(&column.name).u32(offset).u8(datatype).u32(1);
        offset += size;
    }
    // Write the points
    let dense = table.finite_points().count() == table.points;
    message.u8(0).u32(offset).length(offset as usize * width);
    message
        .blob(&table.encode(Encoding::Binary))
        .u8(u8::from(dense));
    message.finish()
}

/// A `sensor_msgs/msg/LaserScan` in CDR of the first channel of a sweep. `None` if the azimuth
/// steps of the shots differ by more than 1 %.
pub fn laser_scan(sweep: &Sweep, lidar: &Lidar, frame: &str) -> Option<Vec<u8>> {
    let is_first_channel = |(_, shot): &(usize, Shot)| shot.channel == 0;
    let shots = sweep.shots.iter().enumerate();
    let shots: Vec<(usize, Shot)> = shots.filter(is_first_channel).collect();
    // Check that the shots are level and evenly spaced
    let ((_, first), (_, second)) = (shots.first()?, shots.get(1)?);
    let turn = |from: f64, to: f64| wrap_to_pi(to - from);
    let step = turn(first.azimuth, second.azimuth);
    let even = shots.windows(2).all(|pair| {
        let between = turn(pair[0].1.azimuth, pair[1].1.azimuth);
        (between - step).abs() < 0.01 * step.abs()
    });
    if !even || first.elevation != 0.0 {
        return None;
    }
    // Write angles, times and range limits
    let mut message = CdrWriter::new();
    header(&mut message, first.time, frame);
    let last = first.azimuth + step * (shots.len() - 1) as f64;
    for value in [
        first.azimuth,
        last,
        step,
        second.time - first.time,
        lidar.sweep_duration(),
        lidar.limits.near,
        lidar.limits.far,
    ] {
        message.f32(single(value));
    }
    // Write the ranges, with the codes of REP 117
    message.length(shots.len());
    for (shot, _) in &shots {
        message.f32(match sweep.outcomes[*shot] {
            Outcome::Points { .. } => single(sweep.points_of(*shot)[0].range),
            Outcome::NoReturn => f32::INFINITY,
            Outcome::TooNear => f32::NEG_INFINITY,
            Outcome::Error(_) => f32::NAN,
        });
    }
    // Write the intensities
    message.length(shots.len());
    for (shot, _) in &shots {
        message.f32(
            sweep
                .points_of(*shot)
                .first()
                .map_or(0.0, |point| single(point.intensity)),
        );
    }
    Some(message.finish())
}

/// A `tf2_msgs/msg/TFMessage` of one transform.
pub(super) fn transform(time: f64, parent: &str, child: &str, pose: &Isometry3<f64>) -> Vec<u8> {
    let mut message = CdrWriter::new();
    message.length(1);
    header(&mut message, time, parent);
    message.text(child);
    let translation = pose.translation.vector;
    let rotation = pose.rotation.coords;
    for value in translation.iter().chain(rotation.iter()) {
        message.f64(*value);
    }
    message.finish()
}

/// A `rosgraph_msgs/msg/Clock`.
pub(super) fn clock(time: f64) -> Vec<u8> {
    let mut message = CdrWriter::new();
    stamp(&mut message, time);
    message.finish()
}
