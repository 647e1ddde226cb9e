//! Settings of a sweep.

use super::air::Air;
use super::description::Lidar;
use super::frame::Frame;
use super::light_model::LightModel;
use etendue_simd::{Isa, IsaError};
use std::str::FromStr;
use thiserror::Error;

/// Settings of one simulated sweep of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SweepSettings {
    /// Seed of all noise.
    pub seed: u64,
    /// Index of the sensor (below 4096): sensors of one run have different noise.
    pub sensor: u32,
    /// Index of the sweep.
    pub sweep: u32,
    /// Start time since the start of the run, s; `None` for the index of the sweep times its duration.
    pub start: Option<f64>,
    /// Light transport method.
    pub light: LightModel,
    /// Weather.
    pub air: Air,
    /// Frame of the returned positions.
    pub frame: Frame,
    /// Whether to omit all noise of the receiver.
    pub without_noise: bool,
    /// Whether to find the first surface on the axis of each beam
    /// ([`Sweep::axis_truths`](super::Sweep::axis_truths)), at the cost of one more ray per beam.
    pub with_truth: bool,
    /// Whether to find how much of the light of each return other surfaces sent ([`Sweep::mixing`](super::Sweep::mixing)).
    pub with_mixing: bool,
    /// Implementation of the pipeline.
    pub pipeline: Pipeline,
}

/// Implementation of the pipeline. The returns of all implementations are bit-equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pipeline {
    /// Plain pipeline: scalar arithmetic, shot by shot.
    Reference,
    /// Vectorised pipeline: sixteen shots at a time, with an instruction set.
    Vectorized(Isa),
}

/// Unknown name of a [`Pipeline`].
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{0}; \"reference\" names the plain pipeline")]
pub struct UnknownPipeline(#[from] IsaError);

impl FromStr for Pipeline {
    type Err = UnknownPipeline;

    /// `reference`, or the name of an instruction set.
    fn from_str(name: &str) -> Result<Self, UnknownPipeline> {
        if name == "reference" {
            return Ok(Self::Reference);
        }
        Ok(Self::Vectorized(name.parse()?))
    }
}

impl Default for Pipeline {
    /// The fastest instruction set of the processor.
    fn default() -> Self {
        Self::Vectorized(Isa::detect())
    }
}

impl SweepSettings {
    /// Start time of the sweep since the start of the run, s.
    pub fn start_of(&self, lidar: &Lidar) -> f64 {
        let in_turn = || f64::from(self.sweep) * lidar.sweep_duration();
        self.start.unwrap_or_else(in_turn)
    }
}
