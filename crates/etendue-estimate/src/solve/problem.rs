//! Least-squares problems.

use super::loss::Loss;
use super::solution::SolveError;
use crate::manifold::Manifold;

/// A least-squares problem: residuals as a function of unknowns.
pub trait LeastSquares {
    /// The unknowns.
    type State: Manifold;

    /// Residuals at `state`.
    fn residuals(&self, state: &Self::State) -> Residuals;

    /// Residuals and their derivatives by a step at `state`.
    fn linearize(&self, state: &Self::State) -> Linearization;

    /// Cost and its gradient by a step at `state`. L-BFGS needs no more; problems with thousands of
    /// unknowns override it so that the Jacobian is never formed.
    fn gradient(&self, state: &Self::State, loss: Loss, gate: f64) -> (f64, Vec<f64>) {
        let linearization = self.linearize(state);
        let cost = linearization.residuals.cost(loss, gate);
        (cost, linearization.gradient(loss))
    }
}

/// Residuals in blocks; the loss is a function of the norm of a block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Residuals {
    /// The residuals of all blocks.
    pub values: Vec<f64>,
    /// Length of a block: 1 for a range, 3 for a point in space.
    pub block: usize,
    /// Number of priors at the end of `values`: each is a block of its own under the squared loss.
    pub priors: usize,
    /// Number of measurements without a prediction; the cost of each is that of the gate.
    pub missing: usize,
    /// Number of predictions without a measurement (the sensor reported no range); they have no
    /// cost.
    pub unexpected: usize,
}

impl Residuals {
    /// Residuals in blocks of one, without missing measurements.
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

    /// $\tfrac12\sum\rho(\lVert r_i\rVert^2)$ with the residual `gate` for each missing measurement.
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

    /// Root mean square of the norms of the measured blocks; NaN without measurements.
    pub fn rms(&self) -> f64 {
        let blocks = self.blocks();
        let count = blocks.len() as f64;
        (blocks.map(squared).sum::<f64>() / count).sqrt()
    }
}

fn squared(block: &[f64]) -> f64 {
    block.iter().map(|r| r * r).sum()
}

/// Residuals and their Jacobian.
#[derive(Clone, Debug, PartialEq)]
pub struct Linearization {
    /// The residuals.
    pub residuals: Residuals,
    /// Number of components of a step.
    pub unknowns: usize,
    /// Jacobian in row-major order: one row of `unknowns` numbers per residual.
    pub jacobian: Vec<f64>,
}

impl Linearization {
    /// Linearization from residuals and the rows of their Jacobian.
    ///
    /// # Panics
    /// Where the Jacobian does not have one row of `unknowns` numbers per residual.
    pub fn new(residuals: Residuals, unknowns: usize, jacobian: Vec<f64>) -> Self {
        assert_eq!(residuals.values.len() * unknowns, jacobian.len());
        Self {
            residuals,
            unknowns,
            jacobian,
        }
    }

    /// Rows of the Jacobian.
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

    /// Checks that all numbers are finite.
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
