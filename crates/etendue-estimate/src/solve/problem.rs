//! What is to be minimised.

use super::{Loss, SolveError};
use crate::manifold::Manifold;

/// Residuals as a function of unknowns.
pub trait Problem {
    /// The unknowns.
    type State: Manifold;

    /// Residuals at `state`.
    fn residuals(&self, state: &Self::State) -> Residuals;

    /// Residuals and their derivatives by a step at `state`.
    fn linearize(&self, state: &Self::State) -> Linearization;

    /// Cost and its gradient by a step at `state`: for problems with so many unknowns that the
    /// Jacobian is never formed, this is what to write; L-BFGS needs no more.
    fn gradient(&self, state: &Self::State, loss: Loss, gate: f64) -> (f64, Vec<f64>) {
        let linearization = self.linearize(state);
        let cost = linearization.residuals.cost(loss, gate);
        (cost, linearization.gradient(loss))
    }
}

/// Residuals in blocks: the norm of a block is what a loss charges.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Residuals {
    /// All blocks one after the other.
    pub values: Vec<f64>,
    /// Length of a block: 1 for a range, 3 for a point in space.
    pub block: usize,
    /// How many of `values`, from the end, are priors: charged by the squared loss whatever the
    /// problem's own loss is, each on its own.
    pub priors: usize,
    /// Measurements that have no prediction: each is charged for the gate.
    pub missing: usize,
    /// Predictions where the measurement has none (the sensor reported no range): not charged,
    /// but counted.
    pub unexpected: usize,
}

impl Residuals {
    /// Residuals that are charged one by one, none missing.
    pub fn of(values: Vec<f64>) -> Self {
        Self {
            values,
            block: 1,
            ..Self::default()
        }
    }

    /// The measured blocks, without the priors.
    pub fn blocks(&self) -> std::slice::ChunksExact<'_, f64> {
        let measured = self.values.len() - self.priors;
        self.values[..measured].chunks_exact(self.block.max(1))
    }

    /// $\tfrac12\sum\rho(\lVert r_i\rVert^2)$ with each missing measurement charged for `gate`.
    pub fn cost(&self, loss: Loss, gate: f64) -> f64 {
        let measured: f64 = self.blocks().map(|block| loss.cost(squared(block))).sum();
        let priors = squared(&self.values[self.values.len() - self.priors..]);
        0.5 * (measured + priors + self.missing as f64 * loss.cost(gate * gate))
    }

    /// Weight of each residual under a loss, priors at 1.
    pub fn weights(&self, loss: Loss) -> Vec<f64> {
        let mut weights = Vec::with_capacity(self.values.len());
        for block in self.blocks() {
            let weight = loss.weight(squared(block));
            weights.extend(std::iter::repeat_n(weight, block.len()));
        }
        weights.resize(self.values.len(), 1.0);
        weights
    }

    /// Root mean square of the measured residuals' norms; NaN where there are none.
    pub fn rms(&self) -> f64 {
        let blocks = self.blocks();
        let count = blocks.len() as f64;
        (blocks.map(squared).sum::<f64>() / count).sqrt()
    }
}

fn squared(block: &[f64]) -> f64 {
    block.iter().map(|r| r * r).sum()
}

/// Residuals and how they change with a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Linearization {
    /// The residuals.
    pub residuals: Residuals,
    /// How many unknowns there are.
    pub unknowns: usize,
    /// The Jacobian row by row: one row of `unknowns` numbers a residual.
    pub jacobian: Vec<f64>,
}

impl Linearization {
    /// Puts residuals and the rows of their Jacobian together.
    ///
    /// # Panics
    /// Where the Jacobian does not have one row of `unknowns` numbers a residual.
    pub fn new(residuals: Residuals, unknowns: usize, jacobian: Vec<f64>) -> Self {
        assert_eq!(residuals.values.len() * unknowns, jacobian.len());
        Self {
            residuals,
            unknowns,
            jacobian,
        }
    }

    /// The Jacobian's rows.
    pub fn rows(&self) -> std::slice::ChunksExact<'_, f64> {
        self.jacobian.chunks_exact(self.unknowns.max(1))
    }

    /// $J^\top W r$: the gradient of the cost.
    pub fn gradient(&self, loss: Loss) -> Vec<f64> {
        let mut gradient = vec![0.0; self.unknowns];
        let weights = self.residuals.weights(loss);
        for ((row, r), weight) in self.rows().zip(&self.residuals.values).zip(weights) {
            for (g, j) in gradient.iter_mut().zip(row) {
                *g += weight * r * j;
            }
        }
        gradient
    }

    pub(super) fn check(&self, iteration: usize) -> Result<(), SolveError> {
        let bad = self
            .residuals
            .values
            .iter()
            .zip(self.rows())
            .position(|(r, row)| !r.is_finite() || row.iter().any(|j| !j.is_finite()));
        match bad {
            Some(index) => Err(SolveError::NotFinite { index, iteration }),
            None => Ok(()),
        }
    }
}
