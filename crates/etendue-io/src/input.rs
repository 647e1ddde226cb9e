//! Reading of files, with decompression.

use crate::foreign::{guarded, most_content};
use crate::{FileLocation, FormatError};
use ruzstd::decoding::StreamingDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek};
use std::path::{Path, PathBuf};

/// First bytes of a zstd frame (RFC 8878, section 3.1.1).
pub(crate) const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The content of a file, which is read from its start as often as necessary.
pub(crate) enum Content<'a> {
    /// A file on disk. It is not in memory.
    File {
        /// Its path.
        path: &'a Path,
        /// Its size, bytes.
        size: u64,
    },
    /// Bytes in memory: the content of a compressed file, or of one that is read only once.
    Memory(Cow<'a, [u8]>),
}

/// Reader of a content at any position.
pub(crate) trait ReadSeek: Read + Seek {}

impl<T: Read + Seek> ReadSeek for T {}

impl<'a> Content<'a> {
    /// The content of a file. A file that is compressed as a whole, and one that is not regular (a pipe), is read into memory.
    ///
    /// # Errors
    /// If the file cannot be read or decompressed.
    pub fn open(path: &'a Path) -> Result<Self, FormatError> {
        let fail = |source| FormatError::cannot_read(path, source);
        let metadata = std::fs::metadata(path).map_err(fail)?;
        let is_compressed = || first_bytes(path, 4).map(|start| Compression::of(&start).is_some());
        if !metadata.is_file() || is_compressed().map_err(fail)? {
            return Ok(Self::Memory(Cow::Owned(read_bytes(path)?)));
        }
        Ok(Self::File {
            path,
            size: metadata.len(),
        })
    }

    /// Number of bytes.
    pub fn size(&self) -> u64 {
        match self {
            Self::File { size, .. } => *size,
            Self::Memory(bytes) => bytes.len() as u64,
        }
    }

    /// A reader at the start.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub fn reader(&self) -> Result<Box<dyn ReadSeek + '_>, FormatError> {
        Ok(match self {
            Self::File { path, .. } => {
                let file = File::open(path);
                let file = file.map_err(|source| FormatError::cannot_read(path, source))?;
                Box::new(BufReader::new(file))
            }
            Self::Memory(bytes) => Box::new(Cursor::new(&**bytes)),
        })
    }

    /// The first bytes, at most `count`.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn start(&self, count: u64) -> Result<Cow<'_, [u8]>, FormatError> {
        let path = match self {
            Self::Memory(bytes) => return Ok(Cow::Borrowed(bytes)),
            Self::File { path, .. } => path,
        };
        let mut start = Vec::new();
        let read = self.reader()?.take(count).read_to_end(&mut start);
        read.map_err(|source| FormatError::cannot_read(path, source))?;
        Ok(Cow::Owned(start))
    }

    /// All bytes.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn into_bytes(self) -> Result<Vec<u8>, FormatError> {
        match self {
            Self::File { path, .. } => read_bytes(path),
            Self::Memory(bytes) => Ok(bytes.into_owned()),
        }
    }
}

/// The first bytes of a file as it is stored, at most `count`.
///
/// # Errors
/// If the file cannot be read.
pub(crate) fn first_bytes(path: &Path, count: u64) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    File::open(path)?.take(count).read_to_end(&mut start)?;
    Ok(start)
}

/// Compression of a file as a whole.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Compression {
    Bzip2,
    Gzip,
    Zstd,
}

impl Compression {
    /// The compression of a file by its first bytes.
    fn of(start: &[u8]) -> Option<Self> {
        if start.starts_with(b"BZh") {
            Some(Self::Bzip2)
        } else if start.starts_with(&[0x1f, 0x8b]) {
            Some(Self::Gzip)
        } else if start.starts_with(&ZSTD) {
            Some(Self::Zstd)
        } else {
            None
        }
    }
}

/// A path without the ending of a compression (`.gz`, `.bz2`, `.zst`).
///
/// ```
/// use etendue_io::input::without_compression;
/// use std::path::Path;
/// assert_eq!(without_compression(Path::new("a.pcap.gz")), Path::new("a.pcap"));
/// assert_eq!(without_compression(Path::new("a.pcap")), Path::new("a.pcap"));
/// ```
pub fn without_compression(path: &Path) -> PathBuf {
    let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
    let is_compression = ["gz", "bz2", "zst"].iter().any(|known| ending == *known);
    if is_compression {
        path.with_extension("")
    } else {
        path.to_owned()
    }
}

