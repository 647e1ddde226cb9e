//! ROS 2 bags in SQLite: tables `topics` and `messages`.

use super::message::{Message, ros2_message};
use super::sqlite::{Database, Row, Value};
use crate::{FileLocation, FormatError};
use std::collections::BTreeMap;
use std::path::Path;

/// Reads every message of a bag in ascending order. A truncated bag gives its complete messages and
/// a warning.
pub(crate) fn messages(
    path: &Path,
    bytes: &[u8],
    warnings: &mut Vec<String>,
) -> Result<Vec<Message>, FormatError> {
    // Open the database
    let no_bag = |what: &str| {
        let remedy = "give a ROS 2 bag (.db3), or convert it to MCAP with `ros2 bag convert`";
        FormatError::malformed(path, FileLocation::File, what, remedy)
    };
    let database = Database::new(bytes).ok_or_else(|| no_bag("its SQLite header is damaged"))?;
    // Read the names and types of the topics by their identifiers
    let mut topics = BTreeMap::new();
    let listed = database.rows("topics", &mut |row| topics.extend(topic(&row)));
    if listed.is_none() && topics.is_empty() {
        return Err(no_bag(
            "the SQLite file is not a ROS 2 bag: it has no table of topics",
        ));
    }
    // Decode the messages of supported types
    let mut messages = Vec::new();
    let mut first_damaged = None;
    let whole = database.rows("messages", &mut |row| {
        let Some((topic, data)) = content(&row) else {
            return;
        };
        let Some((name, kind)) = topics.get(&topic) else {
            return;
        };
        match ros2_message(kind, name, data) {
            Some(message) => messages.push(message),
            None => {
                first_damaged.get_or_insert((row.number, name.clone()));
            }
        }
    });
    // Report the first damaged message, or a truncated file
    if let Some((number, topic)) = first_damaged {
        let text = format!("message {number} of {topic} is damaged");
        return Err(FormatError::malformed(
            path,
            FileLocation::File,
            text,
            "record it again",
        ));
    }
    if whole.is_none() {
        warnings
            .push("the bag is truncated or damaged: messages before the damage were read".into());
    }
    Ok(messages)
}

/// Identifier, name and type of a topic.
fn topic(row: &Row) -> Option<(i64, (String, String))> {
    let name = row.columns.get(1)?.text()?.to_owned();
    let kind = row.columns.get(2)?.text()?.replace("/msg/", "/");
    Some((row.number, (name, kind)))
}

/// Identifier of the topic and data of a message.
fn content(row: &Row) -> Option<(i64, &[u8])> {
    let topic = row.columns.get(1).and_then(Value::integer)?;
    Some((topic, row.columns.get(3)?.blob()?))
}
