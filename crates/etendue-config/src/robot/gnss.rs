//! Tables of satellite receivers.

use crate::toml_file::TomlProblem;
use etendue_physics::gnss::{AxisError, GnssFixKind, GnssReceiver};
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

/// A satellite receiver: a preset, a file, or its own numbers.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GnssTable {
    /// Name of a receiver that comes with the program.
    #[schemars(with = "Option<String>")]
    pub preset: Option<Spanned<String>>,
    /// A device file, from the folder of this file.
    #[schemars(with = "Option<String>")]
    pub file: Option<Spanned<String>>,
    /// Whether the scene blocks satellites. In a robot file only.
    pub sky: bool,
    /// How positions are solved.
    pub kind: Option<KindName>,
    /// Error to the east, and to the north.
    pub horizontal: Option<AxisErrorTable>,
    /// Error upwards.
    pub vertical: Option<AxisErrorTable>,
    /// Standard deviation of each component of the velocity.
    pub velocity_mps: f64,
    /// Satellites lower than this are not used: 10 degrees where it is left out.
    pub mask_deg: Option<f64>,
}

/// How positions are solved.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KindName {
    /// From the satellites alone.
    Autonomous,
    /// With code corrections.
    Differential,
    /// With carrier phases of whole cycles.
    RtkFixed,
}

/// Error of positions along one direction, under an open sky.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AxisErrorTable {
    /// Standard deviation of what is new in every fix.
    pub white_m: f64,
    /// Standard deviation of what wanders.
    #[serde(default)]
    pub correlated_m: f64,
    /// Correlation time of what wanders.
    #[serde(default = "minute")]
    pub correlation_s: f64,
}

fn minute() -> f64 {
    60.0
}

impl GnssTable {
    /// The receiver of the table's own numbers.
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

    /// Whether it has numbers of its own.
    pub(super) fn has_numbers(&self) -> bool {
        self.horizontal.is_some() || self.vertical.is_some() || self.kind.is_some()
    }
}
