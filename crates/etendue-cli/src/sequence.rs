//! Sequences of scans: read with a progress bar, with poses in a known convention.

use crate::device::LidarOptions;
use crate::failure::Failure;
use crate::output::{progress, warn};
use clap::ValueEnum;
use etendue::calibrate::depth::{PoseConvention, ScanPairs};
use etendue::io::packets::PacketSource;
use etendue::io::sequence::{
    Sequence, SequenceSource, SequenceSurvey, read_sequence, survey_sequence,
};
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

/// Progress of reading scans, whose number is known for a folder.
struct Reading(ProgressBar);

impl Reading {
    fn new() -> Self {
        Self(progress(0, "{msg}: scan {pos}").with_message("reading"))
    }

    /// Shows the number of scans so far, and their total.
    fn show(&self, done: usize, all: Option<usize>) {
        self.0.set_position(done as u64);
        if let Some(all) = all {
            self.0.set_message(format!("reading {all} scans"));
        }
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Source of a sequence in a recording of a lidar.
pub fn source<'a>(
    path: &'a Path,
    poses: Option<&'a Path>,
    lidar: &'a LidarOptions,
    device: &'a PacketSource,
) -> SequenceSource<'a> {
    SequenceSource {
        path,
        poses,
        options: lidar.read_options(device, lidar.topic_in(path)),
    }
}

/// Reads a sequence with a progress bar.
pub fn read(path: &Path, poses: Option<&Path>, lidar: &LidarOptions) -> Result<Sequence, Failure> {
    let progress = Reading::new();
    let device = lidar.device()?;
    let source = source(path, poses, lidar, &device);
    let read = read_sequence(source, &mut |done, all| progress.show(done, all));
    drop(progress);
    let sequence = read?;
    warn_of(path, &sequence.warnings);
    Ok(sequence)
}

/// A sequence whose scans are on disk.
pub struct SurveyedSequence {
    /// Times and poses of its scans.
    pub survey: SequenceSurvey,
    /// Whether there are points, all in the plane z = 0.
    pub is_planar: bool,
    pairs: ScanPairs,
}

/// Reads the times and poses of a sequence with a progress bar.
pub fn survey(source: SequenceSource) -> Result<SurveyedSequence, Failure> {
    let progress = Reading::new();
    let mut pairs = ScanPairs::default();
    let mut has_points = false;
    let mut has_height = false;
    let read = survey_sequence(
        source,
        &mut |done, all| progress.show(done, all),
        &mut |scan| {
            has_points |= !scan.points.is_empty();
            has_height |= scan.points.iter().any(|point| point.z != 0.0);
            pairs.add(&scan.points);
        },
    );
    drop(progress);
    let survey = read?;
    warn_of(source.path, &survey.warnings);
    Ok(SurveyedSequence {
        survey,
        is_planar: has_points && !has_height,
        pairs,
    })
}

/// Prints the warnings of a reader.
fn warn_of(path: &Path, warnings: &[String]) {
    let path = path.display();
    warn(warnings.iter().map(|warning| format!("{path}: {warning}")));
}

/// Poses of a sequence as world from lidar, or otherwise those of its odometry. If no convention is given, poses that fit a convention
/// other than the default are an error.
pub fn world_from_lidar(
    sequence: &Sequence,
    given: Option<ConventionName>,
) -> Result<Vec<Isometry3<f64>>, Failure> {
    let poses = sequence.world_from_lidar.as_ref();
    let Some(poses) = poses.or(sequence.odometry.as_ref()) else {
        return Err(Failure::usage(
            format!("{} has scans but no poses", sequence.path.display()),
            "add a trajectory to the folder of the scans (poses.txt, twelve numbers per line, or \
             a .tum file, eight), or give one with --poses; `etendue slam` estimates one",
        ));
    };
    in_convention(&sequence.path, poses, given, || {
        ScanPairs::of(&sequence.scans)
    })
}

impl SurveyedSequence {
    /// The poses as world from lidar, as those of a sequence in memory; `None` without poses.
    pub fn world_from_lidar(
        &self,
        given: Option<ConventionName>,
    ) -> Result<Option<Vec<Isometry3<f64>>>, Failure> {
        let Some(poses) = &self.survey.world_from_lidar else {
            return Ok(None);
        };
        in_convention(&self.survey.path, poses, given, || self.pairs.clone()).map(Some)
    }
}

/// Poses in the given or the default convention. Without a given one, another convention that fits the scans better is an error.
fn in_convention(
    path: &Path,
    poses: &[Isometry3<f64>],
    given: Option<ConventionName>,
    pairs: impl FnOnce() -> ScanPairs,
) -> Result<Vec<Isometry3<f64>>, Failure> {
    let convention = given.map_or(PoseConvention::default(), PoseConvention::from);
    let poses: Vec<_> = poses
        .iter()
        .map(|p| convention.world_from_lidar(p))
        .collect();
    let likely = match given {
        Some(_) => None,
        None => pairs().likely_convention(&poses),
    };
    match likely {
        Some(likely) => Err(Failure::usage(
            format!(
                "with these poses the scans of {} do not overlap, but they do if the poses are \
                 {likely}",
                path.display()
            ),
            "give --convention lidar-from-world, camera or camera-inverse; --convention \
             world-from-lidar uses them as they are",
        )),
        None => Ok(poses),
    }
}
