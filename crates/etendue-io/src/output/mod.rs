//! Atomic output files of a run, and its metadata.
//!
//! All writers use [`OutputSet`].

mod finite;
mod lock;
mod metadata;
mod output_set;
mod simulated;
mod stage;
mod unfinished;

pub(crate) use finite::{check_beams, check_points};
pub(crate) use lock::locked_file;
pub use metadata::{ReadingCounts, RunMetadata, SourceMetadata};
pub use output_set::{OpenOutput, OutputSet, Sink, check_writable};
pub(crate) use stage::settle;
pub use unfinished::abandon_outputs;

use etendue_scene::Scene;
use etendue_sensors::BeamSweep;

/// Simulated sweeps with their scene: the input of writers.
#[derive(Clone, Copy)]
pub struct SimulatedSweeps<'a> {
    /// The scene, for the names of objects and materials.
    pub scene: &'a Scene,
    /// The sweeps, in order.
    pub sweeps: &'a [BeamSweep],
}
