//! Velodyne scans of the KITTI data sets.

use crate::output::OutputSet;
use crate::precision::single;
use crate::table::{Column, ColumnData, PointTable};
use crate::{FormatError, Place};
use std::path::Path;

/// Four numbers of four bytes a point.
const SIZE: usize = 16;

pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<PointTable, FormatError> {
    if !bytes.len().is_multiple_of(SIZE) {
        let message = format!("{} bytes are no whole number of points of 16", bytes.len());
        let remedy = "the file is truncated, or not of KITTI: copy it again";
        let place = Place::Byte(bytes.len() - bytes.len() % SIZE);
        return Err(FormatError::malformed(path, place, message, remedy));
    }
    let column = |(number, name): (usize, &'static str)| {
        let values = bytes.chunks_exact(SIZE).map(|point| {
            let own = &point[4 * number..4 * number + 4];
            f32::from_le_bytes([own[0], own[1], own[2], own[3]])
        });
        Column::new(name, ColumnData::F32(values.collect()))
    };
    let names = ["x", "y", "z", "intensity"];
    Ok(PointTable {
        points: bytes.len() / SIZE,
        height: 1,
        columns: (0..).zip(names).map(column).collect(),
    })
}

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
