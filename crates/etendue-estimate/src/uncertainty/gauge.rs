//! Gauge: treatment of directions that the measurements do not determine.

use nalgebra::DMatrix;

/// Treatment of the gauge freedom of undetermined directions.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Gauge {
    /// No constraint: null directions are reported.
    #[default]
    Free,
    /// Components that are known exactly, by index.
    Fix(Vec<usize>),
    /// Components with a normal prior: index and standard deviation in the unit of the component.
    Prior(Vec<(usize, f64)>),
}

impl Gauge {
    /// Jacobian with the columns of fixed components set to zero.
    pub(super) fn applied(&self, jacobian: &DMatrix<f64>) -> DMatrix<f64> {
        let mut free = jacobian.clone();
        if let Self::Fix(fixed) = self {
            for &i in fixed {
                free.column_mut(i).fill(0.0);
            }
        }
        free
    }

    /// Information of the priors, $\hat\sigma^2 / \sigma_i^2$ on the diagonal of an `n` by `n`
    /// matrix: an addend of the normal matrix. `None` without priors.
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

    /// Whether a component is fixed.
    pub(super) fn fixes(&self, component: usize) -> bool {
        matches!(self, Self::Fix(fixed) if fixed.contains(&component))
    }
}
