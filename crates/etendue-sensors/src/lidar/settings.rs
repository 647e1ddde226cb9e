//! Settings of a simulated sweep.

use super::{Air, Frame};
use crate::transport::{PathSettings, TreeSettings};
use etendue_simd::Isa;

/// Settings of a simulated sweep.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SweepSettings {
    /// Seed of all noise.
    pub seed: u64,
    /// Number of the sensor (below 4096): two sensors of one run have different noise.
    pub sensor: u32,
    /// Number of the sweep: it begins at that many times the sweep's duration.
    pub sweep: u32,
    /// Limits of the ray trees.
    pub tree: TreeSettings,
    /// Random light paths instead of ray trees: adds the light that several rough surfaces scattered.
    pub paths: Option<PathSettings>,
    /// The air.
    pub air: Air,
    /// The frame of the returns.
    pub frame: Frame,
    /// Whether to leave out all noise of the receiver.
    pub without_noise: bool,
    /// The implementation.
    pub pipeline: Pipeline,
}

/// The implementation of the pipeline. Both give the same returns, bit for bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pipeline {
    /// One shot after the other, in plain arithmetic.
    Reference,
    /// Sixteen shots at a time, in an instruction set.
    Vectorized(Isa),
}

impl Default for Pipeline {
    /// The fastest instruction set of the processor.
    fn default() -> Self {
        Self::Vectorized(Isa::detect())
    }
}
