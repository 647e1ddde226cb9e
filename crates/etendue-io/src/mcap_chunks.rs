//! Decompression of the chunks of MCAP files.
//!
//! The compression features of the crate `mcap` depend on C libraries, which compile slower than
//! any other dependency. This module uses the pure Rust decoders of the other formats.

use crate::input::{decompress_zstd, read_limited};
use mcap::McapError;
use mcap::records::ChunkHeader;
use std::io;

/// Opcode of a chunk record.
pub(crate) const CHUNK: u8 = 0x06;
/// Bytes of a chunk before the name of its compression: two times, uncompressed size, checksum.
const FIXED_FIELDS: usize = 8 + 8 + 8 + 4;

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
            b"" => {
                output.extend_from_slice(self.records);
                Ok(())
            }
            other => {
                let name = String::from_utf8_lossy(other).into_owned();
                Err(io::Error::other(McapError::UnsupportedCompression(name)))
            }
        }
    }
}

/// The records of a chunk.
pub(crate) struct ChunkRecords {
    /// Header of the chunk without compression.
    pub header: ChunkHeader,
    /// The decompressed records, up to the damage.
    pub records: Vec<u8>,
    /// Damage; `None` if all records are complete.
    pub damage: Option<String>,
}

impl ChunkRecords {
    /// Decompresses the records in the content of a chunk record, as many as possible. `None` if its header is damaged.
    pub fn decompress(content: &[u8]) -> Option<Self> {
        let chunk = Chunk::parse(content)?;
        let mut records = Vec::new();
        let decompressed = chunk.decompress(&mut records);
        let is_whole = records.len() as u64 == chunk.uncompressed_size;
        let damage = match decompressed {
            Err(error) => Some(error.to_string()),
            Ok(()) => (!is_whole).then(|| McapError::UnexpectedEoc.to_string()),
        };
        Some(Self {
            header: ChunkHeader {
                message_start_time: read_u64(chunk.fixed_fields, 0)?,
                message_end_time: read_u64(chunk.fixed_fields, 8)?,
                uncompressed_size: chunk.uncompressed_size,
                uncompressed_crc: u32::from_le_bytes(*chunk.fixed_fields.last_chunk()?),
                compression: String::new(),
                compressed_size: chunk.uncompressed_size,
            },
            records,
            damage,
        })
    }
}

fn read_u64(bytes: &[u8], position: usize) -> Option<u64> {
    let (value, _) = bytes.get(position..)?.split_first_chunk()?;
    Some(u64::from_le_bytes(*value))
}
