//! Points as text columns, separated by commas or white space.
//!
//! An optional header names the columns (`x`, `y`, `z`, `intensity`, with or without a unit as in
//! `x_m`). Without a header, two to four columns are x, y, z and intensity in this order; two
//! columns are a planar cloud.

use super::{FormatEntry, PointReader, ScanEditor};
use crate::FormatError;
use crate::editable::Rows;
use crate::output::OutputSet;
use crate::scan_log::csv::is_header;
use crate::table::{ColumnData, ColumnType, INTENSITY_NAMES, PointColumn, PointSweeps, PointTable};
use crate::text::{TextContent, TextLine, is_number};
use std::path::Path;

pub(super) const FORMAT: FormatEntry = FormatEntry {
    endings: &["csv"],
    recognizes: is_csv,
    points_only: false,
    in_folders: true,
    is_recorded_cloud: true,
    read: PointReader::Whole(|file| parse(file.path, &file.bytes)),
    write: Some(|outputs, path, table, _| write_csv(outputs, path, table)),
    capacity: None,
    editor: Some(ScanEditor {
        endings: &["csv", "txt", "xyz"],
        open: |path, bytes| Ok(Box::new(Rows::of_table(path, &bytes)?)),
    }),
};

/// Whether a text begins with the column names or the numbers of points.
fn is_csv(_: &Path, bytes: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]);
    let mut lines = head
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let Some(first) = lines.next() else {
        return false;
    };
    let names = names_of(first);
    let numbers = |line: &str| {
        pieces(line)
            .iter()
            .all(|piece| piece.parse::<f64>().is_ok())
    };
    let second = lines.next().unwrap_or(first);
    (2..=4).contains(&names.len()) && numbers(first) && numbers(second)
        || names.contains(&"x".into()) && names.contains(&"y".into())
}

/// The column that a table of numbers with named columns lacks to be a point cloud or a scan log, and its columns; `None`
/// for other files.
pub(super) fn missing_column(bytes: &[u8]) -> Option<(&'static str, String)> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]);
    let mut lines = head
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let header = lines.next()?;
    if is_header(header) {
        return None;
    }
    let names: Vec<&str> = header.split(',').map(str::trim).collect();
    let row: Vec<&str> = lines.next()?.split(',').map(str::trim).collect();
    let is_name = |name: &&str| name.starts_with(char::is_alphabetic) && !is_number(name);
    let is_table = names.len() > 1 && names.iter().all(is_name) && row.len() == names.len();
    if !is_table || !row.iter().any(|word| is_number(word)) {
        return None;
    }
    let has = |start: &str| names.iter().any(|name| name.starts_with(start));
    let missing = match (has("azimuth"), has("range_m")) {
        (false, true) => "azimuth_rad",
        (true, false) => "range_m",
        _ if names_of(&names.join(",")).contains(&"x".into()) => "y",
        _ => "x",
    };
    Some((missing, names.join(", ")))
}

fn pieces(line: &str) -> Vec<&str> {
    let separate = |letter: char| letter == ',' || letter.is_whitespace();
    line.split(separate)
        .filter(|piece| !piece.is_empty())
        .collect()
}

fn names_of(line: &str) -> Vec<String> {
    let name = |piece: &&str| piece.to_lowercase().trim_end_matches("_m").to_owned();
    pieces(line).iter().map(name).collect()
}

/// Reads all columns that contain only numbers.
fn parse(path: &Path, bytes: &[u8]) -> Result<PointSweeps, FormatError> {
    // Skip comments; an empty file has no points
    let content = String::from_utf8_lossy(bytes);
    let text = TextContent {
        path,
        content: &content,
    };
    let mut lines = text
        .lines()
        .filter(|line| !line.text.starts_with('#'))
        .peekable();
    let Some(first) = lines.peek() else {
        return Ok(PointSweeps::one(PointTable::default()));
    };
    // Read the names of the columns from the header, or use the defaults
    let mut names = names_of(first.text);
    let named = |name: &str| names.iter().any(|known| known == name);
    if named("x") && named("y") {
        lines.next();
    } else {
        let usual = ["x", "y", "z", "intensity"].map(str::to_owned);
        names = usual.into_iter().take(names.len()).collect();
    }
    // Read the rows
    let mut columns: Vec<Option<Vec<f64>>> = vec![Some(Vec::new()); names.len()];
    for line in lines {
        add(&mut columns, &names, line)?;
    }
    Ok(points(names, columns))
}

/// Appends a line. A word that is not a number is an error in a required column, and removes any
/// other column.
fn add(
    columns: &mut [Option<Vec<f64>>],
    names: &[String],
    line: TextLine<'_>,
) -> Result<(), FormatError> {
    // Check the number of columns
    let pieces = pieces(line.text);
    if pieces.len() != names.len() {
        return Err(line.error(
            format!(
                "the line has {} columns, but the first line has {}",
                pieces.len(),
                names.len()
            ),
            "give every line the same number of columns; write decimals with a point",
        ));
    }
    // Append the numbers
    for ((piece, column), name) in pieces.into_iter().zip(columns).zip(names) {
        let required = ["x", "y", "z"].contains(&&**name) || INTENSITY_NAMES.contains(&&**name);
        let Some(values) = column else { continue };
        match piece.parse::<f64>() {
            Ok(number) => values.push(number),
            Err(_) if required => {
                line.field(piece).parse::<f64>("a number")?;
            }
            Err(_) => *column = None,
        }
    }
    Ok(())
}

fn points(names: Vec<String>, columns: Vec<Option<Vec<f64>>>) -> PointSweeps {
    let mut table = PointTable::default();
    let mut warnings = Vec::new();
    table.height = 1;
    for (name, values) in names.into_iter().zip(columns) {
        let Some(values) = values else {
            warnings.push(format!(
                "the column {name} contains other text than numbers and was skipped"
            ));
            continue;
        };
        table.points = values.len();
        let number = ColumnType::of_field(&name, &values);
        let data = ColumnData::of(number, values);
        table.columns.push(PointColumn::new(name, data));
    }
    if table.column("z").is_none() {
        let flat = ColumnData::F32(vec![0.0; table.points]);
        table.columns.push(PointColumn::new("z", flat));
    }
    PointSweeps::new(vec![table], warnings)
}

/// Writes a `.csv`: one row of names, then one row per point. Numbers have the shortest
/// representation with the same value.
///
/// # Errors
/// If the file cannot be written.
pub fn write_csv(
    outputs: &mut OutputSet,
    path: &Path,
    table: &PointTable,
) -> Result<(), FormatError> {
    let names = table.columns.iter().map(|column| &*column.name);
    let names: Vec<&str> = names.collect();
    outputs.add(path, |file| {
        writeln!(file, "{}", names.join(","))?;
        for point in 0..table.points {
            let numbers: Vec<String> = table
                .columns
                .iter()
                .map(|column| column.data.text(point))
                .collect();
            writeln!(file, "{}", numbers.join(","))?;
        }
        Ok(())
    })
}
