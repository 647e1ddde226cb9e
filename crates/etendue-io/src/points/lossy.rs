//! Points and fields that a format does not store, and values that it changes.

use super::PointFormat;
use crate::table::PointTable;

/// Points and fields of a table that a format stores.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LossyFields {
    /// Number of stored points.
    pub points: usize,
    /// Stored fields, in the order of the table.
    pub fields: Vec<String>,
    /// Fields that the format cannot store.
    pub dropped: Vec<String>,
    /// Warnings about values that the format changes.
    pub warnings: Vec<String>,
}

/// Points and fields of a table that a format stores: everything, except in LAS, E57 and KITTI.
///
/// ```
/// use etendue_io::points::{PointFormat, lossy_fields};
/// use etendue_io::table::{PointColumn, ColumnData, PointTable};
/// let columns = ["x", "y", "z", "beam"].map(|name| PointColumn::new(name, ColumnData::F32(vec![1.0])));
/// let table = PointTable { points: 1, height: 1, columns: columns.into() };
/// assert_eq!(lossy_fields(&table, PointFormat::Las).dropped, ["beam"]);
/// assert!(lossy_fields(&table, PointFormat::Ply).dropped.is_empty());
/// ```
pub fn lossy_fields(table: &PointTable, format: PointFormat) -> LossyFields {
    // Formats without fixed fields store the whole table
    let names = table.columns.iter().map(|column| column.name.to_string());
    let Some(capacity) = format.capacity() else {
        return LossyFields {
            points: table.points,
            fields: names.collect(),
            ..LossyFields::default()
        };
    };
    // Separate stored and dropped fields
    let (fields, dropped) = names.partition(|name| capacity.fields.contains(&name.as_str()));
    LossyFields {
        points: table.finite_points().count(),
        fields,
        dropped,
        warnings: (capacity.warnings)(table),
    }
}
