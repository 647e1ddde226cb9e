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
    /// Errors of the first returns that are from a surface.
    pub range_errors: RangeErrors,
    /// Rays that left the sensor.
    pub rays: f64,
    /// Computing time of the rays.
    pub elapsed: Duration,
    /// First return of each beam.
    pub sweeps: Vec<BeamSweep>,
}

/// Differences of the first returns that are from a surface and the first surface on the axis of their beam. Light that
/// returns by way of a mirror or through glass is from another object than that one.
#[derive(Clone, Copy)]
pub struct RangeErrors {
    /// Number of returns from the object on the axis.
    pub of_axis: usize,
    /// Number of returns from other objects.
    pub of_others: usize,
    /// Median absolute error of the returns from the object on the axis, m.
    pub median_of_axis: Option<f64>,
    /// Median absolute difference of the others, m.
    pub median_of_others: Option<f64>,
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
