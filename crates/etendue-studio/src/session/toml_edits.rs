//! Changes of single values of a TOML text, with comments and order kept.

use crate::refusal::Refusal;
use serde::Deserialize;
use serde_json::Value as Json;
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, Value};

/// A step from a table or a list into one of its entries.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(untagged)]
pub enum Step {
    /// Entry of a list.
    Index(usize),
    /// Entry of a table.
    Key(String),
}

/// Longest path to a value.
const MAX_STEPS: usize = 16;

/// The text with the value at `path` replaced, added (tables on the way are created), or removed where `value`
/// is null.
///
/// # Errors
/// If the text is not TOML, the path leads through a value that is no table, or the value has no form in TOML.
pub fn with_value(text: &str, path: &[Step], value: &Json) -> Result<String, Refusal> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        Refusal::new(error.message().to_owned(), "correct the text of the file")
    })?;
    let Some((last, steps)) = path.split_last().filter(|_| path.len() <= MAX_STEPS) else {
        return Err(no_such_place(path));
    };
    let mut place = document.as_item_mut();
    for step in steps {
        place = entered(place, step).ok_or_else(|| no_such_place(path))?;
    }
    put(place, last, value).ok_or_else(|| no_such_place(path))??;
    Ok(document.to_string())
}

fn no_such_place(path: &[Step]) -> Refusal {
    let names = path.iter().map(|step| match step {
        Step::Index(number) => number.to_string(),
        Step::Key(key) => key.clone(),
    });
    let names: Vec<String> = names.collect();
    Refusal::new(
        format!("there is no value at {}", names.join(".")),
        "reload the page",
    )
}

/// The entry of a table or a list; a missing table is created.
fn entered<'a>(place: &'a mut Item, step: &Step) -> Option<&'a mut Item> {
    match step {
        Step::Index(number) => place.get_mut(*number),
        Step::Key(key) => {
            let is_inline = place.is_inline_table();
            let table = place.as_table_like_mut()?;
            if !table.contains_key(key) {
                let own = if is_inline {
                    Item::Value(InlineTable::new().into())
                } else {
                    Item::Table(Table::new())
                };
                table.insert(key, own);
            }
            table.get_mut(key)
        }
    }
}

/// Puts a value into a table or a list; `None` where there is no such place.
fn put(place: &mut Item, step: &Step, value: &Json) -> Option<Result<(), Refusal>> {
    // Entry of a list
    let key = match step {
        Step::Key(key) => key,
        Step::Index(number) => return put_into_list(place, *number, value),
    };
    // Entry of a table; the comments around a replaced value stay
    let is_inline = place.is_inline_table();
    let table: &mut dyn TableLike = place.as_table_like_mut()?;
    if value.is_null() {
        table.remove(key);
        return Some(Ok(()));
    }
    let new = match toml_value(value) {
        Ok(new) => new,
        Err(refusal) => return Some(Err(refusal)),
    };
    if let Some(Item::Value(old)) = table.get_mut(key) {
        replace(old, new);
    } else {
        let item = match new {
            Value::InlineTable(own) if !is_inline && is_large(&own) => {
                Item::Table(own.into_table())
            }
            new => Item::Value(new),
        };
        table.insert(key, item);
    }
    Some(Ok(()))
}

/// Replaces a value. Comments and spaces around it and around its entries stay, and whole numbers in place of reals
/// are written as reals.
fn replace(old: &mut Value, new: Value) {
    match (old, new) {
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            for (old, new) in old.iter_mut().zip(new) {
                replace(old, new);
            }
        }
        (Value::InlineTable(old), Value::InlineTable(new)) => {
            let is_dropped = |key: &str| !new.contains_key(key);
            let dropped: Vec<String> = old
                .iter()
                .filter(|(key, _)| is_dropped(key))
                .map(|(key, _)| key.to_owned())
                .collect();
            for key in dropped {
                old.remove(&key);
            }
            for (key, value) in new {
                match old.get_mut(&key) {
                    Some(own) => replace(own, value),
                    None => {
                        old.insert(&key, value);
                    }
                }
            }
        }
        // An equal number keeps its form
        (old, new) if is_same_number(old, &new) => {}
        (old, mut new) => {
            if let (Value::Float(_), Some(whole)) = (&old, new.as_integer()) {
                new = Value::from(whole as f64);
            }
            *new.decor_mut() = old.decor().clone();
            *old = new;
        }
    }
}

/// Whether two values are the same number.
fn is_same_number(a: &Value, b: &Value) -> bool {
    let number = |value: &Value| value.as_float().or(value.as_integer().map(|n| n as f64));
    number(a).is_some_and(|a| number(b) == Some(a))
}

/// Whether a table gets lines of its own.
fn is_large(table: &InlineTable) -> bool {
    table.iter().any(|(_, value)| value.is_inline_table())
}

/// Replaces or removes an entry of a list; the index after the last one appends.
fn put_into_list(place: &mut Item, number: usize, value: &Json) -> Option<Result<(), Refusal>> {
    if let Some(tables) = place.as_array_of_tables_mut() {
        return put_into_tables(tables, number, value);
    }
    let list: &mut Array = place.as_array_mut()?;
    if value.is_null() {
        return (number < list.len()).then(|| {
            list.remove(number);
            Ok(())
        });
    }
    let new = match toml_value(value) {
        Ok(new) => new,
        Err(refusal) => return Some(Err(refusal)),
    };
    if number == list.len() {
        list.push(new);
        return Some(Ok(()));
    }
    replace(list.get_mut(number)?, new);
    Some(Ok(()))
}

