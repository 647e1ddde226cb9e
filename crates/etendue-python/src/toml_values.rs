//! Values of TOML documents by dotted keys, from and to Python.

use crate::errors::Outcome;
use etendue::config::toml_file::UnknownName;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PySequence, PyString};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Key, Table, TableLike, Value};

/// Values by key of the document, with the keys of nested tables joined by dots.
pub fn keys(document: &DocumentMut) -> Vec<String> {
    let mut all = Vec::new();
    collect_keys(document.as_table(), "", &mut all);
    all
}

/// The value of a dotted key.
pub fn get<'py>(
    py: Python<'py>,
    document: &DocumentMut,
    dotted: &str,
) -> Outcome<Bound<'py, PyAny>> {
    let unknown = || UnknownName::new("key", dotted, keys(document));
    let mut item = document.as_item();
    for key in parts(dotted)? {
        let table = item.as_table_like();
        item = table
            .and_then(|table| table.get(key.get()))
            .ok_or_else(unknown)?;
    }
    Ok(to_python(py, item)?)
}

/// Sets the value of a dotted key; `None` removes the key. Tables that are missing are added.
pub fn set(document: &mut DocumentMut, dotted: &str, value: &Bound<'_, PyAny>) -> Outcome<()> {
    // Find the table.
    let mut parts = parts(dotted)?;
    let Some(last) = parts.pop() else {
        return Err(PyValueError::new_err("changes: a key is empty").into());
    };
    let known = keys(document);
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for key in &parts {
        if !table.contains_key(key.get()) {
            table.insert(key.get(), Item::Table(Table::new()));
        }
        let inner = table.get_mut(key.get()).and_then(Item::as_table_like_mut);
        table = inner.ok_or_else(|| UnknownName::new("key", dotted, known.iter().cloned()))?;
    }

    // Replace the value; its comment stays.
    if value.is_none() {
        if table.remove(last.get()).is_none() {
            return Err(UnknownName::new("key", dotted, known).into());
        }
        return Ok(());
    }
    let mut new = to_toml(dotted, value)?;
    let old = table.get(last.get()).and_then(Item::as_value);
    if let Some(old) = old {
        *new.decor_mut() = old.decor().clone();
    }
    table.insert(last.get(), Item::Value(new));
    Ok(())
}

/// Replaces the number of a dotted key; a whole number stays whole if possible.
pub fn set_number(document: &mut DocumentMut, dotted: &str, number: f64) -> Outcome<()> {
    let unknown = UnknownName::new("key", dotted, number_keys(document));
    let mut item = document.as_item_mut();
    for key in parts(dotted)? {
        let table = item.as_table_like_mut();
        let inner = table.and_then(|table| table.get_mut(key.get()));
        let Some(inner) = inner else {
            return Err(unknown.into());
        };
        item = inner;
    }
    let Some(old) = item.as_value_mut().filter(|value| is_number(value)) else {
        return Err(unknown.into());
    };
    #[expect(
        clippy::cast_possible_truncation,
        reason = "whole numbers of files are small"
    )]
    let mut new = match old {
        Value::Integer(_) if number.fract() == 0.0 => Value::from(number as i64),
        _ => Value::from(number),
    };
    *new.decor_mut() = old.decor().clone();
    *old = new;
    Ok(())
}

/// Keys of the numbers of the document, with the keys of nested tables joined by dots.
pub fn number_keys(document: &DocumentMut) -> Vec<String> {
    let is_of_number = |key: &String| {
        let keys = parts(key).unwrap_or_default();
        let item = keys.iter().try_fold(document.as_item(), |item, key| {
            item.as_table_like()?.get(key.get())
        });
        item.and_then(Item::as_value).is_some_and(is_number)
    };
    keys(document).into_iter().filter(is_of_number).collect()
}

/// Whether a value is a number.
fn is_number(value: &Value) -> bool {
    value.is_integer() || value.is_float()
}

/// Keys of a dotted key.
fn parts(dotted: &str) -> PyResult<Vec<Key>> {
    Key::parse(dotted).map_err(|_| {
        PyValueError::new_err(format!(
            "\"{dotted}\" is no key\nhelp: join the keys of nested tables by dots, as in \"range.far_m\""
        ))
    })
}

/// Adds the keys of the values in a table.
fn collect_keys(table: &dyn TableLike, prefix: &str, all: &mut Vec<String>) {
    for (key, item) in table.iter() {
        let key = format!("{prefix}{key}");
        match item.as_table_like() {
            Some(inner) => collect_keys(inner, &format!("{key}."), all),
            None => all.push(key),
        }
    }
}

/// A TOML value in Python.
fn to_python<'py>(py: Python<'py>, item: &Item) -> PyResult<Bound<'py, PyAny>> {
    // Tables
    if let Some(table) = item.as_table_like() {
        let result = PyDict::new(py);
        for (key, item) in table.iter() {
            result.set_item(key, to_python(py, item)?)?;
        }
        return Ok(result.into_any());
    }
    if let Some(tables) = item.as_array_of_tables() {
        let tables = tables
            .iter()
            .map(|table| to_python(py, &Item::Table(table.clone())));
        return Ok(PyList::new(py, tables.collect::<PyResult<Vec<_>>>()?)?.into_any());
    }

    // Values
    match item.as_value() {
        Some(Value::Boolean(value)) => Ok(PyBool::new(py, *value.value()).to_owned().into_any()),
        Some(Value::Integer(value)) => Ok(value.value().into_pyobject(py)?.into_any()),
        Some(Value::Float(value)) => Ok(PyFloat::new(py, *value.value()).into_any()),
        Some(Value::String(value)) => Ok(PyString::new(py, value.value()).into_any()),
        Some(Value::Array(values)) => {
            let values = values
                .iter()
                .map(|value| to_python(py, &Item::Value(value.clone())));
            Ok(PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)?.into_any())
        }
        other => {
            let text = other.map_or_else(String::new, Value::to_string);
            Ok(PyString::new(py, text.trim()).into_any())
        }
    }
}

/// A Python value in TOML: a number, a text, a list, a dictionary, or a NumPy array or scalar.
fn to_toml(key: &str, value: &Bound<'_, PyAny>) -> PyResult<Value> {
    // Convert arrays and scalars of NumPy.
    if value.hasattr("tolist")? {
        return to_toml(key, &value.call_method0("tolist")?);
    }

    // Convert by type.
    if let Ok(value) = value.cast::<PyBool>() {
        Ok(value.is_true().into())
    } else if value.is_instance_of::<PyInt>() {
        Ok(value.extract::<i64>()?.into())
    } else if value.is_instance_of::<PyFloat>() {
        Ok(value.extract::<f64>()?.into())
    } else if let Ok(text) = value.cast::<PyString>() {
        Ok(text.to_cow()?.into_owned().into())
    } else if let Ok(table) = value.cast::<PyDict>() {
        let mut result = InlineTable::new();
        for (inner, value) in table {
            let inner: String = inner.extract()?;
            result.insert(&inner, to_toml(key, &value)?);
        }
        Ok(result.into())
    } else if let Ok(values) = value.cast::<PySequence>() {
        let mut result = Array::new();
        for value in values.try_iter()? {
            result.push(to_toml(key, &value?)?);
        }
        Ok(result.into())
    } else {
        let found = value.get_type().name()?;
        let expected = "a number, a text, a list or a dictionary";
        Err(PyTypeError::new_err(format!(
            "{key}: expected {expected}, got {found}"
        )))
    }
}
