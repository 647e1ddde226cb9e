//! What formats drop or change of a table: LAS, E57 and KITTI hold some fields only.

use super::PointFormat;
use crate::precision::single;
use crate::table::PointTable;

/// The points and fields that a file holds of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LossyFields {
    /// Number of points in the file.
    pub points: usize,
    /// The fields in the file, in the order of the table.
    pub fields: Vec<String>,
    /// The fields that the format cannot hold.
    pub dropped: Vec<String>,
    /// Sentences about values that the format changes.
    pub warnings: Vec<String>,
}

/// The fields of a format; it holds only points with a position.
struct Room {
    fields: &'static [&'static str],
    /// Least and greatest number of whole fields.
    limits: &'static [(&'static str, f64, f64)],
}

const LAS: Room = Room {
    fields: &[
        "x",
        "y",
        "z",
        "intensity",
        "return_number",
        "returns",
        "time",
        "ring",
        "material",
    ],
    limits: &[
        ("intensity", 0.0, 65_535.0),
        ("ring", 0.0, 65_535.0),
        ("return_number", 0.0, 15.0),
        ("returns", 0.0, 15.0),
        ("material", -1.0, 254.0),
    ],
};

const E57: Room = Room {
    fields: &[
        "x",
        "y",
        "z",
        "intensity",
        "ring",
        "column",
        "return_number",
        "returns",
        "time",
    ],
    limits: &[],
};

const KITTI: Room = Room {
    fields: &["x", "y", "z", "intensity"],
    limits: &[],
};

/// Shift of positions by single precision above which there is a warning, m.
const MOVED: f64 = 1e-3;

/// The points and fields that a file of a format holds of a table: all of them, except in LAS, E57
/// and KITTI.
///
/// ```
/// use etendue_io::points::{PointFormat, lossy_fields};
/// use etendue_io::table::{Column, ColumnData, PointTable};
/// let columns = ["x", "y", "z", "beam"].map(|name| Column::new(name, ColumnData::F32(vec![1.0])));
/// let table = PointTable { points: 1, height: 1, columns: columns.into() };
/// assert_eq!(lossy_fields(&table, PointFormat::Las).dropped, ["beam"]);
/// assert!(lossy_fields(&table, PointFormat::Ply).dropped.is_empty());
/// ```
pub fn lossy_fields(table: &PointTable, format: PointFormat) -> LossyFields {
    let room = match format {
        PointFormat::Las => LAS,
        PointFormat::E57 => E57,
        PointFormat::Kitti => KITTI,
        _ => {
            return LossyFields {
                points: table.points,
                fields: { table.columns.iter() }
                    .map(|c| c.name.to_string())
                    .collect(),
                ..LossyFields::default()
            };
        }
    };
    let names = table.columns.iter().map(|column| column.name.to_string());
    let (fields, dropped) = names.partition(|name| room.fields.contains(&name.as_str()));
    let limits = room.limits.iter();
    let mut warnings: Vec<String> = limits
        .filter_map(|(name, least, most)| beyond(table, name, *least, *most))
        .collect();
    match format {
        PointFormat::Las => warnings.extend(fractions(table)),
        PointFormat::Kitti => warnings.extend(moved(table)),
        _ => {}
    }
    LossyFields {
        points: table.finite_points().count(),
        fields,
        dropped,
        warnings,
    }
}

/// A field's values at the points with a position.
fn values<'a>(table: &'a PointTable, name: &'a str) -> impl Iterator<Item = f64> + 'a {
    table
        .finite_points()
        .filter_map(move |point| table.number(name, point))
}

/// Values that a whole field has no room for.
fn beyond(table: &PointTable, name: &str, least: f64, most: f64) -> Option<String> {
    let outside = |value: &f64| *value < least || *value > most;
    let count = values(table, name).filter(outside).count();
    (count > 0).then(|| {
        format!(
            "the field {name} is beyond {least} to {most}, which is all that LAS holds of it, at \
             {count} of {} points, and is changed there; write a .ply, .pcd or .e57 to keep it",
            table.points
        )
    })
}

/// Intensities from 0 to 1 where whole numbers alone are held.
fn fractions(table: &PointTable) -> Option<String> {
    let within = values(table, "intensity").all(|value| (0.0..=1.0).contains(&value));
    let whole = values(table, "intensity").all(|value| value.fract() == 0.0);
    (within && !whole).then(|| {
        "the field intensity runs from 0 to 1, and LAS holds whole numbers: it is rounded to 0 or \
         1; scale it first, or write a .ply, .pcd or .e57"
            .into()
    })
}

/// Positions that single precision does not hold.
fn moved(table: &PointTable) -> Option<String> {
    let axes = ["x", "y", "z"].into_iter();
    let moved = axes.flat_map(|name| values(table, name));
    let most = moved
        .map(|value| (value - f64::from(single(value))).abs())
        .fold(0.0, f64::max);
    (most > MOVED).then(|| {
        format!(
            "positions move by up to {most:.3} m: KITTI holds them in single precision; take a \
             nearer origin, or write a .las, .ply or .pcd"
        )
    })
}
