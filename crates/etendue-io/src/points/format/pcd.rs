//! PCD files of the Point Cloud Library, version 0.7: text and binary.

use super::{FormatEntry, PointReader, ScanEditor};
use crate::editable::{
    ByteColumn, EditableScan, NumberType, Records, Rows, TRUNCATED, truncated_points,
    without_positions,
};
use crate::output::OutputSet;
use crate::table::{
    ColumnData, ColumnType, Encoding, PointColumn, PointSweeps, PointTable, field_name,
};
use crate::{FileLocation, FormatError};
use std::path::Path;

pub(super) const FORMAT: FormatEntry = FormatEntry {
    endings: &["pcd"],
    recognizes: is_pcd,
    points_only: true,
    in_folders: true,
    is_recorded_cloud: true,
    read: PointReader::Whole(|file| parse(file.path, &file.bytes).map(PointSweeps::one)),
    write: Some(write_pcd),
    capacity: None,
    editor: Some(ScanEditor {
        endings: &["pcd"],
        open: open_scan,
    }),
};

/// Whether a file has a PCD header; other comments may precede it.
fn is_pcd(_: &Path, bytes: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]);
    head.starts_with("# .PCD")
        || head.starts_with("VERSION")
        || head.starts_with('#') && head.contains("\nVERSION")
}

fn parse(path: &Path, bytes: &[u8]) -> Result<PointTable, FormatError> {
    // Read the values in the encoding of the header
    let header = Header::read(path, bytes)?;
    header.check_positions(path)?;
    let values = match header.data.as_str() {
        "ascii" => header.read_text(path, bytes)?,
        "binary" => header.read_binary(path, &bytes[header.body..])?,
        "binary_compressed" => {
            let body = header.decompressed(path, &bytes[header.body..])?;
            header.read_binary(path, &body)?
        }
        other => {
            return Err(FormatError::Unsupported {
                path: path.to_owned(),
                message: format!("PCD data with the encoding \"{other}\" are not supported"),
                remedy: "save the cloud as ascii or binary (pcl_convert_pcd_ascii_binary)".into(),
            });
        }
    };
    // Remove the padding fields
    let columns = header.fields.iter().zip(values);
    let columns = columns.filter(|(field, _)| field.is_named());
    Ok(PointTable {
        points: header.points,
        height: header.height,
        columns: columns
            .map(|(field, values)| {
                PointColumn::new(
                    field.name.clone(),
                    ColumnData::of(field.number_type(), values),
                )
            })
            .collect(),
    })
}

/// Description of a field.
#[derive(Clone)]
struct FieldHeader {
    pub name: String,
    pub kind: char,
    pub size: usize,
    pub count: usize,
}

struct Header {
    pub fields: Vec<FieldHeader>,
    pub points: usize,
    height: usize,
    pub data: String,
    /// Offset of the points, bytes.
    pub body: usize,
    lines: usize,
}

impl FieldHeader {
    /// Whether the field is not padding.
    fn is_named(&self) -> bool {
        self.name != "_" && self.count > 0
    }

    /// Column type of the numbers.
    fn number_type(&self) -> ColumnType {
        match (self.kind, self.size) {
            ('F', 4) => ColumnType::F32,
            ('U', 1 | 2) => ColumnType::U16,
            ('U', 4) => ColumnType::U32,
            ('I', 1 | 2 | 4) => ColumnType::I32,
            _ => ColumnType::F64,
        }
    }
}

