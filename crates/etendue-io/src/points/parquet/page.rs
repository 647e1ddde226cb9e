//! The values of pages.

use super::thrift::{Reader, Value};
use super::{Chunk, Leaf, Physical};
use crate::input::decompress_zstd;
use std::io::Read;

/// The most bytes that a page may say it holds.
const LARGEST_PAGE: usize = 1 << 30;

/// The most values that a page may say it holds.
const MOST_VALUES: usize = 1 << 28;

/// Kinds of pages.
const DATA: i64 = 0;
const DICTIONARY: i64 = 2;
const DATA_V2: i64 = 3;

/// Encodings.
const PLAIN: i64 = 0;
const PLAIN_DICTIONARY: i64 = 2;
const RLE_DICTIONARY: i64 = 8;
const BYTE_STREAM_SPLIT: i64 = 9;

/// The values of a column chunk, NaN where there is none; or what is wrong with it.
pub(super) fn values(file: &[u8], chunk: &Chunk, leaf: &Leaf) -> Result<Vec<f64>, String> {
    let bytes = { chunk.start.checked_add(chunk.size) }
        .and_then(|end| file.get(chunk.start..end))
        .ok_or("its pages lie outside the file")?;
    let mut reader = Reader::new(bytes);
    let mut dictionary = Vec::new();
    let mut values = Vec::new();
    while values.len() < chunk.values {
        let start = reader.at;
        let mut header = Reader::new(&bytes[start..]);
        let page = header.structure().ok_or("a page's header is damaged")?;
        reader.at = start + header.at;
        let size = page.count(3).ok_or("a page has no size")?;
        let body = reader.take(size).ok_or("a page is cut")?;
        match page.int(1) {
            Some(DICTIONARY) => dictionary = plain_page(&page, body, chunk, leaf)?,
            Some(DATA) => values.extend(first_version(&page, body, chunk, leaf, &dictionary)?),
            Some(DATA_V2) => values.extend(second_version(&page, body, chunk, leaf, &dictionary)?),
            _ => {}
        }
    }
    if values.len() != chunk.values {
        return Err("its pages hold more values than the file says".into());
    }
    Ok(values)
}

fn unpacked(page: &Value, body: &[u8], codec: i64) -> Result<Vec<u8>, String> {
    codec_of(codec, body, unpacked_size(page)?)
}

/// Bytes of a page once unpacked.
fn unpacked_size(page: &Value) -> Result<usize, String> {
    let size = page.count(2).ok_or("a page has no size")?;
    if size > LARGEST_PAGE {
        return Err("a page says it holds more than a gigabyte".into());
    }
    Ok(size)
}

fn codec_of(codec: i64, body: &[u8], size: usize) -> Result<Vec<u8>, String> {
    let damaged = |error: &dyn std::fmt::Display| format!("a page does not unpack: {error}");
    match codec {
        0 => Ok(body.to_vec()),
        1 => {
            if snap::raw::decompress_len(body).map_err(|error| damaged(&error))? > LARGEST_PAGE {
                return Err("a page says it holds more than a gigabyte".into());
            }
            let mut decoder = snap::raw::Decoder::new();
            decoder
                .decompress_vec(body)
                .map_err(|error| damaged(&error))
        }
        6 => {
            let mut bytes = Vec::new();
            let decompressed = decompress_zstd(body, &mut bytes);
            decompressed
                .map(|()| bytes)
                .map_err(|error| damaged(&error))
        }
        2 => {
            let mut bytes = Vec::new();
            let packed = flate2::read::MultiGzDecoder::new(body);
            let read = packed.take(size as u64).read_to_end(&mut bytes);
            read.map(|_| bytes).map_err(|error| damaged(&error))
        }
        4 => Err("it is packed with brotli".into()),
        5 | 7 => Err("it is packed with LZ4".into()),
        _ => Err("it is packed in an unknown way".into()),
    }
}

/// The values of a dictionary.
fn plain_page(page: &Value, body: &[u8], chunk: &Chunk, leaf: &Leaf) -> Result<Vec<f64>, String> {
    let header = page.field(7).ok_or("a dictionary has no header")?;
    let bytes = unpacked(page, body, chunk.codec)?;
    leaf.kind.plain(&bytes, counted(header)?)
}

fn counted(header: &Value) -> Result<usize, String> {
    let count = header.count(1).ok_or("a page does not count its values")?;
    if count > MOST_VALUES {
        return Err("a page says it holds more than 268 million values".into());
    }
    Ok(count)
}

/// A page whose levels are packed with its values.
fn first_version(
    page: &Value,
    body: &[u8],
    chunk: &Chunk,
    leaf: &Leaf,
    dictionary: &[f64],
) -> Result<Vec<f64>, String> {
    let header = page.field(5).ok_or("a page has no header of its data")?;
    let bytes = unpacked(page, body, chunk.codec)?;
    let count = counted(header)?;
    let mut rest = &bytes[..];
    let present = if leaf.optional {
        let cut = "a page's levels are cut";
        let (length, after) = rest.split_first_chunk::<4>().ok_or(cut)?;
        let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let levels = after.get(..length).ok_or(cut)?;
        rest = &after[length..];
        Some(hybrid(levels, 1, count).ok_or(cut)?)
    } else {
        None
    };
    spread(present, count, |count| {
        encoded(header.int(2), rest, count, leaf, dictionary)
    })
}

