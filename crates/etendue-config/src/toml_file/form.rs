//! Values whose form is not that of their key: text in place of a number, a choice without its value.
//!
//! The messages of the deserialiser have the types of the program. Those of [`misfit`] have the key, what it is, and what
//! the JSON schema of the file expects.

use super::bounds::{cached_schema, resolved};
use super::{TomlProblem, UnknownName};
use schemars::JsonSchema;
use serde_json::Value;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Most keys of a table that a remedy shows.
const SHOWN_KEYS: usize = 3;

type Misfit = Option<(Range<usize>, TomlProblem)>;

/// The first value of a text whose form is not that of the schema of `T`; `None` if there is none, or the text is not TOML.
pub(super) fn misfit<T: JsonSchema + 'static>(text: &str) -> Misfit {
    let table = DeTable::parse(text).ok()?;
    let schema = cached_schema::<T>();
    let span = table.span();
    let value = Spanned::new(span, DeValue::Table(table.into_inner()));
    Forms { root: &schema }.misfit(&value, &schema, "")
}

struct Forms<'a> {
    /// The schema with the definitions.
    root: &'a Value,
}

impl<'a> Forms<'a> {
    /// The first misfit in the value of a key.
    fn misfit(&self, value: &Spanned<DeValue<'_>>, schema: &'a Value, key: &str) -> Misfit {
        let schema = resolved(self.root, schema);
        if let Some(choices) = schema.get("oneOf").and_then(Value::as_array) {
            return self.misfit_of_choice(value, choices, schema, key);
        }
        if schema.get("anyOf").is_some() {
            return self.misfit_of_any(value, schema, key);
        }
        // A value of another type
        let fits = match (type_of(schema), value.get_ref()) {
            ("number", DeValue::Integer(_) | DeValue::Float(_))
            | ("integer", DeValue::Integer(_))
            | ("boolean", DeValue::Boolean(_))
            | ("object", DeValue::Table(_))
            | ("", _) => true,
            ("string", DeValue::Datetime(_)) => is_date(schema),
            ("string", DeValue::String(text)) if !is_date(schema) => {
                names(schema).is_none_or(|names| names.contains(&&**text))
            }
            ("array", DeValue::Array(items)) => {
                let limit = |name| schema.get(name).and_then(Value::as_u64);
                let count = items.len() as u64;
                limit("minItems").is_none_or(|least| count >= least)
                    && limit("maxItems").is_none_or(|most| count <= most)
            }
            _ => false,
        };
        if !fits {
            return Some(self.wrong_form(value, schema, key));
        }
        // A misfit in a list or a table
        match value.get_ref() {
            DeValue::Array(items) => {
                let schema = schema.get("items")?;
                items.iter().find_map(|item| self.misfit(item, schema, key))
            }
            DeValue::Table(table) => table.iter().find_map(|(name, part)| {
                let known = schema.get("properties");
                let own = known.and_then(|known| known.get(name.get_ref().as_ref()));
                let schema = own.or_else(|| schema.get("additionalProperties"))?;
                self.misfit(part, schema, name.get_ref())
            }),
            _ => None,
        }
    }