impl Header {
    pub fn read(path: &Path, bytes: &[u8]) -> Result<Self, FormatError> {
        let mut rows: Vec<(String, Vec<String>)> = Vec::new();
        let mut body = 0;
        let mut lines = 0;
        loop {
            lines += 1;
            let fail = |message: &str| {
                FormatError::malformed(path, FileLocation::Line(lines), message, TRUNCATED)
            };
            // Read the next line
            let rest = &bytes[body..];
            let end = rest.iter().position(|byte| *byte == b'\n');
            let end = end.ok_or_else(|| fail("the header has no line DATA"))?;
            let line =
                std::str::from_utf8(&rest[..end]).map_err(|_| fail("the header is not text"))?;
            body += end + 1;

            // Split it into keyword and values, without its comment
            let content = line.split('#').next().unwrap_or_default();
            let mut words = content.split_ascii_whitespace();
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

    /// Interprets the rows of a header: keyword and values each.
    fn of_rows(
        path: &Path,
        rows: &[(String, Vec<String>)],
        body: usize,
        lines: usize,
    ) -> Result<Self, FormatError> {
        let fail = |message: String| {
            FormatError::malformed(path, FileLocation::Line(lines), message, TRUNCATED)
        };
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

        // Read name, type and size of each field
        let names = needed("FIELDS")?;
        let sizes = needed("SIZE")?;
        let kinds = needed("TYPE")?;
        let mut fields = Vec::new();
        for (index, name) in names.iter().enumerate() {
            let kind = kinds.get(index).and_then(|kind| kind.chars().next());
            fields.push(FieldHeader {
                name: field_name(name),
                kind: kind.ok_or_else(|| fail("the header's line TYPE is too short".into()))?,
                size: number("SIZE", sizes.get(index))?,
                count: match row("COUNT") {
                    Some(counts) => number("COUNT", counts.get(index))?,
                    None => 1,
                },
            });
        }

        // Read the number of points and the rows of a grid
        let points = match row("POINTS") {
            Some(words) => number("POINTS", words.first())?,
            None => number("WIDTH", needed("WIDTH")?.first())?
                .saturating_mul(number("HEIGHT", needed("HEIGHT")?.first())?),
        };
        let height = match row("HEIGHT") {
            Some(words) => number("HEIGHT", words.first())?.max(1),
            None => 1,
        };
        Ok(Self {
            fields,
            points,
            height: if points.is_multiple_of(height) {
                height
            } else {
                1
            },
            data: needed("DATA")?.first().cloned().unwrap_or_default(),
            body,
            lines,
        })
    }

    fn check_positions(&self, path: &Path) -> Result<(), FormatError> {
        let has = |name: &&str| self.fields.iter().any(|field| field.name == *name);
        if ["x", "y", "z"].iter().all(has) {
            return Ok(());
        }
        Err(FormatError::malformed(
            path,
            FileLocation::Line(self.lines),
            "a field x, y or z is missing",
            "export the cloud again with positions",
        ))
    }

    /// Reads the values of each field; the first number of fields with several.
    fn read_text(&self, path: &Path, bytes: &[u8]) -> Result<Vec<Vec<f64>>, FormatError> {
        let content = String::from_utf8_lossy(&bytes[self.body..]);
        let starts = self.starts(|field| field.count);
        let mut values = vec![Vec::new(); self.fields.len()];
        let lines = content.lines().enumerate();
        for (index, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            let fail = |message: String| {
                let place = FileLocation::Line(self.lines + index + 1);
                FormatError::malformed(path, place, message, TRUNCATED)
            };
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            for (field, values) in values.iter_mut().enumerate() {
                if !self.fields[field].is_named() {
                    continue;
                }
                let word = words.get(starts[field]);
                let word = word.ok_or_else(|| fail("the line is truncated".into()))?;
                let number = word.parse::<f64>();
                values.push(number.map_err(|_| fail(format!("\"{word}\" is not a number")))?);
            }
        }
        let named = self.fields.iter().position(FieldHeader::is_named);
        self.check_count(path, named.map_or(0, |field| values[field].len()))?;
        Ok(values)
    }

    /// Reads the values of each field from binary records.
    fn read_binary(&self, path: &Path, body: &[u8]) -> Result<Vec<Vec<f64>>, FormatError> {
        let starts = self.starts(|field| field.size.saturating_mul(field.count));
        let size = starts[self.fields.len()].max(1);
        self.check_count(path, self.points.min(body.len() / size))?;
        let mut values = vec![Vec::with_capacity(self.points); self.fields.len()];
        for (field, values) in values.iter_mut().enumerate() {
            let header = &self.fields[field];
            if !header.is_named() {
                continue;
            }
            let start = starts[field];
            let end = starts[field].saturating_add(header.size);
            for point in body.chunks_exact(size).take(self.points) {
                let value = number(header, &point[start..end.min(size)]);
                values.push(value.ok_or_else(|| self.unknown_type(path, field))?);
            }
        }
        Ok(values)
    }

    /// Decompresses points: the compressed and the uncompressed length, then all values of one
    /// field after the other, compressed with LZF.
    fn decompressed(&self, path: &Path, body: &[u8]) -> Result<Vec<u8>, FormatError> {
        let damaged = || {
            FormatError::malformed(
                path,
                FileLocation::File,
                "the compressed points are damaged",
                TRUNCATED,
            )
        };

        // Check the lengths
        let length = |at: usize| {
            let bytes = body.get(at..)?.first_chunk()?;
            usize::try_from(u32::from_le_bytes(*bytes)).ok()
        };
        let compressed_length = length(0).ok_or_else(damaged)?;
        let length = length(4).ok_or_else(damaged)?;
        let size = *self
            .starts(|f| f.size.saturating_mul(f.count))
            .last()
            .unwrap_or(&0);
        if size.checked_mul(self.points) != Some(length) {
            return Err(damaged());
        }

        // Decompress the fields
        let compressed = body[8..].get(..compressed_length).ok_or_else(damaged)?;
        if length > compressed.len().saturating_mul(LZF_RATIO) {
            return Err(damaged());
        }
        let fields = decompress_lzf(compressed, length).ok_or_else(damaged)?;

        // Interleave them into points
        let mut points = vec![0; length];
        let mut from = 0;
        let starts = self.starts(|f| f.size.saturating_mul(f.count));
        for (field, start) in self.fields.iter().zip(starts) {
            let width = field.size.saturating_mul(field.count);
            if points.is_empty() {
                break;
            }
            for point in 0..self.points {
                let to = point * size + start;
                points[to..to + width].copy_from_slice(&fields[from..from + width]);
                from += width;
            }
        }
        Ok(points)
    }

    /// Offset of each field in a point, followed by the size of a point.
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
            "the header counts {} points, but the file contains {found}",
            self.points
        );
        Err(FormatError::malformed(
            path,
            FileLocation::File,
            message,
            TRUNCATED,
        ))
    }

