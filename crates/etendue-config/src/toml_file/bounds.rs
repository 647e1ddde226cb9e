//! Bounds of the numbers in TOML files.
//!
//! The JSON schema of a file is the one statement of its bounds: [`file_schema`] gives every number
//! a `minimum` and a `maximum`. A field with its own domain has them from
//! `#[schemars(range(...))]`; other numbers have those of their unit, the ending of their key
//! ([`unit_of`]). [`Document::parse`](super::Document::parse) compares every number of a file with its
//! schema, so that NaN, infinity and absurd sizes are errors that name the key, and the code behind
//! it computes with finite numbers only.

use super::TomlProblem;
use super::units::unit_of;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value};
use std::any::TypeId;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, LazyLock, Mutex};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Largest whole number without a stated maximum.
const LARGEST_COUNT: f64 = 1e9;

/// Smallest magnitude of a number other than zero, in every unit.
const SMALLEST: f64 = 1e-30;

/// The JSON schema of a kind of file, with the bounds of every number.
///
/// ```
/// use etendue_config::scene::SceneFile;
/// use etendue_config::toml_file::file_schema;
/// let schema = serde_json::to_value(file_schema::<SceneFile>()).unwrap();
/// let size = &schema["$defs"]["BoxShape"]["properties"]["size_m"];
/// assert!(size.to_string().contains(r#""maximum":10000000.0"#), "{size}");
/// ```
pub fn file_schema<T: JsonSchema>() -> Schema {
    let mut schema = SchemaGenerator::default().into_root_schema_for::<T>();
    if let Some(root) = schema.as_object_mut() {
        bound_table(root, "");
    }
    schema
}

/// Adds bounds to the numbers of a schema; `key` is the key of the number.
fn bound(schema: &mut Value, key: &str) {
    match schema {
        Value::Object(table) => bound_table(table, key),
        Value::Array(parts) => parts.iter_mut().for_each(|part| bound(part, key)),
        _ => {}
    }
}

fn bound_table(table: &mut Map<String, Value>, key: &str) {
    // Bound a number
    let kind = number_kind(table);
    let has_least = table.contains_key("minimum") || table.contains_key("exclusiveMinimum");
    let has_most = table.contains_key("maximum") || table.contains_key("exclusiveMaximum");
    if let Some(kind) = kind {
        let most = match kind {
            NumberKind::Real => unit_of(key).most,
            NumberKind::Whole => LARGEST_COUNT,
        };
        if !has_least {
            table.insert("minimum".into(), (-most).into());
        }
        if !has_most {
            table.insert("maximum".into(), most.into());
        }
    }
    // Bound the numbers of its parts
    for (name, part) in table.iter_mut() {
        match (name.as_str(), part) {
            ("properties" | "$defs", Value::Object(parts)) => {
                for (name, part) in parts {
                    bound(part, name);
                }
            }
            (
                "items" | "prefixItems" | "anyOf" | "oneOf" | "allOf" | "additionalProperties",
                part,
            ) => {
                bound(part, key);
            }
            _ => {}
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum NumberKind {
    Real,
    Whole,
}

/// Kind of the number that a schema describes; `None` for other values.
fn number_kind(schema: &Map<String, Value>) -> Option<NumberKind> {
    let kind = schema.get("type")?;
    let is = |name: &str| match kind {
        Value::String(kind) => kind == name,
        Value::Array(kinds) => kinds.iter().any(|kind| kind == name),
        _ => false,
    };
    match (is("number"), is("integer")) {
        (true, _) => Some(NumberKind::Real),
        (_, true) => Some(NumberKind::Whole),
        _ => None,
    }
}

/// The schema of a type, computed once per process.
pub(super) fn cached_schema<T: JsonSchema + 'static>() -> Arc<Value> {
    static SCHEMAS: LazyLock<Mutex<BTreeMap<TypeId, Arc<Value>>>> = LazyLock::new(Mutex::default);
    let compute = || Arc::new(file_schema::<T>().to_value());
    match SCHEMAS.lock() {
        Ok(mut schemas) => schemas
            .entry(TypeId::of::<T>())
            .or_insert_with(compute)
            .clone(),
        Err(_) => compute(),
    }
}

/// Compares every number of a text with the bounds of the schema of `T`. Texts that do not match the
/// schema otherwise are errors of the deserialiser.
///
/// # Errors
/// The first number that is out of bounds, with its position.
pub(super) fn check_numbers<T: JsonSchema + 'static>(
    text: &str,
) -> Result<(), (Range<usize>, TomlProblem)> {
    let Ok(table) = DeTable::parse(text) else {
        return Ok(());
    };
    let schema = cached_schema::<T>();
    let checker = Checker { root: &schema };
    let span = table.span();
    let value = Spanned::new(span, DeValue::Table(table.into_inner()));
    checker.check(&value, &schema, "")
}

type Checked = Result<(), (Range<usize>, TomlProblem)>;

struct Checker<'a> {
    /// The schema with the definitions.
    root: &'a Value,
}

