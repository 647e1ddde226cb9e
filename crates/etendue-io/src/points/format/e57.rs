//! ASTM E57.

use super::{FieldCapacity, FormatEntry, PointReader};
use crate::foreign::{guarded, most_content};
use crate::output::OutputSet;
use crate::precision::single;
use crate::table::{ColumnData, ColumnType, PointColumn, PointSweeps, PointTable};
use crate::{FileLocation, FormatError};
use ::e57::{E57Reader, E57Writer, PointCloud, Record, RecordDataType, RecordName, RecordValue};
use std::io::{self, Cursor};
use std::path::Path;

pub(super) const FORMAT: FormatEntry = FormatEntry {
    endings: &["e57"],
    recognizes: |_, bytes| bytes.starts_with(b"ASTM-E57"),
    points_only: true,
    in_folders: true,
    is_recorded_cloud: false,
    read: PointReader::Whole(|file| parse(file.path, file.bytes)),
    write: Some(|outputs, path, table, _| write_e57(outputs, path, table)),
    capacity: Some(FieldCapacity {
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
        warnings: |_| Vec::new(),
    }),
    editor: None,
};

fn parse(path: &Path, bytes: Vec<u8>) -> Result<PointSweeps, FormatError> {
    let content = check(&bytes).and_then(|()| {
        let content = guarded(|| read(bytes));
        content.map_err(|panic| panic.to_string())?
    });
    content.map_err(|error| {
        let remedy = "copy or export it again";
        let message = format!("this E57 file is truncated or damaged: {error}");
        FormatError::malformed(path, FileLocation::File, message, remedy)
    })
}

/// Checks the sizes in the header (ASTM E2807-11, table 2) against the size of the file.
fn check(bytes: &[u8]) -> Result<(), String> {
    let number = |at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
    let [xml, page] = [32, 40].map(|at| number(at).unwrap_or(u64::MAX));
    let size = bytes.len() as u64;
    if xml <= size && page <= size {
        return Ok(());
    }
    Err(format!(
        "pages of {page} bytes and a description of {xml} bytes are out of proportion to {size} bytes"
    ))
}

fn read(bytes: Vec<u8>) -> Result<PointSweeps, String> {
    let text = |error: ::e57::Error| error.to_string();
    let size = bytes.len();
    let mut left = most_content(size as u64);
    let mut file = E57Reader::new(Cursor::new(bytes)).map_err(text)?;
    let mut points = PointSweeps::default();
    for cloud in file.pointclouds() {
        // A point has at least one bit
        let values = cloud.records.saturating_mul(cloud.prototype.len() as u64);
        let memory = values.saturating_mul(size_of::<f64>() as u64);
        if cloud.records > 8 * size as u64 || memory > left {
            let records = cloud.records;
            let message = format!("{records} points are out of proportion to {size} bytes");
            return Err(message);
        }
        left -= memory;
        points.sweeps.push(table(&mut file, &cloud).map_err(text)?);
    }
    Ok(points)
}

/// Name, type and offset of a supported field.
fn field(name: &RecordName) -> Option<(&'static str, ColumnType, f64)> {
    Some(match name {
        RecordName::CartesianX => ("x", ColumnType::F64, 0.0),
        RecordName::CartesianY => ("y", ColumnType::F64, 0.0),
        RecordName::CartesianZ => ("z", ColumnType::F64, 0.0),
        RecordName::SphericalRange => ("range", ColumnType::F64, 0.0),
        RecordName::SphericalAzimuth => ("azimuth", ColumnType::F64, 0.0),
        RecordName::SphericalElevation => ("elevation", ColumnType::F64, 0.0),
        RecordName::Intensity => ("intensity", ColumnType::F32, 0.0),
        RecordName::RowIndex => ("ring", ColumnType::U16, 0.0),
        RecordName::ColumnIndex => ("column", ColumnType::U32, 0.0),
        RecordName::ReturnIndex => ("return_number", ColumnType::U16, 1.0),
        RecordName::ReturnCount => ("returns", ColumnType::U16, 0.0),
        RecordName::TimeStamp => ("time", ColumnType::F64, 0.0),
        _ => return None,
    })
}

fn table(
    file: &mut E57Reader<Cursor<Vec<u8>>>,
    cloud: &PointCloud,
) -> Result<PointTable, ::e57::Error> {
    // Read the values of every record
    let mut values = vec![Vec::new(); cloud.prototype.len()];
    for point in file.pointcloud_raw(cloud)? {
        let point = point?;
        for ((values, value), record) in values.iter_mut().zip(&point).zip(&cloud.prototype) {
            values.push(value.to_f64(&record.data_type)?);
        }
    }

    // Find the points with an invalid position
    let mut records = cloud.prototype.iter();
    let state = records.position(|record| {
        let states = [
            RecordName::CartesianInvalidState,
            RecordName::SphericalInvalidState,
        ];
        states.contains(&record.name)
    });
    let is_invalid: Vec<bool> = match state {
        Some(state) => values[state].iter().map(|state| *state != 0.0).collect(),
        None => vec![],
    };

    // Convert the records to columns
    let points = values.first().map_or(0, Vec::len);
    let columns = cloud
        .prototype
        .iter()
        .zip(values)
        .filter_map(|(record, values)| {
            let (name, number, offset) = field(&record.name)?;
            let is_position = matches!(name, "x" | "y" | "z" | "range");
            let value = |(point, value): (usize, f64)| match is_invalid.get(point) {
                Some(true) if is_position => f64::NAN,
                _ => value + offset,
            };
            let values: Vec<f64> = values.into_iter().enumerate().map(value).collect();
            let number = number.or_wider(&values);
            Some(PointColumn::new(name, ColumnData::of(number, values)))
        });
    let mut table = PointTable {
        points,
        height: 1,
        columns: columns.collect(),
    };
    if !cloud.has_cartesian() {
        add_positions(&mut table);
    }
    Ok(table)
}

