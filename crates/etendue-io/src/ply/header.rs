//! A PLY file's header.

use crate::{FormatError, Place};
use std::path::Path;

/// What the header says.
pub(crate) struct Header {
    pub layout: Layout,
    pub elements: Vec<ElementHeader>,
    /// Where the body begins.
    pub body: usize,
    /// Lines of the header.
    pub lines: usize,
}

/// How numbers are stored.
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
    /// Type of a list's length, if it is a list.
    pub length: Option<Kind>,
    pub kind: Kind,
}

/// A number's type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl Kind {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "char" | "int8" => Self::I8,
            "uchar" | "uint8" => Self::U8,
            "short" | "int16" => Self::I16,
            "ushort" | "uint16" => Self::U16,
            "int" | "int32" => Self::I32,
            "uint" | "uint32" => Self::U32,
            "float" | "float32" => Self::F32,
            "double" | "float64" => Self::F64,
            _ => return None,
        })
    }
}

const BROKEN: &str = "the header is damaged, or the file is not PLY 1.0: export it again";

pub(crate) fn parse(path: &Path, bytes: &[u8]) -> Result<Header, FormatError> {
    let mut header = Header {
        layout: Layout::Ascii,
        elements: Vec::new(),
        body: 0,
        lines: 0,
    };
    let mut layout = None;
    loop {
        let (line, next) = take_line(path, bytes, header.body, header.lines)?;
        header.body = next;
        header.lines += 1;
        let fail = |message: String| {
            FormatError::malformed(path, Place::Line(header.lines), message, BROKEN)
        };
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match words[..] {
            ["ply"] if header.lines == 1 => {}
            _ if header.lines == 1 => {
                return Err(fail("the file does not begin with \"ply\"".into()));
            }
            [] | ["comment" | "obj_info", ..] => {}
            ["format", name, "1.0"] => {
                layout = Some(
                    layout_of(name).ok_or_else(|| fail(format!("unknown format \"{name}\"")))?,
                );
            }
            ["element", name, count] => header.elements.push(ElementHeader {
                name: name.into(),
                count: count
                    .parse()
                    .map_err(|_| fail(format!("\"{count}\" is not a count")))?,
                properties: Vec::new(),
            }),
            ["property", ref rest @ ..] => {
                let property =
                    property(rest).ok_or_else(|| fail(format!("cannot read \"{line}\"")))?;
                let Some(element) = header.elements.last_mut() else {
                    return Err(fail("a property precedes the first element".into()));
                };
                element.properties.push(property);
            }
            ["end_header"] => break,
            _ => return Err(fail(format!("cannot read \"{line}\""))),
        }
    }
    header.layout = layout.ok_or_else(|| {
        FormatError::malformed(
            path,
            Place::Line(header.lines),
            "the header names no format",
            BROKEN,
        )
    })?;
    Ok(header)
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
            Place::Line(lines + 1),
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
        ["list", length, kind, name] => (Some(Kind::of(length)?), kind, name),
        [kind, name] => (None, kind, name),
        _ => return None,
    };
    Some(PropertyHeader {
        name: name.into(),
        length,
        kind: Kind::of(kind)?,
    })
}
