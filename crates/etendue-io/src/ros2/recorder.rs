//! Recordings of lidars, written in chunks of whole sweeps.

use super::channel::{add_channel, ros2_options};
use super::definition::{CLOCK, Definition, LASER_SCAN, POINT_CLOUD, TRANSFORMS};
use super::message::{check_stamp, clock, cloud, laser_scan, nanoseconds, transform};
use super::motion::poses_between;
use super::open_writer::{LEAST_CHUNK, OpenWriter};
use crate::output::{locked_file, settle};
use crate::table::PointTable;
use crate::{FileLocation, FormatError};
use etendue_sensors::lidar::{Lidar, Sweep};
use mcap::McapError;
use mcap::records::MessageHeader;
use nalgebra::Isometry3;
use std::fs::{File, create_dir_all};
use std::io::{BufWriter, Cursor, Seek, Write};
use std::path::{Path, PathBuf};

/// Names of topics and frames of one lidar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LidarTopics {
    /// Topic of the clouds; scans are on the topic `NAME/scan`.
    pub cloud: String,
    /// Frame of the sensor.
    pub sensor_frame: String,
    /// Frame of the world.
    pub world_frame: String,
}

impl Default for LidarTopics {
    fn default() -> Self {
        Self {
            cloud: "/points".into(),
            sensor_frame: "lidar".into(),
            world_frame: "world".into(),
        }
    }
}

impl LidarTopics {
    /// The names of one of several sensors: topic `/NAME/points`, frame `NAME`.
    pub fn of_sensor(name: &str) -> Self {
        Self {
            cloud: format!("/{name}/points"),
            sensor_frame: name.into(),
            ..Self::default()
        }
    }
}

/// Writer of an MCAP recording of one or several lidars: `PointCloud2` (and `LaserScan` of planar
/// lidars), `TF` and clock of every sweep. The poses of a moving sensor within a sweep are recorded such that linear
/// interpolation between them is within 0.1 mm and 0.01 mrad of its motion. Sweeps are on disk in chunks of at least 64 KiB: a larger one when
/// [`LidarRecorder::record`] returns.
pub struct LidarRecorder<W: Write + Seek> {
    path: PathBuf,
    sensors: Vec<SensorChannels>,
    writer: OpenWriter<W>,
    /// Numbers of the channels in the file.
    channels: Vec<u16>,
    sequence: u32,
    /// Class of each object of the scene; `None` for recordings without labels.
    classes: Vec<i32>,
}

/// Indices of a sensor's channels in the recorder's list.
struct SensorChannels {
    topics: LidarTopics,
    cloud: usize,
    /// `None` before the first scan: only planar lidars have scans.
    scan: Option<usize>,
    /// Time (s) and pose at the end of the last sweep or its last shot, whichever is later; `None` for points without
    /// times or without poses.
    end: Option<(f64, Isometry3<f64>)>,
}

/// Indices of the channels that all sensors share.
const CLOCK_CHANNEL: usize = 0;
const TF_CHANNEL: usize = 1;

impl LidarRecorder<BufWriter<File>> {
    /// Begins a recording at `path` and replaces an existing file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn create(path: &Path, topics: LidarTopics) -> Result<Self, FormatError> {
        Self::create_of_several(path, vec![topics])
    }

    /// Begins a recording of several sensors with different frames and topics.
    ///
    /// # Errors
    /// As [`LidarRecorder::create`].
    pub fn create_of_several(path: &Path, topics: Vec<LidarTopics>) -> Result<Self, FormatError> {
        Self::begin(path, topics, BufWriter::new(new_file(path)?))
    }
}

impl LidarRecorder<Cursor<Vec<u8>>> {
    /// Begins a recording in memory.
    ///
    /// # Errors
    /// Never in practice, because writing to memory does not fail.
    pub fn in_memory(topics: LidarTopics) -> Result<Self, FormatError> {
        Self::begin("memory".as_ref(), vec![topics], Cursor::new(Vec::new()))
    }

    /// Ends the recording and returns its bytes.
    ///
    /// # Errors
    /// Never in practice, because writing to memory does not fail.
    pub fn into_bytes(self) -> Result<Vec<u8>, FormatError> {
        let ended = self.writer.finish();
        Ok(ended
            .map_err(|error| failed(&self.path, error))?
            .into_inner())
    }
}

impl<W: Write + Seek> LidarRecorder<W> {
    /// Begins a recording of one sensor in a writer; errors name `path`.
    pub(crate) fn of_writer(
        path: &Path,
        topics: LidarTopics,
        sink: W,
    ) -> Result<Self, FormatError> {
        Self::begin(path, vec![topics], sink)
    }

