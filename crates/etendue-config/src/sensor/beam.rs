//! The beam of a lidar.

use crate::toml_file::TomlProblem;
use etendue_physics::beam::{BeamShape, BeamWidth, Divergence, DivergenceAt, SubRayPattern};
use etendue_sensors::lidar::Beam;
use schemars::JsonSchema;
use serde::Deserialize;

/// Beam. Give either `elliptical` or `cone`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BeamTable {
    /// Elliptical beam with the widths of a data sheet.
    pub elliptical: Option<EllipticalTable>,
    /// Circular cone with its apex at the exit.
    pub cone: Option<ConeTable>,
    /// Standard deviation of each beam's azimuth, mrad.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub azimuth_jitter_mrad: f64,
}

/// Elliptical beam.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EllipticalTable {
    /// Profile of the power.
    #[serde(default)]
    pub shape: ShapeName,
    /// Full angles of divergence, horizontal and vertical, mrad.
    #[schemars(inner(range(min = 0.0)))]
    pub divergence_mrad: [f64; 2],
    /// Full widths at the exit, horizontal and vertical, mm.
    #[serde(default)]
    #[schemars(inner(range(min = 0.0)))]
    pub exit_mm: [f64; 2],
    /// Level of the profile at which widths are measured.
    pub measured_at: MeasuredAt,
    /// Rings of 6, 12, 18... rays around the axis: 0, 1, 2... for 1, 7, 19... rays per beam.
    #[serde(default)]
    #[schemars(range(max = 100))]
    pub sub_ray_rings: u32,
}

/// Circular cone.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConeTable {
    /// Full angle of the cone, mrad (diameter over distance).
    #[schemars(range(min = 0.0))]
    pub divergence_mrad: f64,
    /// Rays that sample the beam.
    #[serde(default)]
    pub rays: RaysTable,
}

/// Rays that sample the cross-section of a cone.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum RaysTable {
    /// One ray, on the axis.
    Centre,
    /// Three rays 120 degrees apart.
    Three {
        /// Distance from the axis in beam radii. Default: 1/√2, the root mean square of the disc.
        radius: Option<f64>,
    },
    /// Rings of 6, 12, 18... rays around the axis, with equal areas.
    Rings {
        /// Number of rings.
        #[schemars(range(max = 100))]
        count: u32,
    },
    /// The same rings with the weights of a Gaussian beam.
    Gaussian {
        /// Number of rings.
        #[schemars(range(max = 100))]
        count: u32,
    },
}

impl Default for RaysTable {
    fn default() -> Self {
        Self::Three { radius: None }
    }
}

/// Profile of a beam's power.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ShapeName {
    /// Gaussian.
    #[default]
    Gaussian,
    /// Uniform.
    TopHat,
}

/// Level of a profile at which a width is measured.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MeasuredAt {
    /// At half of the peak.
    HalfMaximum,
    /// At 1/e² of the peak.
    InverseESquared,
    /// At the edge of a uniform beam.
    Edge,
}

impl BeamTable {
    /// The beam of the table.
    pub(super) fn beam(&self) -> Result<Beam, TomlProblem> {
        let beam = match (&self.elliptical, &self.cone) {
            (Some(table), None) => Beam::elliptic(table.width(), table.sub_ray_rings),
            (None, Some(table)) => {
                Beam::cone(table.divergence_mrad * 1e-3 / 2.0, table.rays.into())
            }
            _ => {
                return Err(TomlProblem::value(
                    "the beam must be either elliptical or a cone",
                    "give one of the tables [beam.elliptical] and [beam.cone]",
                ));
            }
        };
        Ok(Beam {
            azimuth_jitter: self.azimuth_jitter_mrad * 1e-3,
            ..beam
        })
    }
}

impl EllipticalTable {
    fn width(&self) -> BeamWidth {
        let at = match self.measured_at {
            MeasuredAt::HalfMaximum => DivergenceAt::HalfMaximum,
            MeasuredAt::InverseESquared => DivergenceAt::InverseESquared,
            MeasuredAt::Edge => DivergenceAt::Edge,
        };
        let widths = |[horizontal, vertical]: [f64; 2]| Divergence {
            horizontal: horizontal * 1e-3,
            vertical: vertical * 1e-3,
            at,
        };
        BeamWidth {
            shape: match self.shape {
                ShapeName::Gaussian => BeamShape::Gaussian,
                ShapeName::TopHat => BeamShape::TopHat,
            },
            divergence: widths(self.divergence_mrad),
            exit: widths(self.exit_mm),
        }
    }
}

impl From<RaysTable> for SubRayPattern {
    fn from(table: RaysTable) -> Self {
        match table {
            RaysTable::Centre => Self::Centre,
            RaysTable::Three { radius: None } => Self::THREE,
            RaysTable::Three {
                radius: Some(radius),
            } => Self::Three { radius },
            RaysTable::Rings { count } => Self::Rings { rings: count },
            RaysTable::Gaussian { count } => Self::Gaussian { rings: count },
        }
    }
}
