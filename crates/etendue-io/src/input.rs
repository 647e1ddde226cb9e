//! Reading of files, with decompression.

use crate::{FileLocation, FormatError};
use ruzstd::decoding::StreamingDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use std::io::{self, Read};
use std::path::Path;

/// First bytes of a zstd frame (RFC 8878, section 3.1.1).
pub(crate) const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Reads the content of a file. Files with the magic numbers of bzip2, gzip and zstd are
/// decompressed.
///
/// # Errors
/// If the file cannot be read or decompressed.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, FormatError> {
    let bytes = std::fs::read(path).map_err(|source| FormatError::cannot_read(path, source))?;
    if bytes.starts_with(b"BZh") {
        unpack(path, bzip2::read::MultiBzDecoder::new(&bytes[..]))
    } else if bytes.starts_with(&[0x1f, 0x8b]) {
        unpack(path, flate2::read::MultiGzDecoder::new(&bytes[..]))
    } else if bytes.starts_with(&ZSTD) {
        let mut content = Vec::new();
        let decompressed = decompress_zstd(&bytes, &mut content);
        decompressed.map_err(|error| damaged(path, &error))?;
        Ok(content)
    } else {
        Ok(bytes)
    }
}

/// Reads the text of a file, with decompression.
///
/// # Errors
/// If the file cannot be read or decompressed, or is not UTF-8.
pub fn read_text(path: &Path) -> Result<String, FormatError> {
    String::from_utf8(read_bytes(path)?).map_err(|error| {
        FormatError::malformed(
            path,
            FileLocation::Byte(error.utf8_error().valid_up_to()),
            "this is not text in UTF-8",
            "give a text file, or a file name with the ending of its binary format",
        )
    })
}

fn unpack(path: &Path, mut packed: impl Read) -> Result<Vec<u8>, FormatError> {
    let mut bytes = Vec::new();
    let read = packed.read_to_end(&mut bytes);
    read.map_err(|error| damaged(path, &error))?;
    Ok(bytes)
}

fn damaged(path: &Path, error: &io::Error) -> FormatError {
    FormatError::malformed(
        path,
        FileLocation::File,
        format!("the compressed file cannot be decompressed: {error}"),
        "the file is truncated or damaged: copy it again",
    )
}

/// Decompresses the zstd frames of `bytes` and appends their content to `output`.
///
/// # Errors
/// If a frame is truncated or damaged, or its checksum is wrong.
pub(crate) fn decompress_zstd(mut bytes: &[u8], output: &mut Vec<u8>) -> io::Result<()> {
    while !bytes.is_empty() {
        match StreamingDecoder::new(&mut bytes) {
            Ok(mut frame) => {
                frame.read_to_end(output)?;
                let decoder = frame.into_frame_decoder();
                let stated = decoder.get_checksum_from_data();
                if stated.is_some() && stated != decoder.get_calculated_checksum() {
                    return Err(io::Error::other("the checksum of a zstd frame is wrong"));
                }
            }
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length,
                ..
            })) => {
                bytes = bytes.get(length as usize..).unwrap_or_default();
            }
            Err(error) => return Err(io::Error::other(error)),
        }
    }
    Ok(())
}
