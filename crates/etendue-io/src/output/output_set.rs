//! Output files that are written atomically.

use super::lock::lock_folders;
use super::stage::{Stage, settle, without_path};
use super::unfinished::unfinished;
use crate::FormatError;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Seek, Write};
use std::path::{Path, PathBuf};

/// Output files of a run that become visible together.
///
/// Files are written into a hidden subfolder of their folder. [`OutputSet::commit`] renames them and
/// replaces existing ones; the sets of two processes do not mix. On Unix the program `mv` renames the files of a
/// folder, and goes on if the process is killed meanwhile; otherwise the next set with a file in the folder
/// renames the rest of the files. A set that is dropped
/// without a commit removes its files and the folders that it created; so does
/// [`abandon_outputs`](super::abandon_outputs) at the end of an interrupted process. What a killed process left of
/// such a set is removed by the next one.
///
/// # Example
/// ```
/// use etendue_io::output::OutputSet;
/// use std::io::Write;
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("out/a.txt");
/// let mut outputs = OutputSet::new();
/// outputs.add(&path, |file| file.write_all(b"hello")).unwrap();
/// assert!(!path.exists() && outputs.paths().eq([&path]));
/// outputs.commit().unwrap();
/// assert_eq!(std::fs::read(&path).unwrap(), b"hello");
/// ```
#[derive(Debug, Default)]
pub struct OutputSet {
    /// One per output folder.
    stages: Vec<Stage>,
    /// Numbers of the stages and final paths of the files.
    files: Vec<(usize, PathBuf)>,
    made_folders: Vec<PathBuf>,
}

/// A file of an [`OutputSet`] that is written step by step.
#[derive(Debug)]
pub struct OpenOutput {
    stage: usize,
    file: File,
    path: PathBuf,
}

impl OpenOutput {
    /// Writer of the content.
    ///
    /// # Errors
    /// If the operating system has no more file handles.
    pub fn writer(&self) -> Result<BufWriter<File>, FormatError> {
        let file = self.file.try_clone();
        let file = file.map_err(|source| cannot_write(&self.path, source))?;
        Ok(BufWriter::new(file))
    }
}

/// Destination of the content of a file.
pub trait Sink: Write + Seek {}

impl<T: Write + Seek> Sink for T {}

impl OutputSet {
    /// A set without files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes the content of the file `path`, which is not visible yet, and creates its folder if
    /// necessary.
    ///
    /// # Errors
    /// If the folder or the file cannot be written, or the disk is full.
    pub fn add(
        &mut self,
        path: &Path,
        write: impl FnOnce(&mut dyn Sink) -> io::Result<()>,
    ) -> Result<(), FormatError> {
        let output = self.open(path)?;
        fill(&output.file, write).map_err(|source| cannot_write(path, source))?;
        self.files.push((output.stage, output.path));
        Ok(())
    }

    /// Begins a file, which is not visible yet, and creates its folder if necessary. The file belongs
    /// to the set after [`OutputSet::close`].
    ///
    /// # Errors
    /// If the folder or the file cannot be written.
    pub fn open(&mut self, path: &Path) -> Result<OpenOutput, FormatError> {
        let fail = |source| cannot_write(path, source);
        if path.is_dir() {
            return Err(fail(ErrorKind::IsADirectory.into()));
        }
        let stage = self.stage_of(path)?;
        let guard = unfinished();
        let file = self.stages[stage].create(path).map_err(fail)?;
        drop(guard);
        Ok(OpenOutput {
            stage,
            file,
            path: path.to_owned(),
        })
    }

    /// Adds a file whose content is written.
    ///
    /// # Errors
    /// If the disk is full.
    pub fn close(&mut self, output: OpenOutput) -> Result<(), FormatError> {
        let OpenOutput { stage, file, path } = output;
        file.sync_all()
            .map_err(|source| cannot_write(&path, source))?;
        self.files.push((stage, path));
        Ok(())
    }

    /// Final paths of the files.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|(_, path)| path.as_path())
    }

    /// Renames all files to their final paths, and returns the paths.
    ///
    /// # Errors
    /// If a file cannot be renamed: earlier files remain, later files are removed.
    pub fn commit(mut self) -> Result<Vec<PathBuf>, FormatError> {
        // An interrupted process ends before or after this
        let mut unfinished = unfinished();
        let stages = std::mem::take(&mut self.stages);
        unfinished.forget(stages.iter().map(Stage::folder), &self.made_folders);
        let folders: Vec<PathBuf> = stages
            .iter()
            .map(|stage| stage.target().to_owned())
            .collect();
        let locks = lock_folders(folders.iter().map(PathBuf::as_path));
        // Complete the folders: if this process is killed afterwards, another one renames their files
        let mut complete = Vec::new();
        for (stage, folder) in stages.into_iter().zip(&folders) {
            let stage = stage.complete();
            complete.push(stage.map_err(|source| cannot_write(folder, source))?);
        }
        // Rename the files of each folder together, and those that are left one by one
        let files = std::mem::take(&mut self.files);
        for (number, stage) in complete.iter().enumerate() {
            let own = files.iter().filter(|(stage, _)| *stage == number);
            let names: Vec<&OsStr> = own.filter_map(|(_, path)| path.file_name()).collect();
            stage.rename_together(&names, locks.get(folders[number].as_path()));
        }
        let mut paths = Vec::new();
        for (stage, path) in files {
            let renamed = complete[stage].rename(&path);
            renamed.map_err(|source| cannot_write(&path, source))?;
            paths.push(path);
        }
        self.made_folders.clear();
        drop(unfinished);
        Ok(paths)
    }

    /// Number of the stage of a file. It is created with the first file of its folder.
    fn stage_of(&mut self, path: &Path) -> Result<usize, FormatError> {
        let folder = folder_of(path);
        let known = self
            .stages
            .iter()
            .position(|stage| stage.target() == folder);
        if let Some(number) = known {
            return Ok(number);
        }
        let mut unfinished = unfinished();
        let before = self.made_folders.len();
        let made = self.make_folder(folder);
        unfinished.add_folders(&self.made_folders[before..]);
        made?;
        settle(folder);
        let stage = Stage::new(folder).map_err(|source| cannot_write(path, source))?;
        unfinished.add_stage(stage.folder());
        self.stages.push(stage);
        Ok(self.stages.len() - 1)
    }

    fn make_folder(&mut self, folder: &Path) -> Result<(), FormatError> {
        let missing: Vec<PathBuf> = folder
            .ancestors()
            .take_while(|ancestor| !ancestor.as_os_str().is_empty() && !ancestor.exists())
            .map(Path::to_owned)
            .collect();
        // Store the deepest folder last: it is removed first
        self.made_folders.extend(missing.into_iter().rev());
        fs::create_dir_all(folder).map_err(|source| cannot_write(folder, source))
    }
}

