//! Tables of points as Apache Parquet: one row group of required columns, plainly encoded and not
//! compressed, which every reader of the format opens.
//!
//! Metadata are Thrift structures in the compact protocol. Sources: the Apache Parquet format
//! specification 2.11 (`parquet.thrift`, "File format"), the Thrift compact protocol specification.

use crate::FormatError;
use crate::output::OutputSet;
use crate::table::{ColumnData, PointTable};
use std::path::Path;

const MAGIC: &[u8] = b"PAR1";

/// Field types of the compact protocol.
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// Encodings: values one after the other; runs (of levels, which required columns have none of).
const PLAIN: i64 = 0;
const RLE: i64 = 3;

/// Writes a `.parquet` with a column per field; whole numbers keep their type.
///
/// # Errors
/// Where the file cannot be written.
pub fn write_parquet(
    outputs: &mut OutputSet,
    path: &Path,
    table: &PointTable,
) -> Result<(), FormatError> {
    outputs.add(path, |file| file.write_all(&encode(table)))
}

/// Where a column stands in the file.
struct Chunk {
    offset: usize,
    /// Bytes with the page's header.
    size: usize,
}

fn encode(table: &PointTable) -> Vec<u8> {
    let mut file = MAGIC.to_vec();
    let mut chunks = Vec::new();
    for column in &table.columns {
        let values = column.data.plain_bytes();
        let offset = file.len();
        file.extend(page_header(values.len(), table.points));
        file.extend(values);
        chunks.push(Chunk {
            offset,
            size: file.len() - offset,
        });
    }
    let footer = footer(table, &chunks);
    file.extend(&footer);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a few hundred bytes a column"
    )]
    file.extend((footer.len() as u32).to_le_bytes());
    file.extend(MAGIC);
    file
}

/// The header of a page of that many bytes and values.
fn page_header(bytes: usize, values: usize) -> Vec<u8> {
    let mut page = Thrift::default();
    page.number(1, I32, 0);
    page.number(2, I32, whole(bytes));
    page.number(3, I32, whole(bytes));
    page.inner(5, |data| {
        data.number(1, I32, whole(values));
        data.number(2, I32, PLAIN);
        data.number(3, I32, RLE);
        data.number(4, I32, RLE);
    });
    page.ended()
}

fn footer(table: &PointTable, chunks: &[Chunk]) -> Vec<u8> {
    let mut file = Thrift::default();
    file.number(1, I32, 1);
    file.list(2, STRUCT, table.columns.len() + 1);
    file.element(|root| {
        root.text(4, "points");
        root.number(5, I32, whole(table.columns.len()));
    });
    for column in &table.columns {
        let (kind, converted) = column.data.parquet_type();
        file.element(|schema| {
            schema.number(1, I32, kind);
            schema.number(3, I32, 0);
            schema.text(4, &column.name);
            if let Some(converted) = converted {
                schema.number(6, I32, converted);
            }
        });
    }
    file.number(3, I64, whole(table.points));
    file.list(4, STRUCT, 1);
    file.element(|group| {
        group.list(1, STRUCT, chunks.len());
        for (column, chunk) in table.columns.iter().zip(chunks) {
            group.element(|element| {
                element.number(2, I64, whole(chunk.offset));
                element.inner(3, |metadata| {
                    metadata.number(1, I32, column.data.parquet_type().0);
                    metadata.list(2, I32, 1);
                    metadata.varint(zigzag(PLAIN));
                    metadata.list(3, BINARY, 1);
                    metadata.string(&column.name);
                    metadata.number(4, I32, 0);
                    metadata.number(5, I64, whole(table.points));
                    metadata.number(6, I64, whole(chunk.size));
                    metadata.number(7, I64, whole(chunk.size));
                    metadata.number(9, I64, whole(chunk.offset));
                });
            });
        }
        let all = chunks.iter().map(|chunk| chunk.size).sum();
        group.number(2, I64, whole(all));
        group.number(3, I64, whole(table.points));
    });
    file.text(6, "etendue");
    file.ended()
}

