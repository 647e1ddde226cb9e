//! Sensor data of a rig as ROS 2 messages.

use super::cdr::CdrWriter;
use super::message::header;
use crate::precision::single;
use crate::table::{ColumnData, PointColumn, PointTable};
use etendue_physics::gnss::{GnssFix, GnssFixKind};
use etendue_physics::inertial::{ImuReading, MotionState};
use etendue_sensors::dynamics::DriveCommand;
use etendue_sensors::rig::Cloud;
use nalgebra::{Vector3, Vector6};

/// Stamp (s) and frame of a message.
#[derive(Clone, Copy)]
pub(super) struct Stamped<'a> {
    pub time: f64,
    pub frame: &'a str,
}

impl Stamped<'_> {
    fn begin(self) -> CdrWriter {
        let mut message = CdrWriter::new();
        header(&mut message, self.time, self.frame);
        message
    }
}

fn numbers<'a>(message: &mut CdrWriter, values: impl IntoIterator<Item = &'a f64>) {
    for value in values {
        message.f64(*value);
    }
}

/// A diagonal 3 x 3 matrix, row by row.
fn diagonal(message: &mut CdrWriter, variance: &Vector3<f64>) {
    numbers(message, nalgebra::Matrix3::from_diagonal(variance).iter());
}

/// An `Imu` message without an orientation: its covariance begins with -1 (REP 145). Zero
/// covariances mean unknown.
pub(super) fn imu(stamped: Stamped, reading: &ImuReading) -> Vec<u8> {
    let mut message = stamped.begin();
    numbers(&mut message, &[0.0, 0.0, 0.0, 1.0]);
    diagonal(&mut message, &Vector3::new(-1.0, 0.0, 0.0));
    for vector in [reading.angular_velocity, reading.specific_force] {
        numbers(&mut message, vector.iter());
        diagonal(&mut message, &Vector3::zeros());
    }
    message.finish()
}

pub(super) fn nav_sat_fix(stamped: Stamped, fix: &GnssFix) -> Vec<u8> {
    let mut message = stamped.begin();
    let status: i8 = match fix.solution.map(|solution| solution.kind) {
        None => -1,
        Some(GnssFixKind::Autonomous) => 0,
        Some(GnssFixKind::Differential) => 1,
        Some(GnssFixKind::RtkFixed) => 2,
    };
    message.u8(status.to_le_bytes()[0]).u16(1);
    let Some(solution) = fix.solution else {
        numbers(&mut message, &[f64::NAN; 3]);
        diagonal(&mut message, &Vector3::zeros());
        message.u8(0);
        return message.finish();
    };
    let place = solution.position;
    let [latitude, longitude] = [place.latitude, place.longitude].map(f64::to_degrees);
    numbers(&mut message, &[latitude, longitude, place.height]);
    diagonal(&mut message, &solution.variance);
    message.u8(2);
    message.finish()
}

pub(super) fn magnetic_field(stamped: Stamped, field: &Vector3<f64>) -> Vec<u8> {
    let mut message = stamped.begin();
    numbers(&mut message, field.iter());
    diagonal(&mut message, &Vector3::zeros());
    message.finish()
}

pub(super) fn fluid_pressure(stamped: Stamped, pressure: f64) -> Vec<u8> {
    let mut message = stamped.begin();
    numbers(&mut message, &[pressure, 0.0]);
    message.finish()
}

/// A height as the z of a point.
pub(super) fn height(stamped: Stamped, height: f64) -> Vec<u8> {
    let mut message = stamped.begin();
    numbers(&mut message, &[0.0, 0.0, height]);
    message.finish()
}

/// Rotation of a wheel, rad.
pub(super) fn wheel(stamped: Stamped, name: &str, angle: f64) -> Vec<u8> {
    let mut message = stamped.begin();
    message.length(1).text(name);
    message.length(1).f64(angle);
    message.length(0).length(0);
    message.finish()
}

/// An `ackermann_msgs/msg/AckermannDriveStamped` in CDR of a drive command at a time, ns.
pub fn drive_command(time: i64, frame: &str, command: &DriveCommand) -> Vec<u8> {
    let time = etendue_sensors::rig::seconds(time);
    let mut message = Stamped { time, frame }.begin();
    for value in [command.steering, 0.0, command.speed, 0.0, 0.0] {
        message.f32(single(value));
    }
    message.finish()
}

/// The true motion as odometry with zero covariances: pose in the world, velocities in the base
/// frame.
pub(super) fn odometry(stamped: Stamped, child: &str, state: &MotionState) -> Vec<u8> {
    let mut message = stamped.begin();
    message.text(child);
    let pose = state.world_from_body;
    numbers(&mut message, pose.translation.vector.iter());
    numbers(&mut message, pose.rotation.coords.iter());
    numbers(&mut message, &[0.0; 36]);
    let linear = pose.rotation.inverse_transform_vector(&state.velocity);
    let twist = Vector6::from_iterator(linear.iter().chain(state.angular_velocity.iter()).copied());
    numbers(&mut message, twist.iter());
    numbers(&mut message, &[0.0; 36]);
    message.finish()
}

/// Fields of a cloud; `time` is relative to `start` (s).
pub(super) fn cloud_table(cloud: &Cloud, start: f64) -> PointTable {
    let points = &cloud.points;
    let floats = |of: &dyn Fn(&etendue_sensors::rig::CloudPoint) -> f64| {
        ColumnData::F32(points.iter().map(|point| single(of(point))).collect())
    };
    let column = |name: &'static str, data| PointColumn {
        name: name.into(),
        data,
    };
    PointTable {
        points: points.len(),
        height: 1,
        columns: vec![
            column("x", floats(&|point| point.position.x)),
            column("y", floats(&|point| point.position.y)),
            column("z", floats(&|point| point.position.z)),
            column("intensity", floats(&|point| point.intensity)),
            column("time", floats(&|point| point.time - start)),
            column(
                "ring",
                ColumnData::U16(points.iter().map(|point| point.ring).collect()),
            ),
        ],
    }
}
