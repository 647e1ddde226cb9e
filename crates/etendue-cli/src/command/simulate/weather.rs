//! Weather of a run.

use crate::failure::Failure;
use crate::number::{positive, zero_or_more};
use clap::Args;
use etendue::physics::atmosphere::{MM_PER_HOUR, Weather};
use etendue::sensors::lidar::Air;

/// Weather arguments; each replaces the weather of the same kind in the scene.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Weather (added to the scene; replaces the same kind)")]
pub struct AirOptions {
    /// Visibility in clear or hazy air, m
    #[arg(long, value_name = "M", value_parser = positive, allow_negative_numbers = true)]
    visibility: Option<f64>,
    /// Visibility in fog, m
    #[arg(long, value_name = "M", value_parser = positive, allow_negative_numbers = true)]
    fog: Option<f64>,
    /// Rain, mm/h; 0 for none
    #[arg(long, value_name = "MM/H", value_parser = zero_or_more, allow_negative_numbers = true)]
    rain: Option<f64>,
    /// Snow, mm/h of melted water; 0 for none
    #[arg(long, value_name = "MM/H", value_parser = zero_or_more, allow_negative_numbers = true)]
    snow: Option<f64>,
    /// Dust, g/m³; 0 for none
    #[arg(long, value_name = "G/M3", value_parser = zero_or_more, allow_negative_numbers = true)]
    dust: Option<f64>,
    /// Sample drops and flakes of at least this diameter (mm) individually, by the seed; smaller
    /// ones contribute their mean [default: 0.5; 10 samples none]
    #[arg(long, value_name = "MM", value_parser = positive, allow_negative_numbers = true)]
    drops_from: Option<f64>,
}

impl AirOptions {
    /// Given options with their values.
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

    /// Given kinds of weather; the amount may be zero.
    fn weather(&self) -> Vec<Weather<f64>> {
        let fall = |rate: f64| rate * MM_PER_HOUR;
        let given = [
            self.visibility
                .map(|visibility| Weather::Haze { visibility }),
            self.fog.map(|visibility| Weather::Fog { visibility }),
            self.rain.map(|rate| Weather::Rain { rate: fall(rate) }),
            self.snow.map(|rate| Weather::Snow { rate: fall(rate) }),
            self.dust
                .map(|concentration| Weather::Dust { concentration }),
        ];
        given.into_iter().flatten().collect()
    }

    /// Given weather, else that of the scene.
    pub fn air(&self, of_scene: &Air) -> Result<Air, Failure> {
        let drops_from = self.drops_from.map(|mm| mm * 1e-3);
        let air = of_scene.replaced_by(&self.weather(), drops_from);
        if drops_from.is_some() && air.drops_from.is_none() {
            return Err(Failure::argument(
                "--drops-from selects the drops that are sampled, but there are none",
                "give --rain or --snow above 0, or omit --drops-from",
            ));
        }
        Ok(air)
    }
}
