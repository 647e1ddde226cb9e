//! Geographic origin and time of a run.

use crate::toml_file::{Document, DocumentError, TomlProblem};
use etendue_physics::ambient::StandardAir;
use etendue_physics::gnss::Geodetic;
use etendue_sensors::rig::Environment;
use nalgebra::Vector3;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;
use toml::value::{Datetime, Offset};

/// Geographic origin of the world (x east, y north, z up), and start time of the run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlaceTable {
    /// Geodetic latitude (WGS-84), north positive.
    #[schemars(with = "f64")]
    #[schemars(range(min = -90.0, max = 90.0))]
    pub latitude_deg: Spanned<f64>,
    /// Longitude, east positive.
    #[schemars(with = "f64")]
    #[schemars(range(min = -360.0, max = 360.0))]
    pub longitude_deg: Spanned<f64>,
    /// Height above the ellipsoid.
    #[serde(default)]
    #[schemars(range(min = -20000.0, max = 100000.0))]
    pub height_m: f64,
    /// Start of the run, a date and time with offset: 2026-06-01T12:00:00Z.
    #[serde(default)]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub start: Option<Spanned<Datetime>>,
    /// Gravity. Default: normal gravity of the ellipsoid.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub gravity_mps2: Option<f64>,
    /// Magnetic field to the east, to the north and upwards. Default: the dipole of the Earth.
    #[serde(default)]
    pub magnetic_field_ut: Option<[f64; 3]>,
    /// Pressure at sea level.
    #[serde(default)]
    #[schemars(range(min = 1.0, max = 2000.0))]
    pub sea_pressure_hpa: Option<f64>,
    /// Temperature at sea level.
    #[serde(default)]
    #[schemars(range(min = -90.0, max = 90.0))]
    pub sea_temperature_c: Option<f64>,
}

impl PlaceTable {
    pub(super) fn environment(&self, document: &Document) -> Result<Environment, DocumentError> {
        // Compute the geodetic origin
        let degrees = |given: &Spanned<f64>, most: f64| {
            let value = *given.get_ref();
            if value.abs() <= most {
                return Ok(value);
            }
            let problem = TomlProblem::value(
                format!("{value} degrees is out of range"),
                format!("give degrees from -{most} to {most}"),
            );
            Err(document.error(given.span(), problem))
        };
        let latitude = degrees(&self.latitude_deg, 90.0)?;
        let longitude = degrees(&self.longitude_deg, 180.0)?;
        let origin = Geodetic::from_degrees(latitude, longitude, self.height_m);
        // Read the start of the run
        let start = match &self.start {
            Some(given) => unix_time(given.get_ref()).ok_or_else(|| {
                let problem = TomlProblem::value(
                    "the start is not a date and time with an offset",
                    "write it as 2026-06-01T12:00:00Z",
                );
                document.error(given.span(), problem)
            })?,
            None => Environment::default().start,
        };
        // Replace the constants of the table
        let mut environment = Environment::at(origin, start);
        if let Some(gravity) = self.gravity_mps2 {
            environment.gravity = Vector3::z() * -gravity;
        }
        if let Some(field) = self.magnetic_field_ut {
            environment.magnetic_field = Vector3::from(field) * 1e-6;
        }
        let standard = StandardAir::default();
        environment.pressure = StandardAir {
            pressure: self
                .sea_pressure_hpa
                .map_or(standard.pressure, |p| p * 100.0),
            temperature: self
                .sea_temperature_c
                .map_or(standard.temperature, |t| t + 273.15),
        };
        Ok(environment)
    }
}

/// Unix time (s) of a date and time with an offset.
fn unix_time(given: &Datetime) -> Option<f64> {
    let date = given.date?;
    let time = given.time?;
    let offset = given.offset?;
    let minutes = match offset {
        Offset::Z => 0,
        Offset::Custom { minutes } => i64::from(minutes),
    };
    let days = days_since_1970(date.year.into(), date.month.into(), date.day.into());
    let of_day = i64::from(time.hour) * 3600 + i64::from(time.minute) * 60;
    let seconds = days * 86_400 + of_day + i64::from(time.second.unwrap_or(0)) - minutes * 60;
    Some(seconds as f64 + f64::from(time.nanosecond.unwrap_or(0)) * 1e-9)
}

/// Days since 1970 in the Gregorian calendar. Years begin in March, so that the leap day is the
/// last day.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let leap_days = year / 4 - year / 100 + year / 400;
    year * 365 + leap_days + (153 * month + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_the_seconds_of_unix() {
        let of = |text: &str| unix_time(&text.parse().expect("a date"));
        assert_eq!(of("1970-01-01T00:00:00Z"), Some(0.0));
        assert_eq!(of("2000-02-29T12:00:00Z"), Some(951_825_600.0));
        assert_eq!(of("2026-06-01T14:00:00.5+02:00"), Some(1_780_315_200.5));
        assert_eq!(of("2026-06-01"), None);
    }
}
