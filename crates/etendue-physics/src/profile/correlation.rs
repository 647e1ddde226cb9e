//! How alike the errors of beams are.

/// Neighbouring beams, and one beam in successive scans, do not err independently: two bins may
/// share one sample, and a panel has dents.
///
/// A beam's normalised error is $x = \sqrt{\rho}\\,f + \sqrt{1-\rho}\\,t$: $f$ stands still from
/// scan to scan, $t$ is drawn anew. Both are moving averages over the beam and as few of its
/// predecessors as it takes, three at most, $\sum_k w_k z_{i-k}$ with $w_k\propto\varphi^k$, so that
/// the correlation of neighbours is the recorded one, up to 0.75: that of $f$, a shape of the panel or
/// the device, may differ from that of $t$.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Correlation {
    neighbour: f64,
    standing_neighbour: f64,
    standing: f64,
    standing_drop: f64,
    weights: Weights,
    standing_weights: Weights,
}

/// How many neighbours a beam's noise is made of, its own included.
pub(super) const REACH: usize = 4;

/// Weights of a moving average.
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
    /// From the correlation of neighbouring beams, of both parts alike, the share of the range's variance that stands
    /// still between scans, and that of the drop-outs'. Each is brought into its domain: 0 to 0.75,
    /// 0 to 1.
    pub fn new(neighbour: f64, standing: f64, standing_drop: f64) -> Self {
        let neighbour = neighbour.clamp(0.0, 0.75);
        Self {
            neighbour,
            standing_neighbour: neighbour,
            standing: standing.clamp(0.0, 1.0),
            standing_drop: standing_drop.clamp(0.0, 1.0),
            weights: Weights::of(neighbour),
            standing_weights: Weights::of(neighbour),
        }
    }

    /// The same with another correlation of neighbours of what stands still.
    #[must_use]
    pub fn with_standing_neighbour(self, neighbour: f64) -> Self {
        let neighbour = neighbour.clamp(0.0, 0.75);
        Self {
            standing_neighbour: neighbour,
            standing_weights: Weights::of(neighbour),
            ..self
        }
    }

    /// Correlation of neighbouring beams' errors, of what changes from scan to scan.
    pub fn neighbour(&self) -> f64 {
        self.neighbour
    }

    /// The same of what stands still.
    pub fn standing_neighbour(&self) -> f64 {
        self.standing_neighbour
    }

    /// Share of the range error's variance that stands still between scans.
    pub fn standing(&self) -> f64 {
        self.standing
    }

    /// The same of what decides on drop-outs.
    pub fn standing_drop(&self) -> f64 {
        self.standing_drop
    }

    /// The moving average's weights, of what changes; their squares sum to 1.
    pub(super) fn weights(&self) -> &Weights {
        &self.weights
    }

    /// The same of what stands still.
    pub(super) fn standing_weights(&self) -> &Weights {
        &self.standing_weights
    }
}

impl Weights {
    /// Those that are used: of the beam itself, of its predecessor and so on.
    pub fn used(&self) -> &[f64] {
        &self.values[..self.used]
    }

    /// The weights of a given correlation of neighbours, by bisection of $\varphi$.
    fn of(neighbour: f64) -> Self {
        if neighbour < 0.02 {
            return Self::default();
        }
        // Equal weights of n beams correlate by (n - 1) / n: fewer cannot do it.
        let used = (2..REACH)
            .find(|used| neighbour <= (used - 1) as f64 / *used as f64)
            .unwrap_or(REACH);
        let (mut low, mut high) = (0.0, 1.0);
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

    fn geometric(ratio: f64, used: usize) -> [f64; REACH] {
        let mut powers = [1.0, ratio, ratio.powi(2), ratio.powi(3)];
        powers[used..].fill(0.0);
        let norm = powers.iter().map(|w| w * w).sum::<f64>().sqrt();
        powers.map(|w| w / norm)
    }
}
