//! Settings of the integration across edges.

/// Settings of the integration across edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdgeSettings {
    /// Number of sample points along the chord of an edge through a beam.
    pub points: u32,
    /// Maximum number of reflections of an edge in mirrors: 0 to 2.
    pub reflections: u32,
    /// Whether predictions are integrals over the cross-section instead of sums over rays. Derivatives
    /// are always those of the integral.
    pub integral: bool,
}

impl Default for EdgeSettings {
    fn default() -> Self {
        Self {
            points: 4,
            reflections: 1,
            integral: false,
        }
    }
}
