//! Points as lines of text.

use super::{EditableScan, TRUNCATED, is_distance, without_positions};
use crate::{FileLocation, FormatError};
use nalgebra::Point3;
use std::path::Path;

/// A file with a header and lines of numbers.
pub(crate) struct Rows {
    head: Vec<u8>,
    lines: Vec<String>,
    /// Number of points; lines after them are not changed.
    points: usize,
    position: [usize; 3],
    range: Option<usize>,
    values: Vec<[f64; 3]>,
}

const DECIMALS: usize = 6;

impl Rows {
    /// Text lines after the byte `body`. The first `points` lines are points, with the given
    /// columns of x, y, z and range.
    pub fn after(
        path: &Path,
        bytes: &[u8],
        body: usize,
        position: [usize; 3],
        range: Option<usize>,
        points: usize,
    ) -> Result<Self, FormatError> {
        // Split the text into lines
        let first = bytes[..body].split(|b| *b == b'\n').count();
        let text = String::from_utf8_lossy(&bytes[body..]);
        let lines: Vec<String> = text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .map(str::to_owned)
            .collect();
        // Read the coordinates of each point
        let value = |(number, line): (usize, &String)| {
            let words = words(line);
            let at = |column: usize| words.get(column)?.parse::<f64>().ok();
            let found = position.map(at);
            let missing = || {
                let place = FileLocation::Line(first + number);
                let message = format!("the line \"{line}\" does not have three coordinates");
                FormatError::malformed(path, place, message, TRUNCATED)
            };
            match found {
                [Some(x), Some(y), Some(z)] => Ok([x, y, z]),
                _ => Err(missing()),
            }
        };
        let numbered = lines.iter().enumerate();
        let values: Vec<[f64; 3]> = numbered.take(points).map(value).collect::<Result<_, _>>()?;
        Ok(Self {
            head: bytes[..body].to_vec(),
            points: values.len(),
            lines,
            position,
            range,
            values,
        })
    }

    /// A table with or without a row of names.
    pub fn of_table(path: &Path, bytes: &[u8]) -> Result<Self, FormatError> {
        let mut body = 0;
        let mut position = Some([0, 1, 2]);
        let mut range = None;
        for row in bytes.split_inclusive(|byte| *byte == b'\n') {
            let line = String::from_utf8_lossy(row);
            let words = words(&line);
            if line.starts_with('#') || words.is_empty() {
                body += row.len();
                continue;
            }
            if words.iter().any(|word| word.parse::<f64>().is_err()) {
                let name = |word: &&str| word.to_lowercase().trim_end_matches("_m").to_owned();
                let names: Vec<String> = words.iter().map(name).collect();
                let find = |name: &str| names.iter().position(|known| known == name);
                position = (|| Some([find("x")?, find("y")?, find("z")?]))();
                range = find("range");
                body += row.len();
            }
            break;
        }
        let position = position.ok_or_else(|| without_positions(path))?;
        Self::after(path, bytes, body, position, range, usize::MAX)
    }

    /// The line of a point with updated coordinates and range.
    fn moved(&self, line: &str, before: &Point3<f64>, point: &Point3<f64>) -> String {
        let mut words: Vec<String> = words(line).into_iter().map(str::to_owned).collect();
        for (axis, &column) in self.position.iter().enumerate() {
            words[column] = format!("{:.DECIMALS$}", point[axis]);
        }
        if let Some(word) = self.range.and_then(|column| words.get_mut(column))
            && word.parse().is_ok_and(|range| is_distance(range, before))
        {
            *word = format!("{:.DECIMALS$}", point.coords.norm());
        }
        words.join(if line.contains(',') { "," } else { " " })
    }
}

impl EditableScan for Rows {
    fn points(&self) -> Vec<Point3<f64>> {
        self.values.iter().map(|v| Point3::from(*v)).collect()
    }

    fn set_points(&mut self, points: &[Point3<f64>]) {
        for (i, point) in points.iter().enumerate().take(self.points) {
            let before = Point3::from(self.values[i]);
            if before != *point {
                self.lines[i] = self.moved(&self.lines[i], &before, point);
                self.values[i] = point.coords.into();
            }
        }
    }

    fn bytes(&self, _: &Path) -> Result<Vec<u8>, FormatError> {
        let mut bytes = self.head.clone();
        for line in &self.lines {
            bytes.extend(line.as_bytes());
            bytes.push(b'\n');
        }
        Ok(bytes)
    }
}

/// Fields of a line, separated by commas (fields may be empty) or by white space.
fn words(line: &str) -> Vec<&str> {
    if line.contains(',') {
        line.trim().split(',').map(str::trim).collect()
    } else {
        line.split_ascii_whitespace().collect()
    }
}
