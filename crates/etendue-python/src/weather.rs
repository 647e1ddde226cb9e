//! Weather of a call.

use crate::errors::Outcome;
use etendue::config::toml_file::UnknownName;
use etendue::physics::atmosphere::{MM_PER_HOUR, Weather};
use etendue::sensors::lidar::Air;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Key of the diameter from which drops are drawn one by one.
const DROPS_FROM: &str = "drops_from";

/// Keys of the argument `weather`, the options of `etendue simulate`.
const KEYS: [&str; 6] = ["visibility", "fog", "rain", "snow", "dust", DROPS_FROM];

/// Air of the argument `weather`, whose kinds replace those of the scene.
pub fn air(of_scene: &Air, weather: Option<&Bound<'_, PyDict>>) -> Outcome<Air> {
    let Some(weather) = weather else {
        return Ok(of_scene.clone());
    };
    // Read the kinds.
    let mut given = Vec::new();
    let mut drops_from = None;
    for (key, value) in weather {
        let key: String = key
            .extract()
            .map_err(|_| PyTypeError::new_err("weather: expected names of weather as keys"))?;
        let value = amount(&key, &value)?;
        given.push(match key.as_str() {
            "visibility" => Weather::Haze { visibility: value },
            "fog" => Weather::Fog { visibility: value },
            "rain" => Weather::Rain {
                rate: value * MM_PER_HOUR,
            },
            "snow" => Weather::Snow {
                rate: value * MM_PER_HOUR,
            },
            "dust" => Weather::Dust {
                concentration: value,
            },
            DROPS_FROM => {
                drops_from = Some(value * 1e-3);
                continue;
            }
            _ => return Err(UnknownName::new("weather", &key, KEYS).into()),
        });
    }

    // Replace those of the scene.
    let air = of_scene.replaced_by(&given, drops_from);
    if drops_from.is_some() && air.drops_from.is_none() {
        let text = "weather[\"drops_from\"]: there are no drops\nhelp: add rain or snow above 0, or omit the key";
        return Err(PyValueError::new_err(text).into());
    }
    Ok(air)
}

/// The amount of a kind of weather.
fn amount(key: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    let number: f64 = value
        .extract()
        .map_err(|_| PyTypeError::new_err(format!("weather[\"{key}\"]: expected a number")))?;
    let is_amount = matches!(key, "rain" | "snow" | "dust");
    if number.is_finite() && (number > 0.0 || (is_amount && number == 0.0)) {
        return Ok(number);
    }
    let expected = if is_amount { "0 or more" } else { "above 0" };
    let text = format!("weather[\"{key}\"]: expected a number {expected}, got {number}");
    Err(PyValueError::new_err(text))
}
