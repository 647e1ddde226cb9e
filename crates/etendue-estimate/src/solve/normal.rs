//! Normal equations of a least-squares problem.

use super::loss::Loss;
use super::problem::Linearization;
use nalgebra::{DMatrix, DVector};

/// Normal equations $H\delta = -g$ with $H = J^\top W J$, $g = J^\top W r$ and the weights $W$ of a
/// loss.
///
/// For other costs, $H$ is an approximate Hessian and $g$ the gradient.
#[derive(Clone, Debug, PartialEq)]
pub struct NormalEquations {
    /// Normal matrix $H$.
    pub matrix: DMatrix<f64>,
    /// Gradient $g$ of the cost.
    pub gradient: DVector<f64>,
}

impl NormalEquations {
    /// Normal equations of a linearized least-squares problem.
    pub fn new(linearization: &Linearization, loss: Loss) -> Self {
        let weights = linearization.residuals.weights(loss);
        // The compiler unrolls the sums of rigid motions in the plane and in space.
        match linearization.unknowns {
            3 => Self::sums(3, linearization, &weights),
            6 => Self::sums(6, linearization, &weights),
            unknowns => Self::sums(unknowns, linearization, &weights),
        }
    }

    /// Sums over the rows of the Jacobian, for `n` unknowns.
    #[expect(clippy::inline_always, reason = "for a constant number of unknowns")]
    #[inline(always)]
    fn sums(n: usize, linearization: &Linearization, weights: &[f64]) -> Self {
        let mut upper = vec![0.0; n * n];
        let mut gradient = vec![0.0; n];
        let residuals = linearization.residuals.values.iter().zip(weights);
        for (row, (residual, weight)) in linearization.rows().zip(residuals) {
            let row = &row[..n];
            for (i, a) in row.iter().enumerate() {
                let scaled = weight * a;
                for (h, b) in upper[i * n + i..(i + 1) * n].iter_mut().zip(&row[i..]) {
                    *h += scaled * b;
                }
            }
            for (g, j) in gradient.iter_mut().zip(row) {
                *g += weight * residual * j;
            }
        }
        Self {
            matrix: DMatrix::from_fn(n, n, |i, j| upper[i.min(j) * n + i.max(j)]),
            gradient: DVector::from_vec(gradient),
        }
    }

    /// Whether all numbers are finite.
    pub(super) fn is_finite(&self) -> bool {
        let mut numbers = self.matrix.iter().chain(&self.gradient);
        numbers.all(|x| x.is_finite())
    }

    /// Maximum norm of the gradient.
    pub fn steepness(&self) -> f64 {
        self.gradient.amax()
    }

    /// Step $\delta$ of $(H + \lambda D)\delta = -g$ with the damping $\lambda$; `None` where the
    /// matrix is not positive definite.
    ///
    /// $D$ is the diagonal of $H$ with elements of at least 1e-9 of the largest, so that unknowns
    /// without influence on the cost have no step.
    pub fn step(&self, damping: f64) -> Option<DVector<f64>> {
        let diagonal = self.matrix.diagonal();
        let floor = 1e-9 * diagonal.amax();
        let mut damped = self.matrix.clone();
        for (i, d) in diagonal.iter().enumerate() {
            damped[(i, i)] += damping * d.max(floor);
        }
        let step = damped.cholesky()?.solve(&-&self.gradient);
        step.iter().all(|x| x.is_finite()).then_some(step)
    }

    /// Decrease of the cost predicted by the quadratic model, $-(g^\top\delta + \tfrac12 \delta^\top
    /// H \delta)$.
    pub fn predicted_decrease(&self, step: &DVector<f64>) -> f64 {
        -(self.gradient.dot(step) + 0.5 * step.dot(&(&self.matrix * step)))
    }
}
