//! The air of a run.

use crate::number::positive;
use clap::Args;
use etendue::physics::atmosphere::Weather;
use etendue::sensors::pulsed::Air;
use std::mem::discriminant;

/// A millimetre an hour, m/s.
const MM_PER_HOUR: f64 = 1e-3 / 3600.0;

/// Options that say what is in the air; each replaces that kind of the scene file's.
#[derive(Clone, Debug, Args)]
#[command(
    next_help_heading = "Air (scanning lidars; beside the scene's, or instead of it where it has that kind)"
)]
pub struct AirOptions {
    /// Visibility in clear or hazy air, m
    #[arg(long, value_name = "M", value_parser = positive, allow_negative_numbers = true)]
    visibility: Option<f64>,
    /// Visibility in fog, m
    #[arg(long, value_name = "M", value_parser = positive, allow_negative_numbers = true)]
    fog: Option<f64>,
    /// Rain, mm/h
    #[arg(long, value_name = "MM/H", value_parser = positive, allow_negative_numbers = true)]
    rain: Option<f64>,
    /// Snow, mm/h of melted water
    #[arg(long, value_name = "MM/H", value_parser = positive, allow_negative_numbers = true)]
    snow: Option<f64>,
    /// Dust, g/m³
    #[arg(long, value_name = "G/M3", value_parser = positive, allow_negative_numbers = true)]
    dust: Option<f64>,
    /// Draw drops and flakes of at least this diameter (mm) one by one, by the seed; smaller ones
    /// return their mean [default: 0.5; 10 draws none]
    #[arg(long, value_name = "MM", value_parser = positive, allow_negative_numbers = true)]
    drops_from: Option<f64>,
}

impl AirOptions {
    /// The options given, with their values.
    pub fn given(&self) -> Vec<(&'static str, f64)> {
        let all = [
            ("--visibility", self.visibility),
            ("--fog", self.fog),
            ("--rain", self.rain),
            ("--snow", self.snow),
            ("--dust", self.dust),
            ("--drops-from", self.drops_from),
        ];
        let given = all
            .into_iter()
            .filter_map(|(key, value)| Some((key, value?)));
        given.collect()
    }

    /// The air asked for, else that of the scene.
    pub fn air(&self, of_scene: &Air) -> Air {
        let weather = [
            self.visibility
                .map(|visibility| Weather::Haze { visibility }),
            self.fog.map(|visibility| Weather::Fog { visibility }),
            self.rain.map(|rate| Weather::Rain {
                rate: rate * MM_PER_HOUR,
            }),
            self.snow.map(|rate| Weather::Snow {
                rate: rate * MM_PER_HOUR,
            }),
            self.dust
                .map(|concentration| Weather::Dust { concentration }),
        ];
        let given: Vec<_> = weather.into_iter().flatten().collect();
        let mut weather = of_scene.atmosphere.weather.clone();
        weather.retain(|own| {
            !given
                .iter()
                .any(|one| discriminant(one) == discriminant(own))
        });
        weather.extend(given);
        let mut air = Air::of(weather);
        let given = self.drops_from.map(|mm| mm * 1e-3).or(of_scene.drops_from);
        if air.drops_from.is_some() {
            air.drops_from = given.or(air.drops_from);
        }
        air
    }
}
