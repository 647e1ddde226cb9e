//! Sequences as verbs read them: with progress, and poses in a known convention.

use crate::failure::Failure;
use clap::ValueEnum;
use etendue::calibrate::depth::{Convention, likely_convention};
use etendue::io::sequence::{Sequence, read_sequence};
use indicatif::{ProgressBar, ProgressStyle};
use nalgebra::Isometry3;
use std::path::Path;

/// What poses mean, as it is typed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ConventionName {
    /// World from lidar; x forward, y left, z up
    WorldFromLidar,
    /// The inverse
    LidarFromWorld,
    /// World from lidar in a camera's axes: x right, y down, z forward
    Camera,
    /// The inverse in a camera's axes
    CameraInverse,
}

impl From<ConventionName> for Convention {
    fn from(name: ConventionName) -> Self {
        match name {
            ConventionName::WorldFromLidar => Self::WorldFromLidar,
            ConventionName::LidarFromWorld => Self::LidarFromWorld,
            ConventionName::Camera => Self::Camera,
            ConventionName::CameraInverse => Self::CameraInverse,
        }
    }
}

/// A bar for so many steps.
pub fn bar(what: &'static str, steps: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {bar:40} {pos}/{len}, {eta} left")
        .expect("the template is well formed");
    ProgressBar::new(steps as u64)
        .with_style(style)
        .with_message(what)
}

/// Reads a sequence with a progress bar.
pub fn read(path: &Path, poses: Option<&Path>) -> Result<Sequence, Failure> {
    let progress = bar("reading", 0);
    let read = read_sequence(path, poses, &mut |done, all| {
        progress.set_length(all as u64);
        progress.set_position(done as u64);
    });
    progress.finish_and_clear();
    let sequence = read?;
    for warning in &sequence.warnings {
        eprintln!("warning: {}: {warning}", path.display());
    }
    Ok(sequence)
}

/// The poses of a sequence as world from lidar. Poses that fit another convention than the one
/// that was said (or the usual one) are refused.
pub fn world_from_lidar(
    sequence: &Sequence,
    said: Option<ConventionName>,
) -> Result<Vec<Isometry3<f64>>, Failure> {
    let Some(poses) = &sequence.world_from_lidar else {
        return Err(Failure::Usage {
            message: format!("{} has scans but no poses", sequence.path.display()),
            remedy: "put a trajectory beside the scans (poses.txt, twelve numbers a line; or a \
                     .tum file, eight), or name it with --poses; `etendue slam` makes one"
                .into(),
        });
    };
    let convention = said.map_or(Convention::default(), Convention::from);
    let poses: Vec<_> = poses
        .iter()
        .map(|p| convention.world_from_lidar(p))
        .collect();
    match likely_convention(&sequence.scans, &poses) {
        Some(likely) if said.is_none() => Err(Failure::Usage {
            message: format!(
                "the scans of {} do not fit on each other with these poses, but they do if the \
                 poses are {likely}",
                sequence.path.display()
            ),
            remedy: "say so with --convention lidar-from-world, camera or camera-inverse; \
                     --convention world-from-lidar takes them as they are"
                .into(),
        }),
        _ => Ok(poses),
    }
}
