//! Least-squares problems with normal priors.

use super::problem::{LeastSquares, Linearization, Residuals};
use crate::manifold::Manifold;

/// Least-squares problem with a normal prior of the unknowns.
///
/// TangentComponent $i$ of the step from `mean` to the state has the standard deviation `sigma[i]` (infinite
/// without a prior). The residuals of the problem must be in units of their standard deviation.
#[derive(Clone, Debug)]
pub struct WithPrior<P: LeastSquares> {
    /// The problem without prior.
    pub problem: P,
    /// Mean of the prior.
    pub mean: P::State,
    /// Standard deviation of each component of a step, in its unit.
    pub sigma: Vec<f64>,
}

impl<P: LeastSquares> WithPrior<P> {
    /// Indices and standard deviations of the components with a prior.
    fn finite(&self) -> impl Iterator<Item = (usize, f64)> {
        let finite = |(_, sigma): &(usize, f64)| sigma.is_finite();
        self.sigma.iter().copied().enumerate().filter(finite)
    }

    /// Appends the residuals of the prior at a step from the mean.
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
        // The right Jacobian is singular only at a rotation by 2 pi, beyond the range of the logarithm.
        let inverse = right.try_inverse().expect("the rotation is below 2 pi");
        for (i, sigma) in self.finite() {
            whole
                .jacobian
                .extend(inverse.row(i).iter().map(|j| j / sigma));
        }
        whole
    }
}
