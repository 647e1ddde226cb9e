//! Recordings of all sensors of a rig.

use super::definition::{
    ACKERMANN, CAMERA_INFO, Definition, FLUID_PRESSURE, IMAGE, IMU, JOINT_STATE, LASER_SCAN,
    MAGNETIC_FIELD, NAV_SAT_FIX, ODOMETRY, POINT_CLOUD, POINT_STAMPED, TRANSFORMS,
};
use super::image::{camera_info, depth, picture};
use super::message::{cloud, laser_scan, transform};
use super::recorder::{QOS, failed, new_file};
use super::rig_message::{self, Stamped, drive_command};
use crate::FormatError;
use crate::table::PointTable;
use etendue_physics::camera::body_from_optical;
use etendue_physics::inertial::MotionState;
use etendue_sensors::dynamics::DriveCommand;
use etendue_sensors::rig::{Data, DataKind, Device, Event, MountedSensor, Rig, seconds};
use mcap::records::MessageHeader;
use mcap::{McapError, WriteOptions, Writer};
use std::collections::BTreeMap;
use std::f64::consts::TAU;
use std::fs::File;
use std::io::{BufWriter, Cursor, Seek, Write};
use std::path::{Path, PathBuf};

/// The frame of the world.
const WORLD: &str = "world";

/// An MCAP recording of a rig in the making: each output on its topic, stamped with the start of
/// its capture and logged when its data were there; the true motion on `/odom` and `/tf`, the
/// sensors' mounts on `/tf_static`.
///
/// The same events give the same bytes.
pub struct RigRecorder<'r, W: Write + Seek> {
    path: PathBuf,
    rig: &'r Rig,
    writer: Writer<W>,
    /// Channel of each sensor's outputs, and of what goes with them.
    channels: Vec<Vec<[Option<u16>; 3]>>,
    motion: [u16; 2],
    /// Channel of a driver's commands, once there was one.
    commands: Option<u16>,
    sequence: u32,
}

impl<'r> RigRecorder<'r, BufWriter<File>> {
    /// Begins a recording at `path`, replacing what was there. `topics` names each sensor's
    /// outputs.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn create(path: &Path, rig: &'r Rig, topics: &[Vec<String>]) -> Result<Self, FormatError> {
        let file = new_file(path)?;
        Self::begin(path, rig, topics, BufWriter::new(file))
    }
}

impl<'r> RigRecorder<'r, Cursor<Vec<u8>>> {
    /// Begins a recording in memory.
    ///
    /// # Errors
    /// Never in practice: memory does not refuse.
    pub fn in_memory(rig: &'r Rig, topics: &[Vec<String>]) -> Result<Self, FormatError> {
        Self::begin("memory".as_ref(), rig, topics, Cursor::new(Vec::new()))
    }

    /// Ends the recording and gives its bytes.
    ///
    /// # Errors
    /// Never in practice: memory does not refuse.
    pub fn into_bytes(mut self) -> Result<Vec<u8>, FormatError> {
        let ended = self.writer.finish();
        ended.map_err(|error| failed(&self.path, error))?;
        Ok(self.writer.into_inner().into_inner())
    }
}

/// The message of a kind of data.
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
        let options = WriteOptions::new()
            .compression(None)
            .profile("ros2")
            .library("etendue")
            .chunk_size(Some(1 << 20));
        let fail = |error| failed(path, error);
        let writer = options.create(sink).map_err(fail)?;
        let mut channels = Channels { writer };
        let mut outputs = Vec::new();
        for (sensor, names) in rig.sensors().iter().zip(topics) {
            let kinds = sensor.graph().outputs().zip(names);
            let opened: Result<Vec<_>, _> = kinds
                .map(|(kind, topic)| channels.of_output(sensor, kind, topic))
                .collect();
            outputs.push(opened.map_err(fail)?);
        }
        let odometry = channels.add("/odom", &ODOMETRY).map_err(fail)?;
        let tf = channels.add("/tf", &TRANSFORMS).map_err(fail)?;
        let fixed = channels.add("/tf_static", &TRANSFORMS).map_err(fail)?;
        let mut recorder = Self {
            path: path.to_owned(),
            rig,
            writer: channels.writer,
            channels: outputs,
            motion: [odometry, tf],
            commands: None,
            sequence: 0,
        };
        for sensor in rig.sensors() {
            let body = rig.frames.bodies().nth(sensor.body());
            let body = body.unwrap_or(rig.frames.base());
            let bytes = transform(0.0, body, sensor.name(), sensor.body_from_sensor());
            recorder.write(fixed, 0, &bytes)?;
            if matches!(sensor.device(), Device::Camera(_)) {
                let turned = nalgebra::Isometry3::from_parts(
                    nalgebra::Translation3::identity(),
                    body_from_optical(),
                );
                let bytes = transform(0.0, sensor.name(), &optical_frame(sensor), &turned);
                recorder.write(fixed, 0, &bytes)?;
            }
        }
        Ok(recorder)
    }

    /// Appends what a sensor gave.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn record(&mut self, event: &Event) -> Result<(), FormatError> {
        let sensor = &self.rig.sensors()[event.sensor];
        let messages = messages(sensor, event);
        let channels = self.channels[event.sensor][event.output];
        for (channel, message) in channels.into_iter().zip(messages) {
            if let (Some(channel), Some(message)) = (channel, message) {
                self.write(channel, event.capture.arrival, &message)?;
            }
        }
        Ok(())
    }

    /// Appends how the robot's bodies truly move at a time (ns), the base first.
    ///
    /// # Errors
    /// Where the file cannot be written.
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
        for (channel, message) in self.motion.into_iter().zip([odometry, tf]) {
            self.write(channel, time, &message)?;
        }
        for (name, state) in rig.frames.bodies().skip(1).zip(others) {
            let tf = transform(seconds(time), WORLD, name, &state.world_from_body);
            self.write(self.motion[1], time, &tf)?;
        }
        Ok(())
    }

    /// Appends a drive command at a time (ns), on `/cmd`.
    ///
    /// # Errors
    /// Where the file cannot be written.
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
        let written = self.writer.write_to_known_channel(&header, bytes);
        written.map_err(|error| failed(&self.path, error))
    }

    /// Ends the recording with its index.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn finish(mut self) -> Result<(), FormatError> {
        let ended = self.writer.finish();
        ended.map(|_| ()).map_err(|error| failed(&self.path, error))
    }
}

