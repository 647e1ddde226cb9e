//! Distribution of the return of a beam.

/// Distribution of the return of a beam on the material of a profile, from which
/// [`Profile::draw`](super::Profile::draw) draws.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReturnDistribution {
    /// Mean of measured minus true range of beams that return, m.
    pub bias: f64,
    /// Standard deviation of the range of beams that return, before rounding, m.
    pub spread: f64,
    /// Fraction of the variance of the range that is constant from sweep to sweep, in [0, 1].
    pub fixed_pattern: f64,
    /// Probability of a drop-out.
    pub drop_out: f64,
    /// Mean intensity of a return; of a two-valued channel, the probability of the higher value.
    pub intensity: f64,
    /// Standard deviation of the intensity.
    pub intensity_spread: f64,
    /// Whether the values are extrapolated.
    pub extrapolated: bool,
}
