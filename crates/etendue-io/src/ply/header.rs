//! Header of a PLY file.

use crate::editable::NumberType;
use crate::table::field_name;
use crate::{FileLocation, FormatError};
use std::path::Path;

/// Content of the header.
pub(crate) struct Header {
    pub layout: Layout,
    pub elements: Vec<ElementHeader>,
    /// Offset of the body, bytes.
    pub body: usize,
    /// Number of lines of the header.
    pub lines: usize,
}

/// Storage of the values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    Ascii,
    LittleEndian,
    BigEndian,
}

pub(crate) struct ElementHeader {
    pub name: String,
    pub count: usize,
    pub properties: Vec<PropertyHeader>,
}

pub(crate) struct PropertyHeader {
    pub name: String,
    /// Type of the length of a list; `None` for single numbers.
    pub length: Option<NumberType>,
    pub kind: NumberType,
}

/// Number type by its name in PLY.
fn number_type(name: &str) -> Option<NumberType> {
    Some(match name {
        "char" | "int8" => NumberType::I8,
        "uchar" | "uint8" => NumberType::U8,
        "short" | "int16" => NumberType::I16,
        "ushort" | "uint16" => NumberType::U16,
        "int" | "int32" => NumberType::I32,
        "uint" | "uint32" => NumberType::U32,
        "float" | "float32" => NumberType::F32,
        "double" | "float64" => NumberType::F64,
        _ => return None,
    })
}

const BROKEN: &str = "the header is damaged, or the file is not PLY 1.0: export it again";

pub(crate) fn parse(path: &Path, bytes: &[u8]) -> Result<Header, FormatError> {
    let mut layout = None;
    let mut elements: Vec<ElementHeader> = Vec::new();
    let mut body = 0;
    let mut lines = 0;
    loop {
        // Read the next line
        let (line, next) = take_line(path, bytes, body, lines)?;
        body = next;
        lines += 1;
        let fail = |message: String| {
            FormatError::malformed(path, FileLocation::Line(lines), message, BROKEN)
        };

        // Interpret its first word
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match words[..] {
            ["ply"] if lines == 1 => {}
            _ if lines == 1 => {
                return Err(fail("the file does not begin with \"ply\"".into()));
            }
            [] | ["comment" | "obj_info", ..] => {}
            ["format", name, "1.0"] => {
                layout = Some(
                    layout_of(name).ok_or_else(|| fail(format!("unknown format \"{name}\"")))?,
                );
            }
            ["element", name, count] => elements.push(ElementHeader {
                name: name.into(),
                count: count
                    .parse()
                    .map_err(|_| fail(format!("\"{count}\" is not a count")))?,
                properties: Vec::new(),
            }),
            ["property", ref rest @ ..] => {
                let property =
                    property(rest).ok_or_else(|| fail(format!("cannot read \"{line}\"")))?;
                let Some(element) = elements.last_mut() else {
                    return Err(fail("a property precedes the first element".into()));
                };
                element.properties.push(property);
            }
            ["end_header"] => break,
            _ => return Err(fail(format!("cannot read \"{line}\""))),
        }
    }
    let no_format = "the header names no format";
    Ok(Header {
        layout: layout.ok_or_else(|| {
            FormatError::malformed(path, FileLocation::Line(lines), no_format, BROKEN)
        })?,
        elements,
        body,
        lines,
    })
}

fn take_line<'a>(
    path: &Path,
    bytes: &'a [u8],
    from: usize,
    lines: usize,
) -> Result<(&'a str, usize), FormatError> {
    let rest = &bytes[from..];
    let end = rest.iter().position(|byte| *byte == b'\n');
    let text = end.and_then(|end| std::str::from_utf8(&rest[..end]).ok());
    match (end, text) {
        (Some(end), Some(text)) => Ok((text.trim_end_matches('\r'), from + end + 1)),
        _ => Err(FormatError::malformed(
            path,
            FileLocation::Line(lines + 1),
            "the header has no end",
            BROKEN,
        )),
    }
}

fn layout_of(name: &str) -> Option<Layout> {
    Some(match name {
        "ascii" => Layout::Ascii,
        "binary_little_endian" => Layout::LittleEndian,
        "binary_big_endian" => Layout::BigEndian,
        _ => return None,
    })
}

fn property(words: &[&str]) -> Option<PropertyHeader> {
    let (length, kind, name) = match *words {
        ["list", length, kind, name] => (Some(number_type(length)?), kind, name),
        [kind, name] => (None, kind, name),
        _ => return None,
    };
    Some(PropertyHeader {
        name: field_name(name),
        length,
        kind: number_type(kind)?,
    })
}
