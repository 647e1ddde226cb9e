//! Generalised ICP (Segal, Haehnel, Thrun 2009, doi:10.15607/RSS.2009.V.021).

use super::cloud::SearchableCloud;
use super::pairs::{Pair, PairRule, pairs, stack};
use super::rigid_motion::RigidMotion;
use crate::solve::{LeastSquares, Linearization, Residuals};
use nalgebra::{SMatrix, SVector};
use std::marker::PhantomData;

/// Variance $\epsilon$ across a local plane relative to the variance along it.
pub(super) const NORMAL_VARIANCE: f64 = 1e-3;

/// Plane-to-plane residuals $r = W (T p - q)$ of pairs of nearest points.
///
/// $W^\top W = (C_q + R\\,C_p R^\top)^{-1}$, with $C = I - (1-\epsilon)\\,n n^\top$ the covariance of
/// a local plane with normal $n$.
pub(super) struct GeneralizedIcp<'a, M, const D: usize, const K: usize> {
    source: &'a SearchableCloud<D>,
    target: &'a SearchableCloud<D>,
    rule: PairRule,
    motion: PhantomData<M>,
}

impl<'a, M, const D: usize, const K: usize> GeneralizedIcp<'a, M, D, K> {
    /// Residuals of two clouds with normals.
    pub(super) fn new(
        source: &'a SearchableCloud<D>,
        target: &'a SearchableCloud<D>,
        rule: PairRule,
    ) -> Self {
        Self {
            source,
            target,
            rule,
            motion: PhantomData,
        }
    }

    /// Whitening matrix $W$ of a pair.
    fn whitening(&self, pair: &Pair<D>, rotation: &SMatrix<f64, D, D>) -> SMatrix<f64, D, D> {
        let target = plane(&self.target.normals()[pair.target]);
        let source = plane(&(rotation * self.source.normals()[pair.source]));
        let information = (target + source).try_inverse();
        information
            .and_then(nalgebra::Matrix::cholesky)
            .expect("the sum of two positive definite matrices is positive definite")
            .l()
            .transpose()
    }
}

/// Covariance $C$ of a local plane.
fn plane<const D: usize>(normal: &SVector<f64, D>) -> SMatrix<f64, D, D> {
    SMatrix::identity() - normal * normal.transpose() * (1.0 - NORMAL_VARIANCE)
}

impl<M: RigidMotion<D, K>, const D: usize, const K: usize> LeastSquares
    for GeneralizedIcp<'_, M, D, K>
{
    type State = M;

    fn residuals(&self, motion: &M) -> Residuals {
        self.linearize(motion).residuals
    }

    fn linearize(&self, motion: &M) -> Linearization {
        let (found, missing) = pairs(self.source, self.target, motion, self.rule);
        let rotation = motion.rotation();
        let block = |pair: &Pair<D>| {
            let whitening = self.whitening(pair, &rotation);
            let derivative = motion.derivative(&self.source.points()[pair.source]);
            (whitening * pair.offset, whitening * derivative)
        };
        stack(found.iter().map(block), missing)
    }
}
