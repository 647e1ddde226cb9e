//! Tables of points as NumPy arrays.

use super::{ColumnData, OutputSet, PointTable};
use crate::FormatError;
use crate::npy::write_array;
use std::path::Path;
use zip::write::SimpleFileOptions;

/// Writes an `.npz` that `numpy.load` reads: one array a field, of the shape (points,), or
/// (height, width) for a grid.
///
/// # Errors
/// Where the file cannot be written.
pub fn write_table_npz(
    outputs: &mut OutputSet,
    path: &Path,
    table: &PointTable,
) -> Result<(), FormatError> {
    let (points, height) = (table.points as u64, table.height as u64);
    let shape = if height > 1 {
        vec![height, points / height]
    } else {
        vec![points]
    };
    outputs.add(path, |file| {
        let mut zip = zip::ZipWriter::new(file);
        for column in &table.columns {
            let options = SimpleFileOptions::default().large_file(true);
            zip.start_file(format!("{}.npy", column.name), options)?;
            match &column.data {
                ColumnData::F32(values) => write_array(&mut zip, &shape, values.iter().copied())?,
                ColumnData::F64(values) => write_array(&mut zip, &shape, values.iter().copied())?,
                ColumnData::U16(values) => write_array(&mut zip, &shape, values.iter().copied())?,
                ColumnData::U32(values) => write_array(&mut zip, &shape, values.iter().copied())?,
                ColumnData::I32(values) => write_array(&mut zip, &shape, values.iter().copied())?,
            }
        }
        zip.finish()?;
        Ok(())
    })
}
