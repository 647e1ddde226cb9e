//! Unknown names.

use super::nearest;
use thiserror::Error;

/// A name that is not among the known ones.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("unknown {kind} \"{name}\"")]
pub struct UnknownName {
    /// Kind of the name: "material", "sensor preset", "joint" ...
    pub kind: String,
    /// The unknown name.
    pub name: String,
    /// The known names.
    pub known: Vec<String>,
}

impl UnknownName {
    /// An unknown name of a kind, with the known names.
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

    /// The most similar known name, if it is similar enough to be a typing error.
    pub fn nearest(&self) -> Option<String> {
        nearest(&self.name, self.known.iter().map(String::as_str))
    }

    /// Remedy for the user.
    pub fn remedy(&self) -> String {
        match self.nearest() {
            Some(near) => format!("did you mean \"{near}\"?"),
            None if self.known.is_empty() => format!("no {} is known here", self.kind),
            None => format!("known here: {}", self.known.join(", ")),
        }
    }
}
