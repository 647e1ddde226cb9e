//! Programs of the desktop that show files and pages.

use std::ffi::OsStr;
use std::process::{Command, Stdio};

/// Opens a file or an address in the program of the desktop for it; false if there is no desktop or no such program.
pub fn open(target: impl AsRef<OsStr>) -> bool {
    let opener = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(target_os = "windows") {
        "explorer"
    } else {
        "xdg-open"
    };
    let mut command = Command::new(opener);
    let command = command
        .arg(target)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    has_display() && command.spawn().is_ok()
}

/// Whether the process can open windows.
fn has_display() -> bool {
    let is_set =
        |name| std::env::var_os(name).is_some_and(|value: std::ffi::OsString| !value.is_empty());
    cfg!(any(target_os = "macos", target_os = "windows"))
        || is_set("DISPLAY")
        || is_set("WAYLAND_DISPLAY")
}
