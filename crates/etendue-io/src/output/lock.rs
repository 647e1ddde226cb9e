//! Locks of files that a process writes, and removal of the files of processes that ended.
//!
//! A file under a temporary name is locked while its process lives (`flock` on Unix), so that
//! another process recognises the files of killed ones: they are not locked. Where a file system has
//! no locks, nothing is removed.

use crate::FormatError;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use tempfile::{Builder, NamedTempFile};

/// Begin and end of temporary names.
const PREFIX: &str = ".etendue-";
const SUFFIX: &str = ".part";

/// Attempts to create a file that no other process removes before it is locked.
const ATTEMPTS: usize = 8;

/// A locked file with a temporary name in a folder.
pub(crate) fn temporary_in(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    // Temporary files are private by default; an output has the permissions of the user's mask.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    // Another process may remove the file between its creation and its lock
    for _ in 0..ATTEMPTS {
        let file = builder.tempfile_in(folder)?;
        let is_taken = matches!(file.as_file().try_lock(), Err(TryLockError::WouldBlock));
        if !is_taken && file.path().exists() {
            return Ok(file);
        }
    }
    Err(io::Error::other(
        "temporary files are removed by another process",
    ))
}

/// Removes the temporary files of processes that ended without removing them.
pub(crate) fn remove_stale(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if !(name.starts_with(PREFIX) && name.ends_with(SUFFIX)) {
            continue;
        }
        // The lock is held during the removal: a process that creates the file does not take it
        if let Ok(file) = File::open(entry.path())
            && file.try_lock().is_ok()
        {
            // A file that cannot be removed remains, as without this function
            let _ = fs::remove_file(entry.path());
        }
    }
}

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

/// Locks of folders, in the order of their names, while their files are renamed: the sets of two
/// processes do not mix. Folders without locks are skipped.
pub(crate) fn lock_folders<'a>(folders: impl Iterator<Item = &'a Path>) -> Vec<File> {
    let mut folders: Vec<&Path> = folders.collect();
    folders.sort_unstable();
    folders.dedup();
    let locked = |folder: &Path| {
        let file = File::open(folder).ok()?;
        file.lock().ok().map(|()| file)
    };
    folders.into_iter().filter_map(locked).collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn only_the_files_of_ended_processes_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let live = temporary_in(folder.path()).unwrap();
        let stale = folder.path().join(".etendue-killed.part");
        let other = folder.path().join("mine.part");
        fs::write(&stale, "x").unwrap();
        fs::write(&other, "x").unwrap();
        remove_stale(folder.path());
        assert!(live.path().exists() && other.exists() && !stale.exists());
    }

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
