//! ASTM E57.

use super::Points;
use crate::output::{Column, ColumnData, Number, PointTable};
use crate::{FormatError, Place};
use ::e57::{E57Reader, PointCloud, RecordName};
use std::io::Cursor;
use std::path::Path;

pub(super) fn parse(path: &Path, bytes: Vec<u8>) -> Result<Points, FormatError> {
    read(bytes).map_err(|error| {
        let remedy = "copy or export it again";
        let message = format!("this E57 file is cut or damaged: {error}");
        FormatError::malformed(path, Place::File, message, remedy)
    })
}

fn read(bytes: Vec<u8>) -> Result<Points, ::e57::Error> {
    let mut file = E57Reader::new(Cursor::new(bytes))?;
    let mut points = Points::default();
    for cloud in file.pointclouds() {
        if !cloud.has_cartesian() {
            let warning = "a cloud in spherical coordinates was left out";
            points.warnings.push(warning.into());
            continue;
        }
        points.sweeps.push(table(&mut file, &cloud)?);
    }
    Ok(points)
}

/// The name of a field, and what is added to it, where it is one that is kept.
fn field(name: &RecordName) -> Option<(&'static str, Number, f64)> {
    Some(match name {
        RecordName::CartesianX => ("x", Number::F64, 0.0),
        RecordName::CartesianY => ("y", Number::F64, 0.0),
        RecordName::CartesianZ => ("z", Number::F64, 0.0),
        RecordName::Intensity => ("intensity", Number::F32, 0.0),
        RecordName::RowIndex => ("ring", Number::U16, 0.0),
        RecordName::ColumnIndex => ("column", Number::U32, 0.0),
        RecordName::ReturnIndex => ("return_number", Number::U16, 1.0),
        RecordName::ReturnCount => ("returns", Number::U16, 0.0),
        RecordName::TimeStamp => ("time", Number::F64, 0.0),
        _ => return None,
    })
}

fn table(
    file: &mut E57Reader<Cursor<Vec<u8>>>,
    cloud: &PointCloud,
) -> Result<PointTable, ::e57::Error> {
    let mut values = vec![Vec::new(); cloud.prototype.len()];
    let invalid = |name: &RecordName| *name == RecordName::CartesianInvalidState;
    let state = cloud
        .prototype
        .iter()
        .position(|record| invalid(&record.name));
    for point in file.pointcloud_raw(cloud)? {
        let point = point?;
        for ((values, value), record) in values.iter_mut().zip(&point).zip(&cloud.prototype) {
            values.push(value.to_f64(&record.data_type)?);
        }
    }
    let wrong: Vec<bool> = match state {
        Some(state) => values[state].iter().map(|state| *state != 0.0).collect(),
        None => vec![],
    };
    let points = values.first().map_or(0, Vec::len);
    let columns = cloud
        .prototype
        .iter()
        .zip(values)
        .filter_map(|(record, values)| {
            let (name, number, add) = field(&record.name)?;
            let is_position = matches!(name, "x" | "y" | "z");
            let value = |(point, value): (usize, f64)| match wrong.get(point) {
                Some(true) if is_position => f64::NAN,
                _ => value + add,
            };
            let values: Vec<f64> = values.into_iter().enumerate().map(value).collect();
            let number = number.or_wider(&values);
            Some(Column::new(name, ColumnData::of(number, values)))
        });
    Ok(PointTable {
        points,
        height: 1,
        columns: columns.collect(),
    })
}
