//! Inverse-cosine model of the depth bias.

/// Inverse-cosine bias, $\epsilon = w\\,(1/\cos\gamma - 1)$, optionally times $d$: proportional to
/// the elongation of the footprint on an inclined surface, zero at normal incidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InverseCosineBias {
    /// $w$, m; dimensionless if scaled.
    pub weight: f64,
    /// Whether the bias is multiplied by the depth.
    pub scaled: bool,
}

impl InverseCosineBias {
    pub(super) fn bias(&self, depth: f64, incidence: f64) -> f64 {
        self.weight * self.term(depth, incidence)
    }

    pub(super) fn term(&self, depth: f64, incidence: f64) -> f64 {
        let slant = 1.0 / incidence.cos() - 1.0;
        if self.scaled { depth * slant } else { slant }
    }

    pub(super) fn distort(&self, depth: f64, incidence: f64) -> f64 {
        let unit = self.weight * (1.0 / incidence.cos() - 1.0);
        if self.scaled {
            depth / (1.0 - unit)
        } else {
            depth + unit
        }
    }
}
