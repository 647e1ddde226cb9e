//! Velodyne scans of the KITTI data sets.

use super::{FieldCapacity, FormatEntry, PointFormat, ScanEditor};
use crate::editable::{ByteColumn, EditableScan, NumberType, Records, TRUNCATED, truncated_points};
use crate::output::OutputSet;
use crate::precision::single;
use crate::table::{ColumnData, PointColumn, PointSweeps, PointTable};
use crate::{FileLocation, FormatError};
use std::path::Path;

/// Bytes per point: four 4-byte numbers.
const SIZE: usize = 16;

/// Rounding error of positions in single precision that causes a warning, m.
const LARGE_SHIFT: f64 = 1e-3;

pub(super) const FORMAT: FormatEntry = FormatEntry {
    endings: &["bin"],
    recognizes: |path, _| PointFormat::of_ending(path) == Some(PointFormat::Kitti),
    points_only: true,
    in_folders: true,
    is_recorded_cloud: false,
    read: |file| parse(file.path, &file.bytes).map(PointSweeps::one),
    write: Some(|outputs, path, table, _| write_kitti(outputs, path, table)),
    capacity: Some(FieldCapacity {
        fields: &["x", "y", "z", "intensity"],
        warnings: |table| shift(table).into_iter().collect(),
    }),
    editor: Some(ScanEditor {
        endings: &["bin"],
        open: open_scan,
    }),
};

fn parse(path: &Path, bytes: &[u8]) -> Result<PointTable, FormatError> {
    if !bytes.len().is_multiple_of(SIZE) {
        let message = format!("{} bytes are no whole number of points of 16", bytes.len());
        let remedy = "the file is truncated, or not from KITTI: copy it again";
        let place = FileLocation::Byte(bytes.len() - bytes.len() % SIZE);
        return Err(FormatError::malformed(path, place, message, remedy));
    }
    let column = |(number, name): (usize, &'static str)| {
        let values = bytes.chunks_exact(SIZE).map(|point| {
            let own = &point[4 * number..4 * number + 4];
            f32::from_le_bytes([own[0], own[1], own[2], own[3]])
        });
        PointColumn::new(name, ColumnData::F32(values.collect()))
    };
    let names = ["x", "y", "z", "intensity"];
    Ok(PointTable {
        points: bytes.len() / SIZE,
        height: 1,
        columns: (0..).zip(names).map(column).collect(),
    })
}

/// Opens a scan with editable positions.
fn open_scan(path: &Path, bytes: Vec<u8>) -> Result<Box<dyn EditableScan>, FormatError> {
    if !bytes.len().is_multiple_of(16) {
        let message = format!(
            "{} bytes are no whole number of 16-byte points",
            bytes.len()
        );
        return Err(FormatError::malformed(
            path,
            FileLocation::File,
            message,
            TRUNCATED,
        ));
    }
    let points = bytes.len() / 16;
    let columns = [0, 4, 8].map(|start| ByteColumn::new(start, 16, NumberType::F32));
    let records = Records::new(bytes, points, columns, None);
    let records = records.ok_or_else(|| truncated_points(path))?;
    Ok(Box::new(records))
}

/// Warning about positions with a large rounding error in single precision.
fn shift(table: &PointTable) -> Option<String> {
    let coordinates = ["x", "y", "z"]
        .into_iter()
        .flat_map(|name| table.finite_numbers(name));
    let largest = coordinates
        .map(|value| (value - f64::from(single(value))).abs())
        .fold(0.0, f64::max);
    (largest > LARGE_SHIFT).then(|| {
        format!(
            "positions move by up to {largest:.3} m: KITTI stores single precision; shift the origin \
             nearer to the points, or write a .las, .ply or .pcd"
        )
    })
}

/// Writes a `.bin`: x, y, z (m) and intensity of every point, little-endian f32, without a header
/// (Geiger et al. 2013, doi:10.1177/0278364913491297). Points without a position are removed.
/// Intensities are the counts of the device; those of the KITTI data sets are between 0 and 1.
///
/// # Errors
/// If the file cannot be written.
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
