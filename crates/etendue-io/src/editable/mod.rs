//! Scans in memory whose points can be moved, with everything else in the file unchanged.

mod records;
mod rows;
mod scan;

pub(crate) use records::{ByteColumn, NumberType, Records, is_distance};
pub(crate) use rows::Rows;
pub(crate) use scan::{EditableScan, TRUNCATED, truncated_points, without_positions};
