//! Results of the sensors of a run, and their files.

use crate::failure::Failure;
use crate::interrupt;
use crate::output::{commit_while_writing, counted, remark, warn};
use etendue::io::output::{OutputSet, RunMetadata};
use etendue::sensors::BeamSweep;
use std::path::PathBuf;
use std::sync::MutexGuard;
use std::time::Duration;

/// Files of all sensors, committed together. After the first file is added, Ctrl-C no longer ends
/// the process: code that writes or simulates must call [`interrupt::check`].
#[derive(Default)]
pub struct PendingFiles {
    // Dropped before the guard, so that Ctrl-C cannot end the process in between
    outputs: OutputSet,
    guard: Option<MutexGuard<'static, ()>>,
}

/// Results of one sensor.
pub struct SensorResults {
    /// Written files.
    pub files: Vec<PathBuf>,
    /// Metadata of the run.
    pub metadata: RunMetadata,
    /// Whether the receiver counts the surfaces of a range; otherwise returns are counted.
    pub counts_surfaces: bool,
    /// Number of first returns from the air or from noise instead of a surface.
    pub ranges_of_no_surface: usize,
    /// Median absolute error of the first returns that are from a surface, m.
    pub median_range_error: Option<f64>,
    /// Rays that left the sensor.
    pub rays: f64,
    /// Computing time of the rays.
    pub elapsed: Duration,
    /// First return of each beam.
    pub sweeps: Vec<BeamSweep>,
}

impl SensorResults {
    /// Prints the speed and the warnings on standard error.
    pub fn print_speed(&self) {
        let sweeps = self.sweeps.len() as f64;
        let seconds = self.elapsed.as_secs_f64();
        remark(format_args!(
            "{} in {seconds:.3} s: {:.0} sweeps/s, {:.2} million rays/s (those that leave the sensor)",
            counted(self.sweeps.len(), "sweep"),
            sweeps / seconds,
            self.rays / seconds * 1e-6,
        ));
        warn(&self.metadata.warnings);
    }
}

impl PendingFiles {
    /// Writes files and returns their paths.
    pub fn write(
        &mut self,
        write: impl FnOnce(&mut OutputSet) -> Result<(), Failure>,
    ) -> Result<Vec<PathBuf>, Failure> {
        self.guard.get_or_insert_with(interrupt::writing);
        let before = self.outputs.paths().count();
        write(&mut self.outputs)?;
        // The paths of files added by earlier calls come first
        let all: Vec<PathBuf> = self.outputs.paths().map(Into::into).collect();
        Ok(all[before..].to_vec())
    }

    /// Commits all files.
    pub fn commit(self) -> Result<(), Failure> {
        commit_while_writing(self.outputs)?;
        Ok(())
    }
}
