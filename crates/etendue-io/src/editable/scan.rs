//! Common interface of scans in memory.

use crate::{FileLocation, FormatError};
use nalgebra::Point3;
use std::path::Path;

/// A scan in memory with editable positions.
pub(crate) trait EditableScan {
    /// Positions, m, including non-finite ones.
    fn points(&self) -> Vec<Point3<f64>>;

    /// Sets the positions; `points` has the length of [`EditableScan::points`].
    fn set_points(&mut self, points: &[Point3<f64>]);

    /// Content of the file with the current positions.
    fn bytes(&self, path: &Path) -> Result<Vec<u8>, FormatError>;
}

/// Remedy for damaged files.
pub(crate) const TRUNCATED: &str = "the file is truncated or damaged: copy or export it again";

/// Error about fewer points than the header counts.
pub(crate) fn truncated_points(path: &Path) -> FormatError {
    FormatError::malformed(
        path,
        FileLocation::File,
        "the points are truncated",
        TRUNCATED,
    )
}

/// Error about missing coordinates.
pub(crate) fn without_positions(path: &Path) -> FormatError {
    FormatError::malformed(
        path,
        FileLocation::File,
        "there are no columns x, y and z",
        "export the scan with positions",
    )
}
