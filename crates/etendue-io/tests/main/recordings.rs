//! Location of the recordings of real sensors.

use std::io::Write;
use std::path::{Path, PathBuf};

/// A file or folder of the recordings; none, with a message, where it is missing.
pub fn recording(name: &str) -> Option<PathBuf> {
    let root = std::env::var_os("ETENDUE_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let path = root.join(name);
    if path.exists() {
        return Some(path);
    }
    let test = std::thread::current();
    let test = test.name().unwrap_or("a test");
    // Not `eprintln!`, whose output the test harness hides.
    _ = writeln!(std::io::stderr(), "skipped: {test} (no recording {name})");
    None
}
