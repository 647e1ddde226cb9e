//! LAS and LAZ.

use crate::output::{Column, ColumnData, PointTable};
use crate::precision::single;
use crate::{FormatError, Place};
use ::las::{Point, Reader};
use std::io::Cursor;
use std::path::Path;

pub(super) fn parse(path: &Path, bytes: Vec<u8>) -> Result<PointTable, FormatError> {
    let points = read(bytes).map_err(|error| {
        let remedy = "copy or export it again";
        let message = format!("this LAS file is cut or damaged: {error}");
        FormatError::malformed(path, Place::File, message, remedy)
    })?;
    let f32s = |of: fn(&Point) -> f64| {
        ColumnData::F32(points.iter().map(|point| single(of(point))).collect())
    };
    let u16s = |of: fn(&Point) -> u16| ColumnData::U16(points.iter().map(of).collect());
    // Coordinates of surveys are too large for single precision.
    let f64s = |of: fn(&Point) -> f64| ColumnData::F64(points.iter().map(of).collect());
    let mut columns = vec![
        Column::new("x", f64s(|p| p.x)),
        Column::new("y", f64s(|p| p.y)),
        Column::new("z", f64s(|p| p.z)),
        Column::new("intensity", f32s(|p| f64::from(p.intensity))),
        Column::new("ring", u16s(|p| p.point_source_id)),
        Column::new("return_number", u16s(|p| p.return_number.into())),
        Column::new("returns", u16s(|p| p.number_of_returns.into())),
    ];
    if points.iter().all(|point| point.gps_time.is_some()) {
        let times = points.iter().filter_map(|point| point.gps_time);
        columns.push(Column::new("time", ColumnData::F64(times.collect())));
    }
    let material = |point: &Point| match point.user_data {
        255 => -1,
        number => i32::from(number),
    };
    let materials = points.iter().map(material).collect();
    columns.push(Column::new("material", ColumnData::I32(materials)));
    Ok(PointTable {
        points: points.len(),
        height: 1,
        columns,
    })
}

fn read(bytes: Vec<u8>) -> Result<Vec<Point>, ::las::Error> {
    let mut reader = Reader::new(Cursor::new(bytes))?;
    let data = reader.read_all()?;
    data.points().collect()
}
