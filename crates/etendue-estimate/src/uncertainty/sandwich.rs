//! Sandwich estimator of the covariance of an M-estimate.

use super::component::TangentComponent;
use super::covariance::weighted_jacobian;
use super::spectrum::Spectrum;
use crate::solve::{Linearization, Loss};
use nalgebra::{DMatrix, DVector};
use std::ops::Range;

/// Maximum leverage $h_i$ in the HC3 correction, which diverges for a residual that alone determines a
/// direction.
const MAX_LEVERAGE: f64 = 0.99;

/// Parts of the sandwich estimator.
pub(super) struct Sandwich {
    /// Jacobian by the components in their units.
    jacobian: DMatrix<f64>,
    terms: Vec<Term>,
}

/// Cost of one block of residuals $r$, with the Jacobian $J$.
struct Term {
    /// Rows of the Jacobian.
    rows: Range<usize>,
    /// Weight $\rho'$: the gradient of the cost is $\rho' J^\top r$.
    weight: f64,
    /// Slope $\rho''$ of the weight: the Hessian is $\rho' J^\top J + 2\rho'' (J^\top r)(J^\top r)^\top$.
    slope: f64,
    /// $J^\top r$.
    along: DVector<f64>,
    /// $\lVert r\rVert^2$.
    square: f64,
}

impl Term {
    /// The slope, limited so that the Hessian has no negative eigenvalue.
    fn convex_slope(&self) -> f64 {
        if self.square > 0.0 {
            self.slope.max(-0.5 * self.weight / self.square)
        } else {
            self.slope
        }
    }
}

impl Sandwich {
    /// Parts of the estimator at an estimate, under the loss of the solver; priors have the squared loss.
    pub fn new(linearization: &Linearization, loss: Loss, components: &[TangentComponent]) -> Self {
        // Divide the residuals into blocks of measurements and single priors.
        let residuals = &linearization.residuals;
        let count = residuals.values.len();
        let measured = count - residuals.priors;
        let block = residuals.block.max(1);
        let blocks = (0..measured)
            .step_by(block)
            .map(|first| (first..first + block, loss));
        let priors = (measured..count).map(|first| (first..first + 1, Loss::Squared));
        // Evaluate the loss of each block.
        let jacobian = weighted_jacobian(linearization, &vec![1.0; count], components);
        let term = |(rows, loss): (Range<usize>, Loss)| {
            let values = DVector::from_column_slice(&residuals.values[rows.clone()]);
            let square = values.norm_squared();
            Term {
                weight: loss.weight(square),
                slope: loss.weight_slope(square),
                along: jacobian.rows_range(rows.clone()).tr_mul(&values),
                square,
                rows,
            }
        };
        let terms = blocks.chain(priors).map(term).collect();
        Self { jacobian, terms }
    }

    /// Covariance within the directions that a spectrum determines, with the information of priors.
    pub fn covariance(&self, spectrum: &Spectrum, information: &DMatrix<f64>) -> DMatrix<f64> {
        // Invert the Hessian of the cost, or its convex part.
        let hessian = |slope: fn(&Term) -> f64| self.hessian(slope) + information;
        let inverse = spectrum
            .inverse_of(&hessian(|term| term.slope))
            .or_else(|| spectrum.inverse_of(&hessian(Term::convex_slope)))
            .unwrap_or_else(|| spectrum.inverse());
        // Sum the squared influences of the blocks, corrected by their leverage.
        let mut sum = DMatrix::zeros(inverse.nrows(), inverse.ncols());
        for term in &self.terms {
            let rows = self.jacobian.rows_range(term.rows.clone());
            let influence = &inverse * &term.along;
            let curved = 2.0 * term.slope * influence.dot(&term.along);
            let leverage = term.weight * (rows * &inverse).component_mul(&rows).sum() + curved;
            let correction = term.weight / (1.0 - leverage.clamp(0.0, MAX_LEVERAGE));
            sum.ger(correction * correction, &influence, &influence, 1.0);
        }
        sum
    }

    /// Hessian of the cost, with a slope of the weight of each term.
    fn hessian(&self, slope: fn(&Term) -> f64) -> DMatrix<f64> {
        // Sum the parts of the weights as one product.
        let mut scaled = self.jacobian.clone();
        for term in &self.terms {
            scaled
                .rows_range_mut(term.rows.clone())
                .scale_mut(term.weight);
        }
        let mut hessian = self.jacobian.tr_mul(&scaled);
        // Add the parts of the slopes.
        for term in &self.terms {
            hessian.ger(2.0 * slope(term), &term.along, &term.along, 1.0);
        }
        hessian
    }
}
