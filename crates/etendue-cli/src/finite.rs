//! Results are finite: a number that is not is an error that names its column, and nothing is written.

use crate::failure::Failure;
use ciborium::Value;
use etendue::sensors::camera::CameraFrame;
use etendue::sensors::lidar::{Return, Sweep};
use etendue::sensors::rig::{Cloud, Data};
use serde::Serialize;

/// Error about a result that is not finite.
fn not_finite(column: &str, whose: &str, value: f64) -> Failure {
    Failure::usage(
        format!("{column} of {whose} is {value}, not a finite number: nothing was written"),
        "an input that the computation multiplies or divides by is too large or too small: compare \
         the units of its keys with `etendue schema`, and report it if they are right",
    )
}

/// The first of named numbers that is not finite.
fn first<const N: usize>(numbers: [(&'static str, f64); N]) -> Option<(&'static str, f64)> {
    numbers.into_iter().find(|(_, value)| !value.is_finite())
}

/// Checks the returns of a sweep.
///
/// # Errors
/// If a number of a return is not finite.
pub fn check_sweep(sweep: &Sweep) -> Result<(), Failure> {
    let wrong = |point: &Return| {
        first([
            ("x", point.position.x),
            ("y", point.position.y),
            ("z", point.position.z),
            ("range", point.range),
            ("intensity", point.intensity),
            ("power", point.power),
            ("velocity", point.velocity.unwrap_or(0.0)),
            ("ambient", point.ambient),
        ])
    };
    match sweep.points.iter().find_map(wrong) {
        Some((column, value)) => Err(not_finite(column, &format!("sweep {}", sweep.index), value)),
        None => Ok(()),
    }
}

/// Checks the data of a sensor of a rig.
///
/// # Errors
/// If a number of the data is not finite.
pub fn check_data(sensor: &str, data: &Data) -> Result<(), Failure> {
    let wrong = match data {
        Data::Imu(reading) => {
            let [w, f] = [reading.angular_velocity, reading.specific_force];
            first([
                ("the angular velocity", w.sum()),
                ("the specific force", f.sum()),
            ])
        }
        Data::Fix(fix) => fix.solution.as_ref().and_then(|solution| {
            let place = &solution.position;
            first([
                ("the latitude", place.latitude),
                ("the longitude", place.longitude),
                ("the height", place.height),
                ("the velocity", solution.velocity.sum()),
                ("the variance", solution.variance.sum()),
            ])
        }),
        Data::MagneticField(field) => first([("the magnetic field", field.sum())]),
        Data::Pressure(pressure) => first([("the pressure", *pressure)]),
        Data::Height(height) => first([("the height", *height)]),
        Data::Points(sweep) => return check_sweep(sweep),
        Data::Cloud(cloud) => return check_cloud(sensor, cloud),
        Data::Image(frame) => return check_frame(frame),
        _ => None,
    };
    match wrong {
        Some((column, value)) => Err(not_finite(column, sensor, value)),
        None => Ok(()),
    }
}

/// Checks the points of a filtered cloud. A point without a position has no finite coordinate.
fn check_cloud(sensor: &str, cloud: &Cloud) -> Result<(), Failure> {
    let wrong = cloud.points.iter().find_map(|point| {
        let [x, y, z] = point.position.coords.into();
        let infinite = [("x", x), ("y", y), ("z", z)];
        let infinite = infinite.into_iter().find(|(_, value)| value.is_infinite());
        infinite.or_else(|| first([("intensity", point.intensity), ("time", point.time)]))
    });
    match wrong {
        Some((column, value)) => Err(not_finite(column, sensor, value)),
        None => Ok(()),
    }
}

/// Checks the radiance of a frame. The depth of a pixel without a surface is not finite.
///
/// # Errors
/// If a radiance is not finite.
pub fn check_frame(frame: &CameraFrame) -> Result<(), Failure> {
    let mut values = frame.radiance.iter().enumerate();
    match values.find(|(_, value)| !value.is_finite()) {
        Some((place, value)) => {
            let pixel = place / frame.bands;
            let [row, column] = [pixel / frame.width as usize, pixel % frame.width as usize];
            let whose = format!(
                "row {row}, column {column} of the frame at {} s",
                frame.start
            );
            Err(not_finite("the radiance", &whose, f64::from(*value)))
        }
        None => Ok(()),
    }
}

/// Checks a text file of results: words of numbers that are not finite are errors.
///
/// # Errors
/// If a word of `text` is `NaN`, `inf` or `-inf`.
pub fn check_text(file: &str, text: &str) -> Result<(), Failure> {
    let is_end = |letter: char| letter.is_whitespace() || ",;=[]{}()\"".contains(letter);
    for (number, line) in (1..).zip(text.lines()) {
        for (name, value) in [
            ("NaN", f64::NAN),
            ("nan", f64::NAN),
            ("inf", f64::INFINITY),
            ("-inf", f64::NEG_INFINITY),
        ] {
            if line.split(is_end).any(|word| word == name) {
                return Err(not_finite(
                    &format!("a number in line {number}"),
                    file,
                    value,
                ));
            }
        }
    }
    Ok(())
}

/// JSON text of results, which has no form for numbers that are not finite.
///
/// # Errors
/// If a number of `value` is not finite.
pub fn json(value: &impl Serialize) -> Result<String, Failure> {
    let numbers = Value::serialized(value).map_err(std::io::Error::other)?;
    if let Some((path, number)) = infinite_in(&numbers) {
        return Err(not_finite(&path, "the result", number));
    }
    let text = serde_json::to_string_pretty(value).map_err(std::io::Error::from)?;
    Ok(text + "\n")
}

/// Path and value of the first number that is not finite.
fn infinite_in(value: &Value) -> Option<(String, f64)> {
    let within = |name: String, part: &Value| {
        let (path, number) = infinite_in(part)?;
        let dot = if path.is_empty() || path.starts_with('[') {
            ""
        } else {
            "."
        };
        Some((format!("{name}{dot}{path}"), number))
    };
    match value {
        Value::Float(number) if !number.is_finite() => Some((String::new(), *number)),
        Value::Array(items) => {
            let mut items = items.iter().enumerate();
            items.find_map(|(number, item)| within(format!("[{number}]"), item))
        }
        Value::Map(parts) => {
            let name = |key: &Value| key.as_text().unwrap_or_default().to_owned();
            parts.iter().find_map(|(key, part)| within(name(key), part))
        }
        _ => None,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{check_text, json};
    use std::collections::BTreeMap;

    #[test]
    fn a_number_that_is_not_finite_is_named_with_its_place_in_the_json() {
        let rows = |last: f64| BTreeMap::from([("rows", vec![[0.5, 1.0], [2.0, last]])]);
        let text = json(&rows(3.0)).unwrap();
        assert!(text.contains("\"rows\"") && text.ends_with("}\n"), "{text}");
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let error = json(&rows(value)).unwrap_err().to_string();
            assert!(error.starts_with("rows[1][1] of the result is "), "{error}");
        }
        // A missing number is null
        assert_eq!(json(&None::<f64>).unwrap(), "null\n");
    }

    #[test]
    fn words_that_are_no_finite_number_are_found_in_tables_and_toml() {
        for text in [
            "a,b\n1,NaN\n",
            "x = [0.5, -inf]",
            "0 1 inf 2\n",
            "gain = nan",
        ] {
            let error = check_text("log.csv", text).unwrap_err().to_string();
            assert!(error.contains("of log.csv is "), "{error}");
        }
        check_text("log.csv", "name,nanometres\ninformation,1e308\n").unwrap();
    }
}
