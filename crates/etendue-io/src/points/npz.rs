//! Archives of NumPy arrays.

use crate::npy::{StoredArray, write_array};
use crate::output::OutputSet;
use crate::table::{Column, ColumnData, PointTable};
use crate::{FormatError, Place};
use std::io::{self, Cursor};
use std::path::Path;
use zip::write::SimpleFileOptions;

/// The arrays of an archive that have one number a point: as many as `x`. `points` or `xyz` of the
/// shape (points, 3) stand for `x`, `y` and `z`.
pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<PointTable, FormatError> {
    let damaged = |message: String| {
        let remedy = "give an .npz of arrays of numbers with x, y and z";
        FormatError::malformed(path, Place::File, message, remedy)
    };
    let arrays = arrays(bytes).map_err(|error| {
        let message = format!("this NPZ archive is truncated or damaged: {error}");
        FormatError::malformed(path, Place::File, message, "copy or export it again")
    })?;
    let mut columns = Vec::new();
    for array in arrays {
        match (&array.shape[..], array.name.as_str()) {
            ([_, 3], "points" | "xyz") => columns.extend(array.axes()),
            _ => columns.push((array.shape, Column::new(array.name, array.data))),
        }
    }
    let shape = columns.iter().find(|(_, column)| column.name == "x");
    let shape = shape.map(|(shape, _)| shape.clone());
    let shape = shape.ok_or_else(|| damaged("there is no array x".into()))?;
    columns.retain(|(own, _)| *own == shape);
    let columns: Vec<Column> = columns.into_iter().map(|(_, column)| column).collect();
    let has = |name: &str| columns.iter().any(|column| column.name == name);
    if let Some(missing) = ["y", "z"].into_iter().find(|name| !has(name)) {
        return Err(damaged(format!("there is no array {missing} like x")));
    }
    Ok(PointTable {
        points: columns[0].data.len(),
        height: match shape[..] {
            [height, _] => usize::try_from(height).unwrap_or(1).max(1),
            _ => 1,
        },
        columns,
    })
}

struct Array {
    name: String,
    shape: Vec<u64>,
    data: ColumnData,
}

impl Array {
    /// The columns of an array of positions.
    fn axes(&self) -> Vec<(Vec<u64>, Column)> {
        let axis = |(axis, name): (usize, &'static str)| {
            let values = (0..self.data.len() / 3).map(|point| self.data.number(3 * point + axis));
            let column = Column::new(name, ColumnData::F64(values.collect()));
            (vec![self.shape[0]], column)
        };
        (0..).zip(["x", "y", "z"]).map(axis).collect()
    }
}

fn arrays(bytes: &[u8]) -> io::Result<Vec<Array>> {
    let mut zip = zip::ZipArchive::new(Cursor::new(bytes))?;
    let mut arrays = Vec::new();
    for index in 0..zip.len() {
        let mut file = zip.by_index(index)?;
        let name = file.name()?.trim_end_matches(".npy").to_owned();
        let array = StoredArray::read(&mut file)?;
        if let Some(data) = numbers(&array) {
            let shape = array.shape;
            arrays.push(Array { name, shape, data });
        }
    }
    Ok(arrays)
}

/// The numbers of an array, if it holds numbers.
fn numbers(array: &StoredArray) -> Option<ColumnData> {
    Some(match (array.kind, array.size) {
        ('f', 4) => ColumnData::F32(array.numbers().collect()),
        ('f', 8) => ColumnData::F64(array.numbers().collect()),
        ('u', 1) => ColumnData::U16(array.numbers::<u8>().map(u16::from).collect()),
        ('u', 2) => ColumnData::U16(array.numbers().collect()),
        ('u', 4) => ColumnData::U32(array.numbers().collect()),
        ('u', 8) => ColumnData::F64(array.numbers::<u64>().map(|value| value as f64).collect()),
        ('i', 1) => ColumnData::I32(array.numbers::<i8>().map(i32::from).collect()),
        ('i', 2) => ColumnData::I32(array.numbers::<i16>().map(i32::from).collect()),
        ('i', 4) => ColumnData::I32(array.numbers().collect()),
        ('i', 8) => ColumnData::F64(array.numbers::<i64>().map(|value| value as f64).collect()),
        _ => return None,
    })
}

/// Writes an `.npz` that `numpy.load` reads: one array a field, of the shape (points,), or
/// (height, width) for a grid.
///
/// # Errors
/// Where the file cannot be written.
pub fn write_npz(
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
