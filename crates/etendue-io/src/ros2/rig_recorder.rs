//! Recordings of all sensors of a rig.

use super::channel::{add_channel, ros2_options};
use super::definition::{
    ACKERMANN, CAMERA_INFO, Definition, FLUID_PRESSURE, IMAGE, IMU, JOINT_STATE, LASER_SCAN,
    MAGNETIC_FIELD, NAV_SAT_FIX, ODOMETRY, POINT_CLOUD, POINT_STAMPED, TRANSFORMS,
};
use super::image::{camera_info, depth, picture};
use super::message::{cloud, laser_scan, transform};
use super::open_writer::OpenWriter;
use super::recorder::{failed, new_file};
use super::rig_message::{self, Stamped, drive_command};
use crate::FormatError;
use crate::table::PointTable;
use etendue_physics::camera::body_from_optical;
use etendue_physics::inertial::MotionState;
use etendue_sensors::dynamics::DriveCommand;
use etendue_sensors::rig::{Data, DataKind, Device, Event, MountedSensor, Rig, seconds};
use mcap::records::MessageHeader;
use mcap::{McapError, Writer};
use nalgebra::{Isometry3, Translation3};
use std::f64::consts::TAU;
use std::fs::File;
use std::io::{BufWriter, Cursor, Seek, Write};
use std::path::{Path, PathBuf};

/// Bytes of messages in a chunk, after which the recording is flushed to disk.
const CHUNK: usize = 1 << 20;

/// Frame of the world.
const WORLD: &str = "world";

/// Writer of an MCAP recording of a rig. Each output has a topic; its messages are stamped with the
/// start of the capture and logged at the time when the data are available. The true motion is on
/// `/odom` and `/tf`, the mounts of the sensors are on `/tf_static`.
///
/// Chunks of 1 MiB are on disk when they are complete. Equal events give equal bytes.
pub struct RigRecorder<'r, W: Write + Seek> {
    path: PathBuf,
    rig: &'r Rig,
    writer: OpenWriter<W>,
    /// Channels of each output of each sensor.
    outputs: Vec<Vec<OutputChannels>>,
    /// Channel of the base's motion.
    odometry: u16,
    /// Channel of the poses of the bodies.
    tf: u16,
    /// Channel of the drive commands, opened with the first command.
    commands: Option<u16>,
    sequence: u32,
}

impl<'r> RigRecorder<'r, BufWriter<File>> {
    /// Begins a recording at `path` and replaces an existing file. `topics` names the outputs of
    /// each sensor.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn create(path: &Path, rig: &'r Rig, topics: &[Vec<String>]) -> Result<Self, FormatError> {
        let file = new_file(path)?;
        Self::begin(path, rig, topics, BufWriter::new(file))
    }
}

impl<'r> RigRecorder<'r, Cursor<Vec<u8>>> {
    /// Begins a recording in memory.
    ///
    /// # Errors
    /// Never in practice, because writing to memory does not fail.
    pub fn in_memory(rig: &'r Rig, topics: &[Vec<String>]) -> Result<Self, FormatError> {
        Self::begin("memory".as_ref(), rig, topics, Cursor::new(Vec::new()))
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

/// Message type of a kind of data.
fn definition(kind: DataKind) -> Option<&'static Definition> {
    Some(match kind {
        DataKind::Imu => &IMU,
        DataKind::Fix => &NAV_SAT_FIX,
        DataKind::MagneticField => &MAGNETIC_FIELD,
        DataKind::Pressure => &FLUID_PRESSURE,
        DataKind::Height => &POINT_STAMPED,
        DataKind::WheelCounts => &JOINT_STATE,
        DataKind::Points | DataKind::Cloud => &POINT_CLOUD,
        DataKind::Image => &IMAGE,
        _ => return None,
    })
}

impl<'r, W: Write + Seek> RigRecorder<'r, W> {
    fn begin(
        path: &Path,
        rig: &'r Rig,
        topics: &[Vec<String>],
        sink: W,
    ) -> Result<Self, FormatError> {
        let fail = |error| failed(path, error);
        let options = ros2_options().chunk_size(None);
        let mut writer = OpenWriter::new(options.create(sink).map_err(fail)?);

        // Open a channel for every output of every sensor
        let mut outputs = Vec::new();
        for (sensor, names) in rig.sensors().iter().zip(topics) {
            let kinds = sensor.graph().outputs().zip(names);
            let channels: Result<Vec<_>, _> = kinds
                .map(|(kind, topic)| OutputChannels::open(&mut writer, sensor, kind, topic))
                .collect();
            outputs.push(channels.map_err(fail)?);
        }

        // Open the channels of the rig's motion
        let odometry = add_channel(&mut writer, "/odom", &ODOMETRY).map_err(fail)?;
        let tf = add_channel(&mut writer, "/tf", &TRANSFORMS).map_err(fail)?;
        let tf_static = add_channel(&mut writer, "/tf_static", &TRANSFORMS).map_err(fail)?;

        let mut recorder = Self {
            path: path.to_owned(),
            rig,
            writer,
            outputs,
            odometry,
            tf,
            commands: None,
            sequence: 0,
        };
        recorder.write_mounts(tf_static)?;
        Ok(recorder)
    }

