//! Scans without a header: those of KITTI, nuScenes and similar data sets.

use super::{FieldCapacity, FormatEntry, PointFormat, PointReader, PointSource, ScanEditor};
use crate::editable::{ByteColumn, EditableScan, NumberType, Records, truncated_points};
use crate::output::OutputSet;
use crate::precision::single;
use crate::table::{ColumnData, PointColumn, PointSweeps, PointTable};
use crate::{FileLocation, FormatError};
use std::path::Path;

/// Names of the numbers of a point: four of KITTI, five of nuScenes, and three or six of other
/// tools.
const NAMES: [&str; 6] = ["x", "y", "z", "intensity", "ring", "time"];

/// Numbers of a point of KITTI.
const USUAL: usize = 4;

/// Possible numbers of a point.
const CANDIDATES: [usize; 4] = [4, 5, 3, 6];

/// Ratio of the smallest and the next median difference that decides.
const CLEAR: f64 = 0.8;

/// Files with fewer numbers are not decided by their differences.
const FEW: usize = 240;

/// Least fraction of the points with finite coordinates whose coordinates are plausible.
const PLAUSIBLE: f64 = 0.9;

/// Rounding error of positions in single precision that causes a warning, m.
const LARGE_SHIFT: f64 = 1e-3;

pub(super) const FORMAT: FormatEntry = FormatEntry {
    endings: &["bin"],
    recognizes: |path, _| PointFormat::of_ending(path) == Some(PointFormat::Kitti),
    points_only: true,
    in_folders: true,
    is_recorded_cloud: false,
    read: PointReader::Whole(|file| parse(&file)),
    write: Some(|outputs, path, table, _| write_kitti(outputs, path, table)),
    capacity: Some(FieldCapacity {
        fields: &["x", "y", "z", "intensity"],
        warnings: |table| shift(table).into_iter().collect(),
    }),
    editor: Some(ScanEditor {
        endings: &["bin"],
        open: open_scan,
    }),
};

/// Reads the points of a file with the given or the detected number of numbers per point.
fn parse(file: &PointSource) -> Result<PointSweeps, FormatError> {
    let numbers = numbers(&file.bytes);
    let per_point = match file.options.columns {
        Some(columns) => columns,
        None => per_point(file.path, &file.bytes)?,
    };
    if !numbers.len().is_multiple_of(per_point) || !file.bytes.len().is_multiple_of(4) {
        let whole = file.bytes.len() - file.bytes.len() % (4 * per_point);
        return Err(FormatError::malformed(
            file.path,
            FileLocation::Byte(whole),
            format!(
                "{} bytes are no whole number of points of {} bytes",
                file.bytes.len(),
                4 * per_point
            ),
            "the file is truncated, or its points do not have this many numbers each (--columns)",
        ));
    }

    check_positions(file.path, &numbers, per_point)?;

    // Convert the columns
    let column = |(number, name): (usize, &'static str)| {
        let values = numbers.chunks_exact(per_point).map(|point| point[number]);
        PointColumn::new(name, ColumnData::F32(values.collect()))
    };
    let names = NAMES.into_iter().take(per_point).enumerate();
    let table = PointTable {
        points: numbers.len() / per_point,
        height: 1,
        columns: names.map(column).collect(),
    };
    let mut points = PointSweeps::one(table);
    if per_point != USUAL && file.options.columns.is_none() {
        points.warnings.push(format!(
            "read as {per_point} numbers per point, since neighbouring points then differ least"
        ));
    }
    Ok(points)
}

/// Error if less than [`PLAUSIBLE`] of the finite positions are those of a scan: every coordinate is zero or of a
/// magnitude from a micrometre to a million kilometres.
fn check_positions(path: &Path, numbers: &[f32], per_point: usize) -> Result<(), FormatError> {
    let is_plausible = |number: &f32| *number == 0.0 || (1e-6..=1e9).contains(&number.abs());
    let positions = numbers.chunks_exact(per_point).map(|point| &point[..3]);
    let finite = positions.filter(|position| position.iter().all(|number| number.is_finite()));
    let points = finite.clone().count();
    let plausible = finite
        .filter(|position| position.iter().all(is_plausible))
        .count();
    if plausible as f64 >= PLAUSIBLE * points as f64 {
        return Ok(());
    }
    Err(FormatError::malformed(
        path,
        FileLocation::File,
        format!(
            "{} of {points} finite points have coordinates that are no lengths in metres",
            points - plausible
        ),
        "the file is no scan of 32-bit floats, or its points do not have this many numbers each (--columns)",
    ))
}