    /// The misfit in a value that is one of several named choices.
    fn misfit_of_choice(
        &self,
        value: &Spanned<DeValue<'_>>,
        choices: &'a [Value],
        schema: &'a Value,
        key: &str,
    ) -> Misfit {
        let plain: Vec<&str> = choices.iter().filter_map(names).flatten().collect();
        let with_value = |name: &str| {
            let mut choices = choices.iter();
            choices.find_map(|choice| choice.get("properties")?.get(name))
        };
        let unknown = |span: Range<usize>, name: &str| {
            let known = choice_names(schema);
            Some((span, UnknownName::new("choice", name, known).into()))
        };
        match value.get_ref() {
            DeValue::String(name) if plain.contains(&&**name) => None,
            // A choice without its value
            DeValue::String(name) => {
                let Some(inner) = with_value(name) else {
                    return unknown(value.span(), name);
                };
                let problem = TomlProblem::value(
                    format!("\"{name}\" needs a value of its own"),
                    format!(
                        "write {key} = {{ {name} = ... }} with {}",
                        self.expected(inner)
                    ),
                );
                Some((value.span(), problem))
            }
            // A table has one choice
            DeValue::Table(table) => {
                for (name, part) in table {
                    let text: &str = name.get_ref();
                    if let Some(inner) = with_value(text) {
                        if let Some(found) = self.misfit(part, inner, text) {
                            return Some(found);
                        }
                    } else if plain.contains(&text) {
                        let message = format!("\"{text}\" has no value of its own");
                        let problem =
                            TomlProblem::value(message, format!("write {key} = \"{text}\""));
                        return Some((name.span(), problem));
                    } else {
                        return unknown(name.span(), text);
                    }
                }
                let mut given = table.keys();
                match (given.next(), given.next()) {
                    (Some(_), None) => None,
                    (Some(first), Some(second)) => {
                        let [first, name] = [first, second].map(Spanned::get_ref);
                        let message = format!("{key} is both {first} and {name}");
                        let problem = TomlProblem::value(message, "keep one of them");
                        Some((second.span(), problem))
                    }
                    (None, _) => Some(self.wrong_form(value, schema, key)),
                }
            }
            _ => Some(self.wrong_form(value, schema, key)),
        }
    }

    /// The misfit in a value that has one of several forms, which its type tells apart.
    fn misfit_of_any(&self, value: &Spanned<DeValue<'_>>, schema: &'a Value, key: &str) -> Misfit {
        let forms = self.forms(schema);
        let misfits = forms.iter().map(|form| self.misfit(value, form, key));
        let misfits: Vec<_> = misfits.collect::<Option<_>>()?;
        // A misfit within the value rather than the value itself
        let mut inner = misfits
            .into_iter()
            .filter(|(span, _)| *span != value.span());
        let first = inner.next();
        match (&forms[..], first) {
            (_, Some(found)) => Some(found),
            ([only], None) => Some(self.wrong_form(value, only, key)),
            (_, None) => Some(self.wrong_form(value, schema, key)),
        }
    }

    /// The alternatives of a schema, without null.
    fn forms(&self, schema: &'a Value) -> Vec<&'a Value> {
        let all = schema.get("anyOf").and_then(Value::as_array);
        let resolved = all
            .into_iter()
            .flatten()
            .map(|form| resolved(self.root, form));
        resolved.filter(|form| type_of(form) != "null").collect()
    }

    /// The problem of a value with a form that its key does not have.
    fn wrong_form(
        &self,
        value: &Spanned<DeValue<'_>>,
        schema: &'a Value,
        key: &str,
    ) -> (Range<usize>, TomlProblem) {
        let expected = self.expected(schema);
        let found = found(value.get_ref());
        let message = format!("{key} is {found}, where {expected} is expected");
        let keys = match type_of(schema) {
            "object" => shown_keys(schema),
            _ => Vec::new(),
        };
        let remedy = if keys.is_empty() {
            format!("write {expected}")
        } else {
            let keys: Vec<String> = keys.iter().map(|key| format!("{key} = ...")).collect();
            format!("write {key} = {{ {} }}", keys.join(", "))
        };
        (value.span(), TomlProblem::value(message, remedy))
    }

    /// What a schema expects, with its article.
    fn expected(&self, schema: &'a Value) -> String {
        let schema = resolved(self.root, schema);
        let choices = choice_names(schema);
        if !choices.is_empty() {
            return format!("one of {}", choices.join(", "));
        }
        let forms = self.forms(schema);
        if !forms.is_empty() {
            let forms: Vec<String> = forms.iter().map(|form| self.expected(form)).collect();
            return forms.join(" or ");
        }
        match type_of(schema) {
            "number" => "a number".into(),
            "integer" => "a whole number".into(),
            "boolean" => "true or false".into(),
            "string" if is_date(schema) => "a date and time without quotes".into(),
            "string" => "text in quotes".into(),
            "object" => match &required_keys(schema)[..] {
                [] => "a table".into(),
                keys => format!("a table with {}", keys.join(", ")),
            },
            "array" => {
                let limit = |name| schema.get(name).and_then(Value::as_u64);
                let element = schema.get("items").map(|items| resolved(self.root, items));
                let element = match element.map_or("", type_of) {
                    "number" => "numbers",
                    "integer" => "whole numbers",
                    "string" => "texts",
                    "object" => "tables",
                    "array" => "lists",
                    _ => "values",
                };
                match (limit("minItems"), limit("maxItems")) {
                    (Some(least), Some(most)) if least == most => {
                        format!("a list of {least} {element}")
                    }
                    _ => format!("a list of {element}"),
                }
            }
            _ => "another value".into(),
        }
    }
}

/// Names of all choices of a schema; none if it has no choices.
fn choice_names<'a>(schema: &'a Value) -> Vec<&'a str> {
    let choices = schema.get("oneOf").and_then(Value::as_array);
    let choices = choices.map_or(std::slice::from_ref(schema), Vec::as_slice);
    let is_choice = schema.get("oneOf").is_some();
    let of_choice = |choice: &'a Value| {
        let keys = choice.get("properties").and_then(Value::as_object);
        let keys = keys
            .filter(|_| is_choice)
            .into_iter()
            .flat_map(|keys| keys.keys());
        names(choice)
            .unwrap_or_default()
            .into_iter()
            .chain(keys.map(String::as_str))
    };
    choices.iter().flat_map(of_choice).collect()
}

