//! Vertices of PLY files.

use super::{FormatEntry, PointReader, ScanEditor};
use crate::editable::{
    ByteColumn, EditableScan, NumberType, Records, Rows, truncated_points, without_positions,
};
use crate::output::OutputSet;
use crate::ply::header::{self as ply_header, Layout};
use crate::ply::{PlyFile, Values};
use crate::table::{ColumnData, ColumnType, Encoding, PointColumn, PointSweeps, PointTable};
use crate::{FileLocation, FormatError};
use std::path::Path;

pub(super) const FORMAT: FormatEntry = FormatEntry {
    endings: &["ply"],
    recognizes: |_, bytes| bytes.starts_with(b"ply"),
    points_only: false,
    in_folders: true,
    is_recorded_cloud: true,
    read: PointReader::Whole(|file| parse(file.path, &file.bytes).map(PointSweeps::one)),
    write: Some(write_ply),
    capacity: None,
    editor: Some(ScanEditor {
        endings: &["ply"],
        open: open_scan,
    }),
};

fn parse(path: &Path, bytes: &[u8]) -> Result<PointTable, FormatError> {
    // Find the vertices and their positions
    let ply = PlyFile::parse(path, bytes)?;
    let vertices = ply.element("vertex");
    let positions = |name| vertices.and_then(|vertices| vertices.numbers(name));
    let (Some(vertices), Some(_), Some(_), Some(_)) =
        (vertices, positions("x"), positions("y"), positions("z"))
    else {
        return Err(FormatError::malformed(
            path,
            FileLocation::File,
            "there is no element \"vertex\" with the properties x, y and z",
            "export the cloud again with positions",
        ));
    };
    // Convert the properties without lists
    let columns: Vec<PointColumn> = vertices
        .properties
        .iter()
        .filter_map(|property| match &property.values {
            Values::Numbers(numbers) => {
                let number = ColumnType::of_field(&property.name, numbers);
                let data = ColumnData::of(number, numbers.clone());
                Some(PointColumn::new(property.name.clone(), data))
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

/// Opens a scan with editable positions.
fn open_scan(path: &Path, bytes: Vec<u8>) -> Result<Box<dyn EditableScan>, FormatError> {
    // Check that the points come first and have no lists
    let header = ply_header::parse(path, &bytes)?;
    let Some(vertices) = header.elements.first().filter(|e| e.name == "vertex") else {
        return Err(FormatError::Unsupported {
            path: path.to_owned(),
            message: "the element \"vertex\" is not the first".into(),
            remedy: "export the scan with its points first".into(),
        });
    };
    if vertices.properties.iter().any(|p| p.length.is_some()) {
        return Err(FormatError::Unsupported {
            path: path.to_owned(),
            message: "points with lists cannot be edited".into(),
            remedy: "export the scan with one number per property".into(),
        });
    }

    // Find the properties of position and range
    let find = |name: &str| vertices.properties.iter().position(|p| p.name == name);
    let (Some(x), Some(y), Some(z)) = (find("x"), find("y"), find("z")) else {
        return Err(without_positions(path));
    };
    let range = find("range").or_else(|| find("range_m"));

    // Read a text file by rows
    if header.layout == Layout::Ascii {
        let rows = Rows::after(path, &bytes, header.body, [x, y, z], range, vertices.count)?;
        return Ok(Box::new(rows));
    }

    // Read a binary file by records
    let kinds: Vec<NumberType> = vertices.properties.iter().map(|p| p.kind).collect();
    let start = |property: usize| kinds[..property].iter().map(|k| k.size()).sum::<usize>();
    let step = start(kinds.len());
    let column = |property: usize| {
        let column = ByteColumn::new(header.body + start(property), step, kinds[property]);
        column.ordered(header.layout == Layout::BigEndian)
    };
    let records = Records::new(
        bytes,
        vertices.count,
        [x, y, z].map(column),
        range.map(column),
    );
    let records = records.ok_or_else(|| truncated_points(path))?;
    Ok(Box::new(records))
}

/// Writes a `.ply` whose vertices are the points, with a property per field.
///
/// # Errors
/// If the file cannot be written.
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
            let type_name = type_name(&column.data);
            format!("property {type_name} {}\n", column.name)
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
        // Open3D reads neither "ushort" nor "uint"
        ColumnData::U16(_) => "uint16",
        ColumnData::U32(values) if values.iter().all(|value| i32::try_from(*value).is_ok()) => {
            "int"
        }
        ColumnData::U32(_) => "uint",
        ColumnData::I32(_) => "int",
    }
}