/// Numbers of a file, without a remainder of less than four bytes.
fn numbers(bytes: &[u8]) -> Vec<f32> {
    let words = bytes.as_chunks::<4>().0.iter();
    words.map(|word| f32::from_le_bytes(*word)).collect()
}

/// Numbers per point of a file without a header: those with which neighbouring points differ least.
/// The median difference of numbers one point apart is small for the right number, because a scan
/// is a sequence of neighbours, and large for a wrong one, which compares different fields.
///
/// # Errors
/// If no number fits the size of the file, or the differences do not tell several apart.
fn per_point(path: &Path, bytes: &[u8]) -> Result<usize, FormatError> {
    let numbers = numbers(bytes);
    let fits = |count: &usize| bytes.len().is_multiple_of(4 * count);
    let mut candidates: Vec<(f64, usize)> = CANDIDATES
        .into_iter()
        .filter(fits)
        .map(|count| (median_difference(&numbers, count), count))
        .collect();
    candidates.sort_by(|a, b| a.0.total_cmp(&b.0));
    let fail = |message: String| {
        let remedy = "the file is truncated, or not a scan of 3 to 6 numbers per point; --columns N \
                      gives their number";
        Err(FormatError::malformed(
            path,
            FileLocation::File,
            message,
            remedy,
        ))
    };
    match &candidates[..] {
        [] => fail(format!(
            "{} bytes are no whole number of points",
            bytes.len()
        )),
        [(_, only)] => Ok(*only),
        [first, second, ..] if first.0 < CLEAR * second.0 => Ok(first.1),
        // Few or equal points: the usual number
        _ if numbers.len() < FEW => Ok(if fits(&USUAL) { USUAL } else { candidates[0].1 }),
        [first, second, ..] => fail(format!(
            "the points may have {} or {} numbers each",
            first.1, second.1
        )),
    }
}

/// Median absolute difference of finite numbers `step` apart; infinite if most are not finite.
fn median_difference(numbers: &[f32], step: usize) -> f64 {
    let pairs = numbers.iter().zip(numbers.get(step..).unwrap_or_default());
    let differences = pairs.map(|(a, b)| (a - b).abs());
    let mut differences: Vec<f32> = differences.filter(|it| it.is_finite()).collect();
    if 2 * differences.len() < numbers.len() {
        return f64::INFINITY;
    }
    if differences.is_empty() {
        return f64::INFINITY;
    }
    let middle = differences.len() / 2;
    let (_, median, _) = differences.select_nth_unstable_by(middle, f32::total_cmp);
    f64::from(*median)
}

/// Opens a scan with editable positions.
fn open_scan(path: &Path, bytes: Vec<u8>) -> Result<Box<dyn EditableScan>, FormatError> {
    let size = 4 * per_point(path, &bytes)?;
    let points = bytes.len() / size;
    let columns = [0, 4, 8].map(|start| ByteColumn::new(start, size, NumberType::F32));
    let records = Records::new(bytes, points, columns, None);
    let records = records.ok_or_else(|| truncated_points(path))?;
    Ok(Box::new(records))
}

/// Warning about positions with a large rounding error in single precision.
fn shift(table: &PointTable) -> Option<String> {
    let coordinates = ["x", "y", "z"]
        .into_iter()
        .flat_map(|name| table.finite_numbers(name));
    let largest = coordinates
        .map(|value| (value - f64::from(single(value))).abs())
        .fold(0.0, f64::max);
    (largest > LARGE_SHIFT).then(|| {
        format!(
            "positions move by up to {largest:.3} m: KITTI stores single precision; shift the origin \
             nearer to the points, or write a .las, .ply or .pcd"
        )
    })
}

/// Writes a `.bin`: x, y, z (m) and intensity of every point, little-endian f32, without a header
/// (Geiger et al. 2013, doi:10.1177/0278364913491297). Points without a position are removed.
/// Intensities are the counts of the device; those of the KITTI data sets are between 0 and 1.
///
/// # Errors
/// If the file cannot be written.
pub fn write_kitti(
    outputs: &mut OutputSet,
    path: &Path,
    table: &PointTable,
) -> Result<(), FormatError> {
    let mut bytes = Vec::with_capacity(16 * table.points);
    for point in table.finite_points() {
        for name in ["x", "y", "z", "intensity"] {
            let value = single(table.number(name, point).unwrap_or(0.0));
            bytes.extend(value.to_le_bytes());
        }
    }
    outputs.add(path, |file| file.write_all(&bytes))
}
