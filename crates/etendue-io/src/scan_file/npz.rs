//! NumPy archives.

use super::{DAMAGED, without_positions};
use crate::records::{Column, NumberType, is_distance};
use crate::{FormatError, Place};
use nalgebra::Point3;
use std::io::{Cursor, Read, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

/// The arrays of an archive, and where in them the coordinates stand.
pub(super) struct Npz {
    entries: Vec<(String, Vec<u8>)>,
    position: [Place3; 3],
    range: Option<Place3>,
    points: usize,
}

/// A column of one entry.
#[derive(Clone, Copy)]
struct Place3 {
    entry: usize,
    column: Column,
}

/// One array as its header says.
struct Array {
    kind: NumberType,
    is_big_endian: bool,
    shape: Vec<usize>,
    body: usize,
}

/// Names of an array that holds all coordinates.
const TOGETHER: [&str; 4] = ["xyz", "points", "positions", "arr_0"];

impl Npz {
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, FormatError> {
        // Unpack the archive
        let entries = unpack(bytes)
            .map_err(|e| FormatError::malformed(path, Place::File, e.to_string(), DAMAGED))?;
        // Find the positions: arrays x, y and z, or one array of three columns
        let find = |name: &str| {
            let entry = entries
                .iter()
                .position(|(known, _)| known.strip_suffix(".npy").unwrap_or(known) == name)?;
            Some((entry, Array::parse(&entries[entry].1)?))
        };
        let single = |name: &str| {
            let (entry, array) = find(name)?;
            let column = Column::new(array.body, array.kind.size(), array.kind);
            let column = column.ordered(array.is_big_endian);
            Some((
                Place3 { entry, column },
                array.shape.iter().product::<usize>(),
            ))
        };
        let separate = (|| Some([single("x")?, single("y")?, single("z")?]))();
        let found = match separate {
            Some(columns) => Some((columns.map(|c| c.0), columns[0].1)),
            None => TOGETHER.iter().find_map(|name| {
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
        let is_complete = |place: &Place3| place.column.fits(&entries[place.entry].1, points);
        if !position.iter().chain(&range).all(is_complete) {
            let message = "an array is truncated, or of another length than x";
            return Err(FormatError::malformed(path, Place::File, message, DAMAGED));
        }
        Ok(Self {
            entries,
            position,
            range,
            points,
        })
    }

    fn point(&self, i: usize) -> Point3<f64> {
        let get = |place: Place3| place.column.get(&self.entries[place.entry].1, i);
        Point3::from(self.position.map(get))
    }

    pub fn points(&self) -> Vec<Point3<f64>> {
        (0..self.points).map(|i| self.point(i)).collect()
    }

    pub fn set_points(&mut self, points: &[Point3<f64>]) {
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

    pub fn bytes(&self, path: &Path) -> Result<Vec<u8>, FormatError> {
        self.pack()
            .map_err(|e| FormatError::malformed(path, Place::File, e.to_string(), DAMAGED))
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

fn unpack(bytes: &[u8]) -> Result<Vec<(String, Vec<u8>)>, zip::result::ZipError> {
    let mut archive = ZipArchive::new(Cursor::new(bytes))?;
    let mut entries = Vec::new();
    for number in 0..archive.len() {
        let mut entry = archive.by_index(number)?;
        let name = entry.name()?.into_owned();
        let mut content = Vec::new();
        entry.read_to_end(&mut content)?;
        entries.push((name, content));
    }
    Ok(entries)
}

impl Array {
    /// The header of an array of real numbers in C order (NumPy format 1 to 3).
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
        let text = std::str::from_utf8(bytes.get(before..before + length)?).ok()?;
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

    /// The first three columns of the last axis, and how many rows there are.
    fn columns(&self, entry: usize) -> Option<([Place3; 3], usize)> {
        let (width, rows) = self.shape.split_last()?;
        let size = self.kind.size();
        let column = |axis| {
            let column = Column::new(self.body + axis * size, width * size, self.kind);
            Place3 {
                entry,
                column: column.ordered(self.is_big_endian),
            }
        };
        (*width >= 3).then(|| ([0, 1, 2].map(column), rows.iter().product()))
    }
}
