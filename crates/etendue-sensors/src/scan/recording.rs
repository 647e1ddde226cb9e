//! Recorded planar scans.

use crate::measurement::RangeReading;
use nalgebra::Isometry2;
use std::sync::Arc;

/// A recorded planar scan.
#[derive(Clone, Debug, PartialEq)]
pub struct Scan {
    /// Time, s from the epoch of the log.
    pub time: f64,
    /// Time between consecutive beams, s; 0 if unknown.
    pub beam_interval: f64,
    /// Azimuth of each beam, anticlockwise from the sensor's x axis, rad (shared between scans of
    /// the same geometry).
    pub azimuths: Arc<[f64]>,
    /// One reading per beam.
    pub readings: Vec<RangeReading>,
    /// Reported intensity or quality of each beam, or empty.
    pub intensities: Vec<f32>,
    /// Odometry pose of the robot; `None` without odometry.
    pub odom_from_robot: Option<Isometry2<f64>>,
}

impl Scan {
    /// Time of a beam, s from the epoch of the log.
    pub fn time_of_beam(&self, beam: u32) -> f64 {
        self.time + self.beam_interval * f64::from(beam)
    }
}

/// A recording of scans, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScanLog {
    /// Description of format and sensor.
    pub description: String,
    /// The scans.
    pub scans: Vec<Scan>,
    /// Irregularities that did not prevent reading.
    pub warnings: Vec<String>,
}
