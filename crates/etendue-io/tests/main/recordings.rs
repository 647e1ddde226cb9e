//! Location of the recordings of real sensors.

use std::path::{Path, PathBuf};

/// File or folder of the recordings. Tests that use them are ignored unless they are requested
/// (`cargo test -- --include-ignored`).
///
/// # Panics
/// If it does not exist.
pub fn recording(name: &str) -> PathBuf {
    let root = std::env::var_os("ETENDUE_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let path = root.join(name);
    assert!(
        path.exists(),
        "{} does not exist: set ETENDUE_DATA to the folder of the recordings",
        path.display()
    );
    path
}