    fn begin(path: &Path, topics: Vec<LidarTopics>, sink: W) -> Result<Self, FormatError> {
        let writer = ros2_options().chunk_size(None).create(sink);
        let mut recorder = Self {
            path: path.to_owned(),
            sensors: Vec::new(),
            writer: OpenWriter::new(writer.map_err(|error| failed(path, error))?),
            channels: Vec::new(),
            sequence: 0,
            classes: Vec::new(),
        };
        // Open the channels that all sensors share, then those of each sensor
        recorder.open("/clock", &CLOCK)?;
        recorder.open("/tf", &TRANSFORMS)?;
        for topics in topics {
            let cloud = recorder.open(&topics.cloud, &POINT_CLOUD)?;
            recorder.sensors.push(SensorChannels {
                topics,
                cloud,
                scan: None,
                end: None,
            });
        }
        Ok(recorder)
    }

    /// Opens a channel and returns its index in the recorder's list.
    fn open(&mut self, topic: &str, definition: &Definition) -> Result<usize, FormatError> {
        let id = add_channel(&mut self.writer, topic, definition);
        self.channels
            .push(id.map_err(|error| failed(&self.path, error))?);
        Ok(self.channels.len() - 1)
    }

    /// Index of the channel of a sensor's scans, which the first scan opens.
    fn scan_channel(&mut self, sensor: usize) -> Result<usize, FormatError> {
        if let Some(channel) = self.sensors[sensor].scan {
            return Ok(channel);
        }
        let topic = format!("{}/scan", self.sensors[sensor].topics.cloud);
        let channel = self.open(&topic, &LASER_SCAN)?;
        self.sensors[sensor].scan = Some(channel);
        Ok(channel)
    }

    /// Names the frame of the poses that follow.
    pub(crate) fn set_world_frame(&mut self, name: &str) {
        for sensor in &mut self.sensors {
            name.clone_into(&mut sensor.topics.world_frame);
        }
    }

    /// Labels the points of sweeps with the class of each object.
    #[must_use]
    pub fn with_classes(mut self, of_object: &[i32]) -> Self {
        self.classes = of_object.to_vec();
        self
    }

    /// Appends a sweep. Its stamp is the start of the sweep; the cloud is in
    /// the sensor's frame. `world_from_sensor` is the pose of the sensor at a time (s).
    ///
    /// # Errors
    /// If the file cannot be written, or the time is negative or beyond 2^32 s.
    pub fn record(
        &mut self,
        sweep: &Sweep,
        scanner: &Lidar,
        world_from_sensor: &dyn Fn(f64) -> Isometry3<f64>,
    ) -> Result<(), FormatError> {
        self.record_of(0, sweep, scanner, world_from_sensor)
    }

    /// Appends a sweep of the sensor with the given index.
    ///
    /// # Errors
    /// As [`LidarRecorder::record`].
    pub fn record_of(
        &mut self,
        sensor: usize,
        sweep: &Sweep,
        scanner: &Lidar,
        world_from_sensor: &dyn Fn(f64) -> Isometry3<f64>,
    ) -> Result<(), FormatError> {
        // The points, and the ranges of a planar lidar
        let topics = &self.sensors[sensor].topics;
        let scan = (sweep.channels == 1).then(|| laser_scan(sweep, scanner, &topics.sensor_frame));
        let mut table = PointTable::of_scan_for_ros(sweep);
        if !self.classes.is_empty() {
            table.classify(&self.classes);
        }
        self.cloud(sensor, &table, sweep.start, Some(world_from_sensor))?;
        if let Some(scan) = scan.flatten() {
            let channel = self.scan_channel(sensor)?;
            self.write(channel, nanoseconds(sweep.start), &scan)?;
        }
        // The poses before the next sweep
        let end = sweep.start + scanner.sweep_duration();
        self.poses_within(sensor, [sweep.start, end], world_from_sensor)?;
        // Channels fire after the start of their column, in the last one beyond the duration of the sweep
        let shots = sweep.shots.iter().map(|shot| shot.time);
        let end = shots.fold(end, f64::max);
        self.sensors[sensor].end = Some((end, world_from_sensor(end)));
        self.end_sweep()
    }

    /// Appends the pose of every sensor at the end of its last sweep, so that the poses span the times of all points.
    ///
    /// # Errors
    /// As [`LidarRecorder::record`].
    pub fn record_last_poses(&mut self) -> Result<(), FormatError> {
        for sensor in 0..self.sensors.len() {
            if let Some((time, pose)) = self.sensors[sensor].end.take() {
                self.pose(sensor, time, &pose)?;
            }
        }
        Ok(())
    }

