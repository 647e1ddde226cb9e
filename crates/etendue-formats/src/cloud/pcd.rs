//! PCD files of the Point Cloud Library: text and binary.

use super::{Cloud, Collector, INTENSITY_NAMES};
use crate::{FormatError, Place};
use std::path::Path;

const DAMAGED: &str = "the file is cut or damaged: copy or export it again";

pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<Cloud, FormatError> {
    let header = Header::read(path, bytes)?;
    let wanted = header.wanted(path)?;
    let mut collector = Collector::default();
    let mut add = |values: [Option<f64>; 4]| {
        let [x, y, z, intensity] = values;
        let position = [x, y, z].map(|coordinate| coordinate.unwrap_or(f64::NAN));
        collector.add(position, intensity);
    };
    match header.data.as_str() {
        "ascii" => header.read_text(path, bytes, &wanted, &mut add)?,
        "binary" => header.read_binary(path, bytes, &wanted, &mut add)?,
        other => {
            return Err(FormatError::Unsupported {
                path: path.to_owned(),
                message: format!("PCD data of the kind \"{other}\" are not read"),
                remedy: "save the cloud as ascii or binary (pcl_convert_pcd_ascii_binary)".into(),
            });
        }
    }
    Ok(collector.finish())
}

/// One number of each point.
#[derive(Clone)]
pub(crate) struct FieldHeader {
    pub name: String,
    pub kind: char,
    pub size: usize,
    pub count: usize,
}

pub(crate) struct Header {
    pub fields: Vec<FieldHeader>,
    pub points: usize,
    pub data: String,
    /// Where the points begin.
    pub body: usize,
    lines: usize,
}

/// The fields of x, y, z and intensity.
type Wanted = [Option<usize>; 4];

impl Header {
    pub fn read(path: &Path, bytes: &[u8]) -> Result<Self, FormatError> {
        let mut rows: Vec<(String, Vec<String>)> = Vec::new();
        let mut body = 0;
        let mut lines = 0;
        loop {
            lines += 1;
            let fail =
                |message: &str| FormatError::malformed(path, Place::Line(lines), message, DAMAGED);
            let rest = &bytes[body..];
            let end = rest.iter().position(|byte| *byte == b'\n');
            let end = end.ok_or_else(|| fail("the header has no line DATA"))?;
            let line =
                std::str::from_utf8(&rest[..end]).map_err(|_| fail("the header is not text"))?;
            body += end + 1;
            let mut words = line
                .split('#')
                .next()
                .unwrap_or_default()
                .split_ascii_whitespace();
            let Some(keyword) = words.next() else {
                continue;
            };
            rows.push((keyword.to_owned(), words.map(str::to_owned).collect()));
            if keyword == "DATA" {
                break;
            }
        }
        Self::of_rows(path, &rows, body, lines)
    }

    fn of_rows(
        path: &Path,
        rows: &[(String, Vec<String>)],
        body: usize,
        lines: usize,
    ) -> Result<Self, FormatError> {
        let fail =
            |message: String| FormatError::malformed(path, Place::Line(lines), message, DAMAGED);
        let row = |keyword: &str| {
            let found = rows.iter().find(|(name, _)| name == keyword);
            found.map(|(_, words)| &words[..])
        };
        let needed = |keyword: &str| {
            row(keyword).ok_or_else(|| fail(format!("the header has no line {keyword}")))
        };
        let number = |keyword: &str, word: Option<&String>| {
            let number = word.and_then(|word| word.parse::<usize>().ok());
            number.ok_or_else(|| fail(format!("the header's line {keyword} is damaged")))
        };
        let (names, sizes, kinds) = (needed("FIELDS")?, needed("SIZE")?, needed("TYPE")?);
        let mut fields = Vec::new();
        for (index, name) in names.iter().enumerate() {
            let kind = kinds.get(index).and_then(|kind| kind.chars().next());
            fields.push(FieldHeader {
                name: name.clone(),
                kind: kind.ok_or_else(|| fail("the header's line TYPE is too short".into()))?,
                size: number("SIZE", sizes.get(index))?,
                count: match row("COUNT") {
                    Some(counts) => number("COUNT", counts.get(index))?,
                    None => 1,
                },
            });
        }
        let points = match row("POINTS") {
            Some(words) => number("POINTS", words.first())?,
            None => number("WIDTH", needed("WIDTH")?.first())?
                .saturating_mul(number("HEIGHT", needed("HEIGHT")?.first())?),
        };
        Ok(Self {
            fields,
            points,
            data: needed("DATA")?.first().cloned().unwrap_or_default(),
            body,
            lines,
        })
    }