/// Texts that a schema of a string permits, if it names them.
fn names(schema: &Value) -> Option<Vec<&str>> {
    if let Some(name) = schema.get("const").and_then(Value::as_str) {
        return Some(vec![name]);
    }
    let names = schema.get("enum")?.as_array()?;
    Some(names.iter().filter_map(Value::as_str).collect())
}

/// The type of a schema other than null; empty without one.
fn type_of(schema: &Value) -> &str {
    match schema.get("type") {
        Some(Value::String(name)) => name,
        Some(Value::Array(names)) => {
            let mut names = names.iter().filter_map(Value::as_str);
            names.find(|name| *name != "null").unwrap_or_default()
        }
        _ => "",
    }
}

/// Whether a schema of a string is that of a date and time, which TOML writes without quotes.
fn is_date(schema: &Value) -> bool {
    schema.get("format").and_then(Value::as_str) == Some("date-time")
}

/// The required keys of a table.
fn required_keys(schema: &Value) -> Vec<&str> {
    let required = schema.get("required").and_then(Value::as_array);
    let required = required.into_iter().flatten();
    required.filter_map(Value::as_str).collect()
}

/// The required keys of a table, or else some of its keys.
fn shown_keys(schema: &Value) -> Vec<&str> {
    let required = required_keys(schema);
    if !required.is_empty() {
        return required;
    }
    let keys = schema.get("properties").and_then(Value::as_object);
    let keys = keys.into_iter().flat_map(|keys| keys.keys());
    keys.map(String::as_str).take(SHOWN_KEYS).collect()
}

