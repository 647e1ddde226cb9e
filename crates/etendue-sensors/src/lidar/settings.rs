//! Settings of a sweep.

use super::air::Air;
use super::description::Lidar;
use super::frame::Frame;
use crate::transport::{PathSettings, TreeSettings};
use etendue_simd::{Isa, IsaError};
use std::str::FromStr;
use thiserror::Error;

/// How the light of a ray is followed through the scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LightModel {
    /// Ray trees: mirrors and glass exactly, diffuse light directly back.
    Tree(TreeSettings),
    /// Random paths: also light that returns over several rough surfaces.
    Paths(PathSettings),
}

impl Default for LightModel {
    fn default() -> Self {
        Self::Tree(TreeSettings::default())
    }
}

impl LightModel {
    /// Where ray trees end: those of random paths, which trace ambient light by trees, by default.
    pub fn tree(&self) -> TreeSettings {
        match *self {
            Self::Tree(tree) => tree,
            Self::Paths(_) => TreeSettings::default(),
        }
    }
}

/// Which sweep of a run is simulated, and how.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SweepSettings {
    /// Seed of all noise.
    pub seed: u64,
    /// Number of the sensor (below 4096), so that two sensors of one run differ in noise.
    pub sensor: u32,
    /// Number of the sweep.
    pub sweep: u32,
    /// When the sweep begins, s from the start of the run; none for its number times its duration.
    pub start: Option<f64>,
    /// How light is followed.
    pub light: LightModel,
    /// The air.
    pub air: Air,
    /// Frame of the returns.
    pub frame: Frame,
    /// Whether to leave out all noise of the receiver.
    pub without_noise: bool,
    /// Whether to find the first surface on each beam's axis, for one ray more per beam
    /// ([`Sweep::axis_truths`](super::Sweep::axis_truths)).
    pub with_truth: bool,
    /// The implementation.
    pub pipeline: Pipeline,
}

/// The implementation of the pipeline. All give the same returns, bit for bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pipeline {
    /// One shot after the other, in plain arithmetic.
    Reference,
    /// Sixteen shots at a time, in an instruction set.
    Vectorized(Isa),
}

/// Why a name gives no [`Pipeline`].
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
    /// When the sweep begins, s from the start of the run.
    pub fn start_of(&self, lidar: &Lidar) -> f64 {
        let in_turn = || f64::from(self.sweep) * lidar.sweep_duration();
        self.start.unwrap_or_else(in_turn)
    }
}
