//! Correlation of noise between neighbouring beams and between sweeps.

use crate::MovingAverage;

/// Correlation of the errors of neighbouring beams, and of one beam in successive sweeps.
///
/// The standard normal error of beam $i$ is $x_i = \sqrt{\rho}\\,f_i + \sqrt{1-\rho}\\,t_i$, with
/// fixed-pattern noise $f$, constant from sweep to sweep (samples shared by bins, dents of a panel),
/// temporal noise $t$, independent in each sweep, and the fixed-pattern share $\rho$ of the variance. Both
/// are [moving averages](MovingAverage) with the measured correlation of neighbours, at most 0.75.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Correlation {
    neighbour: f64,
    fixed_pattern_neighbour: f64,
    fixed_pattern: f64,
    fixed_pattern_drop: f64,
    temporal_weights: MovingAverage,
    fixed_pattern_weights: MovingAverage,
}

impl Correlation {
    /// Creates the correlation from that of neighbouring beams, which is the same for temporal and
    /// fixed-pattern noise, and the fixed-pattern shares of the variance of the range error and of the
    /// drop-out. Values are clamped: correlations to [0, 0.75], shares to [0, 1].
    pub fn new(neighbour: f64, fixed_pattern: f64, fixed_pattern_drop: f64) -> Self {
        let neighbour = neighbour.clamp(0.0, 0.75);
        Self {
            neighbour,
            fixed_pattern_neighbour: neighbour,
            fixed_pattern: fixed_pattern.clamp(0.0, 1.0),
            fixed_pattern_drop: fixed_pattern_drop.clamp(0.0, 1.0),
            temporal_weights: MovingAverage::of(neighbour),
            fixed_pattern_weights: MovingAverage::of(neighbour),
        }
    }

    /// The same with another correlation of neighbours for the fixed-pattern noise.
    #[must_use]
    pub fn with_fixed_pattern_neighbour(self, neighbour: f64) -> Self {
        let neighbour = neighbour.clamp(0.0, 0.75);
        Self {
            fixed_pattern_neighbour: neighbour,
            fixed_pattern_weights: MovingAverage::of(neighbour),
            ..self
        }
    }

    /// Correlation of the temporal noise of neighbouring beams, in [0, 0.75].
    pub fn neighbour(&self) -> f64 {
        self.neighbour
    }

    /// Correlation of the fixed-pattern noise of neighbouring beams, in [0, 0.75].
    pub fn fixed_pattern_neighbour(&self) -> f64 {
        self.fixed_pattern_neighbour
    }

    /// Fixed-pattern share of the variance of the range error, in [0, 1].
    pub fn fixed_pattern(&self) -> f64 {
        self.fixed_pattern
    }

    /// Fixed-pattern share of the variance of the standard normal number that determines drop-outs, in
    /// [0, 1].
    pub fn fixed_pattern_drop(&self) -> f64 {
        self.fixed_pattern_drop
    }

    pub(super) fn temporal_weights(&self) -> &MovingAverage {
        &self.temporal_weights
    }

    pub(super) fn fixed_pattern_weights(&self) -> &MovingAverage {
        &self.fixed_pattern_weights
    }
}
