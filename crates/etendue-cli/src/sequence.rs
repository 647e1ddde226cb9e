//! Sequences of scans: read with a progress bar, with poses in a known convention.

use crate::device::LidarOptions;
use crate::failure::Failure;
use crate::output::{progress, warn};
use clap::ValueEnum;
use etendue::calibrate::depth::{PoseConvention, likely_convention};
use etendue::io::sequence::{Sequence, SequenceSource, read_sequence};
use indicatif::ProgressBar;
use nalgebra::Isometry3;
use std::path::Path;

/// Convention of the poses of a trajectory.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ConventionName {
    /// World from lidar: x forward, y left, z up
    WorldFromLidar,
    /// Lidar from world: the inverse of world-from-lidar
    LidarFromWorld,
    /// World from lidar in a camera's axes: x right, y down, z forward
    Camera,
    /// Lidar from world in a camera's axes
    CameraInverse,
}

impl From<ConventionName> for PoseConvention {
    fn from(name: ConventionName) -> Self {
        match name {
            ConventionName::WorldFromLidar => Self::WorldFromLidar,
            ConventionName::LidarFromWorld => Self::LidarFromWorld,
            ConventionName::Camera => Self::Camera,
            ConventionName::CameraInverse => Self::CameraInverse,
        }
    }
}

/// Progress bar of `steps` steps.
pub fn bar(message: &'static str, steps: usize) -> ProgressBar {
    progress(steps as u64, "{msg} {bar:40} {pos}/{len}, {eta} left").with_message(message)
}

/// Reads a sequence with a progress bar.
pub fn read(path: &Path, poses: Option<&Path>, lidar: &LidarOptions) -> Result<Sequence, Failure> {
    let progress = bar("reading", 0);
    let device = lidar.device()?;
    let source = SequenceSource {
        path,
        poses,
        options: lidar.read_options(&device, lidar.topic_in(path)),
    };
    let read = read_sequence(source, &mut |done, all| {
        progress.set_length(all as u64);
        progress.set_position(done as u64);
    });
    progress.finish_and_clear();
    let sequence = read?;
    let path = path.display();
    warn(
        sequence
            .warnings
            .iter()
            .map(|warning| format!("{path}: {warning}")),
    );
    Ok(sequence)
}

/// Poses of a sequence as world from lidar. If no convention is given, poses that fit a convention
/// other than the default are an error.
pub fn world_from_lidar(
    sequence: &Sequence,
    given: Option<ConventionName>,
) -> Result<Vec<Isometry3<f64>>, Failure> {
    // Poses in the given or the default convention
    let Some(poses) = &sequence.world_from_lidar else {
        return Err(Failure::usage(
            format!("{} has scans but no poses", sequence.path.display()),
            "add a trajectory to the folder of the scans (poses.txt, twelve numbers per line, or \
             a .tum file, eight), or give one with --poses; `etendue slam` estimates one",
        ));
    };
    let convention = given.map_or(PoseConvention::default(), PoseConvention::from);
    let poses: Vec<_> = poses
        .iter()
        .map(|p| convention.world_from_lidar(p))
        .collect();

    // Error if another convention fits the scans better
    match likely_convention(&sequence.scans, &poses) {
        Some(likely) if given.is_none() => Err(Failure::usage(
            format!(
                "with these poses the scans of {} do not overlap, but they do if the poses are \
                 {likely}",
                sequence.path.display()
            ),
            "give --convention lidar-from-world, camera or camera-inverse; --convention \
             world-from-lidar uses them as they are",
        )),
        _ => Ok(poses),
    }
}
