//! Albedo and emissivity of materials, tabulated over the incidence.

use etendue_physics::surface::{Material, Side};

/// Knots of the tables over the cosine of incidence.
const KNOTS: usize = 32;

/// Albedo and emissivity of a material over the cosine of incidence, for each side.
#[derive(Debug)]
pub(super) struct SurfaceTable {
    front: [SurfaceFractions; KNOTS],
    back: [SurfaceFractions; KNOTS],
}

/// Fractions of light at one incidence, in [0, 1].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SurfaceFractions {
    /// Albedo of the diffuse and rough lobes.
    pub scattered: f64,
    /// Emissivity.
    pub emitted: f64,
}

impl SurfaceTable {
    /// Tabulates a material.
    pub fn new(material: &Material<f64>) -> Self {
        let side = |side| {
            std::array::from_fn(|i| {
                let cos = (i as f64 / (KNOTS - 1) as f64).max(1e-3);
                SurfaceFractions {
                    scattered: material.scattered_albedo(cos, side),
                    emitted: material.emissivity(cos, side),
                }
            })
        };
        Self {
            front: side(Side::Front),
            back: side(Side::Back),
        }
    }

    /// Fractions on a side at equally spaced cosines of the incidence from 0 to 1, between which they are linear.
    pub fn knots(&self, side: Side) -> &[SurfaceFractions] {
        match side {
            Side::Front => &self.front,
            Side::Back => &self.back,
        }
    }

    /// Fractions at an incidence, interpolated.
    pub fn at(&self, cos: f64, side: Side) -> SurfaceFractions {
        let table = self.knots(side);
        // Interpolate between knots.
        let place = cos.clamp(0.0, 1.0) * (KNOTS - 1) as f64;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from 0 to KNOTS - 1"
        )]
        let below = (place as usize).min(KNOTS - 2);
        let part = place - below as f64;
        let mix = |a: f64, b: f64| a + (b - a) * part;
        let a = table[below];
        let b = table[below + 1];
        SurfaceFractions {
            scattered: mix(a.scattered, b.scattered),
            emitted: mix(a.emitted, b.emitted),
        }
    }
}
