//! Tables of GNSS receivers.

use crate::toml_file::TomlProblem;
use etendue_physics::gnss::{AxisError, GnssFixKind, GnssReceiver};
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

/// A GNSS receiver: a preset, a file, or parameters.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GnssTable {
    /// Name of a receiver preset.
    #[schemars(with = "Option<String>")]
    pub preset: Option<Spanned<String>>,
    /// A device file, relative to the folder of this file.
    #[schemars(with = "Option<String>")]
    pub file: Option<Spanned<String>>,
    /// Whether the scene blocks satellites; in robot files only.
    pub sky: bool,
    /// Kind of the position solution.
    pub kind: Option<KindName>,
    /// Error of the east and north components.
    pub horizontal: Option<AxisErrorTable>,
    /// Error of the up component.
    pub vertical: Option<AxisErrorTable>,
    /// Standard deviation of each component of the velocity.
    #[schemars(range(min = 0.0))]
    pub velocity_mps: f64,
    /// Elevation mask. Default: 10 degrees.
    #[schemars(range(min = -90.0, max = 90.0))]
    pub mask_deg: Option<f64>,
}

/// Kind of the position solution.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KindName {
    /// Autonomous.
    Autonomous,
    /// Differential, with code corrections.
    Differential,
    /// Carrier phase with fixed ambiguities (RTK).
    RtkFixed,
}

/// Position error of one component under an open sky.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AxisErrorTable {
    /// Standard deviation of the uncorrelated error.
    #[schemars(range(min = 0.0))]
    pub white_m: f64,
    /// Standard deviation of the time-correlated error.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub correlated_m: f64,
    /// Correlation time of the time-correlated error.
    #[serde(default = "minute")]
    #[schemars(range(min = 1e-9))]
    pub correlation_s: f64,
}

fn minute() -> f64 {
    60.0
}

impl GnssTable {
    /// The receiver with the parameters of the table.
    pub(super) fn receiver(&self) -> Result<GnssReceiver, TomlProblem> {
        // Check the errors of an axis
        let axis = |given: Option<AxisErrorTable>, name: &str| {
            let table = given.ok_or_else(|| TomlProblem::MissingKey { key: name.into() })?;
            let good = table.white_m >= 0.0 && table.correlated_m >= 0.0;
            if !good || table.correlation_s <= 0.0 {
                return Err(TomlProblem::value(
                    format!(
                        "the {name} error has a negative spread, or a time that is not positive"
                    ),
                    "give spreads of zero or more and a correlation time above zero",
                ));
            }
            Ok(AxisError {
                white: table.white_m,
                correlated: table.correlated_m,
                time: table.correlation_s,
            })
        };
        // Convert the table
        Ok(GnssReceiver {
            horizontal: axis(self.horizontal, "horizontal")?,
            vertical: axis(self.vertical, "vertical")?,
            velocity: self.velocity_mps,
            mask: self.mask_deg.unwrap_or(10.0).to_radians(),
            kind: match self.kind.unwrap_or(KindName::Autonomous) {
                KindName::Autonomous => GnssFixKind::Autonomous,
                KindName::Differential => GnssFixKind::Differential,
                KindName::RtkFixed => GnssFixKind::RtkFixed,
            },
        })
    }

    /// Whether the table has parameters.
    pub(super) fn has_numbers(&self) -> bool {
        self.horizontal.is_some() || self.vertical.is_some() || self.kind.is_some()
    }
}
