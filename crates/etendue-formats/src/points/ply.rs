//! The vertices of PLY files.

use crate::output::{Column, ColumnData, Number, PointTable};
use crate::ply::{PlyFile, Values};
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
