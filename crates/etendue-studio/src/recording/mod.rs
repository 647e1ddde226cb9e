//! Recordings next to the simulated sweep: overlay, differences, fits.

mod compare;
pub mod fit;
mod read;

pub use compare::{Comparison, compare};
pub use read::read;

use crate::refusal::Refusal;
use crate::session::{Loaded, SimulatedSweep};
use etendue::calibrate::noise::PanelRecording;
use etendue::estimate::model::BeamMeasurement;
use etendue::io::packets::PacketSource;
use etendue::io::recording::{Content, read_recording};
use nalgebra::Point3;
use std::path::PathBuf;

/// Recorded scans of one sensor.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// Name of the file.
    pub name: String,
    /// The scans.
    pub scans: Vec<RecordedScan>,
    /// Irregularities that did not prevent reading.
    pub warnings: Vec<String>,
    /// Copy of the file; `None` for a kept sweep.
    pub file: Option<PathBuf>,
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
            file: None,
        }
    }

    /// The beams of all scans by direction, as `etendue calibrate` reads them.
    ///
    /// # Errors
    /// For a kept sweep, or if the file has no scans and no clouds.
    pub fn by_direction(&self) -> Result<PanelRecording, Refusal> {
        let file = self.file.as_ref().ok_or_else(|| {
            Refusal::new(
                "a kept sweep is no recording of a panel",
                "drop a recording of many scans",
            )
        })?;
        let read = read_recording(file, &PacketSource::default(), None)?;
        let recording = match &read.content {
            Content::Scans(log) => PanelRecording::from_scans(&self.name, &log.scans),
            Content::Clouds(clouds) => PanelRecording::from_clouds(&self.name, clouds),
        };
        Ok(recording?)
    }
}