impl ColumnData {
    /// The physical type, and the converted one of whole numbers without a sign.
    fn parquet_type(&self) -> (i64, Option<i64>) {
        match self {
            Self::I32(_) => (1, None),
            Self::U16(_) => (1, Some(12)),
            Self::U32(_) => (1, Some(13)),
            Self::F32(_) => (4, None),
            Self::F64(_) => (5, None),
        }
    }

    /// The values one after the other, the low byte first.
    fn plain_bytes(&self) -> Vec<u8> {
        match self {
            Self::I32(values) => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
            Self::U16(values) => {
                let wide = values.iter().map(|v| u32::from(*v));
                wide.flat_map(u32::to_le_bytes).collect()
            }
            Self::U32(values) => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
            Self::F32(values) => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
            Self::F64(values) => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
        }
    }
}

fn whole(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Small numbers of either sign as small ones without.
fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

/// A structure of Thrift's compact protocol in the making.
#[derive(Default)]
struct Thrift {
    bytes: Vec<u8>,
    /// The number of the last field.
    last: u8,
}

impl Thrift {
    fn field(&mut self, number: u8, kind: u8) {
        self.bytes.push(((number - self.last) << 4) | kind);
        self.last = number;
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value.to_le_bytes()[0] | 0x80);
            value >>= 7;
        }
        self.bytes.push(value.to_le_bytes()[0]);
    }

    fn number(&mut self, field: u8, kind: u8, value: i64) {
        self.field(field, kind);
        self.varint(zigzag(value));
    }

    fn string(&mut self, text: &str) {
        self.varint(text.len() as u64);
        self.bytes.extend(text.as_bytes());
    }

    fn text(&mut self, field: u8, text: &str) {
        self.field(field, BINARY);
        self.string(text);
    }

    /// The head of a list, whose elements follow.
    fn list(&mut self, field: u8, kind: u8, length: usize) {
        self.field(field, LIST);
        if let Ok(short @ 0..15) = u8::try_from(length) {
            self.bytes.push((short << 4) | kind);
        } else {
            self.bytes.push(0xf0 | kind);
            self.varint(length as u64);
        }
    }

    /// A structure as an element of a list.
    fn element(&mut self, fill: impl FnOnce(&mut Self)) {
        let outer = std::mem::take(&mut self.last);
        fill(self);
        self.bytes.push(0);
        self.last = outer;
    }

    /// A structure as a field.
    fn inner(&mut self, field: u8, fill: impl FnOnce(&mut Self)) {
        self.field(field, STRUCT);
        self.element(fill);
    }

    fn ended(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes by the specification's own examples: zigzag 0, -1, 1, -2; 300 in two bytes.
    #[test]
    fn numbers_are_those_of_the_compact_protocol() {
        assert_eq!([0, -1, 1, -2].map(zigzag), [0, 1, 2, 3]);
        let mut thrift = Thrift::default();
        thrift.varint(300);
        assert_eq!(thrift.bytes, [0xac, 0x02]);
    }

    #[test]
    fn a_file_begins_and_ends_with_the_mark_and_says_where_its_footer_is() {
        let table = PointTable {
            points: 2,
            height: 1,
            columns: vec![crate::table::Column::new("x", ColumnData::U16(vec![7, 8]))],
        };
        let file = encode(&table);
        assert!(file.starts_with(MAGIC) && file.ends_with(MAGIC));
        let at = file.len() - 8;
        let length = u32::from_le_bytes([file[at], file[at + 1], file[at + 2], file[at + 3]]);
        // The footer begins with its first field, a version of 1.
        assert_eq!(file[at - length as usize..][..2], [0x15, 0x02]);
        // The page's values end where the footer begins.
        assert_eq!(
            file[at - length as usize - 8..][..8],
            [7, 0, 0, 0, 8, 0, 0, 0]
        );
    }
}
