//! What the sensors of a run gave, and their files.

use crate::failure::Failure;
use crate::interrupt;
use etendue::io::output::{OutputSet, RunMetadata};
use etendue::sensors::PlanarSweep;
use std::path::PathBuf;
use std::sync::MutexGuard;
use std::time::Duration;

/// The files of all sensors, none of which is seen before all are written. From the first on Ctrl-C
/// does not end the process: who writes or simulates then has to ask whether it was pressed.
#[derive(Default)]
pub struct Staged {
    // Before the guard: what is dropped goes before Ctrl-C may end the process.
    outputs: OutputSet,
    guard: Option<MutexGuard<'static, ()>>,
}

/// What one sensor gave.
pub struct Done {
    pub files: Vec<PathBuf>,
    pub metadata: RunMetadata,
    /// Whether a beam may have several echoes.
    pub has_echoes: bool,
    /// Rays that left the sensor.
    pub rays: f64,
    /// How long they took.
    pub elapsed: Duration,
    pub sweeps: Vec<PlanarSweep>,
}

impl Done {
    /// Says how fast it was, and what was odd.
    pub fn tell(&self) {
        let (sweeps, seconds) = (self.sweeps.len() as f64, self.elapsed.as_secs_f64());
        eprintln!(
            "{sweeps} sweeps in {seconds:.3} s: {:.0} sweeps/s, {:.2} million rays/s (those that leave the sensor)",
            sweeps / seconds,
            self.rays / seconds * 1e-6,
        );
        for warning in &self.metadata.warnings {
            eprintln!("warning: {warning}");
        }
    }
}

impl Staged {
    /// Writes files, and says which.
    pub fn write(
        &mut self,
        write: impl FnOnce(&mut OutputSet) -> Result<(), Failure>,
    ) -> Result<Vec<PathBuf>, Failure> {
        self.guard.get_or_insert_with(interrupt::writing);
        let before = self.outputs.paths().count();
        write(&mut self.outputs)?;
        Ok({ self.outputs.paths() }
            .skip(before)
            .map(Into::into)
            .collect())
    }

    /// Gives every file its name.
    pub fn commit(self) -> Result<(), Failure> {
        self.outputs.commit()?;
        Ok(())
    }
}
