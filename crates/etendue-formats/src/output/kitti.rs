//! Velodyne scans as the KITTI data sets hold them.

use super::{OutputSet, PointTable};
use crate::FormatError;
use crate::precision::single;
use std::path::Path;

/// Writes a `.bin`: x, y, z (m) and intensity of every point, f32 in little endian, without a
/// header (Geiger et al. 2013, doi:10.1177/0278364913491297). Points without a position are left
/// out. KITTI's own intensities run from 0 to 1; these are the device's counts.
///
/// # Errors
/// Where the file cannot be written.
pub fn write_kitti(
    outputs: &mut OutputSet,
    path: &Path,
    table: &PointTable,
) -> Result<(), FormatError> {
    let mut bytes = Vec::with_capacity(16 * table.points);
    for point in table.finite_points() {
        for name in ["x", "y", "z", "intensity"] {
            let value = single(table.number(name, point).unwrap_or(0.0));
            bytes.extend(value.to_le_bytes());
        }
    }
    outputs.add(path, |file| file.write_all(&bytes))
}
