//! ROS 2 bags in SQLite: tables `topics` and `messages`.

use super::Visit;
use super::message::{Message, Serialisation};
use super::sqlite::{Database, Row, RowsEnd, Value};
use crate::input::Content;
use crate::interrupt::Interrupt;
use crate::{FileLocation, FormatError};
use std::collections::BTreeMap;
use std::path::Path;

/// Visits the messages in ascending order. A truncated bag gives its complete messages and a
/// warning.
pub(super) fn for_each(
    path: &Path,
    content: &Content,
    warnings: &mut Vec<String>,
    visit: Visit,
) -> Result<(), Interrupt> {
    // Open the database
    let no_bag = |what: &str| {
        let remedy = "give a ROS 2 bag (.db3), or convert it to MCAP with `ros2 bag convert`";
        FormatError::malformed(path, FileLocation::File, what, remedy)
    };
    let database = Database::new(content.reader()?, content.size());
    let mut database = database.ok_or_else(|| no_bag("its SQLite header is damaged"))?;

    // Read the names and types of the topics by their identifiers
    let mut topics = BTreeMap::new();
    let listed = database.rows("topics", &mut |row| {
        topics.extend(topic(&row));
        Ok(())
    });
    if listed.is_err() && topics.is_empty() {
        let what = "the SQLite file is not a ROS 2 bag: it has no table of topics";
        return Err(no_bag(what).into());
    }

    // Visit the messages
    let mut number = 0;
    let visited = database.rows("messages", &mut |row| {
        let Some((topic, time, data)) = content_of(&row) else {
            return Ok(());
        };
        let Some((name, kind)) = topics.get(&topic) else {
            return Ok(());
        };
        number += 1;
        visit(&Message {
            path,
            kind,
            topic: name,
            time,
            number: number - 1,
            data,
            serialisation: Serialisation::Ros2,
        })
    });
    match visited {
        Ok(()) => Ok(()),
        Err(RowsEnd::Visitor(interrupt)) => Err(interrupt),
        Err(RowsEnd::Damage) => {
            let warning = "the bag is truncated or damaged: messages before the damage were read";
            warnings.push(warning.into());
            Ok(())
        }
    }
}

/// Identifier, name and type of a topic.
fn topic(row: &Row) -> Option<(i64, (String, String))> {
    let name = row.columns.get(1)?.text()?.to_owned();
    let kind = row.columns.get(2)?.text()?.replace("/msg/", "/");
    Some((row.number, (name, kind)))
}

/// Identifier of the topic, time (s) and data of a message.
fn content_of(row: &Row) -> Option<(i64, f64, &[u8])> {
    let topic = row.columns.get(1).and_then(Value::integer)?;
    let nanoseconds = row.columns.get(2).and_then(Value::integer)?;
    let data = row.columns.get(3)?.blob()?;
    Some((topic, 1e-9 * nanoseconds as f64, data))
}
