//! Trajectories: poses over time in TUM and KITTI files.

mod kitti;
mod tum;

pub use kitti::{kitti_text, parse_kitti, poses_of_kitti, read_kitti};
pub use tum::{parse_tum, poses_of_tum, read_tum, tum_text};

use crate::{FormatError, Place};
use etendue_sensors::trajectory::{KeyFrame, Trajectory};
use std::path::Path;

fn trajectory(path: &Path, frames: Vec<(KeyFrame, usize)>) -> Result<Trajectory, FormatError> {
    let lines: Vec<usize> = frames.iter().map(|frame| frame.1).collect();
    let frames = frames.into_iter().map(|frame| frame.0).collect();
    Trajectory::new(frames).map_err(|error| {
        let place = error
            .frame()
            .and_then(|i| lines.get(i))
            .map_or(Place::File, |l| Place::Line(*l));
        FormatError::malformed(
            path,
            place,
            error.to_string(),
            "correct the trajectory there",
        )
    })
}

/// The numbers of a line, of which there must be `count`.
fn numbers(path: &Path, line: usize, text: &str, count: usize) -> Result<Vec<f64>, FormatError> {
    let wrong = |message: String| {
        let remedy = format!("write {count} numbers, separated by blanks");
        FormatError::malformed(path, Place::Line(line), message, remedy)
    };
    let mut numbers = Vec::new();
    for word in text.split([' ', '\t', ',']).filter(|word| !word.is_empty()) {
        let number = word
            .parse()
            .map_err(|_| wrong(format!("\"{word}\" is no number")))?;
        numbers.push(number);
    }
    if numbers.len() != count {
        return Err(wrong(format!("there are {} numbers", numbers.len())));
    }
    Ok(numbers)
}

/// The lines that hold something, numbered from 1.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let numbered = (1..).zip(text.lines().map(str::trim));
    numbered.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}
