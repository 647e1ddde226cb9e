//! What a run was: enough to run it again.

use super::{OutputSet, Run};
use crate::FormatError;
use crate::digest::sha256;
use etendue_sensors::{BeamSweep, RangeReading};
use nalgebra::Isometry3;
use serde::Serialize;
use std::path::Path;

/// A description of a run, written as JSON.
///
/// It holds no time of day and no number of threads: the same run gives the same bytes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunMetadata {
    /// Version of etendue.
    pub etendue_version: String,
    /// The command line, word by word.
    pub command: Vec<String>,
    /// Seed of all randomness.
    pub seed: u64,
    /// The scene.
    pub scene: SourceMetadata,
    /// The sensor.
    pub sensor: SourceMetadata,
    /// Pose of the sensor when the run began: position in m.
    pub position_m: [f64; 3],
    /// Pose of the sensor when the run began: unit quaternion, real part first.
    pub rotation_wxyz: [f64; 4],
    /// Sweeps.
    pub sweeps: usize,
    /// What the beams gave.
    pub counts: ReadingCounts,
    /// Names of the objects, by number.
    pub objects: Vec<String>,
    /// Names of the materials, by number.
    pub materials: Vec<String>,
    /// Names of the classes, by number.
    pub classes: Vec<String>,
    /// Irregularities that did not prevent the run.
    pub warnings: Vec<String>,
}

/// A scene or a sensor, and where it came from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SourceMetadata {
    /// Its name.
    pub name: String,
    /// Its file, or none where it is built in.
    pub file: Option<String>,
    /// SHA-256 of everything it was read from, in hexadecimal.
    pub sha256: String,
}

impl SourceMetadata {
    /// What was read from one text, which came from `file` or is built in.
    pub fn of_text(name: &str, file: Option<String>, text: &str) -> Self {
        Self {
            name: name.to_owned(),
            file,
            sha256: sha256(text.as_bytes()),
        }
    }
}

/// What the beams of a run gave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReadingCounts {
    /// Beams fired.
    pub beams: usize,
    /// Beams with a range.
    pub ranges: usize,
    /// Beams from which nothing came back.
    pub no_returns: usize,
    /// Beams that met something too near.
    pub too_near: usize,
    /// Beams with an error code.
    pub errors: usize,
    /// Beams with a range that mixes the light of several surfaces.
    pub mixed: usize,
}

impl ReadingCounts {
    /// Counts the beams of `sweeps`.
    pub fn of(sweeps: &[BeamSweep]) -> Self {
        let mut counts = Self::default();
        for beam in sweeps.iter().flat_map(|sweep| &sweep.measurements) {
            counts.beams += 1;
            match beam.reading {
                RangeReading::Range(_) => {
                    counts.ranges += 1;
                    counts.mixed += usize::from(beam.is_mixed());
                }
                RangeReading::NoReturn => counts.no_returns += 1,
                RangeReading::TooNear => counts.too_near += 1,
                RangeReading::Error(_) => counts.errors += 1,
            }
        }
        counts
    }
}

impl RunMetadata {
    /// Describes `run`.
    pub fn new(run: Run<'_>, seed: u64, scene: SourceMetadata, sensor: SourceMetadata) -> Self {
        let pose = run
            .sweeps
            .first()
            .map_or_else(Isometry3::identity, |sweep| sweep.world_from_sensor);
        let rotation = pose.rotation;
        Self {
            etendue_version: env!("CARGO_PKG_VERSION").into(),
            command: Vec::new(),
            seed,
            scene,
            sensor,
            position_m: pose.translation.vector.into(),
            rotation_wxyz: [rotation.w, rotation.i, rotation.j, rotation.k],
            sweeps: run.sweeps.len(),
            counts: ReadingCounts::of(run.sweeps),
            objects: run.scene.objects().iter().map(|o| o.name.clone()).collect(),
            materials: run
                .scene
                .materials()
                .iter()
                .map(|m| m.name.clone())
                .collect(),
            classes: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Writes it as JSON.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn write(&self, outputs: &mut OutputSet, path: &Path) -> Result<(), FormatError> {
        outputs.add(path, |file| {
            serde_json::to_writer_pretty(&mut *file, self)?;
            writeln!(file)
        })
    }
}
