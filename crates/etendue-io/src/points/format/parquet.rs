//! Apache Parquet tables with flat columns of numbers. Needs the feature `parquet`.
//!
//! The reader supports the physical number types, required or optional (NaN for null), in every
//! encoding, uncompressed or compressed with Snappy, gzip or Zstandard. Other columns are skipped
//! with a warning. The writer uses required columns in one row group, plain encoding and
//! Zstandard.

use super::{FormatEntry, PointReader};
use crate::FormatError;
use crate::output::OutputSet;
use crate::table::{PointSweeps, PointTable};
use std::path::Path;

pub(super) const FORMAT: FormatEntry = FormatEntry {
    endings: &["parquet"],
    recognizes: |_, bytes| bytes.starts_with(b"PAR1"),
    points_only: true,
    in_folders: false,
    is_recorded_cloud: false,
    read: PointReader::Whole(|file| parse(file.path, file.bytes)),
    write: Some(|outputs, path, table, _| write_parquet(outputs, path, table)),
    capacity: None,
    editor: None,
};

/// Writes a `.parquet` with one column per field; integers keep their type.
///
/// # Errors
/// If the file cannot be written, or this build lacks the feature `parquet`.
pub fn write_parquet(
    outputs: &mut OutputSet,
    path: &Path,
    table: &PointTable,
) -> Result<(), FormatError> {
    let bytes = codec::encode(path, table)?;
    outputs.add(path, |file| file.write_all(&bytes))
}

/// Reads the columns of numbers of a file.
fn parse(path: &Path, bytes: Vec<u8>) -> Result<PointSweeps, FormatError> {
    codec::decode(path, bytes)
}

#[cfg(not(feature = "parquet"))]
mod codec {
    use super::{FormatError, Path, PointSweeps, PointTable};

    pub fn encode(path: &Path, _: &PointTable) -> Result<Vec<u8>, FormatError> {
        Err(FormatError::disabled(path, "Parquet", "parquet"))
    }

    pub fn decode(path: &Path, _: Vec<u8>) -> Result<PointSweeps, FormatError> {
        Err(FormatError::disabled(path, "Parquet", "parquet"))
    }
}

#[cfg(feature = "parquet")]
mod codec {
    use super::{FormatError, Path, PointSweeps, PointTable};
    use crate::FileLocation;
    use crate::foreign::{guarded_points, is_plausible};
    use crate::table::{ColumnData, ColumnType, PointColumn};
    use bytes::Bytes;
    use parquet::basic::{
        Compression, ConvertedType, Encoding, Repetition, Type as PhysicalType, ZstdLevel,
    };
    use parquet::column::page::{Page, PageMetadata, PageReader};
    use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
    use parquet::data_type::{DataType, DoubleType, FloatType, Int32Type};
    use parquet::errors::{ParquetError, Result};
    use parquet::file::metadata::ColumnChunkMetaData;
    use parquet::file::properties::{EnabledStatistics, WriterProperties};
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::types::Type;
    use std::sync::Arc;

    pub fn encode(path: &Path, table: &PointTable) -> std::result::Result<Vec<u8>, FormatError> {
        write(table).map_err(|error| {
            let remedy = "write a .ply, .pcd or .npz";
            FormatError::malformed(path, FileLocation::File, error.to_string(), remedy)
        })
    }

    fn write(table: &PointTable) -> Result<Vec<u8>> {
        // Schema: one required column per field
        let fields = table.columns.iter().map(|column| {
            let (physical, converted) = stored_type(&column.data);
            let field = Type::primitive_type_builder(&column.name, physical)
                .with_repetition(Repetition::REQUIRED)
                .with_converted_type(converted);
            Ok(Arc::new(field.build()?))
        });
        let fields = fields.collect::<Result<Vec<_>>>()?;
        let schema = Type::group_type_builder("points").with_fields(fields);
        let properties = WriterProperties::builder()
            .set_dictionary_enabled(false)
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_statistics_enabled(EnabledStatistics::None)
            .set_created_by("etendue".into());

        // One row group
        let mut file = Vec::new();
        let mut writer = SerializedFileWriter::new(
            &mut file,
            Arc::new(schema.build()?),
            Arc::new(properties.build()),
        )?;
        let mut group = writer.next_row_group()?;
        for column in &table.columns {
            let missing = || ParquetError::General("the schema has fewer columns".into());
            let mut writer = group.next_column()?.ok_or_else(missing)?;
            match &column.data {
                ColumnData::F32(values) => {
                    let floats = writer.typed::<FloatType>();
                    floats.write_batch(values, None, None)?;
                }
                ColumnData::F64(values) => {
                    let doubles = writer.typed::<DoubleType>();
                    doubles.write_batch(values, None, None)?;
                }
                other => {
                    let integers = writer.typed::<Int32Type>();
                    integers.write_batch(&bits(other), None, None)?;
                }
            }
            writer.close()?;
        }
        group.close()?;
        writer.close()?;
        Ok(file)
    }

