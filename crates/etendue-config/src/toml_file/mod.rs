//! TOML files with errors that refer to positions in their text.
//!
//! A [`Document`] keeps the path and the text of a file. [`Document::parse`] deserialises it into
//! any [`Deserialize`](serde::Deserialize) type. Such types need `#[serde(deny_unknown_fields)]`,
//! so that a misspelt key is an error with the nearest known key. Wrap values that are checked
//! later in [`toml::Spanned`], and report errors with [`Document::error`]. Spans are lost with
//! `flatten`, `untagged` and internally tagged enums of serde; avoid these.

mod bounds;
mod document;
mod form;
mod kind;
mod location;
mod nearest;
mod problem;
mod strict;
mod units;
mod unknown_name;

pub use bounds::file_schema;
pub use document::{Document, DocumentError};
pub use kind::FileKind;
pub use location::nearest_file;
pub(crate) use location::{locate, resolve};
pub use nearest::nearest;
pub use problem::TomlProblem;
pub use unknown_name::UnknownName;
