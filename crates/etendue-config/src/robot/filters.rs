//! Filters of robot files.

use crate::toml_file::{TomlProblem, UnknownName};
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
        /// Cut-off frequency (half power).
        cutoff_hz: f64,
    },
    /// Additional noise on lidar measurements, as standard deviations.
    LidarNoise {
        /// Standard deviation of ranges.
        #[serde(default)]
        range_mm: f64,
        /// Standard deviation of azimuth and elevation.
        #[serde(default)]
        angle_mrad: f64,
        /// Standard deviation of intensities.
        #[serde(default)]
        intensity_percent: f64,
    },
    /// Removes each lidar measurement with a probability.
    DropOut {
        /// Probability, from 0 to 1.
        probability: f64,
    },
    /// Converts lidar measurements to points without beams.
    ToCloud,
    /// Compensates the motion: transforms each point to the sensor pose at one instant of the
    /// capture, with the true motion.
    Compensate {
        /// Instant, from 0 (start of the capture) to 1 (end).
        at: f64,
    },
    /// Selects points by distance.
    Distance {
        /// Minimum distance.
        #[serde(default)]
        min_m: f64,
        /// Maximum distance.
        max_m: f64,
    },
    /// Mean of the points in each voxel of a grid.
    Voxels {
        /// Edge length of a voxel.
        size_m: f64,
    },
    /// Height of a pressure in the standard atmosphere.
    ToHeight,
    /// Publishes the intermediate data under a name, and passes them on.
    Tap {
        /// Name of the output.
        name: String,
    },
    /// A filter of the program that reads this file.
    User(UserFilterTable),
}

/// A filter of the program that reads the file.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UserFilterTable {
    /// Name of the filter in the program's [`Registry`].
    pub name: String,
    /// Parameters.
    #[serde(default)]
    pub parameters: BTreeMap<String, f64>,
}

/// Constructs a user filter from its parameters, or returns a description of the error.
pub type UserFilterMaker = fn(&BTreeMap<String, f64>) -> Result<Arc<dyn UserFilter>, String>;

/// User filters by name.
pub type Registry = BTreeMap<String, UserFilterMaker>;

impl FilterTable {
    pub(super) fn filter(&self, registry: &Registry) -> Result<Filter, TomlProblem> {
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
                    TomlProblem::value(message, format!("correct the parameters of \"{name}\""))
                })?;
                Filter::User(made)
            }
        })
    }
}
