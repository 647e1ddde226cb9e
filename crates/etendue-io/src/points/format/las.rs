//! LAS and LAZ: all versions are read, LAS 1.4 is written.

mod chunks;
mod extra_bytes;

use super::{FieldCapacity, FormatEntry, PointReader, ScanEditor};
use crate::editable::{EditableScan, TRUNCATED};
use crate::foreign::{guarded, is_plausible};
use crate::output::OutputSet;
use crate::precision::single;
use crate::table::{ColumnData, PointColumn, PointSweeps, PointTable};
use crate::{FileLocation, FormatError};
use ::las::point::Classification;
use ::las::{Builder, Color, Header, Point, Reader, Transform, Vector, Writer};
use extra_bytes::ExtraBytes;
use nalgebra::Point3;
use std::cmp::Ordering;
use std::io::{self, Cursor};
use std::mem::ManuallyDrop;
use std::path::Path;

pub(super) const FORMAT: FormatEntry = FormatEntry {
    endings: &["las", "laz"],
    recognizes: |_, bytes| bytes.starts_with(b"LASF"),
    points_only: true,
    in_folders: true,
    is_recorded_cloud: false,
    read: PointReader::Whole(|file| parse(file.path, file.bytes).map(PointSweeps::one)),
    write: Some(|outputs, path, table, _| write_las(outputs, path, table)),
    capacity: Some(FieldCapacity {
        fields: &[
            "x",
            "y",
            "z",
            "intensity",
            "return_number",
            "returns",
            "time",
            "classification",
            "scan_angle",
            "user_data",
            "point_source_id",
            "red",
            "green",
            "blue",
            "ring",
            "material",
        ],
        warnings: value_warnings,
    }),
    editor: Some(ScanEditor {
        endings: &["las", "laz"],
        open: |path, bytes| Ok(Box::new(LasScan::parse(path, bytes)?)),
    }),
};

/// Minimum and maximum values of fields.
const LIMITS: [(&str, f64, f64); 11] = [
    ("intensity", 0.0, 65_535.0),
    ("ring", 0.0, 65_535.0),
    ("return_number", 0.0, 15.0),
    ("returns", 0.0, 15.0),
    ("classification", 0.0, 255.0),
    ("scan_angle", -180.0, 180.0),
    ("user_data", 0.0, 255.0),
    ("point_source_id", 0.0, 65_535.0),
    ("red", 0.0, 65_535.0),
    ("green", 0.0, 65_535.0),
    ("blue", 0.0, 65_535.0),
];

/// Fields of a colour.
const COLORS: [&str; 3] = ["red", "green", "blue"];

/// Warnings about values that the format changes.
fn value_warnings(table: &PointTable) -> Vec<String> {
    let limited = LIMITS
        .iter()
        .filter_map(|(name, least, most)| outside(table, name, *least, *most));
    limited.chain(fractions(table)).collect()
}

/// Warning about values outside the limits of a field.
fn outside(table: &PointTable, name: &str, least: f64, most: f64) -> Option<String> {
    let is_outside = |value: &f64| *value < least || *value > most;
    let count = table.finite_numbers(name).filter(is_outside).count();
    (count > 0).then(|| {
        format!(
            "the field {name} is outside {least} to {most}, the limits of LAS, at {count} of {} points, \
             and is changed there; write a .ply, .pcd or .e57 to keep it",
            table.points
        )
    })
}

/// Warning about intensities from 0 to 1, which are rounded to integers.
fn fractions(table: &PointTable) -> Option<String> {
    let intensities = || table.finite_numbers("intensity");
    let within = intensities().all(|value| (0.0..=1.0).contains(&value));
    let whole = intensities().all(|value| value.fract() == 0.0);
    (within && !whole).then(|| {
        "the field intensity is between 0 and 1, and LAS stores whole numbers: it is rounded to 0 or \
         1; scale it first, or write a .ply, .pcd or .e57"
            .into()
    })
}

