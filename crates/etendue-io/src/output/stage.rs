//! Folders that contain the files of a run until they are renamed.
//!
//! A [`Stage`] is a subfolder of an output folder, with the final names of its files. It is locked
//! while its process lives (`flock` on Unix). Its own name has two endings: `.part` while files are
//! written, `.done` while the files, which are all complete, are renamed into the output folder. [`settle`]
//! ends the work of killed processes: it removes the first kind and renames the files of the second.
//! An output folder thereby has the files of the old run or those of the new one. Where a
//! file system has no locks, nothing is settled.

use super::lock::lock_folders;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::{Builder, TempDir};

/// Begin and ends of the names.
const PREFIX: &str = ".etendue-";
const WRITING: &str = ".part";
const RENAMING: &str = ".done";

/// Attempts to create a folder that no other process removes before it is locked.
const ATTEMPTS: usize = 8;

/// Files of one output folder that are not visible yet.
#[derive(Debug)]
pub(super) struct Stage {
    /// The output folder.
    target: PathBuf,
    folder: TempDir,
    /// Locked while the process lives; `None` without locks.
    lock: Option<File>,
}

impl Stage {
    /// An empty stage in an output folder.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn new(target: &Path) -> io::Result<Self> {
        let mut builder = Builder::new();
        builder.prefix(PREFIX).suffix(WRITING);
        // Another process may remove the folder between its creation and its lock
        for _ in 0..ATTEMPTS {
            let folder = builder.tempdir_in(target)?;
            let lock = File::open(folder.path()).ok();
            let is_taken = lock
                .as_ref()
                .is_some_and(|lock| matches!(lock.try_lock(), Err(TryLockError::WouldBlock)));
            if !is_taken && folder.path().exists() {
                return Ok(Self {
                    target: target.to_owned(),
                    folder,
                    lock,
                });
            }
        }
        let message = "temporary files are removed by another process";
        Err(io::Error::other(message))
    }

    /// The output folder.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Creates the file with a final name.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub fn create(&self, path: &Path) -> io::Result<File> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        File::create(self.folder.path().join(name))
    }

    /// States that the files are complete. They are renamed hereafter, by another process if this one
    /// is killed.
    ///
    /// # Errors
    /// If the folder cannot be renamed.
    pub fn complete(self) -> io::Result<CompleteStage> {
        let done = self.folder.path().with_extension(&RENAMING[1..]);
        fs::rename(self.folder.path(), &done)?;
        let Self {
            target,
            folder,
            lock,
        } = self;
        // The folder has another name, and its files are kept
        let _ = folder.keep();
        Ok(CompleteStage { target, done, lock })
    }
}

/// Complete files of one output folder.
#[derive(Debug)]
pub(super) struct CompleteStage {
    target: PathBuf,
    done: PathBuf,
    lock: Option<File>,
}

impl CompleteStage {
    /// Renames a file to its final path.
    ///
    /// # Errors
    /// If the file cannot be renamed.
    pub fn rename(&self, path: &Path) -> io::Result<()> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        fs::rename(self.done.join(name), self.target.join(name))
    }
}

impl Drop for CompleteStage {
    fn drop(&mut self) {
        // After an error of a renaming the folder has files
        let _ = fs::remove_dir_all(&self.done);
        drop(self.lock.take());
    }
}

/// Ends the work of killed processes in an output folder: complete files are renamed, others removed.
pub(crate) fn settle(target: &Path) {
    let Ok(entries) = fs::read_dir(target) else {
        return;
    };
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_complete = name.ends_with(RENAMING);
        if !(name.starts_with(PREFIX) && (is_complete || name.ends_with(WRITING))) {
            continue;
        }
        // The lock is held meanwhile: a process that creates the folder does not take it
        let Ok(lock) = File::open(entry.path()) else {
            continue;
        };
        if lock.try_lock().is_err() {
            continue;
        }
        if is_complete {
            let _locks = lock_folders([target].into_iter());
            rename_all(&entry.path(), target);
        }
        // A folder that cannot be removed remains, as without this function
        let _ = fs::remove_dir_all(entry.path());
    }
}

/// Renames the files of a folder into another one. A file that cannot be renamed is left.
fn rename_all(from: &Path, to: &Path) {
    let files = fs::read_dir(from).into_iter().flatten();
    for file in files.filter_map(Result::ok) {
        let _ = fs::rename(file.path(), to.join(file.file_name()));
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::io::Write;
    use std::mem::forget;

    /// A stage with the files `a` and `b` in a folder with older ones.
    fn staged(folder: &Path) -> Stage {
        for name in ["a", "b"] {
            fs::write(folder.join(name), "old").unwrap();
        }
        let stage = Stage::new(folder).unwrap();
        for name in ["a", "b"] {
            let mut file = stage.create(&folder.join(name)).unwrap();
            file.write_all(b"new").unwrap();
        }
        stage
    }

    fn contents(folder: &Path) -> [String; 2] {
        ["a", "b"].map(|name| fs::read_to_string(folder.join(name)).unwrap())
    }

    fn entries(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn a_process_killed_before_its_files_are_complete_leaves_the_old_ones() {
        let folder = tempfile::tempdir().unwrap();
        // The lock ends with the process, the folder does not
        let Stage {
            folder: stage,
            lock,
            ..
        } = staged(folder.path());
        drop(lock);
        forget(stage);
        assert_eq!(entries(folder.path()), 3);
        settle(folder.path());
        assert_eq!(contents(folder.path()), ["old", "old"]);
        assert_eq!(entries(folder.path()), 2);
    }

    #[test]
    fn a_process_killed_between_two_renamings_leaves_the_new_files_to_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let mut stage = staged(folder.path()).complete().unwrap();
        stage.rename(&folder.path().join("a")).unwrap();
        drop(stage.lock.take());
        forget(stage);
        assert_eq!(contents(folder.path()), ["new", "old"]);
        settle(folder.path());
        assert_eq!(contents(folder.path()), ["new", "new"]);
        assert_eq!(entries(folder.path()), 2);
    }

    #[test]
    fn the_files_of_a_live_process_are_not_settled() {
        let folder = tempfile::tempdir().unwrap();
        let other = folder.path().join("mine.part");
        fs::write(&other, "x").unwrap();
        let stage = staged(folder.path());
        settle(folder.path());
        assert_eq!(contents(folder.path()), ["old", "old"]);
        let complete = stage.complete().unwrap();
        settle(folder.path());
        assert_eq!(contents(folder.path()), ["old", "old"]);
        complete.rename(&folder.path().join("b")).unwrap();
        drop(complete);
        assert_eq!(contents(folder.path()), ["old", "new"]);
        assert!(other.exists() && entries(folder.path()) == 3);
    }
}
