//! Moving averages of independent standard normal numbers: noise that is correlated between neighbours.

/// Maximum number of beams in a moving average, the beam itself included.
pub(crate) const REACH: usize = 4;

/// Greatest correlation of neighbours: that of equal weights.
const MOST: f64 = 0.75;

/// Correlation below which neighbours count as independent.
const LEAST: f64 = 0.02;

/// Weights of a moving average over a beam and up to three predecessors.
///
/// The number $x_i = \sum_k w_k z_{i-k}$ of beam $i$ is standard normal for independent standard normal
/// numbers $z$, because $\sum_k w_k^2 = 1$. The weights are $w_k\propto\varphi^k$; the ratio $\varphi$ is
/// chosen such that neighbours have the correlation $\rho = \sum_k w_k w_{k+1}$, at most 0.75. Beams $l$
/// apart have the correlation $\rho_l = \sum_k w_k w_{k+l}$, zero from $l = 4$ on.
///
/// ```
/// use etendue_physics::MovingAverage;
/// let average = MovingAverage::of(0.6);
/// assert!((average.correlation(1) - 0.6).abs() < 1e-9);
/// assert!(average.correlation(2) < 0.6 && average.correlation(4) == 0.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MovingAverage {
    values: [f64; REACH],
    used: usize,
}

impl Default for MovingAverage {
    /// Independent beams.
    fn default() -> Self {
        Self {
            values: [1.0, 0.0, 0.0, 0.0],
            used: 1,
        }
    }
}

impl MovingAverage {
    /// The weights for a correlation of neighbours, clamped to [0, 0.75]; below 0.02, neighbours are
    /// independent. By bisection of $\varphi$.
    pub fn of(neighbour: f64) -> Self {
        if neighbour < LEAST {
            return Self::default();
        }
        let neighbour = neighbour.min(MOST);
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

    /// The non-zero weights of the beam, of its predecessor, and so on.
    pub fn weights(&self) -> &[f64] {
        &self.values[..self.used]
    }

    /// Correlation of the numbers of beams that are `apart` beams from each other.
    pub fn correlation(&self, apart: usize) -> f64 {
        let own = self.weights();
        own.iter()
            .zip(own.get(apart..).unwrap_or_default())
            .map(|(a, b)| a * b)
            .sum()
    }

    /// Normalised weights $\varphi^k$, $k$ below `used`.
    fn geometric(ratio: f64, used: usize) -> [f64; REACH] {
        let mut powers = [1.0, ratio, ratio.powi(2), ratio.powi(3)];
        powers[used..].fill(0.0);
        let norm = powers.iter().map(|w| w * w).sum::<f64>().sqrt();
        powers.map(|w| w / norm)
    }
}
