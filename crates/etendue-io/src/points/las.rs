//! LAS and LAZ: read in every version, written as LAS 1.4.

use crate::output::OutputSet;
use crate::precision::single;
use crate::table::{Column, ColumnData, PointTable};
use crate::{FormatError, Place};
use ::las::{Builder, Header, Point, Reader, Transform, Vector, Writer};
use std::io::{self, Cursor};
use std::mem::ManuallyDrop;
use std::path::Path;

pub(super) fn parse(path: &Path, bytes: Vec<u8>) -> Result<PointTable, FormatError> {
    let points = read(bytes).map_err(|error| {
        let remedy = "copy or export it again";
        let message = format!("this LAS file is truncated or damaged: {error}");
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

/// Steps that coordinates are stored in, m: the first in which an axis fits.
const SCALES: [f64; 3] = [1e-4, 1e-3, 1e-2];

/// Most steps from the offset on, one less than a 4-byte integer holds: the header's bounds are
/// rounded outwards.
const STEPS: f64 = (i32::MAX - 1) as f64;

/// Writes a `.las`, or a `.laz` where the path ends in that: version 1.4, point format 6.
///
/// Coordinates in steps of 0.1 mm; `intensity` rounded to a whole number; return number and
/// number of returns (15 at most); `time` as GPS time, s from the start of the run; the ring as
/// point source, the material as user data (0 to 255, 255 for none). Points without a position
/// are left out. An axis that goes beyond 214 km (coordinates of a map) counts from the middle of
/// its extent, and one longer than 429 km takes steps of 1 mm, longer than 4,290 km of 1 cm.
///
/// # Errors
/// Where the file cannot be written, or an axis is longer than 42,900 km.
pub fn write_las(
    outputs: &mut OutputSet,
    path: &Path,
    table: &PointTable,
) -> Result<(), FormatError> {
    let compressed = path
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("laz"));
    let axes = Vector {
        x: axis(path, table, "x")?,
        y: axis(path, table, "y")?,
        z: axis(path, table, "z")?,
    };
    outputs.add(path, |file| {
        let bytes = encode(table, axes, compressed).map_err(io::Error::other)?;
        file.write_all(&bytes)
    })
}

/// How the coordinates of an axis are stored.
fn axis(path: &Path, table: &PointTable, name: &'static str) -> Result<Transform, FormatError> {
    let values = || { table.finite_points() }.filter_map(|point| table.number(name, point));
    let least = values().fold(f64::INFINITY, f64::min);
    let most = values().fold(f64::NEG_INFINITY, f64::max);
    // Without a point any will do.
    if least > most {
        return Ok(Transform {
            scale: SCALES[0],
            offset: 0.0,
        });
    }
    let middle = (least + 0.5 * (most - least)).floor();
    let fitting = SCALES.iter().find_map(|scale| {
        let fits = |offset: &f64| (most - offset).max(offset - least) <= scale * STEPS;
        let offset = [0.0, middle].into_iter().find(fits)?;
        Some(Transform {
            scale: *scale,
            offset,
        })
    });
    fitting.ok_or_else(|| {
        let message = format!(
            "LAS has no room for {name} from {least} to {most} m: an axis is at most 42,900 km long"
        );
        let remedy = "leave out the points that stand that far away, or write a .ply, .pcd or .e57";
        FormatError::malformed(path, Place::File, message, remedy)
    })
}

fn encode(
    table: &PointTable,
    axes: Vector<Transform>,
    compressed: bool,
) -> Result<Vec<u8>, las::Error> {
    let mut builder = Builder::from((1, 4));
    builder.point_format = las::point::Format::new(6)?;
    builder.point_format.is_compressed = compressed;
    builder.generating_software = "etendue".into();
    builder.system_identifier = "simulation".into();
    builder.date = None;
    builder.transforms = axes;
    let points = table.finite_points().map(|number| point(table, number));
    pack(builder.into_header()?, points)
}

/// The bytes of a file.
pub(crate) fn pack(
    header: Header,
    points: impl Iterator<Item = Point>,
) -> Result<Vec<u8>, las::Error> {
    // A writer closes when it is dropped, and panics where it cannot: after an error it is left
    // undropped.
    let mut writer = ManuallyDrop::new(Writer::new(Cursor::new(Vec::new()), header)?);
    for point in points {
        writer.write_point(point)?;
    }
    writer.close()?;
    Ok(ManuallyDrop::into_inner(writer).into_inner()?.into_inner())
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to the range of the field"
)]
fn point(table: &PointTable, number: usize) -> Point {
    let value = |name| table.number(name, number).unwrap_or(0.0);
    let count = |name| value(name).clamp(1.0, 15.0) as u8;
    let material = table.number("material", number).unwrap_or(-1.0);
    Point {
        x: value("x"),
        y: value("y"),
        z: value("z"),
        intensity: value("intensity").round().clamp(0.0, 65535.0) as u16,
        return_number: count("return_number"),
        number_of_returns: count("returns"),
        gps_time: Some(value("time")),
        point_source_id: value("ring") as u16,
        user_data: if (0.0..255.0).contains(&material) {
            material as u8
        } else {
            255
        },
        ..Point::default()
    }
}
