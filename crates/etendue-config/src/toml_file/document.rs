//! Text of a TOML file, and errors with positions in it.

use super::TomlProblem;
use super::bounds::check_numbers;
use super::form::misfit;
use super::strict::Strict;
use super::units::{number_with_value, value_span};
use etendue_io::FormatError;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toml::Spanned;

/// A TOML file: its path and its text.
///
/// # Example
/// ```
/// use etendue_config::toml_file::Document;
///
/// #[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
/// #[serde(deny_unknown_fields)]
/// struct Paint { reflectance: f64 }
///
/// let paint: Paint = Document::new("paint.toml", "reflectance = 0.8").parse().unwrap();
/// assert_eq!(paint.reflectance, 0.8);
///
/// let typo = Document::new("paint.toml", "\nreflectence = 0.8").parse::<Paint>().unwrap_err();
/// assert_eq!(typo.to_string(), "paint.toml:2:1: unknown key \"reflectence\"");
/// assert_eq!(typo.remedy(), "did you mean \"reflectance\"?");
/// ```
#[derive(Clone, Debug)]
pub struct Document {
    path: PathBuf,
    text: Arc<str>,
}

/// A problem in a TOML file and its position.
#[derive(Clone, Debug)]
pub struct DocumentError(Box<Mistake>);

/// Boxed, because errors are rare and results are frequent.
#[derive(Clone, Debug)]
struct Mistake {
    document: Document,
    span: Range<usize>,
    problem: TomlProblem,
}

impl Document {
    /// A document with a given text.
    pub fn new(path: impl Into<PathBuf>, text: impl Into<Arc<str>>) -> Self {
        Self {
            path: path.into(),
            text: text.into(),
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read or is not UTF-8.
    pub fn read(path: &Path) -> Result<Self, FormatError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| FormatError::cannot_read(path, source))?;
        Ok(Self::new(path, text))
    }

    /// Deserialises the text. Every number is within the bounds of its key in
    /// [`file_schema`](super::file_schema).
    ///
    /// # Errors
    /// If the text is not TOML or does not match `T`, or a number is out of its bounds. An array in
    /// place of a table, and an array with more elements than a fixed-size array of `T`, do not match.
    pub fn parse<T: DeserializeOwned + JsonSchema + 'static>(&self) -> Result<T, DocumentError> {
        let numbers = || check_numbers::<T>(&self.text);
        let (span, problem) = match self.parse_any() {
            Ok(file) => match numbers() {
                Ok(()) => return Ok(file),
                Err(found) => found,
            },
            // Name the key and the expected value in place of types of the program
            Err(error) => match error.problem() {
                TomlProblem::Value { .. } | TomlProblem::Syntax { .. } => misfit::<T>(&self.text)
                    .or_else(|| numbers().err())
                    .ok_or(error)?,
                _ => return Err(error),
            },
        };
        Err(self.error(span, problem))
    }

    /// Deserialises the text; numbers are not checked.
    pub(crate) fn parse_any<T: DeserializeOwned>(&self) -> Result<T, DocumentError> {
        toml::Deserializer::parse(&self.text)
            .and_then(|deserializer| T::deserialize(Strict(deserializer)))
            .map_err(|error| {
                let span = error.span().unwrap_or(0..0);
                self.error(span, TomlProblem::from_message(error.message()))
            })
    }

    /// An error at the number below the table `path` that has a value in SI units; at `span` if there is no such number,
    /// or several.
    pub(crate) fn error_at_value(
        &self,
        path: &[&str],
        value: f64,
        span: Range<usize>,
        problem: TomlProblem,
    ) -> DocumentError {
        let number = number_with_value(&self.text, path, value);
        self.error(number.unwrap_or(span), problem)
    }

    /// Position of the value of the key at the end of `path`, or of its element with an index; `None` if there is none.
    pub(crate) fn span_of(&self, path: &[&str], index: Option<usize>) -> Option<Range<usize>> {
        value_span(&self.text, path, index)
    }

    /// An error at the bytes `span` of this document.
    pub fn error(&self, span: Range<usize>, problem: TomlProblem) -> DocumentError {
        DocumentError(Box::new(Mistake {
            document: self.clone(),
            span,
            problem,
        }))
    }

    /// Checks the version of a format.
    ///
    /// # Errors
    /// If it is not `known`; the error refers to the number in the document.
    pub(crate) fn check_version(
        &self,
        version: &Spanned<u32>,
        known: u32,
    ) -> Result<(), DocumentError> {
        let found = *version.get_ref();
        if found == known {
            return Ok(());
        }
        Err(self.error(version.span(), TomlProblem::Version { found, known }))
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Text of the file.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Path and line of a byte offset, as `FILE:LINE`.
    pub fn place(&self, byte: usize) -> String {
        let (line, _) = self.line_column(byte);
        format!("{}:{line}", self.path.display())
    }

    /// Line and column (in characters) of a byte offset, both counted from 1.
    pub fn line_column(&self, byte: usize) -> (usize, usize) {
        let end = byte.min(self.text.len());
        let whole = (0..=end).rev().find(|at| self.text.is_char_boundary(*at));
        let before = &self.text[..whole.unwrap_or(0)];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        (
            before.matches('\n').count() + 1,
            before[line_start..].chars().count() + 1,
        )
    }
}

