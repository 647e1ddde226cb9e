//! Locks of recordings and of folders. Where a file system has no locks, nothing is locked.

use crate::FormatError;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

/// Opens a recording at `path`, locks it and empties it.
///
/// # Errors
/// If the file cannot be written, or another process writes it.
pub(crate) fn locked_file(path: &Path) -> Result<File, FormatError> {
    let fail = |source| FormatError::Io {
        path: path.to_owned(),
        action: "write",
        source,
        remedy: "name another output file, or make room on the disk".into(),
    };
    let mut options = OpenOptions::new();
    let file = options
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(fail)?;
    // Devices and pipes have neither writers that exclude each other nor a length
    if !file.metadata().map_err(fail)?.is_file() {
        return Ok(file);
    }
    if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
        return Err(FormatError::Io {
            path: path.to_owned(),
            action: "write",
            source: io::Error::new(io::ErrorKind::ResourceBusy, "another process writes it"),
            remedy: "wait for its end, or name another output file".into(),
        });
    }
    file.set_len(0).map_err(fail)?;
    Ok(file)
}

/// Locks of folders, taken in the order of their names, while their files are renamed: the sets of two
/// processes do not mix. Folders without locks are skipped.
pub(crate) fn lock_folders<'a>(
    folders: impl Iterator<Item = &'a Path>,
) -> BTreeMap<&'a Path, File> {
    let folders: BTreeSet<&Path> = folders.collect();
    let locked = |folder| {
        let file = File::open(folder).ok()?;
        file.lock().ok().map(|()| (folder, file))
    };
    folders.into_iter().filter_map(locked).collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_recording_has_one_writer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mcap");
        fs::write(&path, "old").unwrap();
        let first = locked_file(&path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"");
        let error = locked_file(&path).unwrap_err();
        assert!(
            error.to_string().contains("another process writes it"),
            "{error}"
        );
        drop(first);
        assert!(locked_file(&path).is_ok());
    }
}
