//! Data that sensors deliver.

use crate::camera::CameraFrame;
use crate::lidar::Sweep;
use etendue_physics::gnss::GnssFix;
use etendue_physics::inertial::ImuReading;
use nalgebra::{Point3, Vector3};
use std::fmt;

/// The data of one capture.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Data {
    /// Angular velocity and specific force, in the frame of the unit.
    Imu(ImuReading),
    /// A GNSS fix.
    Fix(GnssFix),
    /// Magnetic field in the sensor's frame, T.
    MagneticField(Vector3<f64>),
    /// Pressure, Pa.
    Pressure(f64),
    /// Pressure altitude of the standard atmosphere, m.
    Height(f64),
    /// Counts of a wheel encoder since switch-on.
    WheelCounts(i64),
    /// A sweep of a lidar.
    Points(Sweep),
    /// A point cloud, without its beams.
    Cloud(Cloud),
    /// A frame of a camera.
    Image(Box<CameraFrame>),
}

/// The kinds of [`Data`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum DataKind {
    /// [`Data::Imu`].
    Imu,
    /// [`Data::Fix`].
    Fix,
    /// [`Data::MagneticField`].
    MagneticField,
    /// [`Data::Pressure`].
    Pressure,
    /// [`Data::Height`].
    Height,
    /// [`Data::WheelCounts`].
    WheelCounts,
    /// [`Data::Points`].
    Points,
    /// [`Data::Cloud`].
    Cloud,
    /// [`Data::Image`].
    Image,
}

/// Point cloud of a capture in the sensor's frame. Each point has its own time until motion is
/// compensated.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cloud {
    /// The points.
    pub points: Vec<CloudPoint>,
}

/// A point of a [`Cloud`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CloudPoint {
    /// Position, m.
    pub position: Point3<f64>,
    /// Reported intensity, in the device's counts; relative power of continuous-wave lidars.
    pub intensity: f64,
    /// Time of measurement, s from the start of the run.
    pub time: f64,
    /// Ring of the laser, the lowest is 0.
    pub ring: u16,
}

impl Data {
    /// The kind of data.
    pub fn kind(&self) -> DataKind {
        match self {
            Self::Imu(_) => DataKind::Imu,
            Self::Fix(_) => DataKind::Fix,
            Self::MagneticField(_) => DataKind::MagneticField,
            Self::Pressure(_) => DataKind::Pressure,
            Self::Height(_) => DataKind::Height,
            Self::WheelCounts(_) => DataKind::WheelCounts,
            Self::Points(_) => DataKind::Points,
            Self::Cloud(_) => DataKind::Cloud,
            Self::Image(_) => DataKind::Image,
        }
    }
}

impl fmt::Display for DataKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Imu => "inertial readings",
            Self::Fix => "GNSS fixes",
            Self::MagneticField => "magnetic fields",
            Self::Pressure => "pressures",
            Self::Height => "heights",
            Self::WheelCounts => "wheel encoder counts",
            Self::Points => "sweeps of a lidar",
            Self::Cloud => "point clouds",
            Self::Image => "camera frames",
        })
    }
}
