//! What the sets of this process have on disk before their commit, for the end of an interrupted process.

use std::fs;
use std::mem::forget;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Folders of files that are not visible yet, and folders that were created for them, in the order of their creation.
#[derive(Debug, Default)]
pub(super) struct Unfinished {
    stages: Vec<PathBuf>,
    made_folders: Vec<PathBuf>,
}

static UNFINISHED: Mutex<Unfinished> = Mutex::new(Unfinished::new());

/// The folders of this process. While the guard is held, no set begins or commits files.
pub(super) fn unfinished() -> MutexGuard<'static, Unfinished> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the files of all sets that are not committed, and the folders that were created for them. It waits for commits in
/// progress. Afterwards sets neither begin nor commit files: the caller ends the process.
pub fn abandon_outputs() {
    let unfinished = unfinished();
    unfinished.remove();
    forget(unfinished);
}

impl Unfinished {
    const fn new() -> Self {
        Self {
            stages: Vec::new(),
            made_folders: Vec::new(),
        }
    }

    /// Adds a folder of files that are not visible.
    pub fn add_stage(&mut self, folder: &Path) {
        self.stages.push(folder.to_owned());
    }

    /// Adds folders that were created, the deepest one last.
    pub fn add_folders(&mut self, folders: &[PathBuf]) {
        self.made_folders.extend_from_slice(folders);
    }

    /// Forgets folders: they are removed, or have files.
    pub fn forget<'a>(&mut self, stages: impl Iterator<Item = &'a Path>, made_folders: &[PathBuf]) {
        let stages: Vec<&Path> = stages.collect();
        self.stages.retain(|own| !stages.contains(&own.as_path()));
        self.made_folders.retain(|own| !made_folders.contains(own));
    }

    fn remove(&self) {
        // What cannot be removed remains, as after a kill: the next set with a file there removes it
        for stage in &self.stages {
            let _ = fs::remove_dir_all(stage);
        }
        for folder in self.made_folders.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folders_of_an_interrupted_process_are_removed() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let [made, other] = ["made", "other"].map(|name| folder.path().join(name));
        let [stage, committed] = [".a.part", ".b.done"].map(|name| made.join(name));
        for path in [&stage, &other] {
            fs::create_dir_all(path).expect("a folder");
            fs::write(path.join("a.csv"), "x").expect("writes");
        }
        let mut unfinished = Unfinished::new();
        unfinished.add_folders(&[made.clone(), other.clone()]);
        unfinished.add_stage(&stage);
        unfinished.add_stage(&committed);
        unfinished.forget([committed.as_path()].into_iter(), &[]);
        assert_eq!(unfinished.stages.len(), 1);
        unfinished.remove();
        assert!(!made.exists());
        assert!(other.join("a.csv").exists(), "a folder with other files");
    }
}
