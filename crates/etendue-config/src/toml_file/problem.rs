//! What can be wrong in a TOML file.

use super::UnknownName;
use thiserror::Error;

/// What is wrong at a place of a TOML file.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum Problem {
    /// A key that the format does not know.
    #[error("unknown key \"{key}\"")]
    UnknownKey {
        /// The key as typed.
        key: String,
        /// The keys that are known there.
        known: Vec<String>,
    },
    /// A name that is not one of those that exist.
    #[error(transparent)]
    UnknownName(#[from] UnknownName),
    /// Two things of the same name.
    #[error("two {what}s are named \"{name}\"")]
    Duplicate {
        /// What sort of thing is named.
        what: String,
        /// The name.
        name: String,
    },
    /// A key that must be there is not.
    #[error("the key \"{key}\" is missing")]
    MissingKey {
        /// The key.
        key: String,
    },
    /// The file is written for another version of the format.
    #[error("version {found} is not known; this program reads version {known}")]
    Version {
        /// The version in the file.
        found: u32,
        /// What is read.
        known: u32,
    },
    /// A value is outside its domain, or of the wrong type.
    #[error("{message}")]
    Value {
        /// What is wrong.
        message: String,
        /// Remedy: what to do.
        remedy: String,
    },
    /// The text is not TOML.
    #[error("{message}")]
    Syntax {
        /// The message of the parser.
        message: String,
    },
}

impl Problem {
    /// A value that is outside its domain.
    pub fn value(message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Value {
            message: message.into(),
            remedy: remedy.into(),
        }
    }

    /// Remedy: what the user can do.
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
            Self::Syntax { .. } => "see https://toml.io for how TOML is written".into(),
        }
    }

    /// The problem that a message of serde or of the TOML parser describes.
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

        // Recognise the message by its beginning
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
            Self::value(message, "write the value as it is expected")
        } else {
            Self::Syntax {
                message: message.trim_end().replace('\n', "; "),
            }
        }
    }
}
