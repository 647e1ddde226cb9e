//! Chunks of MCAP files, decompressed.
//!
//! The crate `mcap` brings C libraries for its compressed chunks, which take longer to compile than any
//! other dependency. Here chunks are decompressed by the pure Rust decoders that the other formats use.

use crate::input::decompress_zstd;
use mcap::records::{ChunkHeader, Record};
use std::borrow::Cow;
use std::io::{self, Read};

/// Opcode of a chunk record.
pub(crate) const CHUNK: u8 = 0x06;
/// Bytes of a record before its content: opcode and length.
const RECORD_HEADER: usize = 9;
/// Bytes of a chunk before the name of its compression: two times, uncompressed size, checksum.
const FIXED_FIELDS: usize = 8 + 8 + 8 + 4;
/// Bytes of an uncompressed chunk before its records: the empty name and the length come on top.
const UNCOMPRESSED_FIELDS: usize = FIXED_FIELDS + 4 + 8;

/// The content of a chunk record.
struct Chunk<'a> {
    fixed_fields: &'a [u8],
    uncompressed_size: u64,
    compression: &'a [u8],
    /// The records as stored; less than the chunk states where the file is truncated.
    records: &'a [u8],
}

impl<'a> Chunk<'a> {
    fn parse(content: &'a [u8]) -> Option<Self> {
        let (fixed_fields, rest) = content.split_at_checked(FIXED_FIELDS)?;
        let (length, rest) = rest.split_first_chunk()?;
        let (compression, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        let (_, records) = rest.split_first_chunk::<8>()?;
        Some(Self {
            fixed_fields,
            uncompressed_size: read_u64(fixed_fields, 16)?,
            compression,
            records,
        })
    }

    /// Whether the records are compressed by a method that is read here.
    fn is_compressed(&self) -> bool {
        matches!(self.compression, b"zstd" | b"lz4")
    }

    /// Appends the decompressed records to `output`; what was decompressed before an error stays there.
    fn decompress(&self, output: &mut Vec<u8>) -> io::Result<()> {
        match self.compression {
            b"zstd" => decompress_zstd(self.records, output),
            b"lz4" => lz4_flex::frame::FrameDecoder::new(self.records)
                .read_to_end(output)
                .map(drop),
            _ => {
                output.extend_from_slice(self.records);
                Ok(())
            }
        }
    }

    /// Appends the chunk as an uncompressed record, and returns whether all of it could be decompressed.
    fn write_uncompressed(&self, output: &mut Vec<u8>) -> bool {
        let length = UNCOMPRESSED_FIELDS as u64 + self.uncompressed_size;
        output.push(CHUNK);
        output.extend_from_slice(&length.to_le_bytes());
        output.extend_from_slice(self.fixed_fields);
        output.extend_from_slice(&0u32.to_le_bytes());
        output.extend_from_slice(&self.uncompressed_size.to_le_bytes());
        let start = output.len();
        let decompressed = self.decompress(output);
        decompressed.is_ok() && (output.len() - start) as u64 == self.uncompressed_size
    }
}

/// An MCAP file with its compressed chunks replaced by uncompressed ones.
///
/// If a chunk is damaged or truncated, the file ends within it, as if it had been recorded without
/// compression. Offsets of the summary section no longer hold.
pub(crate) fn decompress_chunks(bytes: &[u8]) -> Cow<'_, [u8]> {
    let mut output = Vec::new();
    let mut copied = 0;
    let mut position = mcap::MAGIC.len();
    while let Some(length) = read_u64(bytes, position + 1) {
        // A truncated record ends with the file.
        let start = position + RECORD_HEADER;
        let end = usize::try_from(length).map_or(bytes.len(), |length| {
            start.saturating_add(length).min(bytes.len())
        });
        let chunk = (bytes[position] == CHUNK).then(|| Chunk::parse(&bytes[start..end]));
        if let Some(chunk) = chunk.flatten().filter(Chunk::is_compressed) {
            output.extend_from_slice(&bytes[copied..position]);
            if !chunk.write_uncompressed(&mut output) {
                return Cow::Owned(output);
            }
            copied = end;
        }
        position = end;
    }
    if copied == 0 {
        return Cow::Borrowed(bytes);
    }
    output.extend_from_slice(&bytes[copied..]);
    Cow::Owned(output)
}

/// The header and the decompressed records of a chunk, given the content of its record.
///
/// # Errors
/// If the chunk is damaged.
pub(crate) fn chunk_records(content: &[u8]) -> io::Result<(ChunkHeader, Vec<u8>)> {
    let damaged = || io::Error::new(io::ErrorKind::InvalidData, "a chunk is damaged");
    let chunk = Chunk::parse(content).ok_or_else(damaged)?;
    let mut record = Vec::new();
    if !chunk.write_uncompressed(&mut record) {
        return Err(damaged());
    }
    let Record::Chunk { header, data } =
        mcap::parse_record(CHUNK, &record[RECORD_HEADER..]).map_err(io::Error::other)?
    else {
        return Err(damaged());
    };
    Ok((header, data.into_owned()))
}

fn read_u64(bytes: &[u8], position: usize) -> Option<u64> {
    let (value, _) = bytes.get(position..)?.split_first_chunk()?;
    Some(u64::from_le_bytes(*value))
}
