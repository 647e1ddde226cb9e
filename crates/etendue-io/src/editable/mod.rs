//! Scans in memory with editable positions; all other content of the file is unchanged.

mod records;
mod rows;
mod scan;

pub(crate) use records::{ByteColumn, NumberType, Records, is_distance};
pub(crate) use rows::Rows;
pub(crate) use scan::{EditableScan, TRUNCATED, truncated_points, without_positions};
