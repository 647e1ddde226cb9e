//! The arrays of numbers in archives of NumPy (NPZ).

use crate::foreign::{guarded, most_content};
use crate::npy::StoredArray;
use crate::table::ColumnData;
use crate::{FileLocation, FormatError};
use std::io::{self, Cursor, Read};
use std::path::Path;
use zip::ZipArchive;

/// First bytes of an archive.
const MAGIC: &[u8] = b"PK\x03\x04";

/// An array of numbers.
pub(crate) struct NpzArray {
    /// Name, without `.npy`.
    pub name: String,
    /// Length along each axis.
    pub shape: Vec<u64>,
    /// The numbers, in C order: the last axis varies fastest.
    pub data: ColumnData,
}

/// Whether the content is that of an archive.
pub(crate) fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Whether the content is an archive with arrays of all `names`.
pub(crate) fn has_arrays(bytes: &[u8], names: &[&str]) -> bool {
    let has = || {
        let zip = ZipArchive::new(Cursor::new(bytes)).ok();
        zip.is_some_and(|zip| {
            let is_entry = |name: &&str| zip.index_for_name(&format!("{name}.npy")).is_some();
            names.iter().all(is_entry)
        })
    };
    is_archive(bytes) && guarded(has).unwrap_or(false)
}

/// Reads the arrays of numbers of an archive; others are left out. Errors name `path`.
///
/// # Errors
/// If the archive is damaged.
pub(crate) fn read_arrays(path: &Path, bytes: &[u8]) -> Result<Vec<NpzArray>, FormatError> {
    let arrays = guarded(|| arrays(bytes)).unwrap_or_else(|panic| Err(io::Error::other(panic)));
    arrays.map_err(|error| {
        let message = format!("this NPZ archive is truncated or damaged: {error}");
        FormatError::malformed(path, FileLocation::File, message, "copy or export it again")
    })
}

/// The arrays of numbers of an archive; errors without its path.
fn arrays(bytes: &[u8]) -> io::Result<Vec<NpzArray>> {
    let mut zip = ZipArchive::new(Cursor::new(bytes))?;
    let mut arrays = Vec::new();
    let mut left = most_content(bytes.len() as u64);
    for index in 0..zip.len() {
        let file = zip.by_index(index)?;
        let name = file.name()?.trim_end_matches(".npy").to_owned();
        // An array that exceeds the rest of the allowance is truncated
        let mut file = file.take(left);
        let array = StoredArray::read(&mut file)?;
        // The checksum of an entry is compared at its end
        io::copy(&mut file, &mut io::sink())?;
        left = file.limit();
        if let Some(data) = numbers(&array) {
            let shape = array.shape;
            arrays.push(NpzArray { name, shape, data });
        }
    }
    Ok(arrays)
}

/// The numbers of an array; `None` for other types.
fn numbers(array: &StoredArray) -> Option<ColumnData> {
    Some(match (array.kind, array.size) {
        ('f', 4) => ColumnData::F32(array.numbers().collect()),
        ('f', 8) => ColumnData::F64(array.numbers().collect()),
        ('u', 1) => ColumnData::U16(array.numbers::<u8>().map(u16::from).collect()),
        ('u', 2) => ColumnData::U16(array.numbers().collect()),
        ('u', 4) => ColumnData::U32(array.numbers().collect()),
        ('u', 8) => ColumnData::F64(array.numbers::<u64>().map(|value| value as f64).collect()),
        ('i', 1) => ColumnData::I32(array.numbers::<i8>().map(i32::from).collect()),
        ('i', 2) => ColumnData::I32(array.numbers::<i16>().map(i32::from).collect()),
        ('i', 4) => ColumnData::I32(array.numbers().collect()),
        ('i', 8) => ColumnData::F64(array.numbers::<i64>().map(|value| value as f64).collect()),
        _ => return None,
    })
}
