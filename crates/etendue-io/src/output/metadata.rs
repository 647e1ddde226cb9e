//! Metadata of a run, sufficient to reproduce it.

use super::finite::check_numbers;
use super::{OutputSet, SimulatedSweeps};
use crate::FormatError;
use crate::digest::sha256;
use etendue_sensors::{BeamSweep, RangeReading};
use nalgebra::Isometry3;
use serde::Serialize;
use std::path::Path;

/// Description of a run, written as JSON.
///
/// It contains no time of day and no number of threads: equal runs give equal bytes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunMetadata {
    /// Version of etendue.
    pub etendue_version: String,
    /// Arguments of the command line.
    pub command: Vec<String>,
    /// Random seed.
    pub seed: u64,
    /// The scene.
    pub scene: SourceMetadata,
    /// The sensor.
    pub sensor: SourceMetadata,
    /// Position of the sensor at the start of the run, m.
    pub position_m: [f64; 3],
    /// Rotation of the sensor at the start of the run: unit quaternion, real part first.
    pub rotation_wxyz: [f64; 4],
    /// Number of sweeps.
    pub sweeps: usize,
    /// Numbers of beams by reading.
    pub counts: ReadingCounts,
    /// Names of the objects, by index.
    pub objects: Vec<String>,
    /// Names of the materials, by index.
    pub materials: Vec<String>,
    /// Names of the classes, by index.
    pub classes: Vec<String>,
    /// Irregularities that did not prevent the run.
    pub warnings: Vec<String>,
}

/// Source of a scene or a sensor.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SourceMetadata {
    /// Its name.
    pub name: String,
    /// Its file; `None` if it is built in.
    pub file: Option<String>,
    /// SHA-256 of all files that were read for it, in hexadecimal.
    pub sha256: String,
}

impl SourceMetadata {
    /// Source with one text, from `file` or built in.
    pub fn of_text(name: &str, file: Option<String>, text: &str) -> Self {
        Self {
            name: name.to_owned(),
            file,
            sha256: sha256(text.as_bytes()),
        }
    }
}

/// Numbers of beams of a run by reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReadingCounts {
    /// Beams fired.
    pub beams: usize,
    /// Beams with a range.
    pub ranges: usize,
    /// Beams without a return.
    pub no_returns: usize,
    /// Beams whose target is nearer than the minimum range.
    pub too_near: usize,
    /// Beams with an error code.
    pub errors: usize,
    /// Beams whose range mixes the light of several surfaces.
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
    pub fn new(
        run: SimulatedSweeps<'_>,
        seed: u64,
        scene: SourceMetadata,
        sensor: SourceMetadata,
    ) -> Self {
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

    /// Writes the description as JSON.
    ///
    /// # Errors
    /// If a number is not finite, or the file cannot be written.
    pub fn write(&self, outputs: &mut OutputSet, path: &Path) -> Result<(), FormatError> {
        check_numbers(path, "the position of the sensor", &self.position_m)?;
        check_numbers(path, "the rotation of the sensor", &self.rotation_wxyz)?;
        outputs.add(path, |file| {
            serde_json::to_writer_pretty(&mut *file, self)?;
            writeln!(file)
        })
    }
}
