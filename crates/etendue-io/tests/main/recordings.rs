//! Where the real recordings are.

use std::path::{Path, PathBuf};

/// A file or folder of the recordings, or none (said aloud) where they are not at hand.
pub fn recording(name: &str) -> Option<PathBuf> {
    let root = std::env::var_os("ETENDUE_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let path = root.join(name);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: no recordings ({name})");
    None
}