    fn unknown_type(&self, path: &Path, field: usize) -> FormatError {
        let FieldHeader {
            name, kind, size, ..
        } = &self.fields[field];
        let message = format!("the field {name} has the unknown type {kind} of {size} bytes");
        FormatError::malformed(path, FileLocation::Line(self.lines), message, TRUNCATED)
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

/// Maximum ratio of decompressed and compressed bytes of LZF: a back reference of three bytes copies
/// up to 264.
const LZF_RATIO: usize = 264 / 3;

/// Decompresses LZF to `length` bytes. A control byte n below 32 precedes n + 1 literal bytes; a
/// greater one is a back reference.
fn decompress_lzf(compressed: &[u8], length: usize) -> Option<Vec<u8>> {
    let mut output = Vec::with_capacity(length);
    let mut input = compressed.iter().copied();
    while output.len() < length {
        let control = usize::from(input.next()?);

        // Copy literal bytes
        if control < 32 {
            for _ in 0..=control {
                output.push(input.next()?);
            }
            continue;
        }

        // Copy earlier output: three bits of length, extended by another byte if needed; 13 bits of
        // distance
        let mut count = control >> 5;
        if count == 7 {
            count += usize::from(input.next()?);
        }
        let distance = ((control & 31) << 8) + usize::from(input.next()?) + 1;
        let start = output.len().checked_sub(distance)?;
        for copied in 0..count + 2 {
            output.push(output[start + copied]);
        }
    }
    (output.len() == length).then_some(output)
}

/// Opens a scan with editable positions.
fn open_scan(path: &Path, bytes: Vec<u8>) -> Result<Box<dyn EditableScan>, FormatError> {
    // Find the fields of position and range
    let header = Header::read(path, &bytes)?;
    let find = |name: &str| header.fields.iter().position(|field| field.name == name);
    let (Some(x), Some(y), Some(z)) = (find("x"), find("y"), find("z")) else {
        return Err(without_positions(path));
    };
    let range = find("range").or_else(|| find("range_m"));

    // Read a text file by rows
    if header.data == "ascii" {
        let starts = header.starts(|field| field.count);
        let [x, y, z] = [x, y, z].map(|field| starts[field]);
        let range = range.map(|field| starts[field]);
        let rows = Rows::after(path, &bytes, header.body, [x, y, z], range, header.points)?;
        return Ok(Box::new(rows));
    }

    // Read a binary file by records
    if header.data != "binary" {
        return Err(FormatError::Unsupported {
            path: path.to_owned(),
            message: format!(
                "PCD data with the encoding \"{}\" cannot be edited",
                header.data
            ),
            remedy: "save the scan as ascii or binary (pcl_convert_pcd_ascii_binary)".into(),
        });
    }
    let starts = header.starts(|field| field.size * field.count);
    let step = starts[header.fields.len()];
    let column = |field: usize| {
        let found = &header.fields[field];
        let kind = fraction_type(found)?;
        Some(ByteColumn::new(header.body + starts[field], step, kind))
    };
    let columns = [column(x), column(y), column(z)];
    let [Some(x), Some(y), Some(z)] = columns else {
        return Err(without_positions(path));
    };
    let range = range.and_then(column);
    let records = Records::new(bytes, header.points, [x, y, z], range);
    let records = records.ok_or_else(|| truncated_points(path))?;
    Ok(Box::new(records))
}

/// Floating-point type of a field; `None` for integers.
fn fraction_type(field: &FieldHeader) -> Option<NumberType> {
    match (field.kind, field.size) {
        ('F', 4) => Some(NumberType::F32),
        ('F', 8) => Some(NumberType::F64),
        _ => None,
    }
}

/// Writes a `.pcd` with the identity as viewpoint: the points are in the world frame.
///
/// # Errors
/// If the file cannot be written.
pub fn write_pcd(
    outputs: &mut OutputSet,
    path: &Path,
    table: &PointTable,
    encoding: Encoding,
) -> Result<(), FormatError> {
    outputs.add(path, |file| {
        file.write_all(header_text(table, encoding).as_bytes())?;
        file.write_all(&table.encode(encoding))
    })
}

fn header_text(table: &PointTable, encoding: Encoding) -> String {
    let row = |name: &str, value: &dyn Fn(&PointColumn) -> String| {
        let values: Vec<String> = table.columns.iter().map(value).collect();
        format!("{name} {}\n", values.join(" "))
    };
    let points = table.points;
    let height = table.height.max(1);
    let width = points / height;
    [
        "# .PCD v0.7 - Point PointCloud Data file format\nVERSION 0.7\n".to_owned(),
        row("FIELDS", &|column| column.name.to_string()),
        row("SIZE", &|column| size_and_type(&column.data).0.to_string()),
        row("TYPE", &|column| size_and_type(&column.data).1.into()),
        row("COUNT", &|_| "1".into()),
        format!("WIDTH {width}\nHEIGHT {height}\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS {points}\n"),
        match encoding {
            Encoding::Ascii => "DATA ascii\n".into(),
            Encoding::Binary => "DATA binary\n".into(),
        },
    ]
    .concat()
}

fn size_and_type(data: &ColumnData) -> (usize, &'static str) {
    match data {
        ColumnData::F32(_) => (4, "F"),
        ColumnData::F64(_) => (8, "F"),
        ColumnData::U16(_) => (2, "U"),
        ColumnData::U32(_) => (4, "U"),
        ColumnData::I32(_) => (4, "I"),
    }
}

#[cfg(test)]
mod tests {
    use super::decompress_lzf;

    #[test]
    fn compressed_bytes_are_decompressed_and_damage_is_an_error() {
        // "abc", then five bytes from three back: "abcab".
        let packed = [2, b'a', b'b', b'c', 3 << 5, 2];
        assert_eq!(
            decompress_lzf(&packed, 8).as_deref(),
            Some(&b"abcabcab"[..])
        );
        assert_eq!(decompress_lzf(&packed[..5], 8), None);
        assert_eq!(decompress_lzf(&[32, 9], 4), None);
    }
}