/// Replaces spherical coordinates (m, rad) by positions and the range.
fn add_positions(table: &mut PointTable) {
    let positions = (0..table.points).map(|point| {
        let number = |name| table.number(name, point).unwrap_or(f64::NAN);
        let (sin_azimuth, cos_azimuth) = number("azimuth").sin_cos();
        let (sin_elevation, cos_elevation) = number("elevation").sin_cos();
        let range = number("range");
        [
            range * cos_elevation * cos_azimuth,
            range * cos_elevation * sin_azimuth,
            range * sin_elevation,
        ]
    });
    let positions: Vec<[f64; 3]> = positions.collect();
    table
        .columns
        .retain(|column| !["azimuth", "elevation"].contains(&&*column.name));
    let axis = |axis: usize| positions.iter().map(|position| position[axis]).collect();
    let axes = [("x", axis(0)), ("y", axis(1)), ("z", axis(2))];
    let columns = axes.map(|(name, values)| PointColumn::new(name, ColumnData::F64(values)));
    table.columns.splice(0..0, columns);
}

/// Writes an `.e57` with one cloud: positions (f64, m), intensity, row (ring), column, return index
/// and count, and time (s). Points without a position are removed.
///
/// # Errors
/// If the file cannot be written.
pub fn write_e57(
    outputs: &mut OutputSet,
    path: &Path,
    table: &PointTable,
) -> Result<(), FormatError> {
    outputs.add(path, |file| {
        let bytes = encode(table).map_err(io::Error::other)?;
        file.write_all(&bytes)
    })
}

fn encode(table: &PointTable) -> Result<Vec<u8>, e57::Error> {
    let points: Vec<usize> = table.finite_points().collect();
    let intensities = points
        .iter()
        .map(|i| single(table.number("intensity", *i).unwrap_or(0.0)));
    let (least, most) = intensities.fold((0.0_f32, 1.0_f32), |(a, b), v| (a.min(v), b.max(v)));
    // E57 packs integers into the bits of their range
    let integer = |name, max| integers(table, &points, name, max);
    let record = |name, data_type| Record { name, data_type };
    let intensity = RecordDataType::Single {
        min: Some(least),
        max: Some(most),
    };
    let prototype = vec![
        record(RecordName::CartesianX, RecordDataType::F64),
        record(RecordName::CartesianY, RecordDataType::F64),
        record(RecordName::CartesianZ, RecordDataType::F64),
        record(RecordName::Intensity, intensity),
        record(RecordName::RowIndex, integer("ring", 65_535)),
        record(
            RecordName::ColumnIndex,
            integer("column", i64::from(u32::MAX)),
        ),
        record(RecordName::ReturnIndex, integer("return_number", 255)),
        record(RecordName::ReturnCount, integer("returns", 255)),
        record(RecordName::TimeStamp, RecordDataType::F64),
    ];
    let mut file = Cursor::new(Vec::new());
    let mut writer = E57Writer::new(&mut file, "{etendue-run}")?;
    let mut cloud = writer.add_pointcloud("{etendue-points}", prototype)?;
    for point in points {
        cloud.add_point(values(table, point))?;
    }
    cloud.finalize()?;
    writer.finalize()?;
    drop(writer);
    Ok(file.into_inner())
}

/// Integer type of a field: from 0 to `usual`, or wider if values require it.
fn integers(table: &PointTable, points: &[usize], name: &str, usual: i64) -> RecordDataType {
    let values = points.iter().filter_map(|point| table.number(name, *point));
    #[expect(clippy::cast_possible_truncation, reason = "counts of at most 32 bits")]
    let values = values.map(|value| value as i64);
    let (min, max) = values.fold((0, usual), |(a, b), value| (a.min(value), b.max(value)));
    RecordDataType::Integer { min, max }
}

fn values(table: &PointTable, point: usize) -> Vec<RecordValue> {
    let number = |name| table.number(name, point).unwrap_or(0.0);
    #[expect(clippy::cast_possible_truncation, reason = "counts of at most 32 bits")]
    let count = |name| RecordValue::Integer(number(name) as i64);
    #[expect(clippy::cast_possible_truncation, reason = "counts of at most 32 bits")]
    let index = RecordValue::Integer((number("return_number") as i64 - 1).max(0));
    vec![
        RecordValue::Double(number("x")),
        RecordValue::Double(number("y")),
        RecordValue::Double(number("z")),
        RecordValue::Single(single(number("intensity"))),
        count("ring"),
        count("column"),
        index,
        count("returns"),
        RecordValue::Double(number("time")),
    ]
}
