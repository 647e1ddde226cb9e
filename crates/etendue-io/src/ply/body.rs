//! Values of a PLY file.

use super::header::{ElementHeader, Header, Layout, PropertyHeader};
use super::{Element, PlyFile, Property, Values};
use crate::editable::NumberType;
use crate::precision::index_below;
use crate::{FileLocation, FormatError};
use std::path::Path;

pub(super) fn parse(path: &Path, bytes: &[u8], header: Header) -> Result<PlyFile, FormatError> {
    let mut source = Source {
        path,
        layout: header.layout,
        bytes,
        at: header.body,
        line: header.lines + 1,
    };
    let elements = header
        .elements
        .into_iter()
        .map(|element| source.element(element))
        .collect::<Result<_, _>>()?;
    source.check_end()?;
    Ok(PlyFile { elements })
}

struct Source<'a> {
    path: &'a Path,
    layout: Layout,
    bytes: &'a [u8],
    at: usize,
    line: usize,
}

impl Source<'_> {
    fn element(&mut self, header: ElementHeader) -> Result<Element, FormatError> {
        let ElementHeader {
            name,
            count,
            properties,
        } = header;
        if properties.is_empty() && count > 0 {
            return Err(self.error(
                format!("element {name} has no property"),
                "export the file again",
            ));
        }
        // Read the values of each element
        let mut values: Vec<Values> = properties.iter().map(empty).collect();
        for number in 0..count {
            for (property, values) in properties.iter().zip(&mut values) {
                self.value(property, values).map_err(|problem| {
                    let place = format!("{name} {number} of {count}, property {}", property.name);
                    self.explain(problem, &place)
                })?;
            }
        }
        // Combine them with the names of the properties
        let properties = properties.into_iter().zip(values);
        Ok(Element {
            name,
            properties: properties
                .map(|(property, values)| Property {
                    name: property.name,
                    values,
                })
                .collect(),
        })
    }

    fn value(&mut self, property: &PropertyHeader, values: &mut Values) -> Result<(), Problem> {
        match (values, property.length) {
            (Values::Lists { ends, items }, Some(length)) => {
                let length = self.number(length)?;
                // A list longer than the file has bytes is truncated.
                let items_left = self.bytes.len() + 1;
                let count = index_below(length, items_left).ok_or(Problem::Length(length))?;
                for _ in 0..count {
                    items.push(self.number(property.kind)?);
                }
                ends.push(items.len());
            }
            (Values::Numbers(numbers), _) => numbers.push(self.number(property.kind)?),
            (Values::Lists { .. }, None) => unreachable!("a list has a length"),
        }
        Ok(())
    }

    fn number(&mut self, kind: NumberType) -> Result<f64, Problem> {
        match self.layout {
            Layout::Ascii => self.word(),
            Layout::LittleEndian | Layout::BigEndian => Ok(match kind {
                NumberType::I8 => f64::from(i8::from_le_bytes(self.take()?)),
                NumberType::U8 => f64::from(u8::from_le_bytes(self.take()?)),
                NumberType::I16 => f64::from(i16::from_le_bytes(self.take()?)),
                NumberType::U16 => f64::from(u16::from_le_bytes(self.take()?)),
                NumberType::I32 => f64::from(i32::from_le_bytes(self.take()?)),
                NumberType::U32 => f64::from(u32::from_le_bytes(self.take()?)),
                NumberType::F32 => f64::from(f32::from_le_bytes(self.take()?)),
                NumberType::F64 => f64::from_le_bytes(self.take()?),
            }),
        }
    }

    /// The next bytes in little-endian order.
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Problem> {
        let bytes = self.bytes.get(self.at..self.at + N).ok_or(Problem::End)?;
        self.at += N;
        let mut array = [0; N];
        array.copy_from_slice(bytes);
        if self.layout == Layout::BigEndian {
            array.reverse();
        }
        Ok(array)
    }

    fn word(&mut self) -> Result<f64, Problem> {
        self.skip_space();
        let rest = &self.bytes[self.at..];
        let length = rest
            .iter()
            .take_while(|byte| !byte.is_ascii_whitespace())
            .count();
        if length == 0 {
            return Err(Problem::End);
        }
        let word = String::from_utf8_lossy(&rest[..length]);
        let number = word.parse().map_err(|_| Problem::Word(word.to_string()))?;
        self.at += length;
        Ok(number)
    }

    fn skip_space(&mut self) {
        while let Some(byte) = self
            .bytes
            .get(self.at)
            .filter(|byte| byte.is_ascii_whitespace())
        {
            self.line += usize::from(*byte == b'\n');
            self.at += 1;
        }
    }

    fn check_end(&mut self) -> Result<(), FormatError> {
        self.skip_space();
        let left = self.bytes.len() - self.at;
        if left == 0 {
            return Ok(());
        }
        Err(self.error(
            format!("{left} bytes remain after the last element of the header"),
            "the header's counts are wrong: export the file again",
        ))
    }

    fn explain(&self, problem: Problem, place: &str) -> FormatError {
        match problem {
            Problem::End => self.error(
                format!("the file ends in {place}"),
                "the file is truncated, or its header's counts are wrong: copy or export it again",
            ),
            Problem::Word(word) => self.error(
                format!("\"{word}\" is not a number ({place})"),
                "write decimals with a point; the file may be damaged",
            ),
            Problem::Length(length) => self.error(
                format!("{length} is not the length of a list ({place})"),
                "the file is damaged: export it again",
            ),
        }
    }

    fn error(&self, message: String, remedy: &str) -> FormatError {
        let place = match self.layout {
            Layout::Ascii => FileLocation::Line(self.line),
            _ => FileLocation::Byte(self.at),
        };
        FormatError::malformed(self.path, place, message, remedy)
    }
}

enum Problem {
    End,
    Word(String),
    Length(f64),
}

fn empty(property: &PropertyHeader) -> Values {
    match property.length {
        None => Values::Numbers(Vec::new()),
        Some(_) => Values::Lists {
            ends: Vec::new(),
            items: Vec::new(),
        },
    }
}
