//! Tests of the `etendue` binary.

mod bad_input;
mod calibrate;
mod convert;
mod correct;
mod drive;
mod experiment;
mod first_hour;
mod fit;
#[cfg(feature = "gpu")]
mod gpu;
mod obstructions;
mod readers;
#[path = "../../../etendue-io/tests/main/recordings.rs"]
mod recordings;
mod register;
mod render;
mod results;
mod robots;
mod robustness;
mod scanners;
#[cfg(feature = "studio")]
mod studio;
mod view;

use recordings::recording;
use std::path::Path;
use std::process::{Command, Output};

/// Names of the files that `simulate --formats all` writes to a folder, sorted.
const FILES_OF_SIMULATE: [&str; 17] = [
    "beams.csv",
    "beams.npz",
    "grid.pcd",
    "intensity.png",
    "metadata.yaml",
    "range.png",
    "run.json",
    "scan.bin",
    "scan.csv",
    "scan.e57",
    "scan.las",
    "scan.mcap",
    "scan.npz",
    "scan.pcd",
    "scan.ply",
    "scan.png",
    "scan.svg",
];

/// Runs `etendue` in a folder.
fn etendue(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().expect("it starts")
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_etendue"));
    command.args(arguments).current_dir(folder);
    command
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Text of standard error in one line, without the decoration of errors.
fn stderr(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let words = text
        .split_whitespace()
        .filter(|word| !matches!(*word, "│" | "×" | "help:"));
    words.collect::<Vec<_>>().join(" ")
}

/// Output of a run in a folder, which must succeed.
fn succeed(folder: &Path, arguments: &[&str]) -> Output {
    let output = etendue(folder, arguments);
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        stderr(&output)
    );
    output
}

/// Standard output of a run in a folder, which must succeed.
fn results(folder: &Path, arguments: &[&str]) -> String {
    stdout(&succeed(folder, arguments))
}

/// Error message of a run in a folder, which must fail without results and without output files.
fn fail(folder: &Path, arguments: &[&str]) -> String {
    fail_as(1, folder, arguments)
}

/// The same of a run with invalid arguments.
fn refuse(folder: &Path, arguments: &[&str]) -> String {
    fail_as(2, folder, arguments)
}

/// Error message of a run in a folder, which must end with an exit code, without results and without output files.
fn fail_as(code: i32, folder: &Path, arguments: &[&str]) -> String {
    let before = names(folder);
    let message = fail_with(code, folder, arguments);
    assert_eq!(names(folder), before, "{arguments:?}: {message}");
    message
}

/// Error message of a run in a folder, which must end with an exit code and without results; it can
/// write files.
fn fail_with(code: i32, folder: &Path, arguments: &[&str]) -> String {
    let output = etendue(folder, arguments);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {message}");
    assert!(output.stdout.is_empty(), "{arguments:?}: {message}");
    message
}

/// Number of a JSON value.
fn number(value: &serde_json::Value) -> f64 {
    value.as_f64().expect("a number")
}

/// Writes a file of a folder.
fn write(folder: &Path, name: &str, contents: impl AsRef<[u8]>) {
    std::fs::write(folder.join(name), contents).expect("the file is written");
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// Names in a folder, sorted; hidden ones included.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.expect("an entry").file_name();
    let mut names: Vec<_> = entries
        .map(|entry| name(entry).to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}
