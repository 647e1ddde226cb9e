//! Folders of scans: their files, their trajectory, or the bag in them.

use crate::bag::BAG_ENDINGS;
use crate::points::PointFormat;
use crate::{FileLocation, FormatError};
use std::cmp::Ordering;
use std::path::{Path, PathBuf};

/// The scan files of a folder, sorted by name (numbers by value).
///
/// # Errors
/// If the folder cannot be read or has no scans.
pub fn scan_files(folder: &Path) -> Result<Vec<PathBuf>, FormatError> {
    let scans = files_of(folder, &PointFormat::scan_endings())?;
    if scans.is_empty() {
        let message = format!(
            "the folder has no scan ({})",
            PointFormat::scan_endings().join(", ")
        );
        let remedy = "name the folder of the scans";
        return Err(FormatError::malformed(
            folder,
            FileLocation::File,
            message,
            remedy,
        ));
    }
    Ok(scans)
}

/// The files of a folder with one of the endings, sorted by name (numbers by value), without
/// trajectories.
pub(crate) fn files_of(folder: &Path, endings: &[&str]) -> Result<Vec<PathBuf>, FormatError> {
    let mut files = entries(folder)?;
    files.retain(|path| {
        let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
        endings.iter().any(|known| ending == *known) && !is_trajectory(path)
    });
    files.sort_by(|a, b| natural(&a.to_string_lossy(), &b.to_string_lossy()));
    Ok(files)
}

/// Whether the metadata of a bag (`metadata.yaml`) name a file.
pub fn names_file(metadata: &str, file: &Path) -> bool {
    let is_quote = |letter: char| letter.is_whitespace() || ['"', '\''].contains(&letter);
    let mut words = metadata.split(is_quote);
    file.file_name()
        .is_some_and(|name| words.any(|word| name == word.rsplit('/').next().unwrap_or(word)))
}

/// The files of the bag in a folder, in the order of their messages: the only file, or the parts into which ROS
/// splits a long bag. The folder of parts of ROS 2 has a file `metadata.yaml`, which names them; the names of parts of ROS 1 end
/// with `_0`, `_1` and so on. Empty for no bag, and for several ones.
///
/// # Errors
/// If the folder cannot be read.
pub fn bag_files(folder: &Path) -> Result<Vec<PathBuf>, FormatError> {
    let mut files = files_of(folder, &BAG_ENDINGS)?;
    let metadata = std::fs::read_to_string(folder.join("metadata.yaml")).unwrap_or_default();
    // Without a known name the files are renamed parts
    if files.iter().any(|file| names_file(&metadata, file)) {
        files.retain(|file| names_file(&metadata, file));
    }
    let of_one_kind = files
        .windows(2)
        .all(|two| two[0].extension() == two[1].extension());
    let is_one_bag = files.len() < 2 || folder.join("metadata.yaml").is_file() || are_parts(&files);
    Ok(if of_one_kind && is_one_bag {
        files
    } else {
        Vec::new()
    })
}

/// Whether the names of files are numbered from 0: `drive_0.bag`, `drive_1.bag`.
fn are_parts(files: &[PathBuf]) -> bool {
    let number = |path: &PathBuf| -> Option<usize> {
        let stem = path.file_name()?.to_str()?.split('.').next()?;
        stem.rsplit_once('_')?.1.parse().ok()
    };
    files.iter().map(number).eq((0..files.len()).map(Some))
}

/// The first trajectory of a folder by name.
pub(crate) fn trajectory_in(folder: &Path) -> Result<Option<PathBuf>, FormatError> {
    let mut found: Vec<PathBuf> = entries(folder)?
        .into_iter()
        .filter(|p| is_trajectory(p))
        .collect();
    found.sort();
    Ok(found.into_iter().next())
}

fn is_trajectory(path: &Path) -> bool {
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .to_lowercase();
    let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
    ending == "tum"
        || (ending == "txt" && (name.starts_with("poses") || name.starts_with("trajectory")))
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, FormatError> {
    let fail = |source| FormatError::cannot_read(folder, source);
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fail)? {
        paths.push(entry.map_err(fail)?.path());
    }
    Ok(paths)
}

/// Natural order of names: digits are compared by their numeric value.
fn natural(a: &str, b: &str) -> Ordering {
    let pieces = |text: &str| -> Vec<(String, u128)> {
        let mut pieces = vec![(String::new(), 0_u128)];
        let mut digits = false;
        for letter in text.chars() {
            if letter.is_ascii_digit() != digits && !digits {
                digits = true;
            } else if digits && !letter.is_ascii_digit() {
                digits = false;
                pieces.push((String::new(), 0));
            }
            let Some(last) = pieces.last_mut() else {
                continue;
            };
            match letter.to_digit(10) {
                Some(digit) => last.1 = last.1.saturating_mul(10).saturating_add(digit.into()),
                None => last.0.push(letter),
            }
        }
        pieces
    };
    pieces(a).cmp(&pieces(b)).then_with(|| a.cmp(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_the_order_of_their_numbers() {
        let mut names = [
            "scan10.pcd",
            "scan9.pcd",
            "a/2/b1",
            "a/10/b0",
            "scan09b.pcd",
        ];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(
            names,
            [
                "a/2/b1",
                "a/10/b0",
                "scan9.pcd",
                "scan09b.pcd",
                "scan10.pcd"
            ]
        );
    }
}