    /// Writes the pose of each sensor on its body and of the optical frame in each camera.
    fn write_mounts(&mut self, tf_static: u16) -> Result<(), FormatError> {
        let rig = self.rig;
        for sensor in rig.sensors() {
            let body = rig.frames.bodies().nth(sensor.body());
            let body = body.unwrap_or(rig.frames.base());
            let mount = transform(0.0, body, sensor.name(), sensor.body_from_sensor());
            self.write(tf_static, 0, &mount)?;
            if matches!(sensor.device(), Device::Camera(_)) {
                let optical = Isometry3::from_parts(Translation3::identity(), body_from_optical());
                let axes = transform(0.0, sensor.name(), &optical_frame(sensor), &optical);
                self.write(tf_static, 0, &axes)?;
            }
        }
        Ok(())
    }

    /// Appends the data of a sensor.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn record(&mut self, event: &Event) -> Result<(), FormatError> {
        let sensor = &self.rig.sensors()[event.sensor];
        let messages = messages(sensor, event);
        let channels = self.outputs[event.sensor][event.output];
        let pairs = [
            (channels.data, messages.data),
            (channels.companion, messages.companion),
            (channels.depth, messages.depth),
        ];
        for pair in pairs {
            if let (Some(channel), Some(message)) = pair {
                self.write(channel, event.capture.arrival, &message)?;
            }
        }
        Ok(())
    }

