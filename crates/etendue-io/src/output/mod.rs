//! Output files of a run: files that appear whole or not at all, and a description of the run.
//!
//! Every writer goes through [`OutputSet`].

mod metadata;
mod output_set;
mod simulated;

pub use metadata::{ReadingCounts, RunMetadata, SourceMetadata};
pub use output_set::{OutputSet, Sink};

use etendue_scene::Scene;
use etendue_sensors::BeamSweep;

/// What a run measured, and where: what every writer is given.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// The scene, for the names of objects and materials.
    pub scene: &'a Scene,
    /// The sweeps, in order.
    pub sweeps: &'a [BeamSweep],
}
