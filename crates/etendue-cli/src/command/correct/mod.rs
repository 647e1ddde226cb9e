//! `etendue correct`.

mod apply;
mod bias_chart;
mod eval;
mod map;
pub mod pictures;
pub mod status;
mod train;

use crate::failure::Failure;
use clap::{Args, Subcommand};

/// Arguments of `etendue correct`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples: etendue correct train corridor -o model.toml --sensor ouster-os0-128\n          \
    etendue correct apply --model model.toml scans corrected\n          \
    etendue correct eval corridor --model model.toml\n\n\
    A sequence is a folder of scans (PCD, PLY, LAS, NPZ, KITTI .bin, CSV) with their poses \
    (poses.txt with twelve numbers per line, or a .tum file), or an MCAP recording of \
    PointCloud2 and transforms. Scans are in the frame of the lidar.\n\
    Agishev et al. 2023, doi:10.1109/LRA.2023.3287791."
)]
pub struct Correct {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Learn a model of the depth bias from scans with poses
    Train(train::Train),
    /// Correct the bias of scans by a model
    Apply(apply::Apply),
    /// Evaluate the effect of a model on a map and on SLAM
    Eval(eval::Eval),
}

impl Correct {
    /// Runs the command.
    pub fn run(self) -> Result<(), Failure> {
        match self.task {
            Task::Train(task) => task.run(),
            Task::Apply(task) => task.run(),
            Task::Eval(task) => task.run(),
        }
    }
}
