//! Results are finite: a number that is not is an error that names its column, and nothing is written.

use crate::failure::Failure;
use etendue::sensors::lidar::{Return, Sweep};
use etendue::sensors::rig::Data;

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
        _ => None,
    };
    match wrong {
        Some((column, value)) => Err(not_finite(column, sensor, value)),
        None => Ok(()),
    }
}