/// A file whose channels are being opened.
struct Channels<W: Write + Seek> {
    writer: Writer<W>,
}

fn add_channel<W: Write + Seek>(
    writer: &mut Writer<W>,
    topic: &str,
    definition: &Definition,
) -> Result<u16, McapError> {
    let schema = definition.schema();
    let schema = writer.add_schema(definition.name, "ros2msg", schema.as_bytes())?;
    let qos = BTreeMap::from([("offered_qos_profiles".to_owned(), QOS.to_owned())]);
    writer.add_channel(schema, topic, "cdr", &qos)
}

impl<W: Write + Seek> Channels<W> {
    fn add(&mut self, topic: &str, definition: &Definition) -> Result<u16, McapError> {
        add_channel(&mut self.writer, topic, definition)
    }

    /// The channel of an output, and those of the scans of a planar scanner, of a camera's info and
    /// of its depth.
    fn of_output(
        &mut self,
        sensor: &MountedSensor,
        kind: DataKind,
        topic: &str,
    ) -> Result<[Option<u16>; 3], McapError> {
        let own = definition(kind).map(|definition| self.add(topic, definition));
        let planar = match sensor.device() {
            Device::Lidar(scanner) => kind == DataKind::Points && scanner.channels.len() == 1,
            _ => false,
        };
        let beside = match sensor.device() {
            Device::Camera(_) => Some(("camera_info", &CAMERA_INFO)),
            _ => planar.then_some(("scan", &LASER_SCAN)),
        };
        let beside =
            beside.map(|(name, definition)| self.add(&format!("{topic}/{name}"), definition));
        let depth = match sensor.device() {
            Device::Camera(mounted) if mounted.depth => {
                Some(self.add(&format!("{topic}/depth"), &IMAGE))
            }
            _ => None,
        };
        Ok([own.transpose()?, beside.transpose()?, depth.transpose()?])
    }
}

/// The message of an event, and those that go with it.
fn messages(sensor: &MountedSensor, event: &Event) -> [Option<Vec<u8>>; 3] {
    let stamped = Stamped {
        time: seconds(event.capture.start),
        frame: sensor.name(),
    };
    let own = match &event.data {
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
        Data::Points(sweep) => {
            let table = PointTable::of_scan_for_ros(sweep);
            let scan = match sensor.device() {
                Device::Lidar(scanner) if sweep.channels == 1 => {
                    laser_scan(sweep, scanner, stamped.frame)
                }
                _ => None,
            };
            return [Some(cloud(&table, stamped.time, stamped.frame)), scan, None];
        }
        Data::Image(frame) => {
            let Device::Camera(mounted) = sensor.device() else {
                return [None, None, None];
            };
            let optical = optical_frame(sensor);
            return [
                Some(picture(frame, stamped.time, &optical)),
                Some(camera_info(&mounted.camera, stamped.time, &optical)),
                { frame.depth.as_ref() }.map(|values| depth(frame, values, stamped.time, &optical)),
            ];
        }
        _ => return [None, None, None],
    };
    [Some(own), None, None]
}

/// The frame of a camera's optical axes: z forward, x right, y down.
fn optical_frame(sensor: &MountedSensor) -> String {
    format!("{}_optical", sensor.name())
}

/// What a wheel has turned by, rad.
fn angle(sensor: &MountedSensor, counts: i64) -> f64 {
    match sensor.device() {
        Device::WheelEncoder(encoder) => counts as f64 / f64::from(encoder.counts_per_turn) * TAU,
        _ => counts as f64,
    }
}
