//! Endings of output files.

use crate::failure::Failure;
use crate::folder::is_file_name;
use crate::formats;
use etendue::io::points::PointFormat;
use std::path::Path;

/// Endings of single files without points.
const OTHER_ENDINGS: [&str; 3] = ["json", "png", "svg"];

/// Error if the output is a file of an unknown format.
pub fn check_ending(output: &Path) -> Result<(), Failure> {
    let ending = output.extension().filter(|_| is_file_name(output));
    let known = ending.is_none_or(|ending| {
        let mut others = OTHER_ENDINGS.iter();
        others.any(|known| ending.eq_ignore_ascii_case(known))
            || PointFormat::of_ending(output).is_some_and(PointFormat::is_written)
    });
    known.then_some(()).ok_or_else(|| unknown_ending(output))
}

/// The error of a file of an unknown format.
pub fn unknown_ending(output: &Path) -> Failure {
    Failure::Ending {
        path: output.into(),
        endings: format!("{}, .{}", formats::written(), OTHER_ENDINGS.join(", .")),
    }
}