/// The fields of a file. LAS cannot state that a value is missing: a field that is zero at all points is absent.
fn parse(path: &Path, bytes: Vec<u8>) -> Result<PointTable, FormatError> {
    let (header, points) = read(path, bytes)?;
    let u16s = |of: fn(&Point) -> u16| ColumnData::U16(points.iter().map(of).collect());
    // Coordinates of surveys exceed single precision
    let f64s = |of: fn(&Point) -> f64| ColumnData::F64(points.iter().map(of).collect());
    let f32s = |of: fn(&Point) -> f32| ColumnData::F32(points.iter().map(of).collect());
    let mut columns = vec![
        PointColumn::new("x", f64s(|p| p.x)),
        PointColumn::new("y", f64s(|p| p.y)),
        PointColumn::new("z", f64s(|p| p.z)),
    ];
    let mut add = |name, data: ColumnData| {
        if (0..points.len()).any(|point| data.number(point) != 0.0) {
            columns.push(PointColumn::new(name, data));
        }
    };

    // Fields of all formats of points
    add("intensity", f32s(|p| f32::from(p.intensity)));
    add("return_number", u16s(|p| p.return_number.into()));
    add("returns", u16s(|p| p.number_of_returns.into()));
    add("time", f64s(|p| p.gps_time.unwrap_or(0.0)));
    add("classification", u16s(classification));
    add("scan_angle", f32s(|p| p.scan_angle));
    add("user_data", u16s(|p| p.user_data.into()));
    add("point_source_id", u16s(|p| p.point_source_id));

    // Colours and near infrared
    let color = |of: fn(Color) -> u16| {
        let colors = points.iter().map(|p| p.color.map_or(0, of));
        ColumnData::U16(colors.collect())
    };
    let colors = [color(|c| c.red), color(|c| c.green), color(|c| c.blue)];
    let is_colored = |point: &Point| point.color.is_some_and(|color| color != Color::default());
    if points.iter().any(is_colored) {
        let named = COLORS.into_iter().zip(colors);
        columns.extend(named.map(|(name, data)| PointColumn::new(name, data)));
    }
    let nir = points.iter().map(|point| point.nir.unwrap_or(0)).collect();
    let nir = ColumnData::U16(nir);
    if (0..points.len()).any(|point| nir.number(point) != 0.0) {
        columns.push(PointColumn::new("nir", nir));
    }

    // Fields that the file describes itself
    for column in extra_bytes::columns(&header, &points) {
        if columns.iter().all(|known| known.name != column.name) {
            columns.push(column);
        }
    }
    Ok(PointTable {
        points: points.len(),
        height: 1,
        columns,
    })
}

/// Number of the class of overlapping strips, which `las` has as a flag.
const OVERLAP: u8 = 12;

/// Number of the class of a point.
fn classification(point: &Point) -> u16 {
    let class = u8::from(point.classification);
    let is_overlap = point.is_overlap && point.classification == Classification::Unclassified;
    if is_overlap { OVERLAP } else { class }.into()
}

/// Header and points of a file.
fn read(path: &Path, bytes: Vec<u8>) -> Result<(Header, Vec<Point>), FormatError> {
    let damaged = |error: &dyn std::fmt::Display| {
        let message = format!("this LAS file is truncated or damaged: {error}");
        FormatError::malformed(path, FileLocation::File, message, TRUNCATED)
    };
    let content = guarded(|| read_checked(bytes)).map_err(|panic| damaged(&panic))?;
    content.map_err(|error| damaged(&error))
}

