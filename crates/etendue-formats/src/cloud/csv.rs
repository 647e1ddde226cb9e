//! Points as text: columns between commas or white space.
//!
//! A header may name the columns (`x`, `y`, `z`, `intensity`, with or without the unit as in
//! `x_m`); without one they are x, y, z, intensity, as many as there are. Two columns are a planar
//! cloud.

use super::{Cloud, Collector, INTENSITY_NAMES};
use crate::FormatError;
use crate::text::{Field, Line, Text};
use std::path::Path;

pub(super) fn is_csv(head: &str) -> bool {
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

struct Columns {
    x: usize,
    y: usize,
    z: Option<usize>,
    intensity: Option<usize>,
}

pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<Cloud, FormatError> {
    let content = String::from_utf8_lossy(bytes);
    let text = Text {
        path,
        content: &content,
    };
    let mut lines = text
        .lines()
        .filter(|line| !line.text.starts_with('#'))
        .peekable();
    let Some(first) = lines.peek() else {
        return Ok(Cloud::default());
    };
    let names = names_of(first.text);
    let width = names.len();
    let find = |name: &str| names.iter().position(|known| known == name);
    let columns = match (find("x"), find("y")) {
        (Some(x), Some(y)) => {
            lines.next();
            Columns {
                x,
                y,
                z: find("z"),
                intensity: INTENSITY_NAMES.iter().find_map(|name| find(name)),
            }
        }
        _ => Columns {
            x: 0,
            y: 1,
            z: (width > 2).then_some(2),
            intensity: (width > 3).then_some(3),
        },
    };
    let mut collector = Collector::default();
    for line in lines {
        add(&mut collector, &columns, width, line)?;
    }
    Ok(collector.finish())
}

fn add(
    collector: &mut Collector,
    columns: &Columns,
    width: usize,
    line: Line<'_>,
) -> Result<(), FormatError> {
    let fields: Vec<Field<'_>> = pieces(line.text)
        .into_iter()
        .map(|piece| line.field(piece))
        .collect();
    if fields.len() != width {
        return Err(line.error(
            format!(
                "the line has {} columns, the first one {width}",
                fields.len()
            ),
            "give every line as many columns; write decimals with a point",
        ));
    }
    let number = |at: usize| fields[at].parse::<f64>("a number");
    let z = columns.z.map_or(Ok(0.0), number)?;
    let intensity = columns.intensity.map(number).transpose()?;
    collector.add([number(columns.x)?, number(columns.y)?, z], intensity);
    Ok(())
}
