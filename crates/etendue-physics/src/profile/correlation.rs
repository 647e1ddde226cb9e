//! Correlation of noise between neighbouring beams and between sweeps.

/// Correlation of the errors of neighbouring beams, and of one beam in successive sweeps.
///
/// The standard normal error of beam $i$ is $x_i = \sqrt{\rho}\\,f_i + \sqrt{1-\rho}\\,t_i$, with
/// fixed-pattern noise $f$, constant from sweep to sweep (samples shared by bins, dents of a panel),
/// temporal noise $t$, independent in each sweep, and the fixed-pattern share $\rho$ of the variance. Both
/// are moving averages $\sum_k w_k z_{i-k}$ of independent standard normal numbers $z$ over the beam and up
/// to three predecessors, with $w_k\propto\varphi^k$ and $\sum_k w_k^2 = 1$. The ratio $\varphi$ is chosen
/// such that neighbours have the measured correlation $\sum_k w_k w_{k+1}$, at most 0.75.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Correlation {
    neighbour: f64,
    fixed_pattern_neighbour: f64,
    fixed_pattern: f64,
    fixed_pattern_drop: f64,
    temporal_weights: Weights,
    fixed_pattern_weights: Weights,
}

/// Maximum number of beams in a moving average, the beam itself included.
pub(super) const REACH: usize = 4;

/// Weights of a moving average; their squares sum to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Weights {
    values: [f64; REACH],
    used: usize,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            values: [1.0, 0.0, 0.0, 0.0],
            used: 1,
        }
    }
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
            temporal_weights: Weights::of(neighbour),
            fixed_pattern_weights: Weights::of(neighbour),
        }
    }

    /// The same with another correlation of neighbours for the fixed-pattern noise.
    #[must_use]
    pub fn with_fixed_pattern_neighbour(self, neighbour: f64) -> Self {
        let neighbour = neighbour.clamp(0.0, 0.75);
        Self {
            fixed_pattern_neighbour: neighbour,
            fixed_pattern_weights: Weights::of(neighbour),
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

    pub(super) fn temporal_weights(&self) -> &Weights {
        &self.temporal_weights
    }

    pub(super) fn fixed_pattern_weights(&self) -> &Weights {
        &self.fixed_pattern_weights
    }
}

impl Weights {
    /// The non-zero weights of the beam, of its predecessor, and so on.
    pub fn used(&self) -> &[f64] {
        &self.values[..self.used]
    }

    /// Weights for a correlation of neighbours, by bisection of $\varphi$.
    fn of(neighbour: f64) -> Self {
        if neighbour < 0.02 {
            return Self::default();
        }
        // The correlation of n equal weights is (n - 1) / n: use the least n that reaches the correlation.
        let used = (2..REACH)
            .find(|used| neighbour <= (used - 1) as f64 / *used as f64)
            .unwrap_or(REACH);
        let mut low = 0.0;
        let mut high = 1.0;
        for _ in 0..50 {
            let middle = 0.5 * (low + high);
            let values = Self::geometric(middle, used);
            let found: f64 = values.windows(2).map(|two| two[0] * two[1]).sum();
            if found < neighbour {
                low = middle;
            } else {
                high = middle;
            }
        }
        Self {
            values: Self::geometric(high, used),
            used,
        }
    }

    /// Normalised weights $\varphi^k$, $k$ below `used`.
    fn geometric(ratio: f64, used: usize) -> [f64; REACH] {
        let mut powers = [1.0, ratio, ratio.powi(2), ratio.powi(3)];
        powers[used..].fill(0.0);
        let norm = powers.iter().map(|w| w * w).sum::<f64>().sqrt();
        powers.map(|w| w / norm)
    }
}