fn read_checked(bytes: Vec<u8>) -> io::Result<(Header, Vec<Point>)> {
    // Compare the number of points, and the sizes of compressed ones, with the size of the file
    let size = bytes.len();
    chunks::check_extended_record(&bytes)?;
    let header = Header::new(Cursor::new(&bytes)).map_err(io::Error::other)?;
    let count = header.number_of_points();
    let format = header.point_format();
    let record = u64::from(format.len());
    let is_within = format.is_compressed || count <= size as u64 / record.max(1);
    if !is_within || !is_plausible(count, size_of::<Point>(), size) {
        let message = format!("{count} points are out of proportion to a file of {size} bytes");
        return Err(io::Error::other(message));
    }
    if format.is_compressed {
        let vlr = header.laz_vlr().map_err(io::Error::other)?;
        chunks::check_sizes(&bytes, &vlr, count)?;
    }
    // Read the points in batches: memory grows with the points that the file has
    let mut reader = Reader::new(Cursor::new(bytes)).map_err(io::Error::other)?;
    let mut points = Vec::new();
    while (points.len() as u64) < count {
        let batch = reader.read_points(BATCH).map_err(io::Error::other)?;
        for point in batch.points() {
            points.push(point.map_err(io::Error::other)?);
        }
    }
    Ok((header, points))
}

/// Points that are decompressed at once.
const BATCH: u64 = 1 << 16;

/// Resolutions of stored coordinates, m; the finest one that fits an axis is used.
const SCALES: [f64; 3] = [1e-4, 1e-3, 1e-2];

/// Maximum number of steps from the offset, one less than the largest 4-byte integer, because the
/// bounds in the header are rounded outwards.
const STEPS: f64 = (i32::MAX - 1) as f64;

/// Writes a `.las`, or a `.laz` if the path ends in `.laz`: version 1.4, point format 6, or 7 with colours.
///
/// Coordinates have a resolution of 0.1 mm. `intensity` is rounded to an integer; return number (by range) and
/// number of returns are at most 15; `time` is the GPS time, s from the start of the run;
/// `scan_angle` has steps of 0.006 degrees. `ring` and `material` are extra bytes, which the file describes. Points
/// without a position are removed. An axis with coordinates beyond 214 km (map coordinates) has its
/// offset at the centre of its extent. An axis longer than 429 km has a resolution of 1 mm, longer
/// than 4,290 km of 1 cm.
///
/// # Errors
/// If the file cannot be written, or an axis is longer than 42,900 km.
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

/// Scale and offset of an axis.
fn axis(path: &Path, table: &PointTable, name: &'static str) -> Result<Transform, FormatError> {
    let values = || { table.finite_points() }.filter_map(|point| table.number(name, point));
    let least = values().fold(f64::INFINITY, f64::min);
    let most = values().fold(f64::NEG_INFINITY, f64::max);
    // The table has no points
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
            "LAS cannot store {name} from {least} to {most} m: an axis is at most 42,900 km long"
        );
        let remedy = "remove the most distant points, or write a .ply, .pcd or .e57";
        FormatError::malformed(path, FileLocation::File, message, remedy)
    })
}

fn encode(
    table: &PointTable,
    axes: Vector<Transform>,
    compressed: bool,
) -> Result<Vec<u8>, las::Error> {
    let mut builder = Builder::from((1, 4));
    let extra = ExtraBytes::of(table);
    let is_colored = COLORS.iter().all(|name| table.column(name).is_some());
    builder.point_format = las::point::Format::new(if is_colored { 7 } else { 6 })?;
    builder.point_format.is_compressed = compressed;
    builder.point_format.extra_bytes = extra.size();
    builder.vlrs.extend(extra.record());
    builder.generating_software = "etendue".into();
    builder.system_identifier = "simulation".into();
    builder.date = None;
    builder.transforms = axes;
    let points: Vec<usize> = table.finite_points().collect();
    let returns = return_numbers(table, &points);
    let points = points.iter().zip(&returns);
    let points = points.map(|(number, returns)| Point {
        color: is_colored.then(|| color(table, *number)),
        extra_bytes: extra.of_point(*number),
        ..point(table, *number, returns)
    });
    pack(builder.into_header()?, points)
}

