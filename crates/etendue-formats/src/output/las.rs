//! LAS 1.4 and LAZ.

use super::{OutputSet, PointTable};
use crate::FormatError;
use las::{Builder, Point, Transform, Vector, Writer};
use std::io::{self, Cursor};
use std::path::Path;

/// Step of the stored coordinates, m.
const SCALE: f64 = 1e-4;

/// Writes a `.las`, or a `.laz` where the path ends in that: version 1.4, point format 6.
///
/// Coordinates in steps of 0.1 mm; `intensity` rounded to a whole number; return number and
/// number of returns (15 at most); `time` as GPS time, s from the start of the run; the ring as
/// point source, the material as user data (0 to 255, 255 for none). Points without a position
/// are left out.
///
/// # Errors
/// Where the file cannot be written, or a coordinate is beyond 214 km.
pub fn write_las(
    outputs: &mut OutputSet,
    path: &Path,
    table: &PointTable,
) -> Result<(), FormatError> {
    let compressed = path
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("laz"));
    outputs.add(path, |file| {
        let bytes = encode(table, compressed).map_err(io::Error::other)?;
        file.write_all(&bytes)
    })
}

fn encode(table: &PointTable, compressed: bool) -> Result<Vec<u8>, las::Error> {
    let mut builder = Builder::from((1, 4));
    builder.point_format = las::point::Format::new(6)?;
    builder.point_format.is_compressed = compressed;
    builder.generating_software = "etendue".into();
    builder.system_identifier = "simulation".into();
    builder.date = None;
    let axis = Transform {
        scale: SCALE,
        offset: 0.0,
    };
    builder.transforms = Vector {
        x: axis,
        y: axis,
        z: axis,
    };
    let mut writer = Writer::new(Cursor::new(Vec::new()), builder.into_header()?)?;
    for number in table.finite_points() {
        writer.write_point(point(table, number))?;
    }
    Ok(writer.into_inner()?.into_inner())
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