/// The schema behind references to definitions of `root`.
pub(super) fn resolved<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let mut schema = schema;
    while let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        let pointer = name.trim_start_matches('#');
        match root.pointer(pointer) {
            Some(found) => schema = found,
            None => return schema,
        }
    }
    schema
}

impl<'a> Checker<'a> {
    /// Checks a value; `key` is the key of the value or of its list.
    fn check(&self, value: &Spanned<DeValue<'_>>, schema: &'a Value, key: &str) -> Checked {
        let schema = resolved(self.root, schema);
        // Check the alternatives that the value has the form of: one of them has to hold
        for list in ["anyOf", "oneOf"] {
            let choices = schema.get(list).and_then(Value::as_array);
            let fitting = choices.into_iter().flatten();
            let fitting = fitting.filter(|choice| self.fits(value.get_ref(), choice));
            let mut results = fitting.map(|choice| self.check(value, choice, key));
            if let Some(first) = results.next()
                && first.is_err()
                && !results.any(|result| result.is_ok())
            {
                return first;
            }
        }
        for part in schema
            .get("allOf")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            self.check(value, part, key)?;
        }
        // Check the value itself and its parts
        match value.get_ref() {
            DeValue::Integer(_) | DeValue::Float(_) => check_number(value, schema, key),
            DeValue::Array(items) => {
                let prefix = schema.get("prefixItems").and_then(Value::as_array);
                for (index, item) in items.iter().enumerate() {
                    let own = prefix.and_then(|prefix| prefix.get(index));
                    if let Some(schema) = own.or_else(|| schema.get("items")) {
                        self.check(item, schema, key)?;
                    }
                }
                Ok(())
            }
            DeValue::Table(table) => {
                let properties = schema.get("properties");
                for (name, part) in table {
                    let name = name.get_ref();
                    let own = properties.and_then(|known| known.get(name.as_ref()));
                    if let Some(schema) = own.or_else(|| schema.get("additionalProperties")) {
                        self.check(part, schema, name)?;
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Whether a value has the type and the keys that a schema requires.
    fn fits(&self, value: &DeValue<'_>, schema: &'a Value) -> bool {
        let schema = resolved(self.root, schema);
        let has_type = |kind: &Value| match kind.as_str() {
            Some("number") => value.is_float() || value.is_integer(),
            Some("integer") => value.is_integer(),
            Some("string") => value.is_str() || value.is_datetime(),
            Some("boolean") => value.is_bool(),
            Some("array") => value.is_array(),
            Some("object") => value.is_table(),
            _ => false,
        };
        let types = match schema.get("type") {
            Some(Value::Array(kinds)) => kinds.iter().any(has_type),
            Some(kind) => has_type(kind),
            None => true,
        };
        let keys = value.as_table().is_none_or(|table| {
            let required = schema.get("required").and_then(Value::as_array);
            let mut required = required.into_iter().flatten().filter_map(Value::as_str);
            let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
            let properties = schema.get("properties");
            let is_known = |key: &str| properties.is_some_and(|known| known.get(key).is_some());
            required.all(|key| table.contains_key(key))
                && (!is_closed || table.keys().all(|key| is_known(key.get_ref())))
        });
        let choices = |list: &str| {
            let choices = schema.get(list).and_then(Value::as_array);
            choices.is_none_or(|choices| choices.iter().any(|choice| self.fits(value, choice)))
        };
        types && keys && choices("anyOf") && choices("oneOf")
    }
}

/// Compares a number with its bounds.
fn check_number(value: &Spanned<DeValue<'_>>, schema: &Value, key: &str) -> Checked {
    let (text, number) = match value.get_ref() {
        DeValue::Integer(integer) => {
            let number = i128::from_str_radix(integer.as_str(), integer.radix());
            (
                integer.to_string(),
                number.map_or(f64::NAN, |number| number as f64),
            )
        }
        DeValue::Float(float) => {
            let number = float.as_str().replace('_', "").parse();
            (float.to_string(), number.unwrap_or(f64::NAN))
        }
        _ => return Ok(()),
    };
    let limit = |name: &str| schema.get(name).and_then(Value::as_f64);
    let (least, most) = (limit("minimum"), limit("maximum"));
    let (above, below) = (limit("exclusiveMinimum"), limit("exclusiveMaximum"));
    // The types of other values are checked by the deserialiser
    if [least, most, above, below].iter().all(Option::is_none) {
        return Ok(());
    }
    let is_within = least.is_none_or(|least| number >= least)
        && most.is_none_or(|most| number <= most)
        && above.is_none_or(|above| number > above)
        && below.is_none_or(|below| number < below);
    let is_distinct = number == 0.0 || number.abs() >= SMALLEST;
    if number.is_finite() && is_within && is_distinct {
        return Ok(());
    }
    let unit = unit_of(key).name;
    let space = if unit.is_empty() { "" } else { " " };
    let fault = if number.is_finite() {
        "which is not a number in its range"
    } else {
        "which is not a finite number"
    };
    let message = format!("{key} is {text}{space}{unit}, {fault}");
    let range = match (least, above, most.or(below)) {
        (_, Some(above), Some(most)) => format!("above {above} and at most {most}"),
        (Some(least), _, Some(most)) => format!("from {least} to {most}"),
        (_, Some(above), None) => format!("above {above}"),
        (Some(least), _, None) => format!("of at least {least}"),
        (None, None, Some(most)) => format!("of at most {most}"),
        (None, None, None) => "that is finite".into(),
    };
    let tiny = if is_within && number.is_finite() {
        format!(", zero or of a magnitude of at least {SMALLEST:e}")
    } else {
        String::new()
    };
    let remedy = format!("give a number {range}{space}{unit}{tiny}");
    Err((value.span(), TomlProblem::value(message, remedy)))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::super::Document;
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "the tests only check errors")]
    struct Sample {
        #[serde(default)]
        size_m: [f64; 2],
        #[schemars(range(min = 0.0, max = 1.0))]
        share: Option<f64>,
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        rate_hz: Option<f64>,
        count: Option<u32>,
        choice: Option<Choice>,
        list: Option<BTreeMap<String, Vec<f64>>>,
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case", deny_unknown_fields)]
    #[expect(dead_code, reason = "the tests only check errors")]
    enum Choice {
        Sphere { radius_m: f64 },
        Fraction(#[schemars(range(min = 0.0, max = 1.0))] f64),
    }

    fn error_of(text: &str) -> (String, String) {
        let error = Document::new("a.toml", text).parse::<Sample>().unwrap_err();
        (error.to_string(), error.remedy())
    }

    #[test]
    fn numbers_within_their_bounds_are_read() {
        let text = "size_m = [1_000.5, -3]\nshare = 1\nrate_hz = 1e-3\ncount = 0x10\nlist.a = [1e12]\n\
                    choice.fraction = 0.5";
        Document::new("a.toml", text).parse::<Sample>().unwrap();
    }

    #[test]
    fn every_number_out_of_its_bounds_is_named_with_its_unit() {
        for (text, message, remedy) in [
            (
                "size_m = [1, inf]",
                "a.toml:1:14: size_m is inf m",
                "from -10000000 to 10000000 m",
            ),
            (
                "size_m = [nan, 1]",
                "a.toml:1:11: size_m is nan m",
                "from -10000000 to 10000000 m",
            ),
            (
                "size_m = [1e-308, 1]",
                "size_m is 1e-308 m",
                "of a magnitude of at least 1e-30",
            ),
            ("share = -1", "share is -1,", "from 0 to 1"),
            ("share = 1.5", "share is 1.5,", "from 0 to 1"),
            (
                "rate_hz = 0",
                "rate_hz is 0 Hz",
                "above 0 and at most 1000000 Hz",
            ),
            (
                "count = 4294967295",
                "count is 4294967295",
                "from 0 to 1000000000",
            ),
            ("list.a = [1e308]", "a is 1e308", "from -1000000000000 to"),
            (
                "choice.sphere.radius_m = -inf",
                "radius_m is -inf m",
                "to 10000000 m",
            ),
            ("choice.fraction = 2.0", "fraction is 2.0", "from 0 to 1"),
        ] {
            let (found, given) = error_of(text);
            assert!(found.contains(message), "{text}: {found}");
            assert!(given.contains(remedy), "{text}: {given}");
        }
    }
}