/// Number of the return and number of returns of each point. LAS numbers the returns of a pulse by range. Devices number
/// them in the order of their report, in which the farther one may be the first.
fn return_numbers(table: &PointTable, points: &[usize]) -> Vec<[f64; 2]> {
    // The numbers of the table
    let number = |name, point| table.number(name, point);
    let stated = |point: &usize| {
        let own = number("return_number", *point).unwrap_or(1.0);
        [own, number("returns", *point).unwrap_or(1.0).max(own)]
    };
    let mut numbers: Vec<[f64; 2]> = points.iter().map(stated).collect();
    let mut needed = ["column", "ring", "range"].iter();
    let has_shots = needed.all(|name| table.column(name).is_some());
    if !has_shots || numbers.iter().all(|[_, returns]| *returns <= 1.0) {
        return numbers;
    }
    // Number the points of each shot by range
    let shot = |place: usize| {
        ["sweep", "column", "ring"].map(|name| number(name, points[place]).unwrap_or(0.0))
    };
    let key = |place: usize| {
        let [sweep, column, ring] = shot(place);
        [
            sweep,
            column,
            ring,
            number("range", points[place]).unwrap_or(0.0),
        ]
    };
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|a, b| {
        let pairs = key(*a).into_iter().zip(key(*b));
        pairs.fold(Ordering::Equal, |order, (a, b)| order.then(a.total_cmp(&b)))
    });
    for of_shot in order.chunk_by(|a, b| shot(*a) == shot(*b)) {
        for (index, place) in of_shot.iter().enumerate() {
            numbers[*place] = [index as f64 + 1.0, of_shot.len() as f64];
        }
    }
    numbers
}

/// Bytes of a file.
fn pack(header: Header, points: impl Iterator<Item = Point>) -> Result<Vec<u8>, las::Error> {
    // The writer closes when it is dropped and panics on failure; after an error it is not dropped
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
fn point(table: &PointTable, number: usize, [own, returns]: &[f64; 2]) -> Point {
    let value = |name| table.number(name, number).unwrap_or(0.0);
    let count = |number: f64| number.clamp(1.0, 15.0) as u8;
    let byte = |name| value(name).round().clamp(0.0, 255.0) as u8;
    let class = Classification::new(byte("classification"));
    Point {
        x: value("x"),
        y: value("y"),
        z: value("z"),
        intensity: value("intensity").round().clamp(0.0, 65535.0) as u16,
        return_number: count(*own),
        number_of_returns: count(*returns),
        gps_time: Some(value("time")),
        is_overlap: class.is_err(),
        classification: class.unwrap_or(Classification::Unclassified),
        scan_angle: single(value("scan_angle").clamp(-180.0, 180.0)),
        user_data: byte("user_data"),
        point_source_id: value("point_source_id").round() as u16,
        ..Point::default()
    }
}

/// Colour of a point.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates at the range of the field"
)]
fn color(table: &PointTable, number: usize) -> Color {
    let value = |name| table.number(name, number).unwrap_or(0.0).round() as u16;
    let [red, green, blue] = COLORS.map(value);
    Color::new(red, green, blue)
}

/// The header and the points of a file.
struct LasScan {
    header: Header,
    records: Vec<Point>,
}

impl LasScan {
    fn parse(path: &Path, bytes: Vec<u8>) -> Result<Self, FormatError> {
        let (header, records) = read(path, bytes)?;
        Ok(Self { header, records })
    }
}

impl EditableScan for LasScan {
    fn points(&self) -> Vec<Point3<f64>> {
        let point = |p: &Point| Point3::new(p.x, p.y, p.z);
        self.records.iter().map(point).collect()
    }

    fn set_points(&mut self, points: &[Point3<f64>]) {
        for (record, point) in self.records.iter_mut().zip(points) {
            [record.x, record.y, record.z] = [point.x, point.y, point.z];
        }
    }

    fn bytes(&self, path: &Path) -> Result<Vec<u8>, FormatError> {
        pack(self.header.clone(), self.records.iter().cloned()).map_err(|error| {
            let message =
                format!("the resolution of the file cannot represent the points: {error}");
            let remedy = "export the scan with a coarser scale, or an offset nearer to its points";
            FormatError::malformed(path, FileLocation::File, message, remedy)
        })
    }
}
