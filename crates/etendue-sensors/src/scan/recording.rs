//! Recorded scans.

use crate::measurement::RangeReading;
use nalgebra::{Isometry2, Point3};
use std::sync::Arc;

/// A recorded scan: one reading per beam. Most scans are planar.
#[derive(Clone, Debug, PartialEq)]
pub struct Scan {
    /// Time, s from the epoch of the log.
    pub time: f64,
    /// Time between consecutive beams, s; 0 if unknown.
    pub beam_interval: f64,
    /// Azimuth of each beam, anticlockwise from the sensor's x axis, rad (shared between scans of
    /// the same geometry).
    pub azimuths: Arc<[f64]>,
    /// Elevation of each beam above the sensor's x-y plane, rad; empty for a planar scan.
    pub elevations: Arc<[f64]>,
    /// One reading per beam.
    pub readings: Vec<RangeReading>,
    /// Reported intensity or quality of each beam, or empty.
    pub intensities: Vec<f32>,
    /// Odometry pose of the robot; `None` without odometry.
    pub odom_from_robot: Option<Isometry2<f64>>,
}

impl Scan {
    /// Whether all beams are in the sensor's x-y plane.
    pub fn is_planar(&self) -> bool {
        self.elevations.is_empty()
    }

    /// The measured point of a beam in the sensor's frame, m; `None` without a range.
    ///
    /// # Example
    /// ```
    /// use etendue_sensors::{RangeReading, Scan};
    /// let scan = Scan {
    ///     time: 0.0,
    ///     beam_interval: 0.0,
    ///     azimuths: [0.0, 0.1].into(),
    ///     elevations: [std::f64::consts::FRAC_PI_6, 0.0].into(),
    ///     readings: vec![RangeReading::Range(2.0), RangeReading::NoReturn],
    ///     intensities: vec![],
    ///     odom_from_robot: None,
    /// };
    /// assert!((scan.point(0).unwrap().z - 1.0).abs() < 1e-12);
    /// assert_eq!(scan.point(1), None);
    /// ```
    pub fn point(&self, beam: usize) -> Option<Point3<f64>> {
        let range = self.readings.get(beam)?.range()?;
        let elevation = self.elevations.get(beam).copied().unwrap_or(0.0);
        let (sin_azimuth, cos_azimuth) = self.azimuths.get(beam)?.sin_cos();
        let (sin_elevation, cos_elevation) = elevation.sin_cos();
        Some(Point3::new(
            range * cos_elevation * cos_azimuth,
            range * cos_elevation * sin_azimuth,
            range * sin_elevation,
        ))
    }

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
