//! Feather tables of version 2 (Arrow IPC files), read only. Needs the feature `feather`.
//!
//! Columns of floating-point numbers of 16, 32 and 64 bits and of integers of 8 to 64 bits are read, uncompressed or compressed with LZ4
//! or Zstandard, with NaN for null. Other columns are skipped with a warning. The names of Argoverse 2 are those of this project: `offset_ns`
//! is the field `time` in s, `laser_number` is `ring`.

use super::{FormatEntry, PointReader};

pub(super) const FORMAT: FormatEntry = FormatEntry {
    endings: &["feather", "arrow"],
    recognizes: |_, bytes| bytes.starts_with(b"ARROW1"),
    points_only: true,
    in_folders: false,
    is_recorded_cloud: true,
    read: PointReader::Whole(|file| codec::decode(file.path, file.bytes)),
    write: None,
    capacity: None,
    editor: None,
};

#[cfg(not(feature = "feather"))]
mod codec {
    use crate::FormatError;
    use crate::table::PointSweeps;
    use std::path::Path;

    pub fn decode(path: &Path, _: Vec<u8>) -> Result<PointSweeps, FormatError> {
        Err(FormatError::disabled(path, "Feather", "feather"))
    }
}

#[cfg(feature = "feather")]
mod codec {
    use crate::FormatError;
    use crate::foreign::{guarded_points, is_plausible};
    use crate::table::{ColumnData, ColumnType, PointColumn, PointSweeps, PointTable};
    use arrow_array::cast::AsArray;
    use arrow_array::types::{
        ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
        Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
    };
    use arrow_array::{Array, RecordBatch};
    use arrow_ipc::reader::{FileReader, read_footer_length};
    use arrow_ipc::{Block, root_as_footer, root_as_message};
    use arrow_schema::{ArrowError, DataType};
    use std::io::Cursor;
    use std::path::Path;

    pub fn decode(path: &Path, bytes: Vec<u8>) -> Result<PointSweeps, FormatError> {
        let remedy = "give a complete .feather of version 2 with columns x, y and z, uncompressed or compressed \
                      with LZ4 or Zstandard";
        guarded_points(path, remedy, || read(bytes))
    }

    /// Reads the points of all record batches.
    fn read(bytes: Vec<u8>) -> Result<PointSweeps, ArrowError> {
        check_sizes(&bytes)?;
        let file = FileReader::try_new(Cursor::new(bytes), None)?;
        let schema = file.schema();
        let batches = file.collect::<Result<Vec<RecordBatch>, _>>()?;
        let mut points = PointSweeps::default();
        let mut table = PointTable {
            height: 1,
            points: batches.iter().map(RecordBatch::num_rows).sum(),
            columns: Vec::new(),
        };
        for (index, field) in schema.fields().iter().enumerate() {
            let parts = batches.iter().map(|batch| numbers(batch.column(index)));
            match parts.collect::<Option<Vec<Vec<f64>>>>() {
                Some(values) => {
                    let values = values.concat();
                    let stored = stored_type(field.data_type());
                    table.columns.push(column(field.name(), stored, values));
                }
                None => points.warnings.push(format!(
                    "the column {} contains no numbers and was skipped",
                    field.name()
                )),
            }
        }
        points.sweeps.push(table);
        Ok(points)
    }

    /// Length of the end of a file: the length of the footer and the magic number.
    const END: usize = 10;

    /// Checks the places and the stated sizes of all buffers: the library allocates what the file states.
    fn check_sizes(bytes: &[u8]) -> Result<(), ArrowError> {
        let outside = || ArrowError::IpcError("a part is not within the file".into());
        let invalid = |error| ArrowError::IpcError(format!("{error}"));
        // Footer
        let end = bytes.last_chunk::<END>().ok_or_else(outside)?;
        let length = read_footer_length(*end)?;
        let rest = &bytes[..bytes.len() - END];
        let start = rest.len().checked_sub(length).ok_or_else(outside)?;
        let footer = root_as_footer(&rest[start..]).map_err(invalid)?;
        // Content of all batches
        let mut content = 0_u64;
        let dictionaries = footer.dictionaries().into_iter().flatten();
        for block in dictionaries.chain(footer.recordBatches().into_iter().flatten()) {
            let size = content_of(rest, block).ok_or_else(outside)?;
            content = content.saturating_add(size);
        }
        if is_plausible(content, 1, bytes.len()) {
            return Ok(());
        }
        let message = format!("{content} bytes of content are out of proportion to the file");
        Err(ArrowError::IpcError(message))
    }