impl Drop for OutputSet {
    fn drop(&mut self) {
        if self.stages.is_empty() && self.made_folders.is_empty() {
            return;
        }
        let mut unfinished = unfinished();
        unfinished.forget(self.stages.iter().map(Stage::folder), &self.made_folders);
        self.stages.clear();
        for folder in self.made_folders.iter().rev() {
            // A folder with files of other programs is not empty and remains.
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Checks that a file can be written into a folder, which is created later if it does not exist. Nothing is left in the folder.
///
/// # Errors
/// If the folder, or the deepest one above it that exists, cannot be written, or is a file.
///
/// ```
/// use etendue_io::output::check_writable;
/// let folder = tempfile::tempdir().unwrap();
/// assert!(check_writable(&folder.path().join("a/b")).is_ok());
/// std::fs::write(folder.path().join("a"), "a file").unwrap();
/// assert!(check_writable(&folder.path().join("a/b")).is_err());
/// ```
pub fn check_writable(folder: &Path) -> Result<(), FormatError> {
    let existing = folder
        .ancestors()
        .find(|ancestor| !ancestor.as_os_str().is_empty() && ancestor.symlink_metadata().is_ok());
    let existing = existing.unwrap_or(Path::new("."));
    if !existing.is_dir() {
        return Err(cannot_write(folder, ErrorKind::NotADirectory.into()));
    }
    let file = tempfile::tempfile_in(existing);
    let file = file.map_err(|error| cannot_write(folder, without_path(error)))?;
    drop(file);
    Ok(())
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn fill(file: &File, write: impl FnOnce(&mut dyn Sink) -> io::Result<()>) -> io::Result<()> {
    let mut buffered = BufWriter::new(file);
    write(&mut buffered)?;
    buffered.flush()?;
    file.sync_all()
}

fn cannot_write(path: &Path, source: io::Error) -> FormatError {
    let remedy = match source.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            "make room on the disk, or name another output folder"
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "name an output folder that you may write to"
        }
        ErrorKind::IsADirectory => "the path is a folder: name a file",
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
            "a file has the name of the folder: name another output folder"
        }
        _ => "name another output folder",
    };
    FormatError::Io {
        path: path.to_owned(),
        action: "write",
        source,
        remedy: remedy.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(folder: &Path) -> usize {
        fs::read_dir(folder).expect("the folder is there").count()
    }

    #[test]
    fn a_failure_leaves_neither_files_nor_folders() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut outputs = OutputSet::new();
        let good = folder.path().join("a/b/good.txt");
        outputs
            .add(&good, |file| file.write_all(b"x"))
            .expect("writes");
        let bad = folder.path().join("a/b/bad.txt");
        let error = outputs
            .add(&bad, |_| Err(ErrorKind::StorageFull.into()))
            .expect_err("the disk is full");
        assert!(error.to_string().contains("bad.txt"), "{error}");
        assert!(error.remedy().contains("make room"));
        drop(outputs);
        assert_eq!(entries(folder.path()), 0);
    }

    #[test]
    fn a_full_device_is_an_error_that_names_the_file() {
        let Ok(full) = fs::OpenOptions::new().write(true).open("/dev/full") else {
            return; // Only Linux has this device.
        };
        let error = fill(&full, |file| file.write_all(&vec![0; 100_000])).expect_err("it is full");
        let error = cannot_write(Path::new("out/scan.csv"), error);
        assert!(
            error.to_string().starts_with("cannot write out/scan.csv: "),
            "{error}"
        );
        assert!(error.remedy().starts_with("make room"));
    }

    #[test]
    fn a_file_where_the_folder_should_be_is_refused() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let taken = folder.path().join("taken");
        fs::write(&taken, "x").expect("writes");
        let error = OutputSet::new()
            .add(&taken.join("a.txt"), |_| Ok(()))
            .expect_err("a file is no folder");
        assert!(error.to_string().contains("taken"), "{error}");
        let error = OutputSet::new()
            .add(folder.path(), |_| Ok(()))
            .expect_err("a folder is no file");
        assert!(error.remedy().contains("name a file"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn outputs_are_as_public_as_other_new_files() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let [ours, usual] = ["ours", "usual"].map(|name| folder.path().join(name));
        let mut outputs = OutputSet::new();
        outputs.add(&ours, |_| Ok(())).expect("writes");
        outputs.commit().expect("renames");
        fs::write(&usual, "").expect("writes");
        let mode = |path| fs::metadata(path).expect("is there").permissions().mode();
        assert_eq!(mode(&ours), mode(&usual));
    }
}
