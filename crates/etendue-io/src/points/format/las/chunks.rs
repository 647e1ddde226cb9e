//! Sizes that the chunks of a LAZ file state, compared with the file.
//!
//! The decoder allocates the chunk table and every layer of a chunk by their stated sizes before it
//! reads them. In the point formats 6 to 10 a chunk is its first point, the number of its points, the
//! size of each layer and the layers (laszip 3, compressor 3).

use ::las::raw;
use laz::laszip::ChunkTable;
use laz::{LazItemType, LazVlr};
use std::io::{self, Cursor};

/// Offset of the position of the point data in the header of a LAS file.
const POINT_DATA: usize = 96;

/// Size of the version in a chunk table, before the number of chunks.
const TABLE_VERSION: usize = 4;

/// Position of the length in an extended variable-length record (LAS 1.4, table 16).
const EXTENDED_LENGTH: usize = 20;

/// Compares the stated length of the first extended record, which the reader allocates, with the file.
///
/// # Errors
/// If the record is longer than the file.
pub(super) fn check_extended_record(bytes: &[u8]) -> io::Result<()> {
    let header = raw::Header::read_from(bytes).map_err(io::Error::other)?;
    let Some(records) = header.evlr else {
        return Ok(());
    };
    let at = usize::try_from(records.start_of_first_evlr).unwrap_or(usize::MAX);
    let length = bytes.get(at.saturating_add(EXTENDED_LENGTH)..);
    match length.and_then(|bytes| bytes.first_chunk()) {
        Some(length) if u64::from_le_bytes(*length) > bytes.len() as u64 => Err(damaged()),
        _ => Ok(()),
    }
}

/// First version of the items that are stored in layers.
const LAYERED: u16 = 3;

/// Compares the sizes in the compressed points of a file with the file.
///
/// # Errors
/// If the file has fewer bytes than its chunk table or one of its layers, fewer points than `count`, or
/// no chunk table where its chunks have layers.
pub(super) fn check_sizes(bytes: &[u8], vlr: &LazVlr, count: u64) -> io::Result<()> {
    let start = u32_at(bytes, POINT_DATA).ok_or_else(damaged)? as usize;

    // Number of chunks
    let chunks =
        table_position(bytes, start).and_then(|table| u32_at(bytes, table + TABLE_VERSION));
    let has_table = chunks.is_some_and(|chunks| (chunks as usize) < bytes.len());
    if chunks.is_some() && !has_table {
        return Err(damaged());
    }
    if vlr.items().iter().all(|item| item.version() < LAYERED) {
        return Ok(());
    }
    if !has_table {
        return Err(damaged());
    }

    // Layers of each chunk
    let mut source = Cursor::new(bytes);
    source.set_position(start as u64);
    let table = ChunkTable::read_from(&mut source, vlr).map_err(io::Error::other)?;
    let record = usize::try_from(vlr.items_size()).map_err(io::Error::other)?;
    let layers: usize = vlr
        .items()
        .iter()
        .map(|item| layers_of(item.item_type()))
        .sum();
    let mut at = start + ChunkTable::OFFSET_SIZE;
    let mut points = 0_u64;
    for chunk in table.as_ref() {
        let chunk_bytes = usize::try_from(chunk.byte_count).map_err(io::Error::other)?;
        let end = at
            .checked_add(chunk_bytes)
            .filter(|end| *end <= bytes.len());
        let end = end.ok_or_else(damaged)?;
        // The sizes follow the first point and the number of points
        let sizes = at + record + size_of::<u32>();
        let size = |layer| u32_at(bytes, sizes + layer * size_of::<u32>()).map(u64::from);
        let stated: Option<u64> = (0..layers).map(size).sum();
        let rest = end.checked_sub(sizes + layers * size_of::<u32>());
        if stated.is_none() || stated != rest.map(|rest| rest as u64) {
            return Err(damaged());
        }
        at = end;
        points = points.saturating_add(chunk.point_count);
    }
    if points < count {
        return Err(damaged());
    }
    Ok(())
}

/// Position of the chunk table: in front of the points, or at the end of a file that was streamed.
fn table_position(bytes: &[u8], start: usize) -> Option<usize> {
    let of = |at: usize| {
        let number = i64::from_le_bytes(*bytes.get(at..)?.first_chunk()?);
        usize::try_from(number).ok().filter(|table| *table > start)
    };
    of(start).or_else(|| of(bytes.len().checked_sub(size_of::<i64>())?))
}

/// Number of layers of an item.
const fn layers_of(item: LazItemType) -> usize {
    match item {
        LazItemType::Point14 => 9,
        LazItemType::RGBNIR14 => 2,
        LazItemType::Byte14(bytes) => bytes as usize,
        _ => 1,
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_le_bytes(*bytes))
}

fn damaged() -> io::Error {
    io::Error::other("its chunks are inconsistent with the size of the file")
}
