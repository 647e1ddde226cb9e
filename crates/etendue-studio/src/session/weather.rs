//! Weather of the session, which replaces that of the scene as the options of `etendue simulate` do.

use crate::refusal::Refusal;
use etendue::physics::atmosphere::{MM_PER_HOUR, Weather};
use etendue::sensors::lidar::Air;
use serde::{Deserialize, Serialize};

/// Given amounts; an omitted one is that of the scene.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WeatherOptions {
    /// Visibility in clear or hazy air, m.
    pub visibility_m: Option<f64>,
    /// Visibility in fog, m.
    pub fog_m: Option<f64>,
    /// Rain, mm/h.
    pub rain_mm_h: Option<f64>,
    /// Snow, mm/h of melted water.
    pub snow_mm_h: Option<f64>,
    /// Dust, g/m³.
    pub dust_g_m3: Option<f64>,
}

impl WeatherOptions {
    /// Options of the command line with their values.
    pub fn arguments(&self) -> Vec<(&'static str, f64)> {
        let all = [
            ("--visibility", self.visibility_m),
            ("--fog", self.fog_m),
            ("--rain", self.rain_mm_h),
            ("--snow", self.snow_mm_h),
            ("--dust", self.dust_g_m3),
        ];
        let given = all.into_iter();
        given
            .filter_map(|(key, value)| Some((key, value?)))
            .collect()
    }

    /// Checks the domains of the amounts.
    ///
    /// # Errors
    /// If an amount is outside its domain.
    pub fn check(&self) -> Result<(), Refusal> {
        for (key, value) in self.arguments() {
            let is_visibility = matches!(key, "--visibility" | "--fog");
            let fits = value.is_finite() && value >= 0.0 && !(is_visibility && value == 0.0);
            if !fits {
                let remedy = "give 0 or more; a visibility is above 0";
                return Err(Refusal::new(format!("{key} {value} is impossible"), remedy));
            }
        }
        Ok(())
    }

    /// The air of a scene with this weather.
    pub fn air(&self, of_scene: &Air) -> Air {
        let fall = |rate: f64| rate * MM_PER_HOUR;
        let given = [
            self.visibility_m
                .map(|visibility| Weather::Haze { visibility }),
            self.fog_m.map(|visibility| Weather::Fog { visibility }),
            self.rain_mm_h
                .map(|rate| Weather::Rain { rate: fall(rate) }),
            self.snow_mm_h
                .map(|rate| Weather::Snow { rate: fall(rate) }),
            self.dust_g_m3
                .map(|concentration| Weather::Dust { concentration }),
        ];
        let given: Vec<Weather<f64>> = given.into_iter().flatten().collect();
        of_scene.replaced_by(&given, None)
    }
}
