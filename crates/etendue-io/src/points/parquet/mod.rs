//! Tables as Apache Parquet: flat columns of numbers, packed or not, as data-frame libraries write
//! them.
//!
//! Read are the physical types of numbers, required or optional (NaN where there is none), plain,
//! by dictionary or split by bytes, unpacked or packed with Snappy, gzip or Zstandard.
//! Columns of anything else are left out with a warning.
//!
//! Source: the Apache Parquet format specification 2.11.

mod page;
mod thrift;
mod write;

pub use write::write_parquet;

use crate::table::{Column, ColumnData, Number, PointTable, Points};
use crate::{FormatError, Place};
use std::path::Path;
use thrift::{Reader, Value};

pub(super) const MAGIC: &[u8] = b"PAR1";

/// How a number is stored.
#[derive(Clone, Copy)]
enum Physical {
    I32,
    U32,
    I64,
    F32,
    F64,
}

/// A column of the schema.
struct Leaf {
    name: String,
    kind: Physical,
    number: Option<Number>,
    optional: bool,
}

/// A part of a column.
struct Chunk {
    /// Where its first page begins.
    start: usize,
    /// Bytes of all its pages.
    size: usize,
    values: usize,
    codec: i64,
}

pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<Points, FormatError> {
    let damaged = |message: String| {
        let remedy = "give a whole .parquet with columns x, y and z, unpacked or packed with Snappy, \
                      gzip or Zstandard";
        FormatError::malformed(path, Place::File, message, remedy)
    };
    let footer = footer(bytes).ok_or_else(|| damaged("the file is cut: it has no end".into()))?;
    let metadata = { Reader::new(footer).structure() }
        .ok_or_else(|| damaged("the list of its columns is damaged".into()))?;
    let mut points = Points::default();
    let mut table = PointTable {
        height: 1,
        points: metadata.count(3).unwrap_or(0),
        columns: vec![],
    };
    for (name, leaf) in leaves(&metadata) {
        match leaf {
            Some(leaf) => {
                let values = column(bytes, &metadata, &leaf, table.points)
                    .map_err(|fault| damaged(format!("column {name}: {fault}")))?;
                table.columns.push(leaf.column(values));
            }
            None => points.warnings.push(format!(
                "the column {name} holds no numbers and was left out"
            )),
        }
    }
    for axis in ["x", "y", "z"] {
        if table.column(axis).is_none() {
            return Err(damaged(format!("there is no column {axis}")));
        }
    }
    points.sweeps.push(table);
    Ok(points)
}

/// What stands before the footer's length and the mark at the end.
fn footer(bytes: &[u8]) -> Option<&[u8]> {
    let before = bytes.strip_suffix(MAGIC)?;
    let (before, length) = before.split_last_chunk::<4>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    before.get(before.len().checked_sub(length)?..)
}

/// The columns by name; nothing for those that hold no numbers, or lists of them.
fn leaves(metadata: &Value) -> Vec<(String, Option<Leaf>)> {
    let schema = metadata.list(2);
    let mut leaves = Vec::new();
    let mut place = 1;
    while let Some(element) = schema.get(place) {
        let name = element.field(4).and_then(Value::text).unwrap_or_default();
        let next = after(schema, place);
        let is_flat = next == place + 1 && element.count(5).unwrap_or(0) == 0;
        leaves.push((
            name.clone(),
            if is_flat {
                Leaf::new(name, element)
            } else {
                None
            },
        ));
        place = next;
    }
    leaves
}

/// The place after an element of the schema with all that it holds.
fn after(schema: &[Value], place: usize) -> usize {
    let mut open = 1;
    let mut at = place;
    while open > 0 && at < schema.len() {
        open += schema[at].count(5).unwrap_or(0);
        open -= 1;
        at += 1;
    }
    at
}

impl Leaf {
    fn new(name: String, element: &Value) -> Option<Self> {
        let unsigned = matches!(element.int(6), Some(11..=13));
        let (kind, number) = match element.int(1)? {
            1 if unsigned => (
                Physical::U32,
                Some(match element.int(6) {
                    Some(13) => Number::U32,
                    _ => Number::U16,
                }),
            ),
            1 => (Physical::I32, Some(Number::I32)),
            2 => (Physical::I64, None),
            4 => (Physical::F32, Some(Number::F32)),
            5 => (Physical::F64, Some(Number::F64)),
            _ => return None,
        };
        let repetition = element.int(3).unwrap_or(0);
        (repetition < 2).then_some(Self {
            name,
            kind,
            number,
            optional: repetition == 1,
        })
    }

    /// The values in the type of the file where that holds them (a count cannot be missing), else in
    /// the narrowest that does.
    fn column(self, values: Vec<f64>) -> Column {
        let is_measure = matches!(self.number, Some(Number::F32 | Number::F64));
        let is_whole = || values.iter().all(|value| !value.is_nan());
        let number = { self.number }
            .filter(|_| is_measure || is_whole())
            .unwrap_or_else(|| Number::of_field(&self.name, &values));
        Column::new(self.name, ColumnData::of(number, values))
    }
}

/// All values of a column, from every row group.
fn column(file: &[u8], metadata: &Value, leaf: &Leaf, points: usize) -> Result<Vec<f64>, String> {
    let mut values = Vec::new();
    for group in metadata.list(4) {
        let chunks = group.list(1).iter().filter_map(|chunk| chunk.field(3));
        let mut own = chunks.filter(
            |chunk| matches!(chunk.list(3), [only] if only.text().as_deref() == Some(&leaf.name)),
        );
        let chunk = own.next().ok_or("a row group lacks it")?;
        let chunk = Chunk::new(chunk).ok_or("its place in the file is damaged")?;
        values.extend(page::values(file, &chunk, leaf)?);
    }
    if values.len() != points {
        return Err(format!("{} values for {points} rows", values.len()));
    }
    Ok(values)
}

impl Chunk {
    fn new(metadata: &Value) -> Option<Self> {
        let data = metadata.count(9)?;
        // Some writers give 0 where there is no dictionary.
        let dictionary = metadata.count(11).filter(|start| *start > 0);
        Some(Self {
            start: dictionary.map_or(data, |start| start.min(data)),
            size: metadata.count(7)?,
            values: metadata.count(5)?,
            codec: metadata.int(4)?,
        })
    }
}
