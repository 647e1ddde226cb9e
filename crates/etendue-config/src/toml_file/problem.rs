//! Problems in TOML files.

use super::UnknownName;
use thiserror::Error;

/// A problem at a position of a TOML file.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum TomlProblem {
    /// An unknown key.
    #[error("unknown key \"{key}\"")]
    UnknownKey {
        /// The key as typed.
        key: String,
        /// The known keys at this position.
        known: Vec<String>,
    },
    /// An unknown name.
    #[error(transparent)]
    UnknownName(#[from] UnknownName),
    /// A duplicate name.
    #[error("two {what}s are named \"{name}\"")]
    Duplicate {
        /// Kind of the named objects.
        what: String,
        /// The name.
        name: String,
    },
    /// A missing key.
    #[error("the key \"{key}\" is missing")]
    MissingKey {
        /// The key.
        key: String,
    },
    /// An unsupported version of the format.
    #[error("version {found} is not known; this program reads version {known}")]
    Version {
        /// The version in the file.
        found: u32,
        /// Supported version.
        known: u32,
    },
    /// A value is outside its domain, or of the wrong type.
    #[error("{message}")]
    Value {
        /// Problem.
        message: String,
        /// Remedy.
        remedy: String,
    },
    /// Invalid TOML.
    #[error("{message}")]
    Syntax {
        /// Message of the parser.
        message: String,
    },
}

impl TomlProblem {
    /// A value outside of its domain.
    pub fn value(message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Value {
            message: message.into(),
            remedy: remedy.into(),
        }
    }

    /// Remedy for the user.
    pub fn remedy(&self) -> String {
        match self {
            Self::UnknownKey { key, known } => UnknownName::new("key", key, known).remedy(),
            Self::UnknownName(unknown) => unknown.remedy(),
            Self::Duplicate { what, .. } => format!("give each {what} its own name"),
            Self::MissingKey { key } => format!("add \"{key} = ...\" here"),
            Self::Version { known, .. } => {
                format!("write \"version = {known}\", or use a newer etendue")
            }
            Self::Value { remedy, .. } => remedy.clone(),
            // The parser's message for `[a.b]` or `a.b = ..` after `a = { .. }`
            Self::Syntax { message } if message.contains("inline table") => {
                "a table in braces is complete: write the keys inside the braces, or all of them below a [table]".into()
            }
            Self::Syntax { .. } => "see https://toml.io for the syntax of TOML".into(),
        }
    }

    /// Converts a message of serde or of the TOML parser.
    pub(super) fn from_message(message: &str) -> Self {
        // Unknown keys of a table
        if let Some((keys, known)) = message
            .strip_prefix("unexpected keys in table: ")
            .and_then(|rest| rest.split_once(", available keys: "))
        {
            return Self::UnknownKey {
                key: keys.split(", ").next().unwrap_or(keys).into(),
                known: known.split(", ").map(Into::into).collect(),
            };
        }
        // Collect the quoted names
        let quoted: Vec<String> = message
            .split('`')
            .skip(1)
            .step_by(2)
            .map(Into::into)
            .collect();
        let (first, others) = match quoted.split_first() {
            Some((first, others)) => (first.clone(), others.to_vec()),
            None => (String::new(), Vec::new()),
        };

        // Identify the message by its beginning
        if message.starts_with("unknown field") {
            Self::UnknownKey {
                key: first,
                known: others,
            }
        } else if message.starts_with("unknown variant") {
            UnknownName::new("choice", first, others).into()
        } else if message.starts_with("missing field") {
            Self::MissingKey { key: first }
        } else if message.starts_with("invalid") && message.contains("expected") {
            Self::value(message, "write a value of the expected type")
        } else {
            Self::Syntax {
                message: message.trim_end().replace('\n', "; "),
            }
        }
    }
}
