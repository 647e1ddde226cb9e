//! Amounts of weather in the air.

use super::family::FitParameter;
use crate::manifold::VariableValue;
use crate::model::{Model, SimulatorInputs};
use etendue_physics::Scalar;
use etendue_physics::atmosphere::{MM_PER_HOUR, Weather};

/// Amount of a kind of weather in the air, in the unit of its path; above zero.
///
/// Paths: `atmosphere.fog_visibility_m`, `.visibility_m`, `.rain_mm_h`, `.snow_mm_h` and `.dust_g_m3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WeatherAmount {
    /// Index of the kind of weather in the atmosphere.
    pub number: usize,
}

impl FitParameter for WeatherAmount {
    fn members(model: &Model) -> Vec<(String, Self)> {
        let weather = model.air.atmosphere.weather.iter().enumerate();
        weather
            .filter_map(|(number, weather)| {
                let (name, _) = name_and_unit(weather)?;
                Some((format!("atmosphere.{name}"), Self { number }))
            })
            .collect()
    }

    fn value(&self, model: &Model) -> VariableValue<f64> {
        let weather = &model.air.atmosphere.weather[self.number];
        VariableValue::Number(weather.amount() / unit(weather))
    }

    fn bounds(&self) -> Option<[f64; 2]> {
        Some([0.0, f64::INFINITY])
    }

    fn apply<S: Scalar>(
        &self,
        _: &Model,
        inputs: &mut SimulatorInputs<S>,
        value: VariableValue<S>,
    ) {
        if let VariableValue::Number(number) = value {
            let weather = &mut inputs.weather[self.number];
            *weather = weather.with_amount(number * unit(weather));
        }
    }
}

/// Key of a kind of weather in scene files and parameter paths, and the factor from its unit to that of
/// [`Weather::amount`].
fn name_and_unit<S>(weather: &Weather<S>) -> Option<(&'static str, f64)> {
    Some(match weather {
        Weather::Haze { .. } => ("visibility_m", 1.0),
        Weather::Fog { .. } => ("fog_visibility_m", 1.0),
        Weather::Rain { .. } => ("rain_mm_h", MM_PER_HOUR),
        Weather::Snow { .. } => ("snow_mm_h", MM_PER_HOUR),
        Weather::Dust { .. } => ("dust_g_m3", 1.0),
        _ => return None,
    })
}

/// Factor from the unit of the key to that of [`Weather::amount`].
fn unit<S>(weather: &Weather<S>) -> f64 {
    name_and_unit(weather).map_or(1.0, |(_, unit)| unit)
}
