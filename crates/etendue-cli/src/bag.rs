//! Bag folders of ROS 2.

use crate::failure::Failure;
use crate::output::{commit_while_writing, warn};
use etendue::io::output::OutputSet;
use etendue::io::ros2::bag_metadata;
use etendue::io::sequence::names_file;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// Name of the file that describes a bag.
const METADATA: &str = "metadata.yaml";

/// Writes the `metadata.yaml` beside a finished recording in a folder of its own, with which ROS 2 opens the folder
/// as a bag. Returns its path; `None` for a recording in the working folder, and, with a warning, where the folder is that of
/// another bag.
pub fn describe(recording: &Path) -> Result<Option<PathBuf>, Failure> {
    let folder = recording.parent();
    let Some(folder) = folder.filter(|folder| !folder.as_os_str().is_empty()) else {
        return Ok(None);
    };
    let metadata = folder.join(METADATA);
    if !is_own(folder, recording, &metadata) {
        warn([format!(
            "{} has other recordings than {}: it is no bag of this one, and {METADATA} is not written; ROS 2 opens a folder with one \
             recording",
            folder.display(),
            recording.display()
        )]);
        return Ok(None);
    }
    let text = bag_metadata(recording, BufReader::new(File::open(recording)?))?;
    let mut outputs = OutputSet::new();
    outputs.add(&metadata, |file| file.write_all(text.as_bytes()))?;
    // Not `output::commit`: the caller may hold the guard against Ctrl-C
    commit_while_writing(outputs)?;
    Ok(Some(metadata))
}

/// Whether a recording is the only one in its folder, and the metadata, if there are some, name it.
fn is_own(folder: &Path, recording: &Path, metadata: &Path) -> bool {
    let name = recording.file_name().unwrap_or_default();
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut others = files
        .map(|file| PathBuf::from(file.file_name()))
        .filter(|file| file != name);
    let is_recording = |file: PathBuf| {
        let ending = file.extension().unwrap_or_default().to_ascii_lowercase();
        ["mcap", "db3", "bag"].iter().any(|known| ending == *known)
    };
    let is_named = |text: String| names_file(&text, recording);
    !others.any(is_recording) && fs::read_to_string(metadata).map_or(true, is_named)
}
