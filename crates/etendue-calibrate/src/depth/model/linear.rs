//! Linear model of the depth bias.

/// Linear bias in depth and incidence, $\epsilon = a\\,d + b\\,\gamma + c$.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinearBias {
    /// $a$, relative to the depth.
    pub depth: f64,
    /// $b$, m/rad.
    pub incidence: f64,
    /// $c$, m.
    pub constant: f64,
}

impl LinearBias {
    pub(super) fn bias(&self, depth: f64, incidence: f64) -> f64 {
        self.depth * depth + self.incidence * incidence + self.constant
    }

    pub(super) fn distort(&self, depth: f64, incidence: f64) -> f64 {
        (depth + self.incidence * incidence + self.constant) / (1.0 - self.depth)
    }
}
