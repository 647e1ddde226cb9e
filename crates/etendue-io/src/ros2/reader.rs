//! Reader of point clouds in MCAP recordings.

use crate::bag::{Bag, POINT_CLOUD, RecordedCloud};
use crate::input::read_bytes;
use crate::{FileLocation, FormatError};
use std::path::Path;

/// Content of a recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    /// The clouds, in the order of the file.
    pub clouds: Vec<RecordedCloud>,
    /// Irregularities that did not prevent reading, for example a truncated end.
    pub warnings: Vec<String>,
}

/// Reads every `PointCloud2` of an MCAP file. A truncated file gives its complete clouds and a
/// warning.
///
/// # Errors
/// If the file cannot be read or is not an MCAP file with ROS 2 messages.
pub fn read_clouds(path: &Path) -> Result<Recording, FormatError> {
    parse_clouds(path, &read_bytes(path)?)
}

/// Parses the content of an MCAP file as [`read_clouds`] does. Errors name `path`.
///
/// # Errors
/// As [`read_clouds`], except errors of reading the file.
pub fn parse_clouds(path: &Path, bytes: &[u8]) -> Result<Recording, FormatError> {
    let bag = Bag::of(path, bytes).filter(|_| bytes.starts_with(mcap::MAGIC));
    let Some(bag) = bag else {
        let message = "this is not an MCAP file";
        let remedy = "give an MCAP file";
        return Err(FormatError::malformed(
            path,
            FileLocation::File,
            message,
            remedy,
        ));
    };
    let mut recording = Recording::default();
    bag.for_each(&mut recording.warnings, |message| {
        if message.kind == POINT_CLOUD {
            recording.clouds.push(message.cloud(path)?);
        }
        Ok(())
    })?;
    Ok(recording)
}
