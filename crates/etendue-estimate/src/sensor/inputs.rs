//! Differentiable parameters of a sensor.

use super::noiseless::Sensor;
use etendue_physics::Scalar;
use etendue_sensors::cw::CwLidar;
use etendue_sensors::lidar::{Lidar, Shot};
use std::sync::Arc;

/// Differentiable parameters of a scanner.
pub(crate) struct ScannerInputs<S> {
    pub lidar: Lidar<S>,
    pub shots: Arc<Vec<Shot>>,
    /// Offset of the ranges of each channel, m.
    pub range_offsets: Vec<f64>,
}

/// Parameters of a sensor in a scalar that may carry derivatives.
pub(crate) enum SensorInputs<S> {
    ContinuousWave(CwLidar<S>),
    Scanner(ScannerInputs<S>),
}

impl<S: Scalar> SensorInputs<S> {
    /// The parameters of a sensor, without derivatives.
    pub fn new(sensor: &Sensor) -> Self {
        match sensor {
            Sensor::ContinuousWave(lidar) => Self::ContinuousWave(lidar.map(S::from)),
            Sensor::Scanner(own) => {
                let lidar = own.scanner();
                Self::Scanner(ScannerInputs {
                    lidar: lidar.map(S::from),
                    shots: Arc::clone(own.shared_shots()),
                    range_offsets: vec![0.0; lidar.channels.len()],
                })
            }
        }
    }

    /// Rotates the beams of a line by an azimuth and an elevation, rad.
    pub fn rotate_line(&mut self, line: usize, azimuth: f64, elevation: f64) {
        match self {
            Self::ContinuousWave(lidar) => {
                lidar.beams[line].azimuth += azimuth;
                lidar.beams[line].elevation += elevation;
            }
            Self::Scanner(inputs) => {
                let of_line = |shot: &&mut Shot| usize::from(shot.channel) == line;
                let shots = Arc::make_mut(&mut inputs.shots).iter_mut();
                for shot in shots.filter(of_line) {
                    shot.azimuth += azimuth;
                    shot.elevation += elevation;
                }
            }
        }
    }
}
