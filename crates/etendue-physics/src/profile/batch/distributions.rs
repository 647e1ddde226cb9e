//! Distributions of the returns of a batch of beams.

/// Distributions of the returns of a batch of N beams: [`ReturnDistribution`](crate::profile::ReturnDistribution) as arrays.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(in crate::profile) struct ReturnDistributions<const N: usize> {
    /// Mean range error, m.
    pub bias: [f64; N],
    /// Standard deviation of the range, m.
    pub spread: [f64; N],
    /// Fixed-pattern share of the variance of the range.
    pub fixed_pattern: [f64; N],
    /// Whether the fixed-pattern share is the same for all beams.
    pub is_uniform: bool,
    /// Logit of the drop-out probability.
    pub logit: [f64; N],
    /// Mean intensity.
    pub intensity: [f64; N],
    /// Standard deviation of the intensity.
    pub intensity_spread: [f64; N],
}

impl<const N: usize> ReturnDistributions<N> {
    /// Zeros, with a fixed-pattern share.
    pub fn new(fixed_pattern: f64) -> Self {
        Self {
            bias: [0.0; N],
            spread: [0.0; N],
            fixed_pattern: [fixed_pattern; N],
            is_uniform: true,
            logit: [0.0; N],
            intensity: [0.0; N],
            intensity_spread: [0.0; N],
        }
    }
}
