//! Recordings next to the simulated sweep: overlay, differences, fits.

mod compare;
pub mod fit;
mod read;

pub use compare::{Comparison, compare};
pub use read::read;

use crate::session::{Loaded, SimulatedSweep};
use etendue::estimate::model::BeamMeasurement;
use nalgebra::Point3;

/// Recorded scans of one sensor.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// Name of the file.
    pub name: String,
    /// The scans.
    pub scans: Vec<RecordedScan>,
    /// Irregularities that did not prevent reading.
    pub warnings: Vec<String>,
}

/// One recorded scan.
#[derive(Clone, Debug, Default)]
pub struct RecordedScan {
    /// Points, in the frame of the sensor or of the world, m.
    pub points: Vec<Point3<f64>>,
    /// Intensity of each point, counts; empty if unknown.
    pub intensities: Vec<f64>,
    /// Ring of each point; empty if unknown.
    pub rings: Vec<u32>,
    /// Measurement of each beam in firing order, for fits; empty for a cloud.
    pub beams: Vec<BeamMeasurement>,
}

impl Recording {
    /// A simulated sweep as a recording.
    pub fn of_sweep(simulated: &SimulatedSweep, loaded: &Loaded) -> Self {
        let sweep = simulated.sweep.in_sensor_frame(loaded.lidar());
        let beams = (0..sweep.shots.len()).map(|shot| {
            let first = sweep.points_of(shot).first();
            BeamMeasurement::new(
                first.map(|point| point.range),
                first.map(|point| point.intensity),
            )
        });
        let ring = |shot: u32| sweep.rings[usize::from(sweep.shots.at(shot as usize).channel)];
        let scan = RecordedScan {
            points: sweep.points.iter().map(|point| point.position).collect(),
            intensities: sweep.points.iter().map(|point| point.intensity).collect(),
            rings: sweep
                .points
                .iter()
                .map(|point| u32::from(ring(point.shot)))
                .collect(),
            beams: beams.collect(),
        };
        Self {
            name: format!("kept sweep {}", sweep.index),
            scans: vec![scan],
            warnings: Vec::new(),
        }
    }
}
