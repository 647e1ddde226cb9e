//! Names that are not known.

use super::nearest;
use thiserror::Error;

/// A name that is not one of those that are known.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("unknown {kind} \"{name}\"")]
pub struct UnknownName {
    /// The kind of thing that is named: "material", "sensor preset", "joint" ...
    pub kind: String,
    /// The name as given.
    pub name: String,
    /// The names that exist.
    pub known: Vec<String>,
}

impl UnknownName {
    /// A name of that kind that is not one of `known`.
    pub fn new<T: Into<String>>(
        kind: impl Into<String>,
        name: impl Into<String>,
        known: impl IntoIterator<Item = T>,
    ) -> Self {
        Self {
            kind: kind.into(),
            name: name.into(),
            known: known.into_iter().map(Into::into).collect(),
        }
    }

    /// The known name most like it, if one is near enough to be meant.
    pub fn nearest(&self) -> Option<String> {
        nearest(&self.name, self.known.iter().map(String::as_str))
    }

    /// Remedy: what the user can do.
    pub fn remedy(&self) -> String {
        match self.nearest() {
            Some(near) => format!("did you mean \"{near}\"?"),
            None if self.known.is_empty() => format!("no {} is known here", self.kind),
            None => format!("known here: {}", self.known.join(", ")),
        }
    }
}
