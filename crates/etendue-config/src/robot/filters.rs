//! Filters as they are typed.

use crate::toml_file::{Problem, UnknownName};
use etendue_sensors::filter::{Filter, LidarNoise, UserFilter};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A filter: `"to_cloud"`, `{ voxels = { size_m = 0.1 } }` and so on.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FilterTable {
    /// A first-order low-pass filter on each component.
    LowPass {
        /// Frequency at which half of the power is left.
        cutoff_hz: f64,
    },
    /// More noise on a lidar's measurements, as standard deviations.
    LidarNoise {
        /// Of ranges.
        #[serde(default)]
        range_mm: f64,
        /// Of azimuth and elevation.
        #[serde(default)]
        angle_mrad: f64,
        /// Of intensities.
        #[serde(default)]
        intensity_percent: f64,
    },
    /// Takes away each of a lidar's measurements with a probability.
    DropOut {
        /// From 0 to 1.
        probability: f64,
    },
    /// Points without the beams that they came from.
    ToCloud,
    /// Moves each point to where the sensor would see it from its pose at an instant of the
    /// capture, by the true motion.
    Compensate {
        /// From 0 (the capture's start) to 1 (its end).
        at: f64,
    },
    /// Keeps points by their distance.
    Distance {
        /// Smallest.
        #[serde(default)]
        min_m: f64,
        /// Largest.
        max_m: f64,
    },
    /// The mean of the points in each cube of a grid.
    Voxels {
        /// Edge of the cubes.
        size_m: f64,
    },
    /// The height that a pressure means in the standard atmosphere.
    ToHeight,
    /// Gives the data away under a name as they are here, and passes them on.
    Tap {
        /// The name.
        name: String,
    },
    /// A filter of the program that reads this file.
    User(UserFilterTable),
}

/// A filter of the program that reads the file.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UserFilterTable {
    /// Its name in the program's [`Registry`].
    pub name: String,
    /// Its numbers.
    #[serde(default)]
    pub parameters: BTreeMap<String, f64>,
}

/// Constructs a user's filter from its parameters, or returns what is wrong with them.
pub type UserFilterMaker = fn(&BTreeMap<String, f64>) -> Result<Arc<dyn UserFilter>, String>;

/// Users' own filters, by name.
pub type Registry = BTreeMap<String, UserFilterMaker>;

impl FilterTable {
    pub(super) fn filter(&self, registry: &Registry) -> Result<Filter, Problem> {
        Ok(match self.clone() {
            Self::LowPass { cutoff_hz } => Filter::LowPass { cutoff: cutoff_hz },
            Self::LidarNoise {
                range_mm,
                angle_mrad,
                intensity_percent,
            } => Filter::LidarNoise(LidarNoise {
                range: range_mm * 1e-3,
                angle: angle_mrad * 1e-3,
                intensity: intensity_percent * 0.01,
            }),
            Self::DropOut { probability } => Filter::DropOut { probability },
            Self::ToCloud => Filter::ToCloud,
            Self::Compensate { at } => Filter::Compensate { at },
            Self::Distance { min_m, max_m } => Filter::Distance {
                limits: [min_m, max_m],
            },
            Self::Voxels { size_m } => Filter::Voxels { size: size_m },
            Self::ToHeight => Filter::ToHeight,
            Self::Tap { name } => Filter::Tap { name },
            Self::User(UserFilterTable { name, parameters }) => {
                let maker = registry
                    .get(&name)
                    .ok_or_else(|| UnknownName::new("user filter", &name, registry.keys()))?;
                let made = maker(&parameters).map_err(|message| {
                    Problem::value(message, format!("correct the parameters of \"{name}\""))
                })?;
                Filter::User(made)
            }
        })
    }
}
