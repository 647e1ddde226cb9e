//! Results on standard output.

use crate::failure::Failure;
use serde::Serialize;
use std::io::{ErrorKind, Write, stdout};

/// Prints a result. A reader that has gone away (`| head`) is no failure.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Prints a result as JSON.
pub fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(std::io::Error::from)?;
    print(&(text + "\n"))
}
