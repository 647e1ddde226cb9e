//! Normal priors of the unknowns.

use super::problem::{LeastSquares, Linearization, Residuals};
use crate::manifold::Manifold;

/// A problem with a prior: component $i$ of the step from `mean` to the state is normal with
/// standard deviation `sigma[i]` (infinite without a prior).
///
/// The problem's own residuals must then be in units of their standard deviation.
#[derive(Clone, Debug)]
pub struct WithPrior<P: LeastSquares> {
    /// The problem without prior.
    pub problem: P,
    /// Mean of the prior.
    pub mean: P::State,
    /// Standard deviation of the prior, in the unit of each component of a step.
    pub sigma: Vec<f64>,
}

impl<P: LeastSquares> WithPrior<P> {
    fn finite(&self) -> impl Iterator<Item = (usize, f64)> {
        let finite = |(_, sigma): &(usize, f64)| sigma.is_finite();
        self.sigma.iter().copied().enumerate().filter(finite)
    }

    fn append(&self, residuals: &mut Residuals, tangent: &[f64]) {
        for (i, sigma) in self.finite() {
            residuals.values.push(tangent[i] / sigma);
            residuals.priors += 1;
        }
    }
}

impl<P: LeastSquares> LeastSquares for WithPrior<P> {
    type State = P::State;

    fn residuals(&self, state: &P::State) -> Residuals {
        let mut residuals = self.problem.residuals(state);
        self.append(&mut residuals, &self.mean.local(state));
        residuals
    }

    fn linearize(&self, state: &P::State) -> Linearization {
        let mut whole = self.problem.linearize(state);
        let tangent = self.mean.local(state);
        self.append(&mut whole.residuals, &tangent);
        let right = self.mean.right_jacobian(&tangent);
        // A right Jacobian is singular only at a full turn, which no logarithm returns.
        let inverse = right
            .try_inverse()
            .expect("the tangent is below a full turn");
        for (i, sigma) in self.finite() {
            whole
                .jacobian
                .extend(inverse.row(i).iter().map(|j| j / sigma));
        }
        whole
    }
}
