//! Registry of the sensors that can be mounted on a rig.
//!
//! A new kind of sensor is a variant of [`Device`] with one arm in each function.

use super::camera::{CameraInstrument, MountedCamera};
use super::lidar::{LidarInstrument, sweep_timing};
use crate::camera::CameraWorldError;
use crate::capture::{DataKind, Environment, Instrument};
use crate::gnss::{Gnss, GnssInstrument};
use crate::inertial::{
    BarometerInstrument, ImuInstrument, MagnetometerInstrument, WheelEncoderInstrument,
};
use crate::lidar::Lidar;
use crate::transport::WorldError;
use etendue_physics::ambient::Barometer;
use etendue_physics::inertial::{Imu, Triad};
use etendue_physics::odometry::WheelEncoder;
use etendue_scene::Scene;

/// A sensor that can be mounted on a rig.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Device {
    /// An inertial measurement unit.
    Imu(Box<Imu>),
    /// A GNSS receiver.
    Gnss(Gnss),
    /// A magnetometer, T; hard iron is its bias, soft iron its response.
    Magnetometer(Triad),
    /// A barometer.
    Barometer(Barometer),
    /// The encoder of a wheel that rolls along the x axis of its frame.
    WheelEncoder(WheelEncoder),
    /// A lidar.
    Lidar(Box<Lidar>),
    /// A camera, with its own frame rate.
    Camera(Box<MountedCamera>),
}

/// Error of starting a sensor.
#[derive(Debug)]
pub(super) enum StartError {
    World(WorldError),
    CameraWorld(CameraWorldError),
}

impl From<WorldError> for StartError {
    fn from(error: WorldError) -> Self {
        Self::World(error)
    }
}

impl From<CameraWorldError> for StartError {
    fn from(error: CameraWorldError) -> Self {
        Self::CameraWorld(error)
    }
}

impl Device {
    /// The kind of data that the sensor delivers.
    pub fn kind(&self) -> DataKind {
        match self {
            Self::Imu(_) => DataKind::Imu,
            Self::Gnss(_) => DataKind::Fix,
            Self::Magnetometer(_) => DataKind::MagneticField,
            Self::Barometer(_) => DataKind::Pressure,
            Self::WheelEncoder(_) => DataKind::WheelCounts,
            Self::Lidar(_) => DataKind::Points,
            Self::Camera(_) => DataKind::Image,
        }
    }

    /// Capture rate (Hz) and duration of a capture (s) of a sensor whose description defines them.
    pub fn own_timing(&self) -> Option<[f64; 2]> {
        match self {
            Self::Lidar(lidar) => Some(sweep_timing(lidar)),
            Self::Camera(mounted) => Some(mounted.timing()),
            _ => None,
        }
    }

    /// Starts the sensor with the index `sensor`.
    pub(super) fn start<'a>(
        &'a self,
        scene: &'a Scene,
        environment: &'a Environment,
        seed: u64,
        sensor: u32,
    ) -> Result<Box<dyn Instrument + 'a>, StartError> {
        Ok(match self {
            Self::Imu(imu) => Box::new(ImuInstrument::new(imu, seed, sensor)),
            Self::Gnss(gnss) => Box::new(GnssInstrument::new(gnss, seed, sensor)),
            Self::Magnetometer(triad) => Box::new(MagnetometerInstrument::new(triad, seed, sensor)),
            Self::Barometer(barometer) => {
                Box::new(BarometerInstrument::new(barometer, seed, sensor))
            }
            Self::WheelEncoder(encoder) => {
                Box::new(WheelEncoderInstrument::new(encoder, seed, sensor))
            }
            Self::Lidar(lidar) => Box::new(LidarInstrument::new(
                lidar,
                scene,
                environment,
                seed,
                sensor,
            )?),
            Self::Camera(mounted) => Box::new(CameraInstrument::new(
                mounted,
                scene,
                environment,
                seed,
                sensor,
            )?),
        })
    }
}
