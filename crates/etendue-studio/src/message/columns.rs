//! Binary messages: a JSON header and columns of numbers.
//!
//! A message is the length of the header (u32, little-endian), the header (JSON, padded with spaces to a multiple
//! of four bytes), and the columns one after another, each padded to a multiple of four bytes. The key `columns`
//! of the header lists their names, types and offsets from the end of the header.

use serde::Serialize;
use serde_json::Value as Json;

/// A column of numbers.
#[derive(Debug)]
pub struct Column {
    name: &'static str,
    kind: &'static str,
    bytes: Vec<u8>,
}

impl Column {
    /// A column of `f32`.
    pub fn f32(name: &'static str, values: impl Iterator<Item = f32>) -> Self {
        let bytes = bytes_of(values, f32::to_le_bytes);
        Self {
            name,
            kind: "f32",
            bytes,
        }
    }

    /// A column of `u32`.
    pub fn u32(name: &'static str, values: impl Iterator<Item = u32>) -> Self {
        let bytes = bytes_of(values, u32::to_le_bytes);
        Self {
            name,
            kind: "u32",
            bytes,
        }
    }

    /// A column of `u16`.
    pub fn u16(name: &'static str, values: impl Iterator<Item = u16>) -> Self {
        let bytes = bytes_of(values, u16::to_le_bytes);
        Self {
            name,
            kind: "u16",
            bytes,
        }
    }

    /// A column of `u8`.
    pub fn u8(name: &'static str, values: impl Iterator<Item = u8>) -> Self {
        Self {
            name,
            kind: "u8",
            bytes: values.collect(),
        }
    }
}

/// Numbers one after another. Appending them whole is several times as fast as collecting single bytes.
fn bytes_of<T, const N: usize>(
    values: impl Iterator<Item = T>,
    to_bytes: impl Fn(T) -> [u8; N],
) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(N * values.size_hint().0);
    for value in values {
        bytes.extend_from_slice(&to_bytes(value));
    }
    bytes
}

/// Entry of the list of columns in the header.
#[derive(Serialize)]
struct Entry {
    name: &'static str,
    kind: &'static str,
    offset: usize,
    bytes: usize,
}

/// A message with a header, which must be a JSON object.
pub fn message(header: impl Serialize, columns: &[Column]) -> Vec<u8> {
    // Place the columns
    let mut offset = 0;
    let entries: Vec<Entry> = columns
        .iter()
        .map(|column| {
            let entry = Entry {
                name: column.name,
                kind: column.kind,
                offset,
                bytes: column.bytes.len(),
            };
            offset += column.bytes.len().next_multiple_of(4);
            entry
        })
        .collect();

    // Write the header
    let mut header = serde_json::to_value(header).unwrap_or_default();
    if let Json::Object(header) = &mut header {
        header.insert(
            "columns".into(),
            serde_json::to_value(entries).unwrap_or_default(),
        );
    }
    let mut text = header.to_string();
    text.extend(std::iter::repeat_n(
        ' ',
        text.len().next_multiple_of(4) - text.len(),
    ));
    let mut message = Vec::with_capacity(4 + text.len() + offset);
    message.extend(u32::try_from(text.len()).unwrap_or(0).to_le_bytes());
    message.extend(text.as_bytes());

    // Write the columns
    for column in columns {
        message.extend(&column.bytes);
        message.resize(message.len().next_multiple_of(4), 0);
    }
    message
}
