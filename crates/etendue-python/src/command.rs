//! The command line.

use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the command of the given words, the first of which is the name of the program, and returns the exit code
/// and the name of the exception of an error. It takes over the handling of Ctrl-C, and may end the process.
#[pyfunction]
pub fn _run_command(py: Python<'_>, words: Vec<OsString>) -> (u8, Option<&'static str>) {
    py.detach(|| etendue_cli::run_named(words))
}
