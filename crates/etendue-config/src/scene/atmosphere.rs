//! The `[atmosphere]` table of scene files.

use crate::toml_file::{Document, DocumentError, TomlProblem};
use etendue_physics::atmosphere::{MM_PER_HOUR, Weather};
use etendue_sensors::lidar::Air;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

/// Constituents of the air; omitted ones are absent. Extinctions and backscatters add up.
#[derive(Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AtmosphereTable {
    /// Visibility in clear or hazy air (2 % contrast at 550 nm).
    #[serde(default)]
    #[schemars(with = "Option<f64>")]
    pub visibility_m: Option<Spanned<f64>>,
    /// Visibility in fog.
    #[serde(default)]
    #[schemars(with = "Option<f64>")]
    pub fog_visibility_m: Option<Spanned<f64>>,
    /// Rain rate; 0 for none.
    #[serde(default)]
    #[schemars(with = "Option<f64>")]
    pub rain_mm_h: Option<Spanned<f64>>,
    /// Snow rate as liquid water; 0 for none.
    #[serde(default)]
    #[schemars(with = "Option<f64>")]
    pub snow_mm_h: Option<Spanned<f64>>,
    /// Concentration of dust; 0 for none.
    #[serde(default)]
    #[schemars(with = "Option<f64>")]
    pub dust_g_m3: Option<Spanned<f64>>,
    /// Minimum diameter (liquid) of drops and flakes that are sampled individually with the seed of
    /// the run. Smaller particles contribute their mean backscatter. Default: 0.5; 10 disables
    /// sampling.
    #[serde(default)]
    #[schemars(with = "Option<f64>")]
    pub drops_from_mm: Option<Spanned<f64>>,
}

/// Weather as a function of one parameter.
type WeatherOf = fn(f64) -> Weather<f64>;

impl AtmosphereTable {
    /// Converts the table to air.
    pub(super) fn air(&self, document: &Document) -> Result<Air, DocumentError> {
        let mut weather = Vec::new();

        // Add haze and fog by their visibility
        let visibilities: [(_, WeatherOf); 2] = [
            (&self.visibility_m, |visibility| Weather::Haze {
                visibility,
            }),
            (&self.fog_visibility_m, |visibility| Weather::Fog {
                visibility,
            }),
        ];
        for (given, kind) in visibilities {
            weather.extend(positive(document, given.as_ref())?.map(kind));
        }

        // Add particles by their amount; zero means none
        let amounts: [(_, WeatherOf); 3] = [
            (&self.rain_mm_h, |rate| Weather::Rain {
                rate: rate * MM_PER_HOUR,
            }),
            (&self.snow_mm_h, |rate| Weather::Snow {
                rate: rate * MM_PER_HOUR,
            }),
            (&self.dust_g_m3, |concentration| Weather::Dust {
                concentration,
            }),
        ];
        for (given, kind) in amounts {
            let amount = zero_or_more(document, given.as_ref())?;
            weather.extend(amount.filter(|amount| *amount > 0.0).map(kind));
        }

        // Set the minimum diameter of sampled drops
        let mut air = Air::of(weather);
        if let Some(mm) = positive(document, self.drops_from_mm.as_ref())? {
            air.drops_from = Some(mm * 1e-3);
        }
        Ok(air)
    }
}

fn positive(
    document: &Document,
    given: Option<&Spanned<f64>>,
) -> Result<Option<f64>, DocumentError> {
    let remedy = "write a number above zero, or remove the key";
    checked(
        document,
        given,
        |number| number > 0.0,
        ("above zero", remedy),
    )
}

fn zero_or_more(
    document: &Document,
    given: Option<&Spanned<f64>>,
) -> Result<Option<f64>, DocumentError> {
    let remedy = "write 0 for none, or a positive number";
    checked(
        document,
        given,
        |number| number >= 0.0,
        ("zero or more", remedy),
    )
}

fn checked(
    document: &Document,
    given: Option<&Spanned<f64>>,
    can_be: fn(f64) -> bool,
    (domain, remedy): (&str, &str),
) -> Result<Option<f64>, DocumentError> {
    match given.map(|given| (*given.get_ref(), given.span())) {
        Some((number, span)) if !(can_be(number) && number.is_finite()) => {
            let message = format!("{number} is not {domain}");
            Err(document.error(span, TomlProblem::value(message, remedy)))
        }
        given => Ok(given.map(|given| given.0)),
    }
}
