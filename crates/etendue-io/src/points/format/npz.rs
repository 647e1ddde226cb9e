//! Archives of NumPy arrays.

use super::{FormatEntry, PointReader, ScanEditor};
use crate::editable::{
    ByteColumn, EditableScan, NumberType, TRUNCATED, is_distance, without_positions,
};
use crate::foreign::{guarded, most_content};
use crate::input::read_limited;
use crate::npy::write_array;
use crate::npz::{NpzArray, is_archive, read_arrays};
use crate::output::OutputSet;
use crate::scan_log::is_scan_log;
use crate::table::{ColumnData, PointColumn, PointSweeps, PointTable};
use crate::{FileLocation, FormatError};
use nalgebra::Point3;
use std::io::{self, Cursor, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

pub(super) const FORMAT: FormatEntry = FormatEntry {
    endings: &["npz"],
    // An archive of beams is a scan log
    recognizes: |_, bytes| is_archive(bytes) && !is_scan_log(bytes),
    points_only: true,
    in_folders: true,
    is_recorded_cloud: false,
    read: PointReader::Whole(|file| parse(file.path, &file.bytes).map(PointSweeps::one)),
    write: Some(|outputs, path, table, _| write_npz(outputs, path, table)),
    capacity: None,
    editor: Some(ScanEditor {
        endings: &["npz"],
        open: |path, bytes| Ok(Box::new(NpzScan::parse(path, &bytes)?)),
    }),
};

/// Reads the arrays of an archive with the shape of `x`. An array `points` or `xyz` of shape
/// (points, 3) contains `x`, `y` and `z`.
fn parse(path: &Path, bytes: &[u8]) -> Result<PointTable, FormatError> {
    let damaged = |message: String| {
        let remedy = "give an .npz of arrays of numbers with x, y and z";
        FormatError::malformed(path, FileLocation::File, message, remedy)
    };
    // Read the arrays and split positions into axes
    let arrays = read_arrays(path, bytes)?;
    let mut columns = Vec::new();
    for array in arrays {
        match (&array.shape[..], array.name.as_str()) {
            ([_, 3], "points" | "xyz") => columns.extend(axes(&array)),
            _ => columns.push((array.shape, PointColumn::new(array.name, array.data))),
        }
    }
    // Select the arrays with the shape of x
    let shape = columns.iter().find(|(_, column)| column.name == "x");
    let shape = shape.map(|(shape, _)| shape.clone());
    let shape = shape.ok_or_else(|| damaged("there is no array x".into()))?;
    columns.retain(|(own, _)| *own == shape);
    let columns: Vec<PointColumn> = columns.into_iter().map(|(_, column)| column).collect();
    // Check that y and z are among them
    let has = |name: &str| columns.iter().any(|column| column.name == name);
    if let Some(missing) = ["y", "z"].into_iter().find(|name| !has(name)) {
        return Err(damaged(format!(
            "there is no array {missing} of the shape of x"
        )));
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

/// Columns of an array of positions.
fn axes(array: &NpzArray) -> Vec<(Vec<u64>, PointColumn)> {
    let axis = |(axis, name): (usize, &'static str)| {
        let values = (0..array.data.len() / 3).map(|point| array.data.number(3 * point + axis));
        let column = PointColumn::new(name, ColumnData::F64(values.collect()));
        (vec![array.shape[0]], column)
    };
    (0..).zip(["x", "y", "z"]).map(axis).collect()
}

/// Writes an `.npz` for `numpy.load`: one array per field, of shape (points,), or (height, width)
/// for a grid.
///
/// # Errors
/// If the file cannot be written.
pub fn write_npz(
    outputs: &mut OutputSet,
    path: &Path,
    table: &PointTable,
) -> Result<(), FormatError> {
    // Use two dimensions for a grid
    let points = table.points as u64;
    let height = table.height as u64;
    let shape = if height > 1 {
        vec![height, points / height]
    } else {
        vec![points]
    };
    // Write one array per column
    outputs.add(path, |file| {
        let mut zip = ZipWriter::new(file);
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

/// An archive with editable positions.
struct NpzScan {
    entries: Vec<(String, Vec<u8>)>,
    position: [EntryColumn; 3],
    range: Option<EntryColumn>,
    points: usize,
}

/// A column of one archive entry.
#[derive(Clone, Copy)]
struct EntryColumn {
    entry: usize,
    column: ByteColumn,
}

/// Header of an array.
struct ArrayHeader {
    kind: NumberType,
    is_big_endian: bool,
    shape: Vec<usize>,
    body: usize,
}

/// Names of an array with all coordinates.
const POSITION_NAMES: [&str; 4] = ["xyz", "points", "positions", "arr_0"];

impl NpzScan {
    fn parse(path: &Path, bytes: &[u8]) -> Result<Self, FormatError> {
        // Unpack the archive
        let damaged =
            |message| FormatError::malformed(path, FileLocation::File, message, TRUNCATED);
        let entries = guarded(|| unpack(bytes)).map_err(|panic| damaged(panic.to_string()))?;
        let entries = entries.map_err(|error| damaged(error.to_string()))?;

        // Find the positions: arrays x, y and z, or one array with three columns
        let find = |name: &str| {
            let entry = entries
                .iter()
                .position(|(known, _)| known.strip_suffix(".npy").unwrap_or(known) == name)?;
            Some((entry, ArrayHeader::parse(&entries[entry].1)?))
        };
        let single = |name: &str| {
            let (entry, array) = find(name)?;
            let column = ByteColumn::new(array.body, array.kind.size(), array.kind);
            let column = column.ordered(array.is_big_endian);
            Some((EntryColumn { entry, column }, product(&array.shape)?))
        };
        let separate = (|| Some([single("x")?, single("y")?, single("z")?]))();
        let found = match separate {
            Some(columns) => Some((columns.map(|c| c.0), columns[0].1)),
            None => POSITION_NAMES.iter().find_map(|name| {
                let (entry, array) = find(name)?;
                array.columns(entry)
            }),
        };
        let Some((position, points)) = found else {
            return Err(without_positions(path));
        };

        // Find the ranges, if each point has one
        let range = single("range").or_else(|| single("range_m"));
        let range = range.filter(|(_, count)| *count == points).map(|r| r.0);

        // Check that no array is truncated
        let is_complete = |place: &EntryColumn| place.column.fits(&entries[place.entry].1, points);
        if !position.iter().chain(&range).all(is_complete) {
            let message = "an array is truncated or differs in length from x";
            return Err(FormatError::malformed(
                path,
                FileLocation::File,
                message,
                TRUNCATED,
            ));
        }
        Ok(Self {
            entries,
            position,
            range,
            points,
        })
    }

    fn point(&self, i: usize) -> Point3<f64> {
        let get = |place: EntryColumn| place.column.get(&self.entries[place.entry].1, i);
        Point3::from(self.position.map(get))
    }

    fn pack(&self) -> Result<Vec<u8>, zip::result::ZipError> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in &self.entries {
            zip.start_file(name.as_str(), SimpleFileOptions::default().large_file(true))?;
            zip.write_all(bytes)?;
        }
        Ok(zip.finish()?.into_inner())
    }
}

impl EditableScan for NpzScan {
    fn points(&self) -> Vec<Point3<f64>> {
        (0..self.points).map(|i| self.point(i)).collect()
    }

    fn set_points(&mut self, points: &[Point3<f64>]) {
        for (i, point) in points.iter().enumerate().take(self.points) {
            let before = self.point(i);
            if before == *point {
                continue;
            }
            for (axis, place) in self.position.into_iter().enumerate() {
                let bytes = &mut self.entries[place.entry].1;
                place.column.set(bytes, i, point[axis]);
            }
            if let Some(place) = self.range {
                let bytes = &mut self.entries[place.entry].1;
                if is_distance(place.column.get(bytes, i), &before) {
                    place.column.set(bytes, i, point.coords.norm());
                }
            }
        }
    }

    fn bytes(&self, path: &Path) -> Result<Vec<u8>, FormatError> {
        self.pack()
            .map_err(|e| FormatError::malformed(path, FileLocation::File, e.to_string(), TRUNCATED))
    }
}

fn unpack(bytes: &[u8]) -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut archive = ZipArchive::new(Cursor::new(bytes))?;
    let mut entries = Vec::new();
    let mut left = most_content(bytes.len() as u64);
    for number in 0..archive.len() {
        let mut entry = archive.by_index(number)?;
        let name = entry.name()?.into_owned();
        let content = read_limited(&mut entry, bytes.len())?;
        left = left
            .checked_sub(content.len() as u64)
            .ok_or_else(|| io::Error::other("the archive is out of proportion to its file"))?;
        entries.push((name, content));
    }
    Ok(entries)
}

impl ArrayHeader {
    /// Parses the header of a floating-point array in C order (NPY versions 1 to 3).
    fn parse(bytes: &[u8]) -> Option<Self> {
        // Locate the text of the header
        let rest = bytes.strip_prefix(b"\x93NUMPY")?;
        let (length, before) = match rest.first()? {
            1 => (
                usize::from(u16::from_le_bytes([*rest.get(2)?, *rest.get(3)?])),
                10,
            ),
            _ => (
                u32::from_le_bytes(*rest.get(2..)?.first_chunk()?) as usize,
                12,
            ),
        };
        let text = std::str::from_utf8(bytes.get(before..length.checked_add(before)?)?).ok()?;

        // Read the type of the numbers
        let value = |key: &str| Some(text.split_once(key)?.1.trim_start_matches([':', ' ']));
        let descr = value("'descr'")?.trim_start_matches('\'');
        let kind = match descr.get(1..3)? {
            "f4" => NumberType::F32,
            "f8" => NumberType::F64,
            _ => return None,
        };
        if value("'fortran_order'")?.starts_with("True") {
            return None;
        }

        // Read the shape
        let shape = value("'shape'")?.strip_prefix('(')?.split_once(')')?.0;
        let sizes = shape.split(',').filter(|s| !s.trim().is_empty());
        Some(Self {
            kind,
            is_big_endian: descr.starts_with('>'),
            shape: sizes
                .map(|s| s.trim().parse().ok())
                .collect::<Option<_>>()?,
            body: before + length,
        })
    }

    /// The first three columns of the last axis, and the number of rows.
    fn columns(&self, entry: usize) -> Option<([EntryColumn; 3], usize)> {
        let (width, rows) = self.shape.split_last()?;
        let size = self.kind.size();
        let step = width.checked_mul(size)?;
        let column = |axis| {
            let column = ByteColumn::new(self.body + axis * size, step, self.kind);
            EntryColumn {
                entry,
                column: column.ordered(self.is_big_endian),
            }
        };
        let rows = product(rows)?;
        (*width >= 3).then(|| ([0, 1, 2].map(column), rows))
    }
}

/// Product of the lengths of a shape; `None` if it overflows.
fn product(shape: &[usize]) -> Option<usize> {
    let mut lengths = shape.iter();
    lengths.try_fold(1_usize, |product, length| product.checked_mul(*length))
}
