//! `etendue correct`.

mod apply;
mod bias_chart;
mod eval;
pub mod pictures;
mod train;

use crate::failure::Failure;
use clap::{Args, Subcommand};

/// Arguments of `etendue correct`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples: etendue correct train corridor -o model.toml --sensor ouster-os0-128\n          \
    etendue correct apply --model model.toml scans corrected\n          \
    etendue correct eval corridor --model model.toml\n\n\
    A sequence is a folder of scans (PCD, PLY, LAS, NPZ, KITTI .bin, CSV) with their poses beside \
    them (poses.txt with twelve numbers a line, or a .tum file), or an MCAP recording of \
    PointCloud2 and transforms. Scans are in the lidar's frame.\n\
    Agishev et al. 2023, doi:10.1109/LRA.2023.3287791."
)]
pub struct Correct {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Learn a model of the depth bias from scans of one place
    Train(train::Train),
    /// Take the bias of a model off scans
    Apply(apply::Apply),
    /// Say what a model does to a map and to SLAM
    Eval(eval::Eval),
}

impl Correct {
    /// Does it.
    pub fn run(self) -> Result<(), Failure> {
        match self.verb {
            Verb::Train(verb) => verb.run(),
            Verb::Apply(verb) => verb.run(),
            Verb::Eval(verb) => verb.run(),
        }
    }
}
