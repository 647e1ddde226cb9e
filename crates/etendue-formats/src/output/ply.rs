//! Point clouds in the PLY format.

use super::{ColumnData, Encoding, OutputSet, PointTable};
use crate::FormatError;
use std::path::Path;

/// Writes a `.ply` whose vertices are the points, with a property per field.
///
/// # Errors
/// Where the file cannot be written.
pub fn write_ply(
    outputs: &mut OutputSet,
    path: &Path,
    table: &PointTable,
    encoding: Encoding,
) -> Result<(), FormatError> {
    outputs.add(path, |file| {
        file.write_all(header(table, encoding).as_bytes())?;
        file.write_all(&table.encode(encoding))
    })
}

fn header(table: &PointTable, encoding: Encoding) -> String {
    let format = match encoding {
        Encoding::Ascii => "ascii",
        Encoding::Binary => "binary_little_endian",
    };
    let properties: Vec<String> = table
        .columns
        .iter()
        .map(|column| {
            format!(
                "property {} {}
",
                type_name(&column.data),
                column.name
            )
        })
        .collect();
    let properties = properties.concat();
    format!(
        "ply\nformat {format} 1.0\ncomment etendue: world frame, metres, seconds, radians\n\
         element vertex {}\n{properties}end_header\n",
        table.points
    )
}

fn type_name(data: &ColumnData) -> &'static str {
    match data {
        ColumnData::F32(_) => "float",
        ColumnData::F64(_) => "double",
        ColumnData::U16(_) => "ushort",
        ColumnData::U32(_) => "uint",
        ColumnData::I32(_) => "int",
    }
}