    /// Appends the poses of a sensor between two times (s), as far as interpolation does not give them.
    fn poses_within(
        &mut self,
        sensor: usize,
        span: [f64; 2],
        world_from_sensor: &dyn Fn(f64) -> Isometry3<f64>,
    ) -> Result<(), FormatError> {
        let mut poses = poses_between(span, world_from_sensor).into_iter();
        poses.try_for_each(|(time, pose)| self.pose(sensor, time, &pose))
    }

    fn pose(&mut self, sensor: usize, time: f64, pose: &Isometry3<f64>) -> Result<(), FormatError> {
        check_stamp(&self.path, time)?;
        let topics = &self.sensors[sensor].topics;
        let bytes = transform(time, &topics.world_frame, &topics.sensor_frame, pose);
        self.write(TF_CHANNEL, nanoseconds(time), &bytes)
    }

    /// Appends points of any origin as a cloud stamped `time` (s). Their field `time` is relative to the stamp.
    /// `world_from_sensor` is the pose of their sensor at a time (s), if it is known.
    ///
    /// # Errors
    /// As [`LidarRecorder::record`].
    pub fn record_cloud(
        &mut self,
        table: &PointTable,
        time: f64,
        world_from_sensor: Option<&dyn Fn(f64) -> Isometry3<f64>>,
    ) -> Result<(), FormatError> {
        // The pose after the points of the cloud before
        if let Some((end, pose)) = self.sensors[0].end.take()
            && end < time
        {
            self.pose(0, end, &pose)?;
        }
        // The cloud, and the poses at the times of its points
        self.cloud(0, table, time, world_from_sensor)?;
        let last = table.times_since(0.0).into_iter().flatten();
        let last = time + last.fold(0.0, f64::max);
        if let Some(world_from_sensor) = world_from_sensor.filter(|_| last > time) {
            self.poses_within(0, [time, last], world_from_sensor)?;
            self.sensors[0].end = Some((last, world_from_sensor(last)));
        }
        self.end_sweep()
    }

    fn cloud(
        &mut self,
        sensor: usize,
        table: &PointTable,
        time: f64,
        world_from_sensor: Option<&dyn Fn(f64) -> Isometry3<f64>>,
    ) -> Result<(), FormatError> {
        check_stamp(&self.path, time)?;
        self.write(CLOCK_CHANNEL, nanoseconds(time), &clock(time))?;
        if let Some(world_from_sensor) = world_from_sensor {
            self.pose(sensor, time, &world_from_sensor(time))?;
        }
        let SensorChannels {
            topics, cloud: own, ..
        } = &self.sensors[sensor];
        let bytes = cloud(table, time, &topics.sensor_frame);
        self.write(*own, nanoseconds(time), &bytes)
    }

    fn end_sweep(&mut self) -> Result<(), FormatError> {
        self.sequence += 1;
        self.writer
            .flush_from(LEAST_CHUNK)
            .map_err(|error| failed(&self.path, error))
    }

    fn write(&mut self, channel: usize, time: u64, bytes: &[u8]) -> Result<(), FormatError> {
        let header = MessageHeader {
            channel_id: self.channels[channel],
            sequence: self.sequence,
            log_time: time,
            publish_time: time,
        };
        let written = self.writer.append(&header, bytes);
        written.map_err(|error| failed(&self.path, error))
    }

    /// Writes the index and ends the recording.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finish(self) -> Result<(), FormatError> {
        let ended = self.writer.finish();
        ended.map(drop).map_err(|error| failed(&self.path, error))
    }
}

/// Creates an empty file and its folder, and replaces an existing file. The file has one writer at a
/// time. The work of killed processes in the folder is ended.
pub(super) fn new_file(path: &Path) -> Result<File, FormatError> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    create_dir_all(folder).map_err(|source| cannot_write(path, source))?;
    settle(folder);
    locked_file(path)
}

pub(super) fn cannot_write(path: &Path, source: std::io::Error) -> FormatError {
    FormatError::Io {
        path: path.to_owned(),
        action: "write",
        source,
        remedy: "name another output file, or make room on the disk".into(),
    }
}

pub(super) fn failed(path: &Path, error: McapError) -> FormatError {
    match error {
        McapError::Io(source) => cannot_write(path, source),
        other => FormatError::malformed(
            path,
            FileLocation::File,
            other.to_string(),
            "record it again",
        ),
    }
}