    /// Appends the true motion of the robot's bodies at a time (ns), the base first.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn record_motion(&mut self, time: i64, states: &[MotionState]) -> Result<(), FormatError> {
        let Some((state, others)) = states.split_first() else {
            return Ok(());
        };
        let rig = self.rig;
        let base = rig.frames.base();
        let stamped = Stamped {
            time: seconds(time),
            frame: WORLD,
        };
        let odometry = rig_message::odometry(stamped, base, state);
        let tf = transform(seconds(time), WORLD, base, &state.world_from_body);
        self.write(self.odometry, time, &odometry)?;
        self.write(self.tf, time, &tf)?;
        for (name, state) in rig.frames.bodies().skip(1).zip(others) {
            let tf = transform(seconds(time), WORLD, name, &state.world_from_body);
            self.write(self.tf, time, &tf)?;
        }
        Ok(())
    }

    /// Appends a drive command at a time (ns), on `/cmd`.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn record_command(&mut self, time: i64, command: &DriveCommand) -> Result<(), FormatError> {
        let channel = if let Some(channel) = self.commands {
            channel
        } else {
            let added = add_channel(&mut self.writer, "/cmd", &ACKERMANN);
            added.map_err(|error| failed(&self.path, error))?
        };
        self.commands = Some(channel);
        let message = drive_command(time, self.rig.frames.base(), command);
        self.write(channel, time, &message)
    }

    fn write(&mut self, channel_id: u16, time: i64, bytes: &[u8]) -> Result<(), FormatError> {
        let time = u64::try_from(time).unwrap_or(0);
        let header = MessageHeader {
            channel_id,
            sequence: self.sequence,
            log_time: time,
            publish_time: time,
        };
        self.sequence = self.sequence.wrapping_add(1);
        let written = self.writer.append(&header, bytes);
        let written = written.and_then(|()| self.writer.flush_from(CHUNK));
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

/// One item per channel of a sensor's output; channels without use are `None`.
#[derive(Clone, Copy, Default)]
struct PerChannel<T> {
    /// The data on the output's own topic.
    data: Option<T>,
    /// The calibration of a camera, or the scan of a planar lidar.
    companion: Option<T>,
    /// The depth image of a camera.
    depth: Option<T>,
}

/// The channels of a sensor's output.
type OutputChannels = PerChannel<u16>;

impl OutputChannels {
    /// Opens the channels of an output.
    fn open<W: Write + Seek>(
        writer: &mut Writer<W>,
        sensor: &MountedSensor,
        kind: DataKind,
        topic: &str,
    ) -> Result<Self, McapError> {
        // Open the channel of the data.
        let mut channels = Self::default();
        if let Some(definition) = definition(kind) {
            channels.data = Some(add_channel(writer, topic, definition)?);
        }
        // Open the companions: calibration and depth of a camera, scan of a planar lidar.
        match sensor.device() {
            Device::Camera(mounted) => {
                let info = add_channel(writer, &format!("{topic}/camera_info"), &CAMERA_INFO)?;
                channels.companion = Some(info);
                if mounted.depth {
                    let depth = add_channel(writer, &format!("{topic}/depth"), &IMAGE)?;
                    channels.depth = Some(depth);
                }
            }
            Device::Lidar(lidar) if kind == DataKind::Points && lidar.channels.len() == 1 => {
                let scan = add_channel(writer, &format!("{topic}/scan"), &LASER_SCAN)?;
                channels.companion = Some(scan);
            }
            _ => {}
        }
        Ok(channels)
    }
}

/// The messages of an event; `None` for data that are not recorded.
fn messages(sensor: &MountedSensor, event: &Event) -> PerChannel<Vec<u8>> {
    let stamped = Stamped {
        time: seconds(event.capture.start),
        frame: sensor.name(),
    };
    let data = match &event.data {
        Data::Imu(reading) => rig_message::imu(stamped, reading),
        Data::Fix(fix) => rig_message::nav_sat_fix(stamped, fix),
        Data::MagneticField(field) => rig_message::magnetic_field(stamped, field),
        Data::Pressure(pressure) => rig_message::fluid_pressure(stamped, *pressure),
        Data::Height(height) => rig_message::height(stamped, *height),
        Data::WheelCounts(counts) => {
            rig_message::wheel(stamped, sensor.name(), angle(sensor, *counts))
        }
        Data::Cloud(points) => {
            let table = rig_message::cloud_table(points, stamped.time);
            cloud(&table, stamped.time, stamped.frame)
        }
        // Add the scan of a planar lidar
        Data::Points(sweep) => {
            let table = PointTable::of_scan_for_ros(sweep);
            let scan = match sensor.device() {
                Device::Lidar(lidar) if sweep.channels == 1 => {
                    laser_scan(sweep, lidar, stamped.frame)
                }
                _ => None,
            };
            return PerChannel {
                data: Some(cloud(&table, stamped.time, stamped.frame)),
                companion: scan,
                depth: None,
            };
        }
        // Add the calibration of a camera and its depth image
        Data::Image(frame) => {
            let Device::Camera(mounted) = sensor.device() else {
                return PerChannel::default();
            };
            let optical = optical_frame(sensor);
            let depth_values = frame.depth.as_ref();
            return PerChannel {
                data: Some(picture(frame, stamped.time, &optical)),
                companion: Some(camera_info(&mounted.camera, stamped.time, &optical)),
                depth: depth_values.map(|values| depth(frame, values, stamped.time, &optical)),
            };
        }
        _ => return PerChannel::default(),
    };
    PerChannel {
        data: Some(data),
        ..PerChannel::default()
    }
}

/// Name of a camera's optical frame: z forward, x right, y down.
fn optical_frame(sensor: &MountedSensor) -> String {
    format!("{}_optical", sensor.name())
}

/// Rotation angle of a wheel, rad.
fn angle(sensor: &MountedSensor, counts: i64) -> f64 {
    match sensor.device() {
        Device::WheelEncoder(encoder) => counts as f64 / f64::from(encoder.counts_per_turn) * TAU,
        _ => counts as f64,
    }
}