/// Reads the content of a file. Files with the magic numbers of bzip2, gzip and zstd are
/// decompressed, up to 64 times the size of the file and 64 MiB.
///
/// # Errors
/// If the file cannot be read or decompressed, or its content is larger than that.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, FormatError> {
    let bytes = std::fs::read(path).map_err(|source| FormatError::cannot_read(path, source))?;
    let size = bytes.len();
    match Compression::of(&bytes) {
        Some(Compression::Bzip2) => {
            unpack(path, size, bzip2::read::MultiBzDecoder::new(&bytes[..]))
        }
        Some(Compression::Gzip) => {
            unpack(path, size, flate2::read::MultiGzDecoder::new(&bytes[..]))
        }
        Some(Compression::Zstd) => {
            let mut content = Vec::new();
            let decompressed = decompress_zstd(&bytes, &mut content);
            decompressed.map_err(|error| damaged(path, &error))?;
            Ok(content)
        }
        None => Ok(bytes),
    }
}

/// Reads the text of a file, with decompression.
///
/// # Errors
/// If the file cannot be read or decompressed, or is not UTF-8.
pub fn read_text(path: &Path) -> Result<String, FormatError> {
    str_of(path, &read_bytes(path)?).map(str::to_owned)
}

/// The text in the content of a file.
pub(crate) fn str_of<'a>(path: &Path, bytes: &'a [u8]) -> Result<&'a str, FormatError> {
    if let Some(error) = unread_format(path, bytes) {
        return Err(error);
    }
    std::str::from_utf8(bytes).map_err(|error| {
        FormatError::malformed(
            path,
            FileLocation::Byte(error.valid_up_to()),
            "this is not text in UTF-8",
            "give a text file, or a file name with the ending of its binary format",
        )
    })
}

/// Error of content in a format that is not read but has a known converter: Ouster's OSF, by its identifier.
pub(crate) fn unread_format(path: &Path, bytes: &[u8]) -> Option<FormatError> {
    if bytes.get(8..12) != Some(b"OSF$") {
        return None;
    }
    let message = "recordings in Ouster's format OSF are not read";
    let remedy = "convert it with Ouster's program: ouster-cli source FILE.osf save FILE.pcap";
    let place = FileLocation::File;
    Some(FormatError::malformed(path, place, message, remedy))
}

fn unpack(path: &Path, size: usize, packed: impl Read) -> Result<Vec<u8>, FormatError> {
    read_limited(packed, size).map_err(|error| damaged(path, &error))
}

fn damaged(path: &Path, error: &io::Error) -> FormatError {
    let remedy = if error.kind() == io::ErrorKind::FileTooLarge {
        "decompress the file with its own program first, and give the decompressed file"
    } else {
        "the file is truncated or damaged: copy it again"
    };
    FormatError::malformed(
        path,
        FileLocation::File,
        format!("the compressed file cannot be decompressed: {error}"),
        remedy,
    )
}

/// Reads the content that a decoder of `size` bytes returns.
///
/// # Errors
/// If the bytes are damaged, or their content is larger than [`most_content`].
pub(crate) fn read_limited(packed: impl Read, size: usize) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    append_limited(packed, most_content(size as u64), &mut content)?;
    Ok(content)
}

/// Appends at most `most` bytes of a decoder to `output`.
fn append_limited(packed: impl Read, most: u64, output: &mut Vec<u8>) -> io::Result<()> {
    let read = guarded(|| packed.take(most.saturating_add(1)).read_to_end(output));
    let count = read.map_err(io::Error::other)??;
    if count as u64 > most {
        let message = format!("its content is larger than {} MB", most / 1_000_000);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(())
}

/// Decompresses the zstd frames of `bytes` and appends their content to `output`.
///
/// # Errors
/// If a frame is truncated or damaged, its checksum is wrong, or the content is larger than
/// [`most_content`].
pub(crate) fn decompress_zstd(mut bytes: &[u8], output: &mut Vec<u8>) -> io::Result<()> {
    let end = (output.len() as u64).saturating_add(most_content(bytes.len() as u64));
    while !bytes.is_empty() {
        let frame = guarded(|| StreamingDecoder::new(&mut bytes));
        match frame.map_err(io::Error::other)? {
            Ok(mut frame) => {
                append_limited(&mut frame, end - output.len() as u64, output)?;
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
