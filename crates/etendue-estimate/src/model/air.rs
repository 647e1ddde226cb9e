//! The air as something unknown.

use etendue_physics::Scalar;
use etendue_physics::atmosphere::{Atmosphere, MM_PER_HOUR, Weather};
use etendue_sensors::lidar::{Air, MeanAir};

/// What paths call the amount of a kind of weather, as scene files do, and what one of its unit is
/// in that of [`Weather::amount`].
pub(super) fn name_and_unit<S>(weather: &Weather<S>) -> Option<(&'static str, f64)> {
    Some(match weather {
        Weather::Haze { .. } => ("visibility_m", 1.0),
        Weather::Fog { .. } => ("fog_visibility_m", 1.0),
        Weather::Rain { .. } => ("rain_mm_h", MM_PER_HOUR),
        Weather::Snow { .. } => ("snow_mm_h", MM_PER_HOUR),
        Weather::Dust { .. } => ("dust_g_m3", 1.0),
        _ => return None,
    })
}

/// The weather of some air in `S`.
pub(super) fn lifted<S: Scalar>(air: &Air) -> Vec<Weather<S>> {
    let weather = air.atmosphere.weather.iter();
    weather
        .map(|one| one.with_amount(S::from(one.amount())))
        .collect()
}

/// Air of that weather as scanners of a wavelength (m) see it on average; none in a vacuum.
pub(super) fn mean<S: Scalar>(weather: &[Weather<S>], wavelength: f64) -> Option<MeanAir<S>> {
    let atmosphere = Atmosphere {
        weather: weather.to_vec(),
    };
    (!weather.is_empty()).then(|| MeanAir {
        coefficients: atmosphere.coefficients(wavelength),
    })
}
