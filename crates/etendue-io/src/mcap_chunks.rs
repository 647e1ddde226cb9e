//! Decompression of the chunks of MCAP files.
//!
//! The compression features of the crate `mcap` depend on C libraries, which compile slower than
//! any other dependency. This module uses the pure Rust decoders of the other formats.

use crate::foreign::most_content;
use crate::input::{decompress_zstd, read_limited};
use mcap::records::{ChunkHeader, Record};
use std::borrow::Cow;
use std::io;

/// Opcode of a chunk record.
pub(crate) const CHUNK: u8 = 0x06;
/// Bytes of a record header: opcode and length.
const RECORD_HEADER: usize = 9;
/// Bytes of a chunk before the name of its compression: two times, uncompressed size, checksum.
const FIXED_FIELDS: usize = 8 + 8 + 8 + 4;
/// Bytes of an uncompressed chunk before its records: also the empty name of the compression and
/// the length.
const UNCOMPRESSED_FIELDS: usize = FIXED_FIELDS + 4 + 8;

/// The content of a chunk record.
struct Chunk<'a> {
    fixed_fields: &'a [u8],
    uncompressed_size: u64,
    compression: &'a [u8],
    /// The stored records; incomplete if the file is truncated.
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

    /// Whether the records are compressed with a supported method.
    fn is_compressed(&self) -> bool {
        matches!(self.compression, b"zstd" | b"lz4")
    }

    /// Appends the decompressed records to `output`. After an error, `output` contains the records
    /// before the damage.
    fn decompress(&self, output: &mut Vec<u8>) -> io::Result<()> {
        match self.compression {
            b"zstd" => decompress_zstd(self.records, output),
            b"lz4" => {
                let decoder = lz4_flex::frame::FrameDecoder::new(self.records);
                output.extend(read_limited(decoder, self.records.len())?);
                Ok(())
            }
            _ => {
                output.extend_from_slice(self.records);
                Ok(())
            }
        }
    }

    /// Appends the chunk as an uncompressed record. Returns whether the decompression was complete.
    fn write_uncompressed(&self, output: &mut Vec<u8>) -> bool {
        let length = (UNCOMPRESSED_FIELDS as u64).saturating_add(self.uncompressed_size);
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
/// If a chunk is damaged or truncated, the output ends within it, as a truncated uncompressed file
/// does. The offsets of the summary section are invalid.
pub(crate) fn decompress_chunks(bytes: &[u8]) -> Cow<'_, [u8]> {
    let mut output = Vec::new();
    let mut copied = 0;
    let mut position = mcap::MAGIC.len();
    while let Some(length) = read_u64(bytes, position + 1) {
        // A truncated record ends the file.
        let start = position + RECORD_HEADER;
        let end = usize::try_from(length).map_or(bytes.len(), |length| {
            start.saturating_add(length).min(bytes.len())
        });
        let chunk = (bytes[position] == CHUNK).then(|| Chunk::parse(&bytes[start..end]));
        if let Some(chunk) = chunk.flatten().filter(Chunk::is_compressed) {
            output.extend_from_slice(&bytes[copied..position]);
            let is_whole = chunk.write_uncompressed(&mut output);
            if !is_whole || output.len() as u64 > most_content(bytes.len()) {
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

/// Header and decompressed records of a chunk, from the content of its record.
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
