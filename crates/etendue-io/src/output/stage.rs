//! Folders that contain the files of a run until they are renamed.
//!
//! A [`Stage`] is a subfolder of an output folder, with the final names of its files. It is locked
//! while its process lives (`flock` on Unix). Its own name has two endings: `.part` while files are
//! written, `.done` while the files, which are all complete, are renamed into the output folder. [`settle`]
//! ends the work of killed processes: it removes the first kind and renames the files of the second.
//! An output folder thereby has the files of the old run or those of the new one. Where a
//! file system has no locks, nothing is settled.
//!
//! On Unix several files are renamed by the program `mv` in a process group of its own, which goes on
//! if this process is killed meanwhile.

use super::lock::lock_folders;
use std::ffi::OsStr;
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
            let folder = builder.tempdir_in(target).map_err(without_path)?;
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

    /// The folder of the files.
    pub fn folder(&self) -> &Path {
        self.folder.path()
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

/// The error of the operating system, without the name of a temporary file.
pub(super) fn without_path(error: io::Error) -> io::Error {
    let inner = error.get_ref().and_then(std::error::Error::source);
    let inner = inner.and_then(|source| source.downcast_ref::<io::Error>());
    match inner.and_then(io::Error::raw_os_error) {
        Some(code) => io::Error::from_raw_os_error(code),
        None => error,
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
    /// Renames files to their final names in a process of its own, if possible: a kill of this process does not
    /// separate them. `folder_lock` is the lock of the output folder.
    pub fn rename_together(&self, names: &[&OsStr], folder_lock: Option<&File>) {
        // A single renaming cannot be separated. What fails here is left to `rename`
        if names.len() > 1 {
            let _ = move_files(&self.done, names, [self.lock.as_ref(), folder_lock]);
        }
    }

    /// Renames a file to its final path, unless it is renamed.
    ///
    /// # Errors
    /// If the file cannot be renamed.
    pub fn rename(&self, path: &Path) -> io::Result<()> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let [from, to] = [&self.done, &self.target].map(|folder| folder.join(name));
        match fs::rename(&from, &to) {
            Err(_) if !from.exists() && to.exists() => Ok(()),
            renamed => renamed,
        }
    }
}

/// Moves files of a folder to its parent by the program `mv`, which holds two locks meanwhile. Its process group is not that of
/// this process.
#[cfg(unix)]
fn move_files(
    folder: &Path,
    names: &[impl AsRef<OsStr>],
    locks: [Option<&File>; 2],
) -> io::Result<()> {
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};
    // Standard input and output of the program carry the locks: it neither reads nor writes
    let [input, output] = locks.map(|lock| match lock {
        Some(lock) => lock.try_clone().map(Stdio::from),
        None => Ok(Stdio::null()),
    });
    let mut command = Command::new("mv");
    command.args(["-f", "--"]).args(names).arg("..");
    command.current_dir(folder).process_group(0);
    command.stdin(input?).stdout(output?).stderr(Stdio::null());
    command.status().map(|_| ())
}

/// Elsewhere the files are renamed by this process.
#[cfg(not(unix))]
fn move_files(_: &Path, _: &[impl AsRef<OsStr>], _: [Option<&File>; 2]) -> io::Result<()> {
    Ok(())
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
            let locks = lock_folders([target].into_iter());
            rename_all(&entry.path(), target, [Some(&lock), locks.get(target)]);
        }
        // A folder that cannot be removed remains, as without this function
        let _ = fs::remove_dir_all(entry.path());
    }
}

/// Renames the files of a folder into its parent `to`, and holds two locks. A file that cannot be renamed is left.
fn rename_all(from: &Path, to: &Path, locks: [Option<&File>; 2]) {
    let files = fs::read_dir(from).into_iter().flatten();
    let names: Vec<_> = files
        .filter_map(|file| Some(file.ok()?.file_name()))
        .collect();
    let _ = move_files(from, &names, locks);
    for name in names {
        let _ = fs::rename(from.join(&name), to.join(&name));
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

    #[cfg(unix)]
    #[test]
    fn files_are_renamed_together_where_one_name_is_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let stage = staged(folder.path());
        fs::remove_file(folder.path().join("a")).unwrap();
        fs::create_dir(folder.path().join("a")).unwrap();
        let complete = stage.complete().unwrap();
        complete.rename_together(&["a", "b"].map(OsStr::new), None);
        assert_eq!(fs::read(folder.path().join("b")).unwrap(), b"new");
        let names = ["a", "b"].map(|name| folder.path().join(name));
        assert!(complete.rename(&names[0]).is_err());
        assert!(complete.rename(&names[1]).is_ok());
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
