//! Legacy VTK files with text points.

use super::{FormatEntry, PointReader};
use crate::table::{ColumnData, PointColumn, PointSweeps, PointTable};
use crate::{FileLocation, FormatError};
use std::path::Path;

pub(super) const FORMAT: FormatEntry = FormatEntry {
    endings: &["vtk"],
    recognizes: |_, bytes| bytes.starts_with(b"# vtk DataFile"),
    points_only: true,
    in_folders: false,
    is_recorded_cloud: true,
    read: PointReader::Whole(|file| parse(file.path, &file.bytes).map(PointSweeps::one)),
    write: None,
    capacity: None,
    editor: None,
};

fn parse(path: &Path, bytes: &[u8]) -> Result<PointTable, FormatError> {
    // Check the encoding
    let content = String::from_utf8_lossy(bytes);
    let mut lines = content.lines().skip(2);
    match lines.next().map(str::trim) {
        Some("ASCII") => {}
        _ => {
            return Err(FormatError::Unsupported {
                path: path.to_owned(),
                message: "only legacy VTK files with ASCII numbers are supported".into(),
                remedy: "save it again as ASCII".into(),
            });
        }
    }
    // Read the points; a point may span several lines
    let mut reader = Words {
        path,
        rest: content
            .lines()
            .enumerate()
            .skip(3)
            .flat_map(|(line, text)| {
                text.split_ascii_whitespace()
                    .map(move |word| (line + 1, word))
            }),
        line: 3,
    };
    reader.find("POINTS")?;
    let count: usize = reader.parse("the number of points")?;
    reader.next("the type of the points")?;
    let mut axes = [Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..count {
        for axis in &mut axes {
            axis.push(reader.parse("a coordinate")?);
        }
    }
    // Store each axis as a column
    let columns = ["x", "y", "z"].into_iter().zip(axes);
    let columns = columns.map(|(name, values)| PointColumn::new(name, ColumnData::F64(values)));
    Ok(PointTable {
        points: count,
        height: 1,
        columns: columns.collect(),
    })
}

struct Words<'a, I> {
    path: &'a Path,
    rest: I,
    line: usize,
}

impl<'a, I: Iterator<Item = (usize, &'a str)>> Words<'a, I> {
    fn next(&mut self, expected: &str) -> Result<&'a str, FormatError> {
        let Some((line, word)) = self.rest.next() else {
            return Err(self.error(
                format!("the file ends before {expected}"),
                "the file is truncated, or its count of points is wrong: copy it again",
            ));
        };
        self.line = line;
        Ok(word)
    }

    fn find(&mut self, keyword: &str) -> Result<(), FormatError> {
        while self.next(keyword)? != keyword {}
        Ok(())
    }

    fn parse<T: std::str::FromStr>(&mut self, expected: &str) -> Result<T, FormatError> {
        let word = self.next(expected)?;
        word.parse().map_err(|_| {
            self.error(
                format!("\"{word}\" is not {expected}"),
                "the file is damaged: export it again",
            )
        })
    }

    fn error(&self, message: String, remedy: &str) -> FormatError {
        FormatError::malformed(self.path, FileLocation::Line(self.line), message, remedy)
    }
}