fn put_into_tables(
    tables: &mut ArrayOfTables,
    number: usize,
    value: &Json,
) -> Option<Result<(), Refusal>> {
    if value.is_null() {
        return (number < tables.len()).then(|| {
            tables.remove(number);
            Ok(())
        });
    }
    if number != tables.len() {
        return None;
    }
    match toml_value(value) {
        Ok(Value::InlineTable(table)) => {
            tables.push(table.into_table());
            Some(Ok(()))
        }
        Ok(_) => None,
        Err(refusal) => Some(Err(refusal)),
    }
}

/// The TOML form of a JSON value.
fn toml_value(value: &Json) -> Result<Value, Refusal> {
    let no_form = || Refusal::new(format!("{value} has no form in TOML"), "give another value");
    Ok(match value {
        Json::Null => return Err(no_form()),
        Json::Bool(flag) => (*flag).into(),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => whole.into(),
            (None, Some(real)) => real.into(),
            _ => return Err(no_form()),
        },
        Json::String(text) => text.as_str().into(),
        Json::Array(list) => {
            let entries = list.iter().map(toml_value);
            Value::Array(entries.collect::<Result<Array, _>>()?)
        }
        Json::Object(entries) => {
            let mut table = InlineTable::new();
            for (key, value) in entries.iter().filter(|(_, value)| !value.is_null()) {
                table.insert(key, toml_value(value)?);
            }
            Value::InlineTable(table)
        }
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use serde_json::json;

    const ROOM: &str = "# A room.\nversion = 1\n\n[materials.wall] # matt\ndiffuse = { reflectance = 0.8 } # measured\n\n\
        # The walls.\n[[objects]]\nname = \"room\" # seen from inside\nshape.box = { size_m = [4, 3, 2.5] }\nposition_m = [0, 0, 1] # centre\n";

    fn path(steps: Json) -> Vec<Step> {
        serde_json::from_value(steps).unwrap()
    }

    fn changed(steps: Json, value: &Json) -> String {
        with_value(ROOM, &path(steps), value).unwrap()
    }

    #[test]
    fn a_replaced_number_leaves_every_other_character() {
        let text = changed(
            json!(["materials", "wall", "diffuse", "reflectance"]),
            &json!(0.25),
        );
        assert_eq!(text, ROOM.replace("0.8", "0.25"));
        let text = changed(json!(["objects", 0, "position_m"]), &json!([1.5, 0, 1]));
        assert_eq!(text, ROOM.replace("[0, 0, 1]", "[1.5, 0, 1]"));
        let text = changed(
            json!(["objects", 0, "shape", "box", "size_m", 1]),
            &json!(5),
        );
        assert_eq!(text, ROOM.replace("[4, 3, 2.5]", "[4, 5, 2.5]"));
    }

    #[test]
    fn replaced_lists_keep_their_form() {
        let text = "a = [ 1.5, # first\n  2.0 ] # end\nb = { x = 1.0, y = 2 }\n";
        let new = with_value(text, &path(json!(["a"])), &json!([3, 4.25])).unwrap();
        assert_eq!(
            new,
            "a = [ 3.0, # first\n  4.25 ] # end\nb = { x = 1.0, y = 2 }\n"
        );
        let new = with_value(text, &path(json!(["b"])), &json!({ "x": 7, "z": 1 })).unwrap();
        assert!(new.ends_with("b = { x = 7.0, z = 1 }\n"), "{new}");
    }

    #[test]
    fn missing_tables_are_added_and_null_removes() {
        let text = changed(json!(["atmosphere", "rain_mm_h"]), &json!(5.5));
        assert!(
            text.starts_with(ROOM) && text.ends_with("[atmosphere]\nrain_mm_h = 5.5\n"),
            "{text}"
        );
        let text = with_value(&text, &path(json!(["atmosphere"])), &Json::Null).unwrap();
        assert_eq!(text.trim_end(), ROOM.trim_end());
    }

    #[test]
    fn objects_are_appended_and_removed() {
        let ball = json!({ "name": "ball", "shape": { "sphere": { "radius_m": 0.3 } }, "material": "wall" });
        let text = changed(json!(["objects", 1]), &ball);
        let table: toml::Table = toml::from_str(&text).unwrap();
        assert_eq!(table["objects"].as_array().unwrap().len(), 2, "{text}");
        let text = with_value(&text, &path(json!(["objects", 1])), &Json::Null).unwrap();
        assert_eq!(text.trim_end(), ROOM.trim_end());
    }

    #[test]
    fn paths_through_values_and_beyond_lists_are_refused() {
        for steps in [
            json!(["version", "x"]),
            json!(["objects", 7, "name"]),
            json!(["objects", "name", "x"]),
            json!([]),
        ] {
            assert!(
                with_value(ROOM, &path(steps.clone()), &json!(1)).is_err(),
                "{steps}"
            );
        }
    }
}