    fn wanted(&self, path: &Path) -> Result<Wanted, FormatError> {
        let find = |name: &str| self.fields.iter().position(|field| field.name == name);
        let intensity = INTENSITY_NAMES.iter().find_map(|name| find(name));
        let wanted = [find("x"), find("y"), find("z"), intensity];
        if wanted[..3].iter().any(Option::is_none) {
            return Err(FormatError::malformed(
                path,
                Place::Line(self.lines),
                "the fields x, y and z are not all there",
                "export the cloud again with positions",
            ));
        }
        Ok(wanted)
    }

    fn read_text(
        &self,
        path: &Path,
        bytes: &[u8],
        wanted: &Wanted,
        add: &mut impl FnMut([Option<f64>; 4]),
    ) -> Result<(), FormatError> {
        let content = String::from_utf8_lossy(&bytes[self.body..]);
        let starts = self.starts(|field| field.count);
        let mut points = 0;
        for (index, line) in content
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
        {
            let fail = |message: String| {
                let place = Place::Line(self.lines + index + 1);
                FormatError::malformed(path, place, message, DAMAGED)
            };
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            let mut values = [None; 4];
            for (value, field) in values.iter_mut().zip(wanted) {
                if let Some(field) = field {
                    let word = words
                        .get(starts[*field])
                        .ok_or_else(|| fail("the line is cut".into()))?;
                    let number = word.parse::<f64>();
                    *value = Some(number.map_err(|_| fail(format!("\"{word}\" is not a number")))?);
                }
            }
            add(values);
            points += 1;
        }
        self.check_count(path, points)
    }

    fn read_binary(
        &self,
        path: &Path,
        bytes: &[u8],
        wanted: &Wanted,
        add: &mut impl FnMut([Option<f64>; 4]),
    ) -> Result<(), FormatError> {
        let starts = self.starts(|field| field.size.saturating_mul(field.count));
        let size = starts[self.fields.len()].max(1);
        let body = &bytes[self.body..];
        self.check_count(path, self.points.min(body.len() / size))?;
        for point in body.chunks_exact(size).take(self.points) {
            let value = |field: usize| {
                let header = &self.fields[field];
                let start = starts[field];
                number(
                    header,
                    &point[start..start.saturating_add(header.size).min(size)],
                )
            };
            let mut values = [None; 4];
            for (slot, field) in values.iter_mut().zip(wanted) {
                if let Some(field) = field {
                    *slot = Some(value(*field).ok_or_else(|| self.unknown_type(path, *field))?);
                }
            }
            add(values);
        }
        Ok(())
    }

    /// Where each field begins in a point, and the whole size at the end.
    pub fn starts(&self, width: impl Fn(&FieldHeader) -> usize) -> Vec<usize> {
        let mut starts = vec![0_usize];
        for field in &self.fields {
            let last = starts[starts.len() - 1];
            starts.push(last.saturating_add(width(field)));
        }
        starts
    }

    fn check_count(&self, path: &Path, found: usize) -> Result<(), FormatError> {
        if found == self.points {
            return Ok(());
        }
        let message = format!(
            "the header counts {} points, the file holds {found}",
            self.points
        );
        Err(FormatError::malformed(path, Place::File, message, DAMAGED))
    }

    fn unknown_type(&self, path: &Path, field: usize) -> FormatError {
        let FieldHeader {
            name, kind, size, ..
        } = &self.fields[field];
        let message = format!("the field {name} has the unknown type {kind} of {size} bytes");
        FormatError::malformed(path, Place::Line(self.lines), message, DAMAGED)
    }
}

fn number(field: &FieldHeader, bytes: &[u8]) -> Option<f64> {
    Some(match (field.kind, field.size) {
        ('F', 4) => f64::from(f32::from_le_bytes(bytes.try_into().ok()?)),
        ('F', 8) => f64::from_le_bytes(bytes.try_into().ok()?),
        ('U', 1) => f64::from(u8::from_le_bytes(bytes.try_into().ok()?)),
        ('U', 2) => f64::from(u16::from_le_bytes(bytes.try_into().ok()?)),
        ('U', 4) => f64::from(u32::from_le_bytes(bytes.try_into().ok()?)),
        ('I', 1) => f64::from(i8::from_le_bytes(bytes.try_into().ok()?)),
        ('I', 2) => f64::from(i16::from_le_bytes(bytes.try_into().ok()?)),
        ('I', 4) => f64::from(i32::from_le_bytes(bytes.try_into().ok()?)),
        _ => return None,
    })
}
