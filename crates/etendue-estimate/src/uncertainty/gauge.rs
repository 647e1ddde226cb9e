//! What to do with directions that the measurements leave free.

use nalgebra::DMatrix;

/// How the freedom of undetermined directions is taken away.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Gauge {
    /// It is left: null directions are reported.
    #[default]
    Free,
    /// These components are known exactly.
    Fix(Vec<usize>),
    /// These components are known beforehand with a standard deviation (in their own units).
    Prior(Vec<(usize, f64)>),
}

impl Gauge {
    /// The Jacobian with fixed components' columns set to zero.
    pub(super) fn applied(&self, jacobian: &DMatrix<f64>) -> DMatrix<f64> {
        let mut free = jacobian.clone();
        if let Self::Fix(fixed) = self {
            for &i in fixed {
                free.column_mut(i).fill(0.0);
            }
        }
        free
    }

    /// What priors add to the normal matrix, in units of the residual variance.
    pub(super) fn prior_information(&self, n: usize, variance: f64) -> Option<DMatrix<f64>> {
        let Self::Prior(priors) = self else {
            return None;
        };
        let mut information = DMatrix::zeros(n, n);
        for &(i, sigma) in priors {
            information[(i, i)] += variance / (sigma * sigma);
        }
        Some(information)
    }

    pub(super) fn fixes(&self, component: usize) -> bool {
        matches!(self, Self::Fix(fixed) if fixed.contains(&component))
    }
}
