//! Lines and fields of text files, with their positions.

use crate::{FileLocation, FormatError};
use std::path::Path;
use std::str::FromStr;

/// The text of a file.
#[derive(Clone, Copy)]
pub struct TextContent<'a> {
    /// Path, for errors.
    pub path: &'a Path,
    /// Text.
    pub content: &'a str,
}

/// One line of a text file.
#[derive(Clone, Copy)]
pub struct TextLine<'a> {
    /// Path, for errors.
    pub path: &'a Path,
    /// Line number, from 1.
    pub number: usize,
    /// Text of the line without the line end.
    pub text: &'a str,
}

/// One field of a line.
#[derive(Clone, Copy)]
pub struct TextField<'a> {
    line: TextLine<'a>,
    /// Text of the field.
    pub text: &'a str,
}

/// Whether a text is a number, including infinity and NaN.
pub fn is_number(text: &str) -> bool {
    text.parse::<f64>().is_ok()
}

impl<'a> TextContent<'a> {
    /// Lines that are not blank.
    pub fn lines(self) -> impl Iterator<Item = TextLine<'a>> {
        let Self { path, content } = self;
        content
            .lines()
            .enumerate()
            .filter(|(_, text)| !text.trim().is_empty())
            .map(move |(index, text)| TextLine {
                path,
                number: index + 1,
                text,
            })
    }
}

impl<'a> TextLine<'a> {
    /// Fields separated by white space.
    pub fn words(self) -> impl Iterator<Item = TextField<'a>> {
        self.text
            .split_ascii_whitespace()
            .map(move |text| TextField { line: self, text })
    }

    /// Fields separated by `separator`, trimmed.
    pub fn split(self, separator: char) -> impl Iterator<Item = TextField<'a>> {
        self.text.split(separator).map(move |text| TextField {
            line: self,
            text: text.trim(),
        })
    }

    /// Fields separated by commas outside of double quotes, trimmed, with their quotes.
    pub fn split_csv(self) -> Vec<TextField<'a>> {
        let mut inside = false;
        let pieces = self.text.split(move |letter| {
            inside ^= letter == '"';
            letter == ',' && !inside
        });
        pieces.map(|text| self.field(text.trim())).collect()
    }

    /// A substring of this line as a field.
    pub fn field(self, text: &'a str) -> TextField<'a> {
        TextField { line: self, text }
    }

    /// An error that names this line.
    pub fn error(self, message: impl Into<String>, remedy: impl Into<String>) -> FormatError {
        FormatError::malformed(self.path, FileLocation::Line(self.number), message, remedy)
    }

    /// The error of a line that ends too early.
    pub fn truncated(self, expected: &str) -> FormatError {
        self.error(
            format!("the line ends before {expected}"),
            "the file is truncated or damaged: copy it again, or delete this line",
        )
    }
}

impl TextField<'_> {
    /// The field as a finite number.
    ///
    /// # Errors
    /// If it is not a finite number.
    pub fn number(self) -> Result<f64, FormatError> {
        let value: f64 = self.parse("a number")?;
        if value.is_finite() {
            return Ok(value);
        }
        Err(self.error(
            format!("\"{}\" is not a finite number", self.text),
            "write a finite number",
        ))
    }

    /// The field as a `T`; `expected` names the expected value.
    ///
    /// # Errors
    /// If the field is not a `T`.
    pub fn parse<T: FromStr>(self, expected: &str) -> Result<T, FormatError> {
        self.text.parse().map_err(|_| {
            let remedy = if self.has_decimal_comma() {
                "write decimals with a point, not a comma"
            } else {
                "check the format of the file, or copy it again"
            };
            self.error(format!("\"{}\" is not {expected}", self.text), remedy)
        })
    }

    fn has_decimal_comma(self) -> bool {
        self.text.contains(',') && self.text.replace(',', ".").parse::<f64>().is_ok()
    }

    /// An error that names this field's line and column.
    pub fn error(self, message: impl Into<String>, remedy: impl Into<String>) -> FormatError {
        let offset = self.text.as_ptr() as usize - self.line.text.as_ptr() as usize;
        let column = self.line.text[..offset].chars().count() + 1;
        FormatError::malformed(
            self.line.path,
            FileLocation::LineColumn(self.line.number, column),
            message,
            remedy,
        )
    }
}
