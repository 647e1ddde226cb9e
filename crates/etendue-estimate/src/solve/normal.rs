//! The normal equations.

use super::loss::Loss;
use super::problem::Linearization;
use nalgebra::{DMatrix, DVector};

/// Normal equations: $H = J^\top W J$ and $g = J^\top W r$ with the weights of a loss, or an
/// approximate Hessian and the gradient of another cost.
#[derive(Clone, Debug, PartialEq)]
pub struct NormalEquations {
    /// The normal matrix.
    pub matrix: DMatrix<f64>,
    /// The gradient of the cost.
    pub gradient: DVector<f64>,
}

impl NormalEquations {
    /// Normal equations of a linearized least-squares problem.
    pub fn new(linearization: &Linearization, loss: Loss) -> Self {
        let n = linearization.unknowns;
        let weights = linearization.residuals.weights(loss);
        let mut upper = vec![0.0; n * n];
        for (row, weight) in linearization.rows().zip(weights) {
            add_outer(&mut upper, row, weight);
        }
        Self {
            matrix: DMatrix::from_fn(n, n, |i, j| upper[i.min(j) * n + i.max(j)]),
            gradient: DVector::from_vec(linearization.gradient(loss)),
        }
    }

    /// The largest component of the gradient.
    pub fn steepness(&self) -> f64 {
        self.gradient.amax()
    }

    /// The step that solves $(H + \lambda D)\delta = -g$, with $D$ the diagonal of $H$, raised to
    /// 1e-9 of its largest element so that a direction without influence has no step. `None`
    /// where the matrix is not positive definite.
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

    /// Decrease of the cost by `step` predicted by the quadratic model.
    pub fn predicted_fall(&self, step: &DVector<f64>) -> f64 {
        -(self.gradient.dot(step) + 0.5 * step.dot(&(&self.matrix * step)))
    }
}

fn add_outer(upper: &mut [f64], row: &[f64], weight: f64) {
    let n = row.len();
    for (i, a) in row.iter().enumerate() {
        let scaled = weight * a;
        for (h, b) in upper[i * n + i..(i + 1) * n].iter_mut().zip(&row[i..]) {
            *h += scaled * b;
        }
    }
}
