//! The vertices of PLY files.

use crate::output::OutputSet;
use crate::ply::{PlyFile, Values};
use crate::table::{Column, ColumnData, Encoding, Number, PointTable};
use crate::{FormatError, Place};
use std::path::Path;

pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<PointTable, FormatError> {
    let ply = PlyFile::parse(path, bytes)?;
    let vertices = ply.element("vertex");
    let positions = |name| vertices.and_then(|vertices| vertices.numbers(name));
    let (Some(vertices), Some(_), Some(_), Some(_)) =
        (vertices, positions("x"), positions("y"), positions("z"))
    else {
        return Err(FormatError::malformed(
            path,
            Place::File,
            "there is no element \"vertex\" with the properties x, y and z",
            "export the cloud again with positions",
        ));
    };
    let columns: Vec<Column> = vertices
        .properties
        .iter()
        .filter_map(|property| match &property.values {
            Values::Numbers(numbers) => {
                let number = Number::of_field(&property.name, numbers);
                let data = ColumnData::of(number, numbers.clone());
                Some(Column::new(property.name.clone(), data))
            }
            Values::Lists { .. } => None,
        })
        .collect();
    Ok(PointTable {
        points: columns.first().map_or(0, |column| column.data.len()),
        height: 1,
        columns,
    })
}

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