    /// Size of the content of a batch in memory; `None` where a part of it is not within the file.
    fn content_of(file: &[u8], block: &Block) -> Option<u64> {
        // Message, after a marker and its length
        let start = usize::try_from(block.offset()).ok()?;
        let body = start.checked_add(usize::try_from(block.metaDataLength()).ok()?)?;
        let end = body.checked_add(usize::try_from(block.bodyLength()).ok()?)?;
        let message = root_as_message(file.get(start + 8..body)?).ok()?;
        let body = file.get(body..end)?;
        let Some(batch) = message.header_as_record_batch() else {
            return Some(body.len() as u64);
        };
        // Buffers; compressed ones begin with their size, or -1 where they are not compressed
        let mut content = 0_u64;
        for buffer in batch.buffers()? {
            let start = usize::try_from(buffer.offset()).ok()?;
            let length = usize::try_from(buffer.length()).ok()?;
            let part = body.get(start..start.checked_add(length)?)?;
            let stated = match part.first_chunk::<8>() {
                Some(size) if batch.compression().is_some() => i64::from_le_bytes(*size),
                _ => -1,
            };
            content = content.saturating_add(u64::try_from(stated).unwrap_or(length as u64));
        }
        Some(content)
    }

    /// Column of a table, under the name and in the unit of this project.
    fn column(name: &str, stored: Option<ColumnType>, values: Vec<f64>) -> PointColumn {
        if name == "offset_ns" {
            let seconds = values.into_iter().map(|nanoseconds| 1e-9 * nanoseconds);
            return PointColumn::new("time", ColumnData::F64(seconds.collect()));
        }
        let name = if name == "laser_number" { "ring" } else { name };
        PointColumn::of_numbers(name, stored, values)
    }

    /// The column type that holds all numbers of a type of the file, if there is one.
    fn stored_type(of_file: &DataType) -> Option<ColumnType> {
        match of_file {
            DataType::UInt8 | DataType::UInt16 => Some(ColumnType::U16),
            DataType::Int8 | DataType::Int16 | DataType::Int32 => Some(ColumnType::I32),
            DataType::UInt32 => Some(ColumnType::U32),
            DataType::Float16 | DataType::Float32 => Some(ColumnType::F32),
            DataType::Float64 => Some(ColumnType::F64),
            _ => None,
        }
    }

    /// Numbers of an array, NaN for null; `None` for an array of other values.
    fn numbers(array: &dyn Array) -> Option<Vec<f64>> {
        match array.data_type() {
            DataType::Float16 => all::<Float16Type>(array, |value| f64::from(value.to_f32())),
            DataType::Float32 => all::<Float32Type>(array, f64::from),
            DataType::Float64 => all::<Float64Type>(array, |value| value),
            DataType::Int8 => all::<Int8Type>(array, f64::from),
            DataType::Int16 => all::<Int16Type>(array, f64::from),
            DataType::Int32 => all::<Int32Type>(array, f64::from),
            DataType::Int64 => all::<Int64Type>(array, |value| value as f64),
            DataType::UInt8 => all::<UInt8Type>(array, f64::from),
            DataType::UInt16 => all::<UInt16Type>(array, f64::from),
            DataType::UInt32 => all::<UInt32Type>(array, f64::from),
            DataType::UInt64 => all::<UInt64Type>(array, |value| value as f64),
            _ => None,
        }
    }

    fn all<T: ArrowPrimitiveType>(
        array: &dyn Array,
        number: impl Fn(T::Native) -> f64,
    ) -> Option<Vec<f64>> {
        let values = array.as_primitive_opt::<T>()?;
        let number = |value: Option<T::Native>| value.map_or(f64::NAN, &number);
        Some(values.iter().map(number).collect())
    }
}
