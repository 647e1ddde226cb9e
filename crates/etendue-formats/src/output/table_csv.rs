//! Tables of points as CSV.

use super::{OutputSet, PointTable};
use crate::FormatError;
use std::path::Path;

/// Writes a `.csv`: one row of names, one row a point; numbers in the shortest form that reads
/// back the same.
///
/// # Errors
/// Where the file cannot be written.
pub fn write_table_csv(
    outputs: &mut OutputSet,
    path: &Path,
    table: &PointTable,
) -> Result<(), FormatError> {
    let names = table.columns.iter().map(|column| &*column.name);
    let names: Vec<&str> = names.collect();
    outputs.add(path, |file| {
        writeln!(file, "{}", names.join(","))?;
        for point in 0..table.points {
            let numbers: Vec<String> = table
                .columns
                .iter()
                .map(|column| column.data.text(point))
                .collect();
            writeln!(file, "{}", numbers.join(","))?;
        }
        Ok(())
    })
}