    /// The physical type and, for unsigned integers, the converted type.
    fn stored_type(data: &ColumnData) -> (PhysicalType, ConvertedType) {
        match data {
            ColumnData::I32(_) => (PhysicalType::INT32, ConvertedType::NONE),
            ColumnData::U16(_) => (PhysicalType::INT32, ConvertedType::UINT_16),
            ColumnData::U32(_) => (PhysicalType::INT32, ConvertedType::UINT_32),
            ColumnData::F32(_) => (PhysicalType::FLOAT, ConvertedType::NONE),
            ColumnData::F64(_) => (PhysicalType::DOUBLE, ConvertedType::NONE),
        }
    }

    /// Integers as 32 bits; empty for other columns.
    fn bits(data: &ColumnData) -> Vec<i32> {
        match data {
            ColumnData::I32(values) => values.clone(),
            ColumnData::U16(values) => values.iter().map(|value| i32::from(*value)).collect(),
            ColumnData::U32(values) => values.iter().map(|value| value.cast_signed()).collect(),
            ColumnData::F32(_) | ColumnData::F64(_) => Vec::new(),
        }
    }

    pub fn decode(path: &Path, bytes: Vec<u8>) -> std::result::Result<PointSweeps, FormatError> {
        let remedy = "give a complete .parquet with columns x, y and z, uncompressed or compressed \
                      with Snappy, gzip or Zstandard";
        guarded_points(path, remedy, || read(Bytes::from(bytes)))
    }

    /// Reads the points. [`check_chunk`] and [`CheckedPages`] detect damage in metadata and page
    /// headers; the decoders of the library still panic on some damaged pages, for example if a bit
    /// width exceeds the type.
    fn read(bytes: Bytes) -> Result<PointSweeps> {
        let length = bytes.len();
        let size = length as u64;
        let file = SerializedFileReader::new(bytes)?;
        for group in file.metadata().row_groups() {
            for chunk in group.columns() {
                check_chunk(chunk, size)?;
            }
        }
        let metadata = file.metadata().file_metadata();
        let rows = usize::try_from(metadata.num_rows())
            .map_err(|_| ParquetError::General("the number of rows is negative".into()))?;
        let columns = metadata.schema().get_fields().len();
        if !is_plausible(
            rows as u64,
            columns.saturating_mul(size_of::<f64>()),
            length,
        ) {
            let message = format!("{rows} rows are out of proportion to {length} bytes");
            return Err(ParquetError::General(message));
        }
        let mut points = PointSweeps::default();
        let mut table = PointTable {
            height: 1,
            points: rows,
            columns: Vec::new(),
        };
        // Leaves are numbered through all columns, including nested ones
        let mut leaf = 0;
        for field in metadata.schema().get_fields() {
            let name = field.name();
            if let Some(number) = stored_number(field) {
                let values = column(&file, leaf, name, rows)?;
                table
                    .columns
                    .push(PointColumn::of_numbers(name, number, values));
            } else {
                points.warnings.push(format!(
                    "the column {name} contains no numbers and was skipped"
                ));
            }
            leaf += leaves(field);
        }
        points.sweeps.push(table);
        Ok(points)
    }

    /// Checks that a column chunk is within a file of `size` bytes; the library panics on negative
    /// offsets and sizes.
    fn check_chunk(chunk: &ColumnChunkMetaData, size: u64) -> Result<()> {
        let start = chunk
            .dictionary_page_offset()
            .unwrap_or(chunk.data_page_offset());
        let end = u64::try_from(start)
            .ok()
            .zip(u64::try_from(chunk.compressed_size()).ok())
            .and_then(|(start, length)| start.checked_add(length));
        if end.is_some_and(|end| end <= size) {
            return Ok(());
        }
        let message = format!("column {} is not within the file", chunk.column_path());
        Err(ParquetError::General(message))
    }

    /// Pages of a column chunk. The library panics on dictionary indices without a dictionary, so
    /// the dictionary page must precede them.
    struct CheckedPages {
        pages: Box<dyn PageReader>,
        has_dictionary: bool,
    }

