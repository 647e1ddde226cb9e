//! The beams of a scanner.

use etendue_physics::beam::{BeamShape, BeamWidth, Divergence, DivergenceAt};
use schemars::JsonSchema;
use serde::Deserialize;

/// The beams of a scanner.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BeamTable {
    /// How the power is spread.
    #[serde(default)]
    pub shape: ShapeName,
    /// Full angles across and upright, mrad.
    pub divergence_mrad: [f64; 2],
    /// Full widths at the exit across and upright, mm.
    #[serde(default)]
    pub exit_mm: [f64; 2],
    /// Where on the profile widths are measured.
    pub measured_at: MeasuredAt,
    /// Hexagons of rays around the axis: 0, 1, 2... for 1, 7, 19... rays a beam.
    #[serde(default)]
    pub sub_ray_rings: u32,
}

/// How a beam's power is spread.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ShapeName {
    /// Gaussian.
    #[default]
    Gaussian,
    /// Uniform.
    TopHat,
}

/// Where on a profile a width is measured.
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
    pub(super) fn width(&self) -> BeamWidth {
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
