//! Bag folders of ROS 2.

use crate::failure::Failure;
use crate::output::commit_while_writing;
use etendue::io::output::OutputSet;
use etendue::io::ros2::bag_metadata;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// Writes the `metadata.yaml` beside a finished recording in a folder of its own, with which ROS 2 opens the folder
/// as a bag. Returns its path; `None` for a recording in the working folder, and where the metadata of another bag
/// exist.
pub fn describe(recording: &Path) -> Result<Option<PathBuf>, Failure> {
    let folder = recording.parent();
    let Some(folder) = folder.filter(|folder| !folder.as_os_str().is_empty()) else {
        return Ok(None);
    };
    let metadata = folder.join("metadata.yaml");
    let name = recording.file_name().unwrap_or_default().to_string_lossy();
    if std::fs::read_to_string(&metadata).is_ok_and(|text| !text.contains(&*name)) {
        return Ok(None);
    }
    let text = bag_metadata(recording, BufReader::new(File::open(recording)?))?;
    let mut outputs = OutputSet::new();
    outputs.add(&metadata, |file| file.write_all(text.as_bytes()))?;
    // Not `output::commit`: the caller may hold the guard against Ctrl-C
    commit_while_writing(outputs)?;
    Ok(Some(metadata))
}