    impl CheckedPages {
        /// Checks a page against the preceding pages.
        fn check(&mut self, page: &Page) -> Result<()> {
            let encoding = page.encoding();
            match page {
                Page::DictionaryPage { .. } => self.has_dictionary = true,
                Page::DataPage { .. } | Page::DataPageV2 { .. } => {
                    let is_index = matches!(
                        encoding,
                        Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY
                    );
                    if is_index && !self.has_dictionary {
                        let message = "a page has indices of a dictionary that is missing";
                        return Err(ParquetError::General(message.into()));
                    }
                }
            }
            Ok(())
        }
    }

    impl Iterator for CheckedPages {
        type Item = Result<Page>;

        fn next(&mut self) -> Option<Self::Item> {
            self.get_next_page().transpose()
        }
    }

    impl PageReader for CheckedPages {
        fn get_next_page(&mut self) -> Result<Option<Page>> {
            let page = self.pages.get_next_page()?;
            if let Some(page) = &page {
                self.check(page)?;
            }
            Ok(page)
        }

        fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
            self.pages.peek_next_page()
        }

        fn skip_next_page(&mut self) -> Result<()> {
            self.pages.skip_next_page()
        }

        fn at_record_boundary(&mut self) -> Result<bool> {
            self.pages.at_record_boundary()
        }
    }

    /// Number of leaves of a column of the schema.
    fn leaves(field: &Type) -> usize {
        match field {
            Type::PrimitiveType { .. } => 1,
            Type::GroupType { fields, .. } => fields.iter().map(|field| leaves(field)).sum(),
        }
    }

    /// The type of a column of numbers: `None` for other columns, `Some(None)` if no column type of
    /// a table is wide enough.
    #[expect(
        clippy::option_option,
        reason = "other columns and wide numbers differ"
    )]
    fn stored_number(field: &Type) -> Option<Option<ColumnType>> {
        let info = field.get_basic_info();
        if !field.is_primitive() || info.repetition() == Repetition::REPEATED {
            return None;
        }
        Some(match (field.get_physical_type(), info.converted_type()) {
            (PhysicalType::INT32, ConvertedType::UINT_8 | ConvertedType::UINT_16) => {
                Some(ColumnType::U16)
            }
            (PhysicalType::INT32, ConvertedType::UINT_32) => Some(ColumnType::U32),
            (PhysicalType::INT32, _) => Some(ColumnType::I32),
            (PhysicalType::INT64, _) => None,
            (PhysicalType::FLOAT, _) => Some(ColumnType::F32),
            (PhysicalType::DOUBLE, _) => Some(ColumnType::F64),
            _ => return None,
        })
    }

    /// All values of a column, from every row group; NaN for null.
    fn column(
        file: &SerializedFileReader<Bytes>,
        leaf: usize,
        name: &str,
        rows: usize,
    ) -> Result<Vec<f64>> {
        let mut values = Vec::new();
        for group in 0..file.num_row_groups() {
            let group = file.get_row_group(group)?;
            let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
            let description = group.metadata().column(leaf).column_descr_ptr();
            let pages = CheckedPages {
                pages: group.get_column_page_reader(leaf)?,
                has_dictionary: false,
            };

            // Read the numbers by their physical type
            let is_unsigned = description.converted_type() == ConvertedType::UINT_32;
            values.extend(match get_column_reader(description, Box::new(pages)) {
                ColumnReader::Int32ColumnReader(reader) if is_unsigned => {
                    numbers(reader, rows, |value| f64::from(value.cast_unsigned()))?
                }
                ColumnReader::Int32ColumnReader(reader) => numbers(reader, rows, f64::from)?,
                ColumnReader::Int64ColumnReader(reader) => numbers(reader, rows, |v| v as f64)?,
                ColumnReader::FloatColumnReader(reader) => numbers(reader, rows, f64::from)?,
                ColumnReader::DoubleColumnReader(reader) => numbers(reader, rows, |v| v)?,
                _ => Vec::new(),
            });
        }
        // Check that every row has a value
        if values.len() != rows {
            let message = format!("column {name}: {} values for {rows} rows", values.len());
            return Err(ParquetError::General(message));
        }
        Ok(values)
    }

    /// Values of one row group.
    fn numbers<T: DataType>(
        mut reader: ColumnReaderImpl<T>,
        rows: usize,
        number: impl Fn(T::T) -> f64,
    ) -> Result<Vec<f64>> {
        let mut values = Vec::new();
        let mut levels = Vec::new();
        let (records, ..) = reader.read_records(rows, Some(&mut levels), None, &mut values)?;
        let mut values = values.into_iter().map(number);
        // Without definition levels every value is present
        if levels.is_empty() {
            return Ok(values.collect());
        }
        let value = |level: i16| {
            if level > 0 {
                values.next().unwrap_or(f64::NAN)
            } else {
                f64::NAN
            }
        };
        Ok(levels.into_iter().take(records).map(value).collect())
    }
}
