//! MCAP recordings with ROS 2 messages.

use super::{FormatEntry, PointReader, bag};
use crate::FormatError;
use crate::bag::ODOMETRY_FRAME;
use crate::output::OutputSet;
use crate::points::RecordedSweep;
use crate::ros2::{LidarRecorder, LidarTopics};
use crate::table::PointTable;
use std::io::{Seek, Write};
use std::path::Path;

pub(super) const FORMAT: FormatEntry = FormatEntry {
    endings: &["mcap"],
    recognizes: |_, bytes| bytes.starts_with(::mcap::MAGIC),
    points_only: true,
    in_folders: true,
    is_recorded_cloud: false,
    read: PointReader::Sweeps(bag::read),
    write: Some(|outputs, path, table, _| write_mcap(outputs, path, table)),
    capacity: None,
    editor: None,
};

/// Writer of an `.mcap` with every sweep as a `PointCloud2` with its stamp and the poses of its sensor, if it has some: in the
/// frame `world`, or `odom` for odometry (REP 105). Sweeps without stamps have their earliest time.
pub struct McapSweeps<W: Write + Seek> {
    recorder: LidarRecorder<W>,
}

impl<W: Write + Seek> McapSweeps<W> {
    /// Begins a recording; errors name `path`.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn new(path: &Path, file: W) -> Result<Self, FormatError> {
        let recorder = LidarRecorder::of_writer(path, LidarTopics::default(), file)?;
        Ok(Self { recorder })
    }

    /// Appends a sweep.
    ///
    /// # Errors
    /// If the file cannot be written, or a ROS stamp cannot represent a time.
    pub fn add(&mut self, sweep: RecordedSweep) -> Result<(), FormatError> {
        let own = sweep.root_from_sensor();
        let (time, table) = match sweep.stamp {
            Some(stamp) => (stamp, sweep.table.since(stamp)),
            None => sweep.table.stamped(),
        };
        let Some(own) = own else {
            return self.recorder.record_cloud(&table, time, None);
        };
        if sweep.world_from_sensor.is_none() {
            self.recorder.set_world_frame(ODOMETRY_FRAME);
        }
        let motion = sweep.motion.as_deref();
        let moving = |time| motion.and_then(|motion| motion.world_from_sensor(time));
        let pose = |time| moving(time).unwrap_or(own);
        self.recorder.record_cloud(&table, time, Some(&pose))
    }

    /// Appends the pose after the last point, so that the poses span the times of all points, and ends the recording.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finish(mut self) -> Result<(), FormatError> {
        self.recorder.record_last_poses()?;
        self.recorder.finish()
    }
}

/// Writes an `.mcap`: every sweep as a `PointCloud2`, stamped with its earliest time, without poses.
///
/// # Errors
/// If the file cannot be written, or a ROS stamp cannot represent a time.
pub fn write_mcap(
    outputs: &mut OutputSet,
    path: &Path,
    table: &PointTable,
) -> Result<(), FormatError> {
    let output = outputs.open(path)?;
    let mut recording = McapSweeps::new(path, output.writer()?)?;
    for table in table.sweeps() {
        recording.add(RecordedSweep {
            table,
            ..RecordedSweep::default()
        })?;
    }
    recording.finish()?;
    outputs.close(output)
}
