//! ROS 2 messages of all sensors of a rig.

use super::definition::{
    CAMERA_INFO, Definition, FLUID_PRESSURE, IMAGE, IMU, JOINT_STATE, LASER_SCAN, MAGNETIC_FIELD,
    NAV_SAT_FIX, ODOMETRY, POINT_CLOUD, POINT_STAMPED, TRANSFORMS,
};
use super::image::{camera_info, depth, picture};
use super::message::{cloud, laser_scan, transform};
use super::rig_message::{self, Stamped};
use super::topic::{Topic, TopicMessage};
use crate::table::PointTable;
use etendue_physics::camera::body_from_optical;
use etendue_physics::inertial::MotionState;
use etendue_sensors::rig::{Data, DataKind, Device, Event, MountedSensor, Rig, seconds};
use nalgebra::{Isometry3, Translation3};
use std::f64::consts::TAU;

/// Frame of the world.
const WORLD: &str = "world";

/// Period of the true motion, ns.
const MOTION_PERIOD: i64 = 20_000_000;

/// Messages of a rig. Each output has a topic; its messages are stamped with the start of the capture and timed when
/// the data are available. The true motion is on `/odom` and `/tf`, the mounts of the sensors are on `/tf_static`.
pub struct RigMessages<'r> {
    rig: &'r Rig,
    topics: Vec<Topic>,
    /// Topics of each output of each sensor.
    outputs: Vec<Vec<OutputTopics>>,
    odometry: usize,
    tf: usize,
    tf_static: usize,
    /// Time of the next message of the motion, ns.
    next_motion: i64,
}

impl<'r> RigMessages<'r> {
    /// Messages of a rig whose outputs of each sensor have the names `topics`.
    pub fn new(rig: &'r Rig, topics: &[Vec<String>]) -> Self {
        let mut all = Vec::new();
        let mut outputs = Vec::new();
        for (sensor, names) in rig.sensors().iter().zip(topics) {
            let kinds = sensor.graph().outputs().zip(names);
            let add =
                |(kind, name): (DataKind, &String)| OutputTopics::add(&mut all, sensor, kind, name);
            outputs.push(kinds.map(add).collect());
        }
        let first = all.len();
        all.push(Topic::new("/odom", &ODOMETRY));
        all.push(Topic::new("/tf", &TRANSFORMS));
        all.push(Topic::new("/tf_static", &TRANSFORMS));
        Self {
            rig,
            topics: all,
            outputs,
            odometry: first,
            tf: first + 1,
            tf_static: first + 2,
            next_motion: 0,
        }
    }

    /// The topics, in the order of their indices.
    pub fn topics(&self) -> &[Topic] {
        &self.topics
    }

    /// The pose of each sensor on its body and of the optical frame in each camera.
    pub fn mounts(&self) -> Vec<TopicMessage> {
        let mut messages = Vec::new();
        let mut add = |parent: &str, child: &str, pose: &Isometry3<f64>| {
            messages.push(message(
                self.tf_static,
                0,
                transform(0.0, parent, child, pose),
            ));
        };
        for sensor in self.rig.sensors() {
            let body = self.rig.frames.bodies().nth(sensor.body());
            let body = body.unwrap_or(self.rig.frames.base());
            add(body, sensor.name(), sensor.body_from_sensor());
            if matches!(sensor.device(), Device::Camera(_)) {
                let optical = Isometry3::from_parts(Translation3::identity(), body_from_optical());
                add(sensor.name(), &optical_frame(sensor), &optical);
            }
        }
        messages
    }

    /// The data of a sensor.
    pub fn of_event(&self, event: &Event) -> Vec<TopicMessage> {
        let sensor = &self.rig.sensors()[event.sensor];
        let encoded = messages(sensor, event);
        let topics = self.outputs[event.sensor][event.output];
        let pairs = [
            (topics.data, encoded.data),
            (topics.companion, encoded.companion),
            (topics.depth, encoded.depth),
        ];
        let time = event.capture.arrival;
        let of_pair =
            |(topic, bytes): (Option<usize>, Option<Vec<u8>>)| Some(message(topic?, time, bytes?));
        pairs.into_iter().filter_map(of_pair).collect()
    }

