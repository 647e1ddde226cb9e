//! The air of a scene, as people type it.

use crate::toml_file::{Document, DocumentError, TomlProblem};
use etendue_physics::atmosphere::{MM_PER_HOUR, Weather};
use etendue_sensors::lidar::Air;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

/// What is in the air; what is left out is not there. Extinctions and backscatters add up.
#[derive(Debug, Default, Deserialize, JsonSchema)]
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
    /// Rate of rain; 0 for none.
    #[serde(default)]
    #[schemars(with = "Option<f64>")]
    pub rain_mm_h: Option<Spanned<f64>>,
    /// Rate of snow, of melted water; 0 for none.
    #[serde(default)]
    #[schemars(with = "Option<f64>")]
    pub snow_mm_h: Option<Spanned<f64>>,
    /// Mass of dust in a volume of air; 0 for none.
    #[serde(default)]
    #[schemars(with = "Option<f64>")]
    pub dust_g_m3: Option<Spanned<f64>>,
    /// Drops and flakes of at least this diameter (molten) are drawn one by one, by
    /// the seed of the run, where they can be seen; smaller ones return their mean. Left out: 0.5;
    /// 10 draws none.
    #[serde(default)]
    #[schemars(with = "Option<f64>")]
    pub drops_from_mm: Option<Spanned<f64>>,
}

/// The weather of one parameter.
type WeatherOf = fn(f64) -> Weather<f64>;

impl AtmosphereTable {
    /// The air.
    pub(super) fn air(&self, document: &Document) -> Result<Air, DocumentError> {
        let mut weather = Vec::new();

        // Haze and fog, by their visibility
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

        // Particles, by their amount; there are none where it is zero
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

        // The smallest drops that are drawn one by one
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
    let remedy = "write a number above zero, or leave the key out";
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
    let remedy = "write 0 for none, or a number above it";
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
