//! Least-squares problems: residuals and their Jacobian.

use super::error::SolveError;
use super::loss::Loss;
use super::normal::NormalEquations;
use crate::manifold::Manifold;

/// Nonlinear least-squares problem: residuals as a function of unknowns on a manifold.
pub trait LeastSquares {
    /// Manifold of the unknowns.
    type State: Manifold;

    /// Residuals at `state`.
    fn residuals(&self, state: &Self::State) -> Residuals;

    /// Residuals and their Jacobian by a step at `state`.
    fn linearize(&self, state: &Self::State) -> Linearization;

    /// Normal equations under a loss and residuals at `state`, where the problem forms them without the Jacobian; `None` for others.
    ///
    /// The Gauss-Newton method uses only this, after the start. Problems with many residuals and few unknowns override it.
    fn normal_equations(
        &self,
        _state: &Self::State,
        _loss: Loss,
    ) -> Option<(NormalEquations, Residuals)> {
        None
    }

    /// Cost and its gradient by a step at `state`, with the residual `gate` of missing measurements.
    ///
    /// L-BFGS uses only this. Problems with thousands of unknowns override it to avoid the dense
    /// Jacobian.
    fn gradient(&self, state: &Self::State, loss: Loss, gate: f64) -> (f64, Vec<f64>) {
        let linearization = self.linearize(state);
        let cost = linearization.residuals.cost(loss, gate);
        (cost, linearization.gradient(loss))
    }
}

/// Residuals in blocks of equal length; the loss is a function of the norm of a block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Residuals {
    /// The residuals of all blocks.
    pub values: Vec<f64>,
    /// Number of residuals of a block: 1 for a range, 3 for a point in space.
    pub block: usize,
    /// Number of residuals of priors at the end of `values`; they have the squared loss.
    pub priors: usize,
    /// Number of measurements without a prediction; each has the cost of the gate.
    pub missing: usize,
    /// Number of predictions without a measurement (the sensor reported no range); they have no
    /// cost.
    pub unexpected: usize,
}

impl Residuals {
    /// Residuals in blocks of length 1, without missing measurements.
    pub fn of(values: Vec<f64>) -> Self {
        Self {
            values,
            block: 1,
            ..Self::default()
        }
    }

    /// Blocks of measurements, without the priors.
    pub fn blocks(&self) -> std::slice::ChunksExact<'_, f64> {
        let measured = self.values.len() - self.priors;
        self.values[..measured].chunks_exact(self.block.max(1))
    }

    /// Cost $\tfrac12\sum\rho(\lVert r_i\rVert^2)$, with the residual `gate` for each missing
    /// measurement.
    pub fn cost(&self, loss: Loss, gate: f64) -> f64 {
        let measured: f64 = self.blocks().map(|block| loss.cost(squared(block))).sum();
        let priors = squared(&self.values[self.values.len() - self.priors..]);
        0.5 * (measured + priors + self.missing as f64 * loss.cost(gate * gate))
    }

    /// Weight of each residual under a loss; 1 for priors.
    pub fn weights(&self, loss: Loss) -> Vec<f64> {
        let mut weights = Vec::with_capacity(self.values.len());
        for block in self.blocks() {
            let weight = loss.weight(squared(block));
            weights.extend(std::iter::repeat_n(weight, block.len()));
        }
        weights.resize(self.values.len(), 1.0);
        weights
    }

    /// 0 for outliers, 1 for all other residuals and for priors. Outliers are residuals in standard
    /// deviations that exceed three and at which half the loss is not convex ($\psi' \leq 0$).
    pub fn inliers(&self, loss: Loss) -> Vec<f64> {
        const THREE_SQUARED: f64 = 9.0;
        let mut inliers = Vec::with_capacity(self.values.len());
        for block in self.blocks() {
            let square = squared(block);
            let curvature = loss.weight(square) + 2.0 * square * loss.weight_slope(square);
            let is_outlier = square > THREE_SQUARED && curvature < 1e-9;
            let inlier = if is_outlier { 0.0 } else { 1.0 };
            inliers.extend(std::iter::repeat_n(inlier, block.len()));
        }
        inliers.resize(self.values.len(), 1.0);
        inliers
    }

    /// Root mean square of the norms of the measured blocks; NaN without measurements.
    pub fn rms(&self) -> f64 {
        let blocks = self.blocks();
        let count = blocks.len() as f64;
        (blocks.map(squared).sum::<f64>() / count).sqrt()
    }
}

/// Squared norm.
fn squared(block: &[f64]) -> f64 {
    block.iter().map(|r| r * r).sum()
}

/// Residuals and their Jacobian.
#[derive(Clone, Debug, PartialEq)]
pub struct Linearization {
    /// Residuals.
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

    /// Gradient $J^\top W r$ of the cost under a loss.
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

    /// Checks that residuals and derivatives are finite.
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
