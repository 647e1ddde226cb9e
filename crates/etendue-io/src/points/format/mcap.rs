//! MCAP recordings with ROS 2 messages.

use super::{FormatEntry, bag};
use crate::FormatError;
use crate::output::OutputSet;
use crate::ros2::{LidarRecorder, LidarTopics};
use crate::table::{PointSweeps, PointTable};
use nalgebra::Isometry3;
use std::path::Path;

pub(super) const FORMAT: FormatEntry = FormatEntry {
    endings: &["mcap"],
    recognizes: |_, bytes| bytes.starts_with(::mcap::MAGIC),
    points_only: true,
    in_folders: true,
    is_recorded_cloud: false,
    read: |file| bag::parse(&file),
    write: Some(|outputs, path, table, _| write_mcap(outputs, path, table)),
    capacity: None,
    editor: None,
};

/// Writes an `.mcap`: every sweep as a `PointCloud2` with its stamp and the pose of its sensor.
/// Sweeps without stamps have their earliest time, sweeps without poses a stationary sensor.
///
/// # Errors
/// As [`write_mcap`].
pub fn write_mcap_sweeps(
    outputs: &mut OutputSet,
    path: &Path,
    points: &PointSweeps,
) -> Result<(), FormatError> {
    let mut recorder = LidarRecorder::in_memory(LidarTopics::default())?;
    for (number, sweep) in points.sweeps.iter().enumerate() {
        let (time, table) = match &points.stamps {
            Some(stamps) => (stamps[number], sweep.clone().since(stamps[number])),
            None => sweep.clone().stamped(),
        };
        let poses = points.world_from_sensor.as_ref();
        let pose = poses.map_or_else(Isometry3::identity, |poses| poses[number]);
        recorder.record_cloud(&table, time, &pose)?;
    }
    // The pose after the last point, so that the poses span the times of all points
    let last = points.world_from_sensor.iter().flatten().last();
    let motion = points.motion.as_ref();
    recorder.record_last_poses(|_, time| {
        let moving = motion.and_then(|motion| motion.world_from_sensor(time));
        moving.or(last.copied()).unwrap_or_default()
    })?;
    let bytes = recorder.into_bytes()?;
    outputs.add(path, |file| file.write_all(&bytes))
}

/// Writes an `.mcap`: every sweep as a `PointCloud2`, stamped with its earliest time, in the frame
/// of a stationary sensor.
///
/// # Errors
/// If the file cannot be written, or a ROS stamp cannot represent a time.
pub fn write_mcap(
    outputs: &mut OutputSet,
    path: &Path,
    table: &PointTable,
) -> Result<(), FormatError> {
    write_mcap_sweeps(outputs, path, &PointSweeps::new(table.sweeps(), Vec::new()))
}
