//! Location of the recordings of real sensors.

use std::io::Write;
use std::path::{Path, PathBuf};

/// File or folder of the recordings; `None` with a message if it is missing.
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
    // The test harness hides the output of `eprintln!`
    _ = writeln!(std::io::stderr(), "skipped: {test} (no recording {name})");
    None
}