/// A page whose levels stand before its values, not packed.
fn second_version(
    page: &Value,
    body: &[u8],
    chunk: &Chunk,
    leaf: &Leaf,
    dictionary: &[f64],
) -> Result<Vec<f64>, String> {
    let cut = "a page's levels are cut";
    let header = page.field(8).ok_or("a page has no header of its data")?;
    let count = counted(header)?;
    let [levels, repeats] = [5, 6].map(|field| header.count(field).unwrap_or(0));
    let before = levels.checked_add(repeats).ok_or(cut)?;
    let (head, packed) = body.split_at_checked(before).ok_or(cut)?;
    let unpacked;
    let bytes = if header.bool(7).unwrap_or(true) {
        let size = unpacked_size(page)?.saturating_sub(before);
        unpacked = codec_of(chunk.codec, packed, size)?;
        &unpacked[..]
    } else {
        packed
    };
    let present = if leaf.optional {
        Some(hybrid(&head[repeats..], 1, count).ok_or(cut)?)
    } else {
        None
    };
    spread(present, count, |count| {
        encoded(header.int(4), bytes, count, leaf, dictionary)
    })
}

/// Values where they are present, NaN where not.
fn spread(
    present: Option<Vec<u32>>,
    count: usize,
    values: impl FnOnce(usize) -> Result<Vec<f64>, String>,
) -> Result<Vec<f64>, String> {
    let Some(present) = present else {
        return values(count);
    };
    let there = present.iter().filter(|level| **level > 0).count();
    let mut values = values(there)?.into_iter();
    let all = present.iter().map(|level| match level {
        0 => Some(f64::NAN),
        _ => values.next(),
    });
    all.collect::<Option<_>>()
        .ok_or_else(|| "a page lacks values".into())
}

fn encoded(
    encoding: Option<i64>,
    bytes: &[u8],
    count: usize,
    leaf: &Leaf,
    dictionary: &[f64],
) -> Result<Vec<f64>, String> {
    match encoding {
        Some(PLAIN) => leaf.kind.plain(bytes, count),
        Some(BYTE_STREAM_SPLIT) => {
            let width = leaf.kind.width();
            let whole = bytes.get(..count * width).ok_or("a page is cut")?;
            let place = |i: usize| whole[i % width * count + i / width];
            let joined: Vec<u8> = (0..whole.len()).map(place).collect();
            leaf.kind.plain(&joined, count)
        }
        Some(PLAIN_DICTIONARY | RLE_DICTIONARY) => {
            let damaged = "a page's numbers of its dictionary are damaged";
            if count == 0 {
                return Ok(Vec::new());
            }
            let (width, rest) = bytes.split_first().ok_or(damaged)?;
            let numbers = hybrid(rest, u32::from(*width), count).ok_or(damaged)?;
            let value = |number: &u32| dictionary.get(*number as usize).copied();
            let values: Option<_> = numbers.iter().map(value).collect();
            values.ok_or_else(|| damaged.into())
        }
        Some(other) => Err(format!("its encoding (number {other}) is not read here")),
        None => Err("a page does not say its encoding".into()),
    }
}

/// Numbers of `width` bits as runs and packed groups of eight; nothing where they are damaged.
fn hybrid(bytes: &[u8], width: u32, count: usize) -> Option<Vec<u32>> {
    if width > 32 {
        return None;
    }
    let mut reader = Reader::new(bytes);
    let mut numbers = Vec::with_capacity(count.min(1 << 20));
    while numbers.len() < count {
        let left = count - numbers.len();
        let head = reader.varint()?;
        let length = usize::try_from(head >> 1).ok()?;
        if head & 1 == 0 {
            let parts = reader.take(width.div_ceil(8) as usize)?;
            let number = parts
                .iter()
                .rev()
                .fold(0, |sum, b| sum << 8 | u32::from(*b));
            numbers.extend(std::iter::repeat_n(number, length.min(left)));
            if length == 0 {
                return None;
            }
        } else {
            let packed = reader.take(length.checked_mul(width as usize)?)?;
            let whole = length.checked_mul(8)?.min(left);
            numbers.extend((0..whole).map(|i| bits(packed, i * width as usize, width)));
            if length == 0 {
                return None;
            }
        }
    }
    Some(numbers)
}

/// The `width` bits from bit number `start` on, the low ones first.
fn bits(bytes: &[u8], start: usize, width: u32) -> u32 {
    let bit = |i: usize| u32::from(bytes[i / 8] >> (i % 8) & 1);
    (0..width).fold(0, |sum, i| sum | bit(start + i as usize) << i)
}

impl Physical {
    /// Bytes of a value.
    fn width(self) -> usize {
        match self {
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::F64 => 8,
        }
    }

    /// Values one after the other.
    fn plain(self, bytes: &[u8], count: usize) -> Result<Vec<f64>, String> {
        let all = { count.checked_mul(self.width()) }.and_then(|length| bytes.get(..length));
        let values = all.ok_or("a page is cut")?.chunks_exact(self.width());
        Ok(values.map(|value| self.number(value)).collect())
    }

    fn number(self, bytes: &[u8]) -> f64 {
        let low = bytes.first_chunk::<4>().copied().unwrap_or_default();
        let long = bytes.first_chunk::<8>().copied().unwrap_or_default();
        match self {
            Self::I32 => f64::from(i32::from_le_bytes(low)),
            Self::U32 => f64::from(u32::from_le_bytes(low)),
            Self::F32 => f64::from(f32::from_le_bytes(low)),
            Self::I64 => i64::from_le_bytes(long) as f64,
            Self::F64 => f64::from_le_bytes(long),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The specification's own example: 0 to 7 in three bits are 0x88 0xc6 0xfa.
    #[test]
    fn packed_numbers_are_those_of_the_specification() {
        let bytes = [0b11, 0x88, 0xc6, 0xfa];
        assert_eq!(hybrid(&bytes, 3, 8), Some((0..8).collect()));
        // A run of five twos, then cut.
        assert_eq!(hybrid(&[10, 2], 3, 5), Some(vec![2; 5]));
        assert_eq!(hybrid(&[10, 2], 3, 6), None);
    }
}
