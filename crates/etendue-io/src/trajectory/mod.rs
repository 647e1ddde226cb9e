//! Trajectories: poses over time in TUM and KITTI files.

mod kitti;
mod tum;

pub use kitti::{kitti_text, parse_kitti, poses_of_kitti, read_kitti};
pub use tum::{parse_tum, poses_of_tum, read_tum, tum_text};

use crate::{FileLocation, FormatError};
use etendue_scene::{Interpolation, KeyFrame, KeyFrameTrajectory};
use std::path::Path;

/// Options of reading a pose file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoseFile {
    /// Time between two poses if the file has no times (KITTI), s.
    pub interval: f64,
    /// Interpolation between poses.
    pub interpolation: Interpolation,
}

impl Default for PoseFile {
    /// Ten poses per second (KITTI), linear interpolation.
    fn default() -> Self {
        Self {
            interval: 0.1,
            interpolation: Interpolation::Linear,
        }
    }
}

/// Reads a TUM or a KITTI file; the number of values in its first line determines the format.
///
/// # Errors
/// As [`parse_tum`] and [`parse_kitti`], or if the file cannot be read.
pub fn read_trajectory(path: &Path, how: PoseFile) -> Result<KeyFrameTrajectory, FormatError> {
    parse_trajectory(path, &crate::input::read_text(path)?, how)
}

/// Parses a TUM or a KITTI file. Errors name `path`.
///
/// # Errors
/// As [`parse_tum`] and [`parse_kitti`].
///
/// ```
/// use etendue_io::trajectory::{PoseFile, parse_trajectory};
/// let kitti = "1 0 0 0 0 1 0 0 0 0 1 0\n1 0 0 3 0 1 0 0 0 0 1 0\n";
/// let trajectory = parse_trajectory("00.txt".as_ref(), kitti, PoseFile::default()).unwrap();
/// assert_eq!(trajectory.span(), [0.0, 0.1]);
/// ```
pub fn parse_trajectory(
    path: &Path,
    text: &str,
    how: PoseFile,
) -> Result<KeyFrameTrajectory, FormatError> {
    let words = lines(text).next().map(|(_, line)| words(line).count());
    let trajectory = match words {
        Some(12) => parse_kitti(path, text, how.interval),
        _ => parse_tum(path, text),
    }?;
    Ok(trajectory.with_interpolation(how.interpolation))
}

fn trajectory(
    path: &Path,
    frames: Vec<(KeyFrame, usize)>,
) -> Result<KeyFrameTrajectory, FormatError> {
    let lines: Vec<usize> = frames.iter().map(|frame| frame.1).collect();
    let frames = frames.into_iter().map(|frame| frame.0).collect();
    KeyFrameTrajectory::new(frames).map_err(|error| {
        let place = error
            .frame()
            .and_then(|i| lines.get(i))
            .map_or(FileLocation::File, |l| FileLocation::Line(*l));
        FormatError::malformed(path, place, error.to_string(), "correct this line")
    })
}

/// Parses `count` numbers of a line.
fn numbers(path: &Path, line: usize, text: &str, count: usize) -> Result<Vec<f64>, FormatError> {
    let wrong = |message: String| {
        let remedy = format!("write {count} numbers, separated by spaces");
        FormatError::malformed(path, FileLocation::Line(line), message, remedy)
    };
    let mut numbers = Vec::new();
    for word in words(text) {
        let number: f64 = word
            .parse()
            .map_err(|_| wrong(format!("\"{word}\" is not a number")))?;
        if !number.is_finite() {
            return Err(wrong(format!("\"{word}\" is not finite")));
        }
        numbers.push(number);
    }
    if numbers.len() != count {
        return Err(wrong(format!("the line has {} numbers", numbers.len())));
    }
    Ok(numbers)
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split([' ', '\t', ',']).filter(|word| !word.is_empty())
}

/// Lines with content, numbered from 1.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let numbered = (1..).zip(text.lines().map(str::trim));
    numbered.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}