/// A value as a message names it.
fn found(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("the text \"{text}\""),
        DeValue::Integer(number) => format!("the number {number}"),
        DeValue::Float(number) => format!("the number {number}"),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Datetime(_) => "a date".into(),
        DeValue::Array(items) => match items.len() {
            1 => "a list of 1 value".into(),
            count => format!("a list of {count} values"),
        },
        DeValue::Table(_) => "a table".into(),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use crate::presets::SENSORS;
    use crate::toml_file::Document;

    /// Message and remedy of a sensor file with a replaced line.
    fn error_of(line: &str, replacement: &str) -> (String, String) {
        let text = SENSORS.find("velodyne-vlp-16").unwrap().text;
        assert!(text.contains(line), "{line}");
        let document = Document::new("a.toml", text.replace(line, replacement));
        let error = crate::sensor::parse(&document).unwrap_err();
        let message = error.to_string();
        let (_, message) = message.split_once(": ").unwrap();
        (message.to_owned(), error.remedy())
    }

    #[test]
    fn a_value_of_another_form_is_named_with_its_key_and_what_is_expected() {
        for (line, replacement, message, remedy) in [
            (
                "pulse_fwhm_ns = 6",
                "pulse_fwhm_ns = \"6\"",
                "pulse_fwhm_ns is the text \"6\", where a number is expected",
                "write a number",
            ),
            (
                "divergence_mrad = [3, 1.5]",
                "divergence_mrad = 3",
                "divergence_mrad is the number 3, where a list of 2 numbers is expected",
                "write a list of 2 numbers",
            ),
            (
                "divergence_mrad = [3, 1.5]",
                "divergence_mrad = [3, 1.5, 1]",
                "divergence_mrad is a list of 3 values, where a list of 2 numbers is expected",
                "write a list of 2 numbers",
            ),
            (
                "clockwise = true",
                "clockwise = \"yes\"",
                "clockwise is the text \"yes\", where true or false is expected",
                "write true or false",
            ),
            (
                "sub_ray_rings = 1",
                "sub_ray_rings = -1",
                "sub_ray_rings is -1, which is not a number in its range",
                "give a number from 0 to",
            ),
            (
                "sub_ray_rings = 1",
                "sub_ray_rings = 0.5",
                "sub_ray_rings is the number 0.5, where a whole number is expected",
                "write a whole number",
            ),
        ] {
            let error = error_of(line, replacement);
            assert_eq!(error.0, message);
            assert!(error.1.starts_with(remedy), "{}", error.1);
        }
    }

    #[test]
    fn a_choice_without_its_value_or_with_another_choice_is_explained() {
        for (line, replacement, message, remedy) in [
            (
                "returns = \"strongest\"",
                "returns = \"dual\"",
                "\"dual\" needs a value of its own",
                "write returns = { dual = ... } with one of last_and_strongest, two_strongest, \
                 first_and_last, two_first",
            ),
            (
                "returns = \"strongest\"",
                "returns = { strongest = 1 }",
                "\"strongest\" has no value of its own",
                "write returns = \"strongest\"",
            ),
            (
                "returns = \"strongest\"",
                "returns = [\"first\", \"last\"]",
                "returns is a list of 2 values, where one of strongest, first, last, all, dual is expected",
                "write one of strongest, first, last, all, dual",
            ),
            (
                "[receiver.pulsed]\n",
                "[receiver.pulse]\n",
                "unknown choice \"pulse\"",
                "did you mean \"pulsed\"?",
            ),
            (
                "[pattern.spinning]",
                "[pattern.oscillating]\n[pattern.spinning]",
                "pattern is both oscillating and spinning",
                "keep one of them",
            ),
        ] {
            let error = error_of(line, replacement);
            assert_eq!(error.0, message);
            assert!(error.1.starts_with(remedy), "{}", error.1);
        }
    }

    #[test]
    fn presets_have_no_misfit() {
        for preset in SENSORS.all() {
            let found = super::misfit::<crate::sensor::SensorFile>(preset.text);
            assert_eq!(found, None, "{}", preset.name);
        }
        for preset in crate::presets::SCENES.all() {
            let found = super::misfit::<crate::scene::SceneFile>(preset.text);
            assert_eq!(found, None, "{}", preset.name);
        }
    }

    #[test]
    fn a_date_is_not_a_text() {
        let robot = |start: &str| {
            format!(
                "version = 1\nname = \"a\"\n[place]\nlatitude_deg = 48\nlongitude_deg = 11\nstart = {start}\n"
            )
        };
        let found = |start| super::misfit::<crate::robot::RobotFile>(&robot(start));
        assert_eq!(found("2026-06-01T12:00:00Z"), None);
        let (_, problem) = found("\"2026-06-01T12:00:00Z\"").unwrap();
        assert!(
            problem
                .to_string()
                .contains("a date and time without quotes is expected"),
            "{problem}"
        );
    }
}
