//! Recorded two-dimensional scans.

use crate::RangeReading;
use nalgebra::Isometry2;
use std::sync::Arc;

/// One recorded planar scan.
#[derive(Clone, Debug, PartialEq)]
pub struct Scan {
    /// When it was taken, s from the log's own epoch.
    pub time: f64,
    /// Azimuth of each beam, anticlockwise from the sensor's x axis, rad (shared between scans of
    /// the same geometry).
    pub azimuths: Arc<[f64]>,
    /// One reading a beam.
    pub readings: Vec<RangeReading>,
    /// Intensity or quality of each beam as the device gives it, or empty.
    pub intensities: Vec<f32>,
    /// Pose of the robot by its odometry, if the log has one.
    pub odom_from_robot: Option<Isometry2<f64>>,
}

/// A recording: scans in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScanLog {
    /// Format and sensor, as far as the file tells.
    pub description: String,
    /// The scans.
    pub scans: Vec<Scan>,
    /// What was odd but did not prevent reading.
    pub warnings: Vec<String>,
}
