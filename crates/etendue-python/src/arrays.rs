//! Arrays of arguments and results.
//!
//! Arguments are copied before the interpreter lock is released, because other threads can write to them.
//! Results own the memory of the library without a copy. Arrays of immutable objects are read-only.

use numpy::{
    Element, PyArray1, PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt};

/// Numbers of an argument, in C order.
pub struct Numbers<T> {
    /// The numbers.
    pub values: Vec<T>,
    /// Shape of the array.
    pub shape: Vec<usize>,
}

/// Real numbers in the precision of the argument.
pub enum Floats {
    /// Of an array of the type float32.
    Single(Vec<f32>),
    /// Of any other.
    Double(Vec<f64>),
}

/// An argument in its own precision.
pub struct FloatsOfEither {
    /// The numbers, in C order.
    pub values: Floats,
    /// Shape of the array.
    pub shape: Vec<usize>,
}

/// [`floats`] without the conversion of arrays of the type float32.
pub fn floats_of_either(name: &str, value: &Bound<'_, PyAny>) -> PyResult<FloatsOfEither> {
    if let Ok(array) = value.cast::<PyArrayDyn<f32>>() {
        let Numbers { values, shape } = copied(array);
        let values = Floats::Single(values);
        return Ok(FloatsOfEither { values, shape });
    }
    let Numbers { values, shape } = floats(name, value)?;
    let values = Floats::Double(values);
    Ok(FloatsOfEither { values, shape })
}

/// Real numbers of the argument `name`: an array of any real type and any strides, or nested sequences.
pub fn floats(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Numbers<f64>> {
    numbers(name, value, "fiu", "real numbers", "float64")
}

/// Whole numbers of the argument `name`.
pub fn integers(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Numbers<i64>> {
    numbers(name, value, "iu", "whole numbers", "int64")
}

/// Error of an argument of the wrong shape; `expected` is a shape such as "(n, 3)".
pub fn wrong_shape(name: &str, expected: &str, shape: &[usize]) -> PyErr {
    let shape = shape_text(shape);
    PyValueError::new_err(format!(
        "{name}: expected the shape {expected}, got {shape}"
    ))
}

/// Checks that all numbers of an argument are finite.
pub fn check_finite(name: &str, values: &[f64]) -> PyResult<()> {
    let Some(at) = values.iter().position(|value| !value.is_finite()) else {
        return Ok(());
    };
    let value = values[at];
    let text = format!("{name}: all numbers have to be finite, number {at} is {value}");
    Err(PyValueError::new_err(text))
}

/// The whole number of the argument `name`, from 0 to `most`.
pub fn whole_number<'a, 'py, T: FromPyObject<'a, 'py> + std::fmt::Display>(
    name: &str,
    value: &'a Bound<'py, PyAny>,
    most: T,
) -> PyResult<T> {
    value.extract::<T>().map_err(|_| {
        let found = value
            .repr()
            .map_or_else(|_| String::new(), |text| text.to_string());
        let text = format!("{name}: expected a whole number from 0 to {most}, got {found}");
        if value.is_instance_of::<PyInt>() {
            PyValueError::new_err(text)
        } else {
            PyTypeError::new_err(text)
        }
    })
}

/// The names of the argument `name`, a sequence.
pub fn names(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    value.extract().map_err(|_| {
        let found = value.get_type().name();
        let found = found.map_or_else(|_| "another object".into(), |name| name.to_string());
        PyTypeError::new_err(format!("{name}: expected a list of names, got {found}"))
    })
}

/// An array of a shape, which owns `values`.
pub fn array<'py, T: Element>(
    py: Python<'py>,
    values: Vec<T>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    PyArray1::from_vec(py, values).reshape(shape)
}

/// A read-only array of a shape, which owns `values`.
pub fn read_only<T: Element>(
    py: Python<'_>,
    values: Vec<T>,
    shape: &[usize],
) -> PyResult<Py<PyAny>> {
    let array = array(py, values, shape)?;
    array.call_method1("setflags", (false,))?;
    Ok(array.into_any().unbind())
}

/// Numbers of an argument whose NumPy kind is one of `kinds`, as `dtype`.
fn numbers<T: Element + Copy>(
    name: &str,
    value: &Bound<'_, PyAny>,
    kinds: &str,
    expected: &str,
    dtype: &str,
) -> PyResult<Numbers<T>> {
    // View the argument as an array.
    let py = value.py();
    let wrong = |found: &str| {
        let text = format!("{name}: expected an array of {expected}, got {found}");
        PyTypeError::new_err(text)
    };
    let array = py.import("numpy")?.call_method1("asarray", (value,));
    let array = array.map_err(|error| wrong(&error.value(py).to_string()))?;
    let untyped = array.cast::<PyUntypedArray>()?;
    let kind = char::from(untyped.dtype().kind());
    if !kinds.contains(kind) {
        let type_name = value.get_type().name()?;
        return Err(wrong(&format!("{type_name} of dtype {}", untyped.dtype())));
    }

    // Convert the type, and copy.
    let options = PyDict::new(py);
    options.set_item("copy", false)?;
    let converted = array.call_method("astype", (dtype,), Some(&options))?;
    Ok(copied(converted.cast::<PyArrayDyn<T>>()?))
}

/// The numbers of an array.
fn copied<T: Element + Copy>(array: &Bound<'_, PyArrayDyn<T>>) -> Numbers<T> {
    let array = array.readonly();
    Numbers {
        values: match array.as_slice() {
            Ok(values) => values.to_vec(),
            Err(_) => array.as_array().iter().copied().collect(),
        },
        shape: array.shape().to_vec(),
    }
}

/// A shape as Python prints it.
pub fn shape_text(shape: &[usize]) -> String {
    match shape {
        [only] => format!("({only},)"),
        shape => {
            let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
            format!("({})", sizes.join(", "))
        }
    }
}
