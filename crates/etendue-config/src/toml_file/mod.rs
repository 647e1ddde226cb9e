//! Files that people type: TOML with errors that point into their text.
//!
//! A [`Document`] keeps a file's name and text. [`Document::parse`] reads it into any
//! [`Deserialize`](serde::Deserialize) type; give such types `#[serde(deny_unknown_fields)]`, so that a
//! misspelt key is refused with the nearest known one. Wrap what has to be checked later in
//! [`toml::Spanned`] and report it with [`Document::error`]. Spans are lost under serde's
//! `flatten`, `untagged` and internally tagged enums: use none of them.

mod document;
mod nearest;
mod problem;
mod unknown_name;

pub use document::{Document, DocumentError};
pub use nearest::nearest;
pub use problem::TomlProblem;
pub use unknown_name::UnknownName;
