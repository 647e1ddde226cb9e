//! Reader of point clouds in MCAP recordings.

use crate::FormatError;
use crate::bag::{Bag, POINT_CLOUD, RecordedCloud};
use crate::input::Content;
use crate::interrupt::Interrupt;
use crate::mcap_messages::no_mcap;
use std::borrow::Cow;
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
    clouds_of(path, &Content::open(path)?)
}

/// Parses the content of an MCAP file as [`read_clouds`] does. Errors name `path`.
///
/// # Errors
/// As [`read_clouds`], except errors of reading the file.
pub fn parse_clouds(path: &Path, bytes: &[u8]) -> Result<Recording, FormatError> {
    clouds_of(path, &Content::Memory(Cow::Borrowed(bytes)))
}

fn clouds_of(path: &Path, content: &Content) -> Result<Recording, FormatError> {
    let bag = Bag::of(path, content)?.filter(Bag::is_mcap);
    let bag = bag.ok_or_else(|| no_mcap(path))?;
    let mut recording = Recording::default();
    let visited = bag.for_each(&mut recording.warnings, |message| {
        if message.kind == POINT_CLOUD {
            recording.clouds.push(message.cloud()?);
        }
        Ok(())
    });
    Interrupt::result(visited)?;
    Ok(recording)
}