    /// The true motion of the robot's bodies at a time (ns), the base first.
    pub fn of_motion(&self, time: i64, states: &[MotionState]) -> Vec<TopicMessage> {
        let Some((state, others)) = states.split_first() else {
            return Vec::new();
        };
        let base = self.rig.frames.base();
        let stamped = Stamped {
            time: seconds(time),
            frame: WORLD,
        };
        let odometry = rig_message::odometry(stamped, base, state);
        let tf = |name: &str, state: &MotionState| {
            let bytes = transform(seconds(time), WORLD, name, &state.world_from_body);
            message(self.tf, time, bytes)
        };
        let mut messages = vec![message(self.odometry, time, odometry), tf(base, state)];
        // The first body is the base, whose transform is above
        let bodies = self.rig.frames.bodies().skip(1).zip(others);
        messages.extend(bodies.map(|(name, state)| tf(name, state)));
        messages
    }

    /// The true motion at a time (ns), if 20 ms have passed since the last one.
    pub fn of_motion_if_due(&mut self, time: i64, states: &[MotionState]) -> Vec<TopicMessage> {
        if time < self.next_motion {
            return Vec::new();
        }
        self.next_motion += MOTION_PERIOD;
        self.of_motion(time, states)
    }

    /// The true motion of the base every 20 ms up to a time (ns); `state` is that at a time in s.
    pub fn of_motion_until(
        &mut self,
        time: i64,
        state: impl Fn(f64) -> MotionState,
    ) -> Vec<TopicMessage> {
        let mut messages = Vec::new();
        while self.next_motion <= time {
            let state = state(seconds(self.next_motion));
            messages.extend(self.of_motion_if_due(self.next_motion, &[state]));
        }
        messages
    }
}

fn message(topic: usize, time: i64, bytes: Vec<u8>) -> TopicMessage {
    TopicMessage {
        topic,
        time: u64::try_from(time).unwrap_or(0),
        bytes,
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

/// One item per topic of a sensor's output; topics without use are `None`.
#[derive(Clone, Copy, Default)]
struct PerTopic<T> {
    /// The data on the output's own topic.
    data: Option<T>,
    /// The calibration of a camera, or the scan of a planar lidar.
    companion: Option<T>,
    /// The depth image of a camera.
    depth: Option<T>,
}

/// Indices of the topics of a sensor's output.
type OutputTopics = PerTopic<usize>;

impl OutputTopics {
    /// Adds the topics of an output.
    fn add(topics: &mut Vec<Topic>, sensor: &MountedSensor, kind: DataKind, name: &str) -> Self {
        let mut add = |name: &str, definition: &Definition| {
            topics.push(Topic::new(name, definition));
            Some(topics.len() - 1)
        };
        let mut own = Self::default();
        if let Some(definition) = definition(kind) {
            own.data = add(name, definition);
        }
        // Add the companions: calibration and depth of a camera, scan of a planar lidar.
        match sensor.device() {
            Device::Camera(mounted) => {
                own.companion = add(&format!("{name}/camera_info"), &CAMERA_INFO);
                if mounted.depth {
                    own.depth = add(&format!("{name}/depth"), &IMAGE);
                }
            }
            Device::Lidar(lidar) if kind == DataKind::Points && lidar.channels.len() == 1 => {
                own.companion = add(&format!("{name}/scan"), &LASER_SCAN);
            }
            _ => {}
        }
        own
    }
}

/// The messages of an event; `None` for data that are not recorded.
fn messages(sensor: &MountedSensor, event: &Event) -> PerTopic<Vec<u8>> {
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
            return PerTopic {
                data: Some(cloud(&table, stamped.time, stamped.frame)),
                companion: scan,
                depth: None,
            };
        }
        // Add the calibration of a camera and its depth image
        Data::Image(frame) => {
            let Device::Camera(mounted) = sensor.device() else {
                return PerTopic::default();
            };
            let optical = optical_frame(sensor);
            let depth_values = frame.depth.as_ref();
            return PerTopic {
                data: Some(picture(frame, stamped.time, &optical)),
                companion: Some(camera_info(&mounted.camera, stamped.time, &optical)),
                depth: depth_values.map(|values| depth(frame, values, stamped.time, &optical)),
            };
        }
        _ => return PerTopic::default(),
    };
    PerTopic {
        data: Some(data),
        ..PerTopic::default()
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
