//! Point clouds in the PCD format of the Point Cloud Library, version 0.7.

use super::{ColumnData, Encoding, OutputSet, PointTable};
use crate::FormatError;
use std::path::Path;

/// Writes a `.pcd`. The points are in the world frame, so that the viewpoint is the identity.
///
/// # Errors
/// Where the file cannot be written.
pub fn write_pcd(
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
    let row = |name: &str, value: &dyn Fn(&super::Column) -> String| {
        let values: Vec<String> = table.columns.iter().map(value).collect();
        format!("{name} {}\n", values.join(" "))
    };
    let (points, height) = (table.points, table.height.max(1));
    let width = points / height;
    [
        "# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\n".to_owned(),
        row("FIELDS", &|column| column.name.to_string()),
        row("SIZE", &|column| size_and_type(&column.data).0.to_string()),
        row("TYPE", &|column| size_and_type(&column.data).1.into()),
        row("COUNT", &|_| "1".into()),
        format!("WIDTH {width}\nHEIGHT {height}\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS {points}\n"),
        match encoding {
            Encoding::Ascii => "DATA ascii\n".into(),
            Encoding::Binary => "DATA binary\n".into(),
        },
    ]
    .concat()
}

fn size_and_type(data: &ColumnData) -> (usize, &'static str) {
    match data {
        ColumnData::F32(_) => (4, "F"),
        ColumnData::F64(_) => (8, "F"),
        ColumnData::U16(_) => (2, "U"),
        ColumnData::U32(_) => (4, "U"),
        ColumnData::I32(_) => (4, "I"),
    }
}