impl DocumentError {
    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.0.document.path
    }

    /// Text of the file.
    pub fn text(&self) -> &str {
        &self.0.document.text
    }

    /// Byte range of the problem in [`DocumentError::text`].
    pub fn span(&self) -> Range<usize> {
        self.0.span.clone()
    }

    /// The problem.
    pub fn problem(&self) -> &TomlProblem {
        &self.0.problem
    }

    /// Remedy for the user.
    pub fn remedy(&self) -> String {
        self.0.problem.remedy()
    }
}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, column) = self.0.document.line_column(self.0.span.start);
        let path = self.0.document.path.display();
        write!(f, "{path}:{line}:{column}: {}", self.0.problem)
    }
}

impl std::error::Error for DocumentError {}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "the tests only check errors")]
    struct Sample {
        version: u32,
        shape: Shape,
    }

    #[derive(Debug, serde::Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case", deny_unknown_fields)]
    #[expect(dead_code, reason = "the tests only check errors")]
    enum Shape {
        Sphere { radius_m: f64 },
        Plane { size_m: [f64; 2] },
    }

    fn error_of(text: &str) -> DocumentError {
        Document::new("a.toml", text).parse::<Sample>().unwrap_err()
    }

    #[test]
    fn an_unknown_key_is_pointed_at() {
        let error = error_of("version = 1\nshape.sphere = { radios_m = 1 }\n");
        assert_eq!(&error.text()[error.span()], "radios_m");
        assert_eq!(error.to_string(), "a.toml:2:18: unknown key \"radios_m\"");
        assert_eq!(error.remedy(), "did you mean \"radius_m\"?");
    }

    #[test]
    fn an_unknown_choice_is_pointed_at() {
        let error = error_of("version = 1\nshape.spere = { radius_m = 1 }\n");
        assert_eq!(error.remedy(), "did you mean \"sphere\"?");
        assert!(error.to_string().starts_with("a.toml:2:"), "{error}");
    }

    #[test]
    fn a_missing_key_is_named() {
        let error = error_of("version = 1\n");
        assert_eq!(
            error.problem(),
            &TomlProblem::MissingKey {
                key: "shape".into()
            }
        );
    }

    #[test]
    fn a_wrong_type_is_pointed_at() {
        let error = error_of("version = \"one\"\nshape.sphere = { radius_m = 1 }\n");
        assert_eq!(&error.text()[error.span()], "\"one\"");
        assert!(
            matches!(error.problem(), TomlProblem::Value { .. }),
            "{error}"
        );
    }

    #[test]
    fn an_array_of_another_length_is_pointed_at() {
        for size in ["[1.0, 2.0, 3.0]", "[1.0]"] {
            let error = error_of(&format!(
                "version = 1\nshape.plane = {{ size_m = {size} }}\n"
            ));
            assert_eq!(&error.text()[error.span()], size);
            assert!(error.to_string().contains("a list of 2 numbers"), "{error}");
        }
    }

    #[test]
    fn an_array_in_place_of_a_table_is_pointed_at() {
        let error = error_of("version = 1\nshape.sphere = [1.0]\n");
        assert_eq!(&error.text()[error.span()], "[1.0]");
        assert!(
            matches!(error.problem(), TomlProblem::Value { .. }),
            "{error}"
        );
    }

    #[test]
    fn text_that_is_not_toml_is_pointed_at() {
        let error = error_of("version = \n");
        assert!(
            matches!(error.problem(), TomlProblem::Syntax { .. }),
            "{error:?}"
        );
        assert!(error.to_string().starts_with("a.toml:1:"), "{error}");
    }

    #[test]
    fn columns_count_characters_not_bytes() {
        let document = Document::new("a.toml", "\n\u{e9}\u{e9} x");
        assert_eq!(document.line_column(6), (2, 4));
    }
}
