//! Limit of the memory that a command needs for its results.

use crate::failure::Failure;
use clap::Args;
use etendue::sensors::camera::Camera;

/// Bytes in a gigabyte.
const GIGABYTE: f64 = 1e9;

/// Memory of the results of one beam, bytes: twice the measured growth with the number of sweeps, because
/// beams in weather have several returns.
pub const BYTES_PER_BEAM: f64 = 360.0;

/// Memory of one pixel of a camera, bytes: two frames with their ground truth, and the files of one.
const BYTES_PER_PIXEL: f64 = 400.0;

/// Memory of a camera while it renders, bytes.
pub fn of_frame(camera: &Camera) -> f64 {
    f64::from(camera.width) * f64::from(camera.height) * BYTES_PER_PIXEL
}

/// Limit of the estimated memory.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Resources")]
pub struct Memory {
    /// Memory for the results, GB; a run that needs more is an error before it begins
    #[arg(long, value_name = "GB", default_value_t = 8.0, value_parser = crate::number::positive)]
    memory: f64,
}

impl Memory {
    /// Checks the estimated memory of a request before any work; `remedy` is what needs less.
    ///
    /// # Errors
    /// If `bytes` exceed the limit.
    pub fn check(self, bytes: f64, what: &str, remedy: &str) -> Result<(), Failure> {
        let needed = bytes / GIGABYTE;
        if needed <= self.memory {
            return Ok(());
        }
        let limit = self.memory;
        Err(Failure::usage(
            format!("{what} need about {needed:.1} GB of memory, above the limit of {limit} GB"),
            format!("{remedy}, or allow it with --memory {:.0}", needed.ceil()),
        ))
    }
}
